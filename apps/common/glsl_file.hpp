// Functions of the user's: files with GLSL, or with what `quadtile compile` made of it.

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
    // One of the two is empty.
    std::string text;
    std::vector<std::byte> compiled;

    // The error with the file's name where the library says "threshold:3:" or "reduction:3:".
    [[nodiscard]] Error with_name(const Error& error) const;
};

// Throws std::runtime_error for a file that cannot be read, is empty or has more than 16 MiB.
[[nodiscard]] GlslFile read_glsl_file(const std::filesystem::path& path, GlslKind kind);

}  // namespace quadtile::app
