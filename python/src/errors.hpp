// quadtile::Error as an exception of Python.

#pragma once

#include <quadtile/error.hpp>

#include <pybind11/pybind11.h>

#include <string>

namespace quadtile::python {

namespace py = pybind11;

// Makes quadtile.Error (quadtile.ArgumentError where it is the argument's fault) of what leaves
// this module's functions.
void translate_errors();

// The exception as an object, not raised.
[[nodiscard]] py::object exception_object(const Error& error);

// TypeError: "`name` must be `wanted`, not int"; the type is that of `given`.
[[noreturn]] void throw_type_error(const std::string& name, const std::string& wanted,
                                   py::handle given);

}  // namespace quadtile::python
