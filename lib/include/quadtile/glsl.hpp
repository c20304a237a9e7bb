/// \file
/// Compilation of the user's GLSL ahead of time, for programs that ship without the compiler.

#pragma once

#include <quadtile/export.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadtile {

/// Returns whether this build of the library has the run-time compiler (QUADTILE_RUNTIME_GLSL).
[[nodiscard]] QUADTILE_API bool can_compile_glsl() noexcept;

/// Compiles a threshold function to SPIR-V of all kernels that call it, for every device. Pass the
/// result to ThresholdFunction::from_compiled. It fits only this version of quadtile, with or
/// without the compiler; quadtile checks that.
///
/// Throws Error: invalid_argument, with line numbers, if the text does not compile or contains
/// anything that ThresholdFunction refuses; unsupported without the compiler. Resources in set 1
/// are accepted here, and refused later by a device without a layout for them. Subgroup operations
/// are refused, because not every device has them. Thread-safe.
[[nodiscard]] QUADTILE_API std::vector<std::byte> compile_threshold(const std::string& glsl);

/// Compiles a reduction (DownsamplerOptions::custom_glsl) of texels with 1, 2 or 4 channels. Pass
/// the result to DownsamplerOptions::custom_compiled. Throws as compile_threshold does.
/// Thread-safe.
[[nodiscard]] QUADTILE_API std::vector<std::byte> compile_reduction(const std::string& glsl,
                                                                    std::uint32_t channels);

/// Returns whether bytes begin like the results of these two functions; a text never does. Only the
/// beginning is read.
[[nodiscard]] QUADTILE_API bool is_compiled_glsl(std::span<const std::byte> bytes) noexcept;

}  // namespace quadtile
