// A test of a device by lists that are known. It is made by the layer that runs
// (running/self_test.cpp).

#pragma once

#include <quadtile/device.hpp>

namespace quadtile::detail {

// Returns whether the device makes the lists of some small maps as the CPU does, with the features
// of its info. Throws Error as Tiler does.
[[nodiscard]] bool makes_known_lists(const Device& device);

}  // namespace quadtile::detail
