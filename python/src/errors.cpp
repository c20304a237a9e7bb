#include "errors.hpp"

#include "arguments.hpp"

namespace quadtile::python {

namespace {

const char* name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::unsupported:
            return "unsupported";
        case ErrorCode::no_device:
            return "no_device";
        case ErrorCode::out_of_memory:
            return "out_of_memory";
        case ErrorCode::device_lost:
            return "device_lost";
        case ErrorCode::cancelled:
            return "cancelled";
        case ErrorCode::deadline_exceeded:
            return "deadline_exceeded";
        case ErrorCode::vulkan:
            break;
    }
    return "vulkan";
}

}  // namespace

py::object exception_object(const Error& error) {
    const bool is_argument = error.code() == ErrorCode::invalid_argument;
    const py::object type =
        py::module_::import("quadtile._errors").attr(is_argument ? "ArgumentError" : "Error");
    return type(text_of(error.what()), name_of(error.code()), error.vk_result());
}

void translate_errors() {
    py::register_local_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            const py::object exception = exception_object(error);
            PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
        }
    });
}

}  // namespace quadtile::python
