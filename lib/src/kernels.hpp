// The compiled kernels, embedded.

#pragma once

#include <cstdint>
#include <span>

namespace quadtile::detail {

enum class Kernel { pyramid, per_level, per_level_arguments, subtree };

struct KernelCode {
    std::span<const std::uint32_t> spirv;
    bool uses_subgroups;  // needs full subgroups of the device's size
};

// A kernel, in the variant with subgroup operations where it has one and they are allowed.
[[nodiscard]] KernelCode code_of(Kernel kernel, bool subgroup_operations);

}  // namespace quadtile::detail
