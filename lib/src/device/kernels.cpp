#include "device/kernels.hpp"

namespace quadtile::detail {

namespace {

#include "quadtile_kernels.inc"

}  // namespace

KernelCode kernel_code(const std::string& name, bool subgroup_operations) {
    return find_kernel(KERNELS, name, subgroup_operations);
}

}  // namespace quadtile::detail
