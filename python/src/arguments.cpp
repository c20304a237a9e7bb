#include "arguments.hpp"

#include <cmath>
#include <limits>

namespace quadtile::python {

namespace {

std::string shown(py::handle given) {
    return py::str(given).cast<std::string>();
}

// Throws what a conversion has raised: TypeError and OverflowError with the name of the argument.
[[noreturn]] void rethrow(const char* name, const char* wanted, py::handle given) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
        PyErr_Clear();
        throw_type_error(name, wanted, given);
    }
    if (PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {
        PyErr_Clear();
        throw py::value_error(std::string(name) + " is too large; give a smaller number");
    }
    throw py::error_already_set();
}

py::object index_from(py::handle given, const char* name) {
    auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
    if (!number) {
        rethrow(name, "an integer", given);
    }
    return number;
}

[[noreturn]] void throw_range_error(const char* name, py::handle number, const std::string& least,
                                    const std::string& most) {
    PyErr_Clear();
    throw py::value_error(std::string(name) + " must be from " + least + " to " + most + ", not " +
                          shown(number));
}

}  // namespace

void throw_type_error(const std::string& name, const std::string& wanted, py::handle given) {
    throw py::type_error(name + " must be " + wanted + ", not " + Py_TYPE(given.ptr())->tp_name);
}

py::str text_of(std::string_view text) {
    PyObject* const decoded =
        PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape");
    if (decoded == nullptr) {
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::str>(decoded);
}

std::string text_from(py::handle given, const char* name) {
    if (!py::isinstance<py::str>(given)) {
        throw_type_error(name, "a text", given);
    }
    const auto bytes = py::reinterpret_steal<py::bytes>(
        PyUnicode_AsEncodedString(given.ptr(), "utf-8", "surrogateescape"));
    if (!bytes) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) {
            throw py::error_already_set();
        }
        PyErr_Clear();
        throw py::value_error(std::string(name) +
                              " has lone surrogates, which are no characters; remove them");
    }
    return bytes;
}

std::size_t choice_from(const char* argument, py::handle given,
                        std::initializer_list<const char*> names) {
    const std::string text = text_from(given, argument);
    std::string list;
    std::size_t index = 0;
    for (const char* const name : names) {
        if (text == name) {
            return index;
        }
        ++index;
        list += std::string(list.empty()            ? ""
                            : index == names.size() ? " or "
                                                    : ", ") +
                "'" + name + "'";
    }
    PyErr_SetObject(PyExc_ValueError,
                    text_of(argument + (" must be " + list) + ", not '" + text + "'").ptr());
    throw py::error_already_set();
}

bool flag_from(py::handle given, const char* name) {
    static const py::handle numpy_bool =
        py::object(py::module_::import("numpy").attr("bool_")).release();
    if (!PyBool_Check(given.ptr()) && !py::isinstance(given, numpy_bool)) {
        throw_type_error(name, "True or False", given);
    }
    return PyObject_IsTrue(given.ptr()) == 1;
}

std::uint64_t count_from(py::handle given, const char* name, std::uint64_t most) {
    const py::object number = index_from(given, name);
    const std::uint64_t value = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr || value > most) {
        throw_range_error(name, number, "0", std::to_string(most));
    }
    return value;
}

std::int32_t integer_from(py::handle given, const char* name) {
    using Limits = std::numeric_limits<std::int32_t>;
    const py::object number = index_from(given, name);
    const long long value = PyLong_AsLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr || value < Limits::min() || value > Limits::max()) {
        throw_range_error(name, number, std::to_string(Limits::min()),
                          std::to_string(Limits::max()));
    }
    return static_cast<std::int32_t>(value);
}

double double_from(py::handle given, const char* name) {
    const double value = PyFloat_AsDouble(given.ptr());
    if (PyErr_Occurred() != nullptr) {
        rethrow(name, "a number", given);
    }
    return value;
}

float float_from(py::handle given, const char* name) {
    const double value = double_from(given, name);
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) {
        throw py::value_error(std::string(name) + " is " + shown(given) +
                              ", beyond the largest float of 32 bits, 3.4e38");
    }
    return static_cast<float>(value);
}

}  // namespace quadtile::python
