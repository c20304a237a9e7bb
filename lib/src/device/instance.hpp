// The Vulkan loader and its instances.

#pragma once

#include "device/device_context.hpp"

namespace quadtile::detail {

// Creates the instance of a context, with validation if requested. `entry` is that of
// DeviceOptions::get_instance_proc_addr.
void create_instance(DeviceContext& context, bool validation, PFN_vkGetInstanceProcAddr entry);

[[nodiscard]] bool validation_installed(PFN_vkGetInstanceProcAddr entry);

}  // namespace quadtile::detail
