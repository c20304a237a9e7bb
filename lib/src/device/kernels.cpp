#include "device/kernels.hpp"

namespace quadtile::detail {

namespace {

#include "kernel_fingerprint.inc"
#include "quadtile_kernels.inc"

}  // namespace

std::uint64_t kernel_fingerprint() noexcept {
    return KERNEL_FINGERPRINT;
}

KernelCode code_of(Kernel kernel, bool subgroup_operations) {
    const auto variant = [&](std::span<const std::uint32_t> without,
                             std::span<const std::uint32_t> with) {
        return KernelCode{subgroup_operations ? with : without, subgroup_operations};
    };
    switch (kernel) {
        case Kernel::pyramid:
            return variant(PYRAMID, PYRAMID_SUBGROUP);
        case Kernel::fused_all:
            return variant(FUSED_ALL, FUSED_ALL_SUBGROUP);
        case Kernel::fused_count:
            return variant(FUSED_COUNT, FUSED_COUNT_SUBGROUP);
        case Kernel::fused_emit:
            return variant(FUSED_EMIT, FUSED_EMIT_SUBGROUP);
        case Kernel::fused_budget:
            return variant(FUSED_BUDGET, FUSED_BUDGET_SUBGROUP);
        case Kernel::balance_marks:
            return variant(BALANCE_MARKS, BALANCE_MARKS_SUBGROUP);
        case Kernel::balance_tiles:
            return variant(BALANCE_TILES, BALANCE_TILES_SUBGROUP);
        case Kernel::subtree:
            break;
    }
    return variant(SUBTREE, SUBTREE_SUBGROUP);
}

KernelCode downsample_code(ItemType items, std::uint32_t channels, bool odd_blocks,
                           bool subgroup_operations) {
    using Words = std::span<const std::uint32_t>;
#define QUADTILE_DOWNSAMPLE(name)           \
    {                                       \
        {name, name##_SUBGROUP}, {          \
            name##_ODD, name##_ODD_SUBGROUP \
        }                                   \
    }
    // By items, channels, blocks, and subgroup operations (without, with).
    static const Words codes[2][3][2][2] = {
        {QUADTILE_DOWNSAMPLE(DOWNSAMPLE_EXTREMES_1), QUADTILE_DOWNSAMPLE(DOWNSAMPLE_EXTREMES_2),
         QUADTILE_DOWNSAMPLE(DOWNSAMPLE_EXTREMES_4)},
        {QUADTILE_DOWNSAMPLE(DOWNSAMPLE_FLOATS_1), QUADTILE_DOWNSAMPLE(DOWNSAMPLE_FLOATS_2),
         QUADTILE_DOWNSAMPLE(DOWNSAMPLE_FLOATS_4)}};
#undef QUADTILE_DOWNSAMPLE
    return {codes[static_cast<std::size_t>(items)][channels / 2][odd_blocks ? 1 : 0]
                 [subgroup_operations ? 1 : 0],
            subgroup_operations};
}

}  // namespace quadtile::detail
