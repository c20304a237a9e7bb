// Kernels that call a function of the user's: compiled when they are first needed and kept, or
// compiled ahead.

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
    SpirvView library_code;  // the library's own, without a function

    // Those that call threshold().
    [[nodiscard]] static UserKernel threshold(bool subgroup_operations);
    [[nodiscard]] static UserKernel node_thresholds();
    // Those that call reduce().
    [[nodiscard]] static UserKernel reduction(std::uint32_t channels, bool odd_blocks,
                                              bool subgroup_operations);
};

// A text of the user's, or what it was compiled to, as the files and error messages call it.
struct UserFunction {
    const char* include_name;  // "user_threshold.glsl"
    const char* display_name;  // "threshold"
    const std::string& glsl;   // empty: it was compiled ahead
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

// SPIR-V of a kernel with a function in it: from what was compiled ahead, from memory (by content,
// for the whole process), from `cache`, or compiled, and then kept in both. `has_set_1`: the
// function may have resources there.
// Throws Error as compile_kernel does, and invalid_argument for code that does not fit, that
// find_violation finds something in, or that is too long with its calls inlined.
// Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> code_of(const UserKernel& kernel,
                                                 const UserFunction& function, bool has_set_1,
                                                 const CacheDirectory& cache);

// Several of them, to be compiled ahead.
[[nodiscard]] std::vector<std::byte> compile_ahead(std::span<const UserKernel> kernels,
                                                   const UserFunction& function, bool has_set_1);

}  // namespace quadtile::detail
