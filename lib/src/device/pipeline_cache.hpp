// Compiled pipelines of a device as bytes that outlive the process.

#pragma once

#include "device/device_context.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace quadtile::detail {

// Opens the device's pipeline cache with what pipeline_cache_bytes returned in an earlier run.
// Other bytes are ignored.
void open_pipeline_cache(DeviceContext& context, std::span<const std::byte> bytes);

// Returns the driver's data and a checksum.
[[nodiscard]] std::vector<std::byte> pipeline_cache_bytes(const DeviceContext& context);

}  // namespace quadtile::detail
