// Compiles kernels at run time, with a text of the caller's in them.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::detail {

// A text of the caller's that a kernel includes under a name.
struct UserSource {
    std::string include_name;  // "user_reduction.glsl"
    std::string display_name;  // "reduction": in error messages
    std::string text;
};

using Macros = std::vector<std::pair<std::string, std::string>>;  // name, value

// Whether this build has the compiler.
[[nodiscard]] bool has_glsl_compiler() noexcept;

// SPIR-V of kernels/<kernel>.comp for the build's target, optimised, with `user`'s text where the
// kernel includes it. That text may include the headers of kernels/shared.
//
// Throws Error(invalid_argument) with the compiler's first errors where the text does not fit, each
// numbered by the lines of that text ("reduction:3: error: ..."); Error(unsupported) in a build
// without the compiler. Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> compile_kernel(const std::string& kernel,
                                                        const Macros& macros,
                                                        const UserSource& user);

// The same for a kernel given as text; `name` is for error messages.
[[nodiscard]] std::vector<std::uint32_t> compile_glsl(const std::string& name,
                                                      const std::string& text, const Macros& macros,
                                                      const UserSource& user);

}  // namespace quadtile::detail
