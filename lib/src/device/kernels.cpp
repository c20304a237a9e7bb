#include "device/kernels.hpp"

namespace quadtile::detail {

namespace {

#include "kernel_fingerprint.inc"
#include "quadtile_kernels.inc"

}  // namespace

std::uint64_t kernel_fingerprint() noexcept {
    return KERNEL_FINGERPRINT;
}

KernelCode kernel_code(const std::string& name, bool subgroup_operations) {
    return find_kernel(KERNELS, name, subgroup_operations);
}

}  // namespace quadtile::detail
