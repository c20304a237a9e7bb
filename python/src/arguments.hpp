// Values from Python's arguments, and texts for Python. pybind11 converts no argument itself,
// because its errors name C++ types and no argument.

#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace quadtile::python {

namespace py = pybind11;

// TypeError: "`name` must be `wanted`, not int"; the type is that of `given`.
[[noreturn]] void throw_type_error(const std::string& name, const std::string& wanted,
                                   py::handle given);

// Returns a text as Python's. Bytes that are not UTF-8, as in names of files, become surrogates, as
// those that os.fsdecode makes.
[[nodiscard]] py::str text_of(std::string_view text);

// Returns the inverse. Throws TypeError; ValueError for other surrogates.
[[nodiscard]] std::string text_from(py::handle given, const char* name);

// Returns the index of a name in a list. Throws TypeError; ValueError, which lists the names.
[[nodiscard]] std::size_t choice_from(const char* argument, py::handle given,
                                      std::initializer_list<const char*> names);

// Returns True or False, also of NumPy. Throws TypeError: a number or a text is mostly a mistake.
[[nodiscard]] bool flag_from(py::handle given, const char* name);

// Returns an integer from 0 to `most`. Throws TypeError, ValueError.
[[nodiscard]] std::uint64_t count_from(py::handle given, const char* name,
                                       std::uint64_t most = UINT64_MAX);
[[nodiscard]] inline std::uint32_t count32_from(py::handle given, const char* name) {
    return static_cast<std::uint32_t>(count_from(given, name, UINT32_MAX));
}

// Returns an integer of 32 bits. Throws TypeError, ValueError.
[[nodiscard]] std::int32_t integer_from(py::handle given, const char* name);

// Returns a number. Throws TypeError, ValueError (too large for the type).
[[nodiscard]] double double_from(py::handle given, const char* name);
[[nodiscard]] float float_from(py::handle given, const char* name);

}  // namespace quadtile::python
