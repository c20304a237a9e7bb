/// \file
/// Functions of the user's in GLSL, compiled ahead: for programs that ship without the compiler.

#pragma once

#include <quadtile/export.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadtile {

/// Whether this build of the library has the run-time compiler (QUADTILE_RUNTIME_GLSL).
[[nodiscard]] QUADTILE_API bool can_compile_glsl() noexcept;

/// SPIR-V of all kernels that call a threshold function (ThresholdFunction says what its text may
/// be), for every device: give it to ThresholdFunction::from_compiled. It fits this version of
/// quadtile alone, with or without the compiler, which checks that.
/// Throws Error: invalid_argument where the text does not compile or has what ThresholdFunction
/// refuses, with its line numbers; unsupported without the compiler. Resources in set 1 are taken
/// here, and refused where a device is used without a layout of them; subgroup operations are
/// refused, because not every device has them. Thread-safe.
[[nodiscard]] QUADTILE_API std::vector<std::byte> compile_threshold(const std::string& glsl);

/// The same of a reduction (DownsamplerOptions::custom_glsl) of texels with 1, 2 or 4 channels:
/// give it to DownsamplerOptions::custom_compiled.
[[nodiscard]] QUADTILE_API std::vector<std::byte> compile_reduction(const std::string& glsl,
                                                                    std::uint32_t channels);

/// Whether bytes begin as what these two make does; a text never does. No more of it is looked at.
[[nodiscard]] QUADTILE_API bool is_compiled_glsl(std::span<const std::byte> bytes) noexcept;

}  // namespace quadtile
