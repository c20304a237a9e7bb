#include "device/process.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* library);

namespace quadtile::detail {

namespace {

// Above 0 when exit() has come to the drivers. Never destroyed, as their handles.
sem_t& ending() {
    static sem_t& semaphore = []() -> sem_t& {
        auto& made = *new sem_t;
        (void)sem_init(&made, 0, 0);
        return made;
    }();
    return semaphore;
}

}  // namespace

int process_id() noexcept {
    return getpid();
}

bool is_ending() noexcept {
    int value = 0;
    (void)sem_getvalue(&ending(), &value);
    return value > 0;
}

// The function belongs to no library, so that only exit() calls it, and not a dlclose() of the
// library with this code. Its code must therefore be the C library's.
void watch_drivers_end() {
    (void)__cxa_atexit(reinterpret_cast<void (*)(void*)>(reinterpret_cast<void (*)()>(sem_post)),
                       &ending(), nullptr);
}

bool have_threads_ended() noexcept {
    return false;
}

void protect_children() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
        (void)on_exit(
            [](int status, void*) {
                (void)std::fflush(nullptr);
                _exit(status);
            },
            nullptr);
    });
    (void)registered;
}

}  // namespace quadtile::detail
