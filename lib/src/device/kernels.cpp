#include "device/kernels.hpp"

namespace quadtile::detail {

namespace {

constexpr std::uint32_t PYRAMID[] = {
#include "pyramid.spv.inc"
};
constexpr std::uint32_t PYRAMID_SUBGROUP[] = {
#include "pyramid_subgroup.spv.inc"
};
constexpr std::uint32_t PER_LEVEL[] = {
#include "per_level.spv.inc"
};
constexpr std::uint32_t PER_LEVEL_SUBGROUP[] = {
#include "per_level_subgroup.spv.inc"
};
constexpr std::uint32_t PER_LEVEL_ARGUMENTS[] = {
#include "per_level_arguments.spv.inc"
};
constexpr std::uint32_t SUBTREE[] = {
#include "subtree.spv.inc"
};
constexpr std::uint32_t SUBTREE_SUBGROUP[] = {
#include "subtree_subgroup.spv.inc"
};

constexpr std::uint32_t FUSED_ALL[] = {
#include "fused_all.spv.inc"
};
constexpr std::uint32_t FUSED_ALL_SUBGROUP[] = {
#include "fused_all_subgroup.spv.inc"
};
constexpr std::uint32_t FUSED_COUNT[] = {
#include "fused_count.spv.inc"
};
constexpr std::uint32_t FUSED_COUNT_SUBGROUP[] = {
#include "fused_count_subgroup.spv.inc"
};
constexpr std::uint32_t FUSED_BUDGET[] = {
#include "fused_budget.spv.inc"
};
constexpr std::uint32_t FUSED_BUDGET_SUBGROUP[] = {
#include "fused_budget_subgroup.spv.inc"
};
constexpr std::uint32_t FUSED_EMIT[] = {
#include "fused_emit.spv.inc"
};
constexpr std::uint32_t FUSED_EMIT_SUBGROUP[] = {
#include "fused_emit_subgroup.spv.inc"
};
constexpr std::uint32_t DIRTY_BLOCKS[] = {
#include "dirty_blocks.spv.inc"
};

// One array for each variant of the downsampler.
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_1[] = {
#include "downsample_extremes_1.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_1_SUBGROUP[] = {
#include "downsample_extremes_1_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_1_ODD[] = {
#include "downsample_extremes_1_odd.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_1_ODD_SUBGROUP[] = {
#include "downsample_extremes_1_odd_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_2[] = {
#include "downsample_extremes_2.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_2_SUBGROUP[] = {
#include "downsample_extremes_2_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_2_ODD[] = {
#include "downsample_extremes_2_odd.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_2_ODD_SUBGROUP[] = {
#include "downsample_extremes_2_odd_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_4[] = {
#include "downsample_extremes_4.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_4_SUBGROUP[] = {
#include "downsample_extremes_4_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_4_ODD[] = {
#include "downsample_extremes_4_odd.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_EXTREMES_4_ODD_SUBGROUP[] = {
#include "downsample_extremes_4_odd_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_1[] = {
#include "downsample_floats_1.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_1_SUBGROUP[] = {
#include "downsample_floats_1_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_1_ODD[] = {
#include "downsample_floats_1_odd.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_1_ODD_SUBGROUP[] = {
#include "downsample_floats_1_odd_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_2[] = {
#include "downsample_floats_2.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_2_SUBGROUP[] = {
#include "downsample_floats_2_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_2_ODD[] = {
#include "downsample_floats_2_odd.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_2_ODD_SUBGROUP[] = {
#include "downsample_floats_2_odd_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_4[] = {
#include "downsample_floats_4.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_4_SUBGROUP[] = {
#include "downsample_floats_4_subgroup.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_4_ODD[] = {
#include "downsample_floats_4_odd.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_FLOATS_4_ODD_SUBGROUP[] = {
#include "downsample_floats_4_odd_subgroup.spv.inc"
};

#include "kernel_fingerprint.inc"

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
        case Kernel::dirty_blocks:
            return {DIRTY_BLOCKS, false};
        case Kernel::fused_all:
            return variant(FUSED_ALL, FUSED_ALL_SUBGROUP);
        case Kernel::fused_count:
            return variant(FUSED_COUNT, FUSED_COUNT_SUBGROUP);
        case Kernel::fused_emit:
            return variant(FUSED_EMIT, FUSED_EMIT_SUBGROUP);
        case Kernel::fused_budget:
            return variant(FUSED_BUDGET, FUSED_BUDGET_SUBGROUP);
        case Kernel::per_level:
            return variant(PER_LEVEL, PER_LEVEL_SUBGROUP);
        case Kernel::per_level_arguments:
            return {PER_LEVEL_ARGUMENTS, false};
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
    // By items, channels, blocks, and without and with subgroup operations.
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
