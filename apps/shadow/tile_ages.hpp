// Lookup and ages of a frame's tiles on the host.

#pragma once

#include "frame_settings.hpp"

#include <quadtile/shadow.hpp>

#include <glm/vec2.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

namespace quadtile::shadow {

[[nodiscard]] inline TileName name_of(const ShadowTile& tile) {
    return {tile.position, tile.node};
}

// Returns the tile at a place of a light's map, 0 to 1; null outside the map.
[[nodiscard]] const ShadowTile* tile_at(std::span<const ShadowTile> tiles, std::uint32_t light,
                                        const glm::vec2& place, std::uint32_t map_extent);

// Age in frames.
struct TileAge {
    std::uint32_t in_list = 0;  // since the tile came into the list
    std::uint32_t drawn = 0;    // since its slot was drawn
};

class TileAges {
 public:
    // Adds the next frame with its tiles.
    void add_frame(const ShadowParameters& parameters, const ShadowFrame& frame,
                   std::span<const ShadowTile> tiles);
    // Returns the age of a tile of the last frame.
    [[nodiscard]] std::optional<TileAge> age_of(const TileName& tile) const;

 private:
    struct Seen {
        std::uint64_t first = 0;
        std::uint64_t drawn = 0;
    };

    std::uint64_t frame_ = 0;  // number
    ShadowFrame last_{};
    std::unordered_map<std::uint64_t, Seen> seen_;  // by position and node
};

}  // namespace quadtile::shadow
