// Folders of the user's files.

#pragma once

#include <cstdlib>
#include <filesystem>

namespace quadtile::app {

// Returns `quadtile` in the folder that the variable names (XDG_CACHE_HOME) or in the one in the
// home (.cache); empty if neither is set.
[[nodiscard]] inline std::filesystem::path user_folder(const char* variable, const char* in_home) {
    const auto folder_of = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::filesystem::path(value == nullptr ? "" : value);
    };
    // The XDG Base Directory Specification ignores relative paths.
    const std::filesystem::path given = folder_of(variable);
    if (given.is_absolute()) {
        return given / "quadtile";
    }
    const std::filesystem::path home = folder_of("HOME");
    return home.empty() ? home : home / in_home / "quadtile";
}

}  // namespace quadtile::app
