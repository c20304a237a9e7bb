// Numbers of things in messages.

#pragma once

#include <cstdint>
#include <string>

namespace quadtile::app {

// Returns "1 tile" or "2 tiles".
[[nodiscard]] inline std::string counted(std::uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace quadtile::app
