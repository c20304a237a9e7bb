// The embedded SPIR-V of the kernels.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quadtile::detail {

// A row of the table that the build writes (cmake/QuadtileKernels.cmake).
struct EmbeddedKernel {
    std::string_view name;
    std::span<const std::uint32_t> spirv;
};

// A kernel, whose name and words stay where they are.
struct KernelCode {
    std::string_view name;  // for error messages and debuggers
    std::span<const std::uint32_t> spirv;
    bool uses_subgroups;  // whether it needs full subgroups of the device's size
};

// Returns a kernel of a table, in the variant with subgroup operations if it has one and they are
// allowed.
[[nodiscard]] inline KernelCode find_kernel(std::span<const EmbeddedKernel> table,
                                            const std::string& name, bool subgroup_operations) {
    const std::string variant = name + "_subgroup";
    auto found = subgroup_operations ? std::ranges::find(table, variant, &EmbeddedKernel::name)
                                     : table.end();
    const bool uses_subgroups = found != table.end();
    if (!uses_subgroups) {
        found = std::ranges::find(table, name, &EmbeddedKernel::name);
    }
    if (found == table.end()) {
        throw std::logic_error("the build has no kernel " + name);
    }
    return {found->name, found->spirv, uses_subgroups};
}

// Returns a kernel of kernels/kernels.cmake.
[[nodiscard]] KernelCode kernel_code(const std::string& name, bool subgroup_operations);

}  // namespace quadtile::detail
