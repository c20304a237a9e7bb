// Kernels that call a user's function, compiled at first use.

#pragma once

#include "glsl/glsl_compiler.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadtile::detail {

using SpirvView = std::span<const std::uint32_t>;

// One variant of a kernel, and the names of the user's text in it.
struct UserKernel {
    std::string name;  // "subtree"
    Macros macros;
    SpirvView library_code;    // the library's kernel without a function
    std::string include_name;  // "user_threshold.glsl"
    std::string display_name;  // "threshold": in error messages

    // Returns the kernel that calls threshold().
    [[nodiscard]] static UserKernel threshold(bool subgroup_operations);
    // Returns the kernel that calls reduce().
    [[nodiscard]] static UserKernel reduction(std::uint32_t channels, bool odd_blocks,
                                              bool subgroup_operations);
};

// Returns the SPIR-V of a kernel with a user's text in it. The process keeps the code of each text,
// so equal texts of several objects and devices are compiled once. Throws Error as compile_kernel
// does, and invalid_argument for a text whose code does not fit the kernel's pipelines.
// Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> code_of(const UserKernel& kernel, const std::string& glsl);

}  // namespace quadtile::detail
