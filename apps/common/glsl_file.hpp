// Files with the user's functions in GLSL.

#pragma once

#include <quadtile/error.hpp>

#include <filesystem>
#include <string>

namespace quadtile::app {

enum class GlslKind { threshold, reduction };

struct GlslFile {
    std::filesystem::path path;
    GlslKind kind = GlslKind::threshold;
    std::string text;

    // Returns the error with the file's name in place of "threshold:3:" or "reduction:3:".
    [[nodiscard]] Error with_name(const Error& error) const;
};

// Reads a file. Throws std::runtime_error if it cannot be read, is empty or has more than 64 KiB.
[[nodiscard]] GlslFile read_glsl_file(const std::filesystem::path& path, GlslKind kind);

}  // namespace quadtile::app
