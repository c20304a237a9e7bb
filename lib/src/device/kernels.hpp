// The compiled kernels, embedded.

#pragma once

#include <cstdint>
#include <span>

namespace quadtile::detail {

enum class Kernel {
    pyramid,
    dirty_blocks,
    fused_all,
    fused_count,
    fused_emit,
    fused_budget,
    balance_marks,
    balance_tiles,
    balance_marks_descent,
    balance_tiles_descent,
    node_thresholds,
    subtree
};

// What downsample.comp reduces (downsample_items.glsl).
enum class ItemType { extremes, floats };

struct KernelCode {
    std::span<const std::uint32_t> spirv;
    bool uses_subgroups;  // needs full subgroups of the device's size
};

// Changes with the text of any kernel: what was compiled of others does not fit.
[[nodiscard]] std::uint64_t kernel_fingerprint() noexcept;

// A kernel, in the variant with subgroup operations where it has one and they are allowed.
[[nodiscard]] KernelCode code_of(Kernel kernel, bool subgroup_operations);

// kernels/downsample.comp, writing images of 1, 2 or 4 channels; `odd_blocks`: where the edge rule
// treats some blocks specially.
[[nodiscard]] KernelCode downsample_code(ItemType items, std::uint32_t channels, bool odd_blocks,
                                         bool subgroup_operations);

}  // namespace quadtile::detail
