#include "calls.hpp"

#include <quadtile/error.hpp>

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace quadtile::python {

namespace {

// Guarded by the GIL.
bool has_ended = false;
std::size_t calls_under_way = 0;
pid_t vulkans_process = 0;  // 0: Vulkan was not used

// The threads of calls do not exist in a forked process.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { calls_under_way = 0; });

}  // namespace

WithoutGil::WithoutGil(AtExit at_exit) : state_(nullptr) {
    if (has_ended && at_exit == AtExit::refused) {
        throw Error(ErrorCode::cancelled,
                    "the interpreter is shutting down, and quadtile accepts no more work; join "
                    "your threads before the program ends");
    }
    ++calls_under_way;
    state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
    PyEval_RestoreThread(state_);
    --calls_under_way;
}

void end_calls(const std::function<void()>& stop, const std::function<bool()>& is_done) {
    has_ended = true;
    stop();
    while (calls_under_way > 0 || !is_done()) {
        const py::gil_scoped_release without_gil;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool is_forked() {
    return vulkans_process != 0 && vulkans_process != getpid();
}

void check_process() {
    if (is_forked()) {
        throw Error(
            ErrorCode::unsupported,
            "this process was forked from one that has used quadtile's devices, and Vulkan does "
            "not work in forked processes; start it e.g. by multiprocessing.get_context('spawn')");
    }
    vulkans_process = getpid();
}

}  // namespace quadtile::python
