// The compiled kernels, embedded.

#pragma once

#include <cstdint>
#include <span>

namespace quadtile::detail {

enum class Kernel { pyramid, per_level, per_level_arguments, subtree };

// The SPIR-V words of a kernel, in the variant with subgroup operations or the one without.
[[nodiscard]] std::span<const std::uint32_t> spirv_of(Kernel kernel, bool subgroup_operations);

}  // namespace quadtile::detail
