#include "kernels.hpp"

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

}  // namespace

KernelCode code_of(Kernel kernel, bool subgroup_operations) {
    const auto variant = [&](std::span<const std::uint32_t> without,
                             std::span<const std::uint32_t> with) {
        return KernelCode{subgroup_operations ? with : without, subgroup_operations};
    };
    switch (kernel) {
        case Kernel::pyramid:
            return variant(PYRAMID, PYRAMID_SUBGROUP);
        case Kernel::per_level:
            return variant(PER_LEVEL, PER_LEVEL_SUBGROUP);
        case Kernel::per_level_arguments:
            return {PER_LEVEL_ARGUMENTS, false};
        case Kernel::subtree:
            break;
    }
    return variant(SUBTREE, SUBTREE_SUBGROUP);
}

}  // namespace quadtile::detail
