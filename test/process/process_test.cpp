// Objects that live when their process ends, when their shared library is closed, or when their
// process is forked. Each case is a process of its own: this program with other arguments.

#include "../fault/leaks.hpp"
#include "used_object.hpp"

#include <quadtile/error.hpp>
#include <quadtile/subdivider.hpp>

#include <gmock/gmock.h>

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

namespace quadtile::test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned PATIENCE_S = 120;

// ---- Cases

std::optional<UsedObject> global;
std::string kind;

void use_and_drop() {
    global.reset();
}

// Ways to keep an object until the process ends.
const std::pair<const char*, void (*)()> PLACES[]{
    {"global", [] { global.emplace(kind); }},
    {"static local", [] { static const UsedObject object(kind); }},
    // Its library is used first by the object that is destroyed last.
    {"static locals",
     [] {
         static std::optional<UsedObject> early;
         static const UsedObject late(kind);
         early.emplace(kind);
     }},
    {"thread_local", [] { thread_local const UsedObject object(kind); }},
    {"thread_local of a thread",
     [] { std::thread([] { thread_local const UsedObject object(kind); }).join(); }},
    {"atexit before its first use",
     [] {
         (void)std::atexit(use_and_drop);
         global.emplace(kind);
     }},
    {"atexit after its first use",
     [] {
         global.emplace(kind);
         (void)std::atexit(use_and_drop);
     }},
    {"pointer",
     [] {
         static UsedObject* volatile object = new UsedObject(kind);  // found by leak checkers
         (void)object;
     }},
    {"reloaded driver",
     [] {
         (void)Device::enumerate();
         { const UsedObject other(kind); }
         global.emplace(kind);
     }},
    // Another thread ends the process while this one works.
    {"other thread",
     [] {
         global.emplace(kind);
         std::thread([] {
             std::this_thread::sleep_for(20ms);
             std::exit(0);
         }).detach();
         try {
             while (global->service || global->c_service != nullptr) {
                 global->use();
             }
         } catch (const std::exception&) {  // the service is shut down
         }
         std::this_thread::sleep_for(1h);
     }},
    {"closed library", [] {
         const auto threads = [] {
             return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
         };
         const auto before = threads();
         for (int i = 0; i < 2; ++i) {
             void* const library = dlopen(QUADTILE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
             if (library == nullptr) {
                 throw std::runtime_error(dlerror());
             }
             reinterpret_cast<void (*)(const char*)>(dlsym(library, "use_plugin"))(kind.c_str());
             (void)dlclose(library);
             // Drivers have threads until their devices are destroyed.
             for (int wait = 0; wait < 1000 && threads() != before; ++wait) {
                 std::this_thread::sleep_for(5ms);
             }
             if (threads() != before) {
                 throw std::runtime_error("the objects of the library were not destroyed");
             }
         }
     }}};

void expect_refusal(const char* what, const std::function<void()>& use) {
    try {
        use();
    } catch (const std::exception& error) {
        if (std::string(error.what()).find("forked") != std::string::npos) {
            return;
        }
        throw std::runtime_error(std::string(what) + " says " + error.what());
    }
    throw std::runtime_error(std::string(what) + " does not fail");
}

// A child refuses to use objects of its parent, destroys them without a word, and ends.
void in_child(UsedObject& object) {
    expect_refusal("use", [&] { object.use(); });
    if (object.device) {
        expect_refusal("a new Tiler", [&] { Tiler(*object.device); });
        expect_refusal("a new Service", [&] { Service(*object.device, {}); });
    }
    if (object.service) {
        expect_refusal("statistics", [&] { (void)object.service->statistics(); });
        object.service->shutdown();
    }
    if (object.c_service != nullptr) {
        const quadtile_tile_list* list = nullptr;
        for (quadtile_ticket* ticket : object.tickets) {  // answered before the fork, or refused
            if (quadtile_ticket_take(ticket, &list) != QUADTILE_SUCCESS) {
                expect_refusal("quadtile_ticket_take",
                               [&] { check(quadtile_ticket_take(ticket, &list)); });
                expect_refusal("quadtile_ticket_wait",
                               [&] { check(quadtile_ticket_wait(ticket, 60'000)); });
                (void)quadtile_ticket_cancel(ticket);
            }
            quadtile_tile_list_free(list);
        }
    }
}

void fork_case(bool child_destroys) {
    global.emplace(kind);
    const Pyramid* const pyramid = global->device ? new Pyramid(*global->device) : nullptr;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(PATIENCE_S);  // it has none of its parent's
        if (pyramid != nullptr) {
            expect_refusal("Pyramid::requirements", [&] { (void)pyramid->requirements({64, 64}); });
            delete pyramid;
        }
        in_child(*global);
        if (child_destroys) {
            global.reset();
        }
        return;  // and ends as its parent does
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (status != 0) {
        throw std::runtime_error("the child's status is " + std::to_string(status));
    }
    global->use();
    delete pyramid;
}

int run_case(const std::string& name) {
    try {
        if (IS_SANITIZED) {
            const Device device = make_device();
            keep_modules_loaded();
        }
        if (name.starts_with("fork")) {
            fork_case(name == "fork, destroyed");
            return 0;
        }
        for (const auto& [place, run] : PLACES) {
            if (name == place) {
                run();
                return 0;
            }
        }
        std::fprintf(stderr, "no such case\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}

// ---- Tests

// Returns the status of a case: 128 + signal number where a signal ended it, as an alarm ends those
// that hang.
int status_of(const std::string& name, const std::string& of_kind) {
    // The sanitizer cannot tell whose the memory of a library is that was closed.
    (void)setenv("ASAN_OPTIONS", name == "closed library" ? "detect_leaks=0" : "", 1);
    std::string program = "/proc/self/exe";
    std::string arguments[]{program, name, of_kind};
    char* words[]{arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    pid_t process = 0;
    int status = -1;
    if (posix_spawn(&process, program.c_str(), nullptr, nullptr, words, environ) != 0 ||
        waitpid(process, &status, 0) != process) {
        return -1;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Would catch objects that call a loader or a driver after its end, or threads that do, and
// libraries whose objects are not destroyed with them.
TEST(Process, EndsWithObjectsAnywhere) {
    for (const auto& [place, run] : PLACES) {
        for (const std::string object : UsedObject::KINDS) {
            if (place == PLACES[0].first || object == "tiler" || object == "service") {
                EXPECT_EQ(status_of(place, object), 0) << object << " in a " << place;
            }
        }
    }
}

// Would catch a child that waits for threads of its parent, or that calls its parent's driver.
TEST(Process, MayBeForked) {
    if (IS_SANITIZED) {
        GTEST_SKIP() << "the sanitizer's allocator may wait in a child for threads of its parent";
    }
    for (const char* const object : UsedObject::KINDS) {
        for (const char* const name : {"fork", "fork, destroyed"}) {
            EXPECT_EQ(status_of(name, object), 0) << object << ", " << name;
        }
    }
}

}  // namespace

int main_of_test(int argc, char** argv) {
    if (argc == 3) {
        kind = argv[2];
        (void)alarm(PATIENCE_S);
        return run_case(argv[1]);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

}  // namespace quadtile::test

int main(int argc, char** argv) {
    return quadtile::test::main_of_test(argc, argv);
}
