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

std::span<const std::uint32_t> spirv_of(Kernel kernel, bool subgroup_operations) {
    using Words = std::span<const std::uint32_t>;
    switch (kernel) {
        case Kernel::pyramid:
            return subgroup_operations ? Words(PYRAMID_SUBGROUP) : Words(PYRAMID);
        case Kernel::per_level:
            return subgroup_operations ? Words(PER_LEVEL_SUBGROUP) : Words(PER_LEVEL);
        case Kernel::per_level_arguments:
            return PER_LEVEL_ARGUMENTS;
        case Kernel::subtree:
            break;
    }
    return subgroup_operations ? Words(SUBTREE_SUBGROUP) : Words(SUBTREE);
}

}  // namespace quadtile::detail
