// The tiles of a frame on the host: which one a place lies in, and how old each one is.

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

// The tile of a light's map at a place of it, 0 to 1; null: the place lies outside.
[[nodiscard]] const ShadowTile* tile_at(std::span<const ShadowTile> tiles, std::uint32_t light,
                                        const glm::vec2& place, std::uint32_t map_extent);

// In frames.
struct TileAge {
    std::uint32_t in_list = 0;  // since the tile came into the list
    std::uint32_t drawn = 0;    // since its slot was drawn
};

class TileAges {
 public:
    // The tiles of the next frame, as ShadowFitter has left them.
    void add_frame(std::span<const ShadowTile> tiles);
    // Of a tile of the last frame.
    [[nodiscard]] std::optional<TileAge> age_of(const TileName& tile) const;

 private:
    struct Seen {
        std::uint64_t first = 0;
        std::uint64_t drawn = 0;
    };

    std::uint64_t frame_ = 0;
    std::unordered_map<std::uint64_t, Seen> seen_;  // by position and node
};

}  // namespace quadtile::shadow
