// Files with the user's functions, as GLSL or compiled by `quadtile compile`.

#pragma once

#include <quadtile/error.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::app {

enum class GlslKind { threshold, reduction };

struct GlslFile {
    std::filesystem::path path;
    GlslKind kind = GlslKind::threshold;
    // Text or code; the other is empty.
    std::string text;
    std::vector<std::byte> compiled;

    // Returns the error with the file's name in place of "threshold:3:" or "reduction:3:".
    [[nodiscard]] Error with_name(const Error& error) const;
};

// Reads a file. Throws std::runtime_error if it cannot be read, is empty or has more than 16 MiB.
[[nodiscard]] GlslFile read_glsl_file(const std::filesystem::path& path, GlslKind kind);

}  // namespace quadtile::app
