// Compilation of kernels at run time, with a text of the caller in them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quadtile::detail {

// The caller's text that a kernel includes under a name.
struct UserSource {
    std::string include_name;  // "user_reduction.glsl"
    std::string display_name;  // "reduction": in error messages
    std::string text;
};

// Longest text: a compiler has no limit of time or memory.
inline constexpr std::size_t MAX_USER_TEXT_BYTES = std::size_t{64} << 10U;

using Macros = std::vector<std::pair<std::string, std::string>>;  // name, value

enum class CodeForm {
    optimised,
    as_written,  // with all declarations, used or not
};

// Compiles kernels/<kernel>.comp to SPIR-V for the build's target, with `user`'s text at the
// kernel's include. The text may include the headers of kernels/shared.
//
// Throws Error(invalid_argument) with the compiler's first errors if the text does not compile,
// numbered by the lines of that text ("reduction:3: error: ..."), and if it has more than
// MAX_USER_TEXT_BYTES; Error(unsupported) in a build without the compiler. Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> compile_kernel(const std::string& kernel,
                                                        const Macros& macros,
                                                        const UserSource& user, CodeForm form);

// Does the same for a kernel given as text, in a build with the compiler; `name` is for error
// messages.
[[nodiscard]] std::vector<std::uint32_t> compile_glsl(const std::string& name,
                                                      const std::string& text, const Macros& macros,
                                                      const UserSource& user, CodeForm form);

// Throws Error(invalid_argument) in the form of the compiler's errors. Line 0 stands for the whole
// text.
[[noreturn]] void refuse_at(const UserSource& user, std::size_t line, std::string_view message);

}  // namespace quadtile::detail
