// Calls that do not hold Python's global interpreter lock (GIL), and their end before the
// interpreter's end.

#pragma once

#include <pybind11/pybind11.h>

#include <functional>

namespace quadtile::python {

namespace py = pybind11;

// Releases the GIL from its construction to its destruction. All work that may take long, or wait
// for another thread, is done under one.
//
// Python would end a thread that returns to an ending interpreter, in the middle of C++. So
// end_calls() waits for all of these, and lets no new one begin.
class WithoutGil {
 public:
    // Whether it may begin after end_calls() has begun: for work that end_calls() waits for.
    enum class AtExit { refused, allowed };

    // Throws Error(cancelled) if the interpreter is ending.
    explicit WithoutGil(AtExit at_exit = AtExit::refused);
    ~WithoutGil();
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

 private:
    PyThreadState* state_;
};

// Lets no new call begin, runs `stop`, and waits for running calls and until `is_done`.
void end_calls(
    const std::function<void()>& stop = [] {},
    const std::function<bool()>& is_done = [] { return true; });

// Returns whether this process was forked from one that has called check_process.
[[nodiscard]] bool is_forked();

// Precedes all use of Vulkan. Throws Error(unsupported) in a process that was forked from one that
// has used it, because drivers do not work there.
void check_process();

}  // namespace quadtile::python
