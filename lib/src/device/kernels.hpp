// The embedded SPIR-V of the kernels.

#pragma once

#include <cstdint>
#include <span>

namespace quadtile::detail {

enum class Kernel {
    pyramid,
    fused_all,
    fused_count,
    fused_emit,
    fused_budget,
    balance_marks,
    balance_tiles,
    subtree
};

// Items that downsample.comp reduces (downsample_items.glsl).
enum class ItemType { extremes, floats };

struct KernelCode {
    std::span<const std::uint32_t> spirv;
    bool uses_subgroups;  // whether it needs full subgroups of the device's size
};

// Returns the hash of the text of all kernels. Code compiled for another fingerprint does not fit.
[[nodiscard]] std::uint64_t kernel_fingerprint() noexcept;

// Returns a kernel, in the variant with subgroup operations if it has one and they are allowed.
[[nodiscard]] KernelCode code_of(Kernel kernel, bool subgroup_operations);

// Returns kernels/downsample.comp for images of 1, 2 or 4 channels. `odd_blocks`: the edge rule
// treats some blocks specially.
[[nodiscard]] KernelCode downsample_code(ItemType items, std::uint32_t channels, bool odd_blocks,
                                         bool subgroup_operations);

}  // namespace quadtile::detail
