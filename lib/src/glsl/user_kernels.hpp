// Kernels that call a user's function, compiled at first use and kept, or compiled ahead.

#pragma once

#include <quadtile/tiles.hpp>

#include "device/cache_directory.hpp"
#include "glsl/glsl_compiler.hpp"
#include "glsl/spirv_module.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadtile::detail {

// One variant of a kernel.
struct UserKernel {
    std::string name;  // "subtree"
    Macros macros;
    SpirvView library_code;  // the library's kernel without a function

    // Returns the kernel that calls threshold().
    [[nodiscard]] static UserKernel threshold(bool subgroup_operations);
    // Returns the kernel that calls reduce().
    [[nodiscard]] static UserKernel reduction(std::uint32_t channels, bool odd_blocks,
                                              bool subgroup_operations);
};

// The user's text, or its compiled code, with names for files and error messages.
struct UserFunction {
    const char* include_name;  // "user_threshold.glsl"
    const char* display_name;  // "threshold"
    const std::string& glsl;   // empty: compiled ahead
    std::span<const std::byte> compiled;

    [[nodiscard]] static UserFunction threshold(const std::string& glsl,
                                                std::span<const std::byte> compiled) {
        return {"user_threshold.glsl", "threshold", glsl, compiled};
    }
    [[nodiscard]] static UserFunction reduction(const std::string& glsl,
                                                std::span<const std::byte> compiled) {
        return {"user_reduction.glsl", "reduction", glsl, compiled};
    }
};

// Returns the SPIR-V of a kernel with a function: from the code compiled ahead, from memory (by
// content, for the whole process), from `cache`, or from the compiler; then it is kept in both.
// `has_set_1`: the function may have resources in set 1. Throws Error as compile_kernel does, and
// invalid_argument for code that does not fit, violates a rule of find_violation, or is too long
// with its calls inlined. Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> code_of(const UserKernel& kernel,
                                                 const UserFunction& function, bool has_set_1,
                                                 const CacheDirectory& cache);

// Compiles several kernels ahead.
[[nodiscard]] std::vector<std::byte> compile_ahead(std::span<const UserKernel> kernels,
                                                   const UserFunction& function, bool has_set_1);

}  // namespace quadtile::detail
