// Check that the SPIR-V of a kernel with a user's function fits the kernel's pipelines.

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace quadtile::detail {

using SpirvView = std::span<const std::uint32_t>;

// Returns the first violation in `code`, a sentence without its end, or nothing. `library_code` is
// the library's own kernel without a function. Its capabilities and its resources are allowed,
// beside the capabilities of every Vulkan device.
[[nodiscard]] std::string violation_in(SpirvView code, SpirvView library_code);

}  // namespace quadtile::detail
