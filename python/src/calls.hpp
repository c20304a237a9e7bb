// Calls that do not hold Python's global interpreter lock (GIL), and their end before the
// interpreter's.

#pragma once

#include <pybind11/pybind11.h>

#include <functional>

namespace quadtile::python {

namespace py = pybind11;

// Releases the GIL from its construction to its destruction; all work that may take long, and all
// that may wait for another thread, is done under one.
//
// A thread that comes back to an interpreter that is ending would be ended by Python in the middle
// of C++. So end_calls() waits for all of these, and lets no new one begin.
class WithoutGil {
 public:
    // Whether one may begin though end_calls() has begun: for what end_calls() waits for.
    enum class AtExit { refused, allowed };

    // Throws Error(cancelled) if the interpreter is ending.
    explicit WithoutGil(AtExit at_exit = AtExit::refused);
    ~WithoutGil();
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

 private:
    PyThreadState* state_;
};

// Lets no new call begin, runs `stop`, and waits for the calls under way and until `is_done`. Does
// nothing in a process that was forked from the one that has imported the module.
void end_calls(
    const std::function<void()>& stop = [] {},
    const std::function<bool()>& is_done = [] { return true; });

// Throws Error(unsupported) in a process that was forked from the one that has imported the module:
// Vulkan's drivers do not work there.
void check_process();

}  // namespace quadtile::python
