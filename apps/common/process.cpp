#include "process.hpp"

#include "message_line.hpp"
#include "usage_error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace quadtile::app {

namespace {

// Allocated by strdup. Who takes one out of the list, an object or the signal, has it alone.
std::array<std::atomic<char*>, 128> removed_paths;
static_assert(std::atomic<char*>::is_always_lock_free);

void prepare_process() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        if (std::signal(signal, end_by_signal) == SIG_IGN) {
            std::signal(signal, SIG_IGN);
        }
    }
    for (int stream = 0; stream <= 2; ++stream) {
        if (::fcntl(stream, F_GETFD) < 0) {
            ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

}  // namespace

int run_program(std::string_view name, std::string_view out_of_memory,
                const std::function<int()>& run) {
    const auto fail = [&](std::string_view message, int status) {
        std::cerr << message_line(std::string(name) + ": error", message) << std::endl;
        return status;
    };
    prepare_process();
    try {
        return run();
    } catch (const UsageError& error) {
        return fail(error.what(), 2);
    } catch (const PrintedText& printed) {
        std::cout << printed.text;
        return 0;
    } catch (const std::exception& error) {
        return fail(is_out_of_memory(error) ? out_of_memory : error.what(), 1);
    }
}

void check_validation(std::uint64_t messages) {
    if (messages > 0) {
        throw std::runtime_error("the validation layer has complained " + std::to_string(messages) +
                                 " times");
    }
}

bool is_out_of_memory(const std::exception& error) {
    const auto* const system = dynamic_cast<const std::system_error*>(&error);
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           (system != nullptr && system->code() == std::errc::resource_unavailable_try_again);
}

void end_by_signal(int signal) {
    // What lies in a folder came behind it.
    for (auto path = removed_paths.rbegin(); path != removed_paths.rend(); ++path) {
        const char* const name = path->exchange(nullptr);
        if (name != nullptr && ::unlink(name) != 0) {
            ::rmdir(name);
        }
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

RemovedBySignal::RemovedBySignal(const std::filesystem::path& path) {
    char* const name = ::strdup(path.c_str());
    for (; place_ < removed_paths.size(); ++place_) {
        char* free = nullptr;
        if (removed_paths[place_].compare_exchange_strong(free, name)) {
            return;
        }
    }
    std::free(name);
}

RemovedBySignal::RemovedBySignal(RemovedBySignal&& other) noexcept
    : place_(std::exchange(other.place_, removed_paths.size())) {}

RemovedBySignal::~RemovedBySignal() {
    if (place_ < removed_paths.size()) {
        std::free(removed_paths[place_].exchange(nullptr));
    }
}

}  // namespace quadtile::app
