// The device that a command runs on.

#pragma once

#include <quadtile/device.hpp>

#include <string>

namespace quadtile::app {

// `select` as in DeviceOptions. Where there is none, the error says that the option `without`
// ("--strategy reference") works without a device.
[[nodiscard]] Device open_device(const std::string& select, const std::string& without);

}  // namespace quadtile::app
