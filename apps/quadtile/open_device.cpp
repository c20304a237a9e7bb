#include "open_device.hpp"

#include "message_line.hpp"

#include <quadtile/error.hpp>

#include <iostream>

namespace quadtile::app {

namespace {

// What costs time, not results: a cache directory that cannot be used, for one.
void print_warning(Severity severity, std::string_view message) {
    if (severity != Severity::info) {
        std::cerr << message_line("quadtile: warning", message) + "\n";
    }
}

}  // namespace

Device open_device(const std::string& select, const std::string& without) {
    try {
        DeviceOptions options;
        options.select = select;
        options.log = print_warning;
        return Device::create(options);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::no_device) {
            throw;
        }
        throw Error(error.code(),
                    std::string(error.what()) + "; " + without + " works without a device",
                    error.vk_result());
    }
}

}  // namespace quadtile::app
