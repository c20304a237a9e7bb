#include "device/process.hpp"

#include "values/refuse.hpp"

#include <quadtile/error.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace quadtile::detail {

namespace {

// Works of one process. A child has its own, because a thread may hold the mutex at the fork.
struct Works {
    MadeIn made_in;
    Works* of_parent = nullptr;
    std::mutex mutex;
    std::vector<std::weak_ptr<EndsWithProcess>> works;
    std::atomic<bool> has_devices = false;
};

struct Abandoned {
    std::uint64_t handle;
    Abandoned* next;
};

// Never destroyed, because objects of the program may outlive all statics of the library.
struct Process {
    std::atomic<Works*> works = new Works;
    std::atomic<Abandoned*> abandoned = nullptr;
};

Process& process() {
    static Process& state = *new Process;
    return state;
}

Works& works_of_this_process() {
    Works* works = process().works;
    if (works->made_in.is_forked()) {
        auto* const fresh = new Works;
        fresh->of_parent = works;
        works = process().works.compare_exchange_strong(works, fresh) ? fresh : works;
    }
    return *works;
}

void end_works() noexcept {
    if (have_threads_ended()) {
        return;  // nobody is left to do the work, and one may have ended with a mutex held
    }
    std::vector<std::weak_ptr<EndsWithProcess>> ending;
    {
        Works& all = works_of_this_process();
        const std::lock_guard lock(all.mutex);
        ending.swap(all.works);
    }
    for (auto work = ending.rbegin(); work != ending.rend(); ++work) {
        if (const std::shared_ptr<EndsWithProcess> alive = work->lock()) {
            alive->end();
        }
    }
}

}  // namespace

void check_not_ending() {
    if (is_ending()) {
        throw Error(ErrorCode::cancelled,
                    "the process is ending, and its Vulkan drivers may have ended; use quadtile "
                    "before exit() and before main() returns");
    }
}

bool MadeIn::is_forked() const noexcept {
    return process_ != process_id();
}

bool MadeIn::has_device() const noexcept {
    return !is_forked() && !is_ending();
}

void MadeIn::check() const {
    if (is_forked()) {
        cannot(
            "this process was forked after quadtile made this object or its device, and "
            "has neither its threads nor its driver; make a Device in the new process, or "
            "start it by exec (posix_spawn; Python: multiprocessing's \"spawn\")");
    }
    check_not_ending();
}

void abandon(std::uint64_t handle) noexcept {
    if (auto* const node = new (std::nothrow) Abandoned{handle, process().abandoned}) {
        while (!process().abandoned.compare_exchange_weak(node->next, node)) {
        }
    }
}

void end_with_process(const std::weak_ptr<EndsWithProcess>& work) {
    Works& all = works_of_this_process();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.works, [](const auto& other) { return other.expired(); });
    all.works.push_back(work);
}

void watch_exit(bool leaks) {
    works_of_this_process().has_devices = true;
    // exit() calls functions in the reverse order of their registration. So these two come before
    // those of the drivers' statics, and the second before the first.
    if (leaks) {
        watch_drivers_end();
    }
    (void)std::atexit(end_works);
}

bool is_forked_from_user() noexcept {
    for (const Works* works = &works_of_this_process(); works != nullptr;
         works = works->of_parent) {
        if (works->made_in.is_forked() && works->has_devices) {
            return true;
        }
    }
    return false;
}

}  // namespace quadtile::detail
