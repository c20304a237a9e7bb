// quadtile::Error as an exception of Python.

#pragma once

#include <quadtile/error.hpp>

#include <pybind11/pybind11.h>

namespace quadtile::python {

namespace py = pybind11;

// Converts exceptions that leave this module's functions to quadtile.Error, or to
// quadtile.ArgumentError for faults of an argument.
void translate_errors();

// Returns the exception as an object, not raised.
[[nodiscard]] py::object exception_object(const Error& error);

}  // namespace quadtile::python
