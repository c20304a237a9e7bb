#include "tile_ages.hpp"

#include <algorithm>
#include <utility>

namespace quadtile::shadow {

namespace {

std::uint64_t key_of(const TileName& tile) {
    return std::uint64_t{tile.position} << 32U | tile.node;
}

// Returns the name that a kept tile had in the last frame.
TileName last_name(const ShadowParameters& parameters, const ShadowFrame& frame,
                   const ShadowFrame& last, const ShadowTile& tile) {
    const std::uint32_t light = tile.node >> 16U;
    const std::uint32_t level = tile.node & 0xffU;
    const ShadowStep step = shadow_step(parameters, frame.lights[light], last.lights[light]);
    const auto then = [level](std::uint32_t place, std::int32_t by) {
        return ((place << level) + static_cast<std::uint32_t>(by)) >> level;
    };
    return {
        tile_position(then(tile.position & 0xffffU, step.x), then(tile.position >> 16U, step.y)),
        tile.node};
}

}  // namespace

const ShadowTile* tile_at(std::span<const ShadowTile> tiles, std::uint32_t light,
                          const glm::vec2& place, std::uint32_t map_extent) {
    const auto texel = place * static_cast<float>(map_extent);
    const auto extent = static_cast<float>(map_extent);
    if (!(texel.x >= 0.0F && texel.y >= 0.0F && texel.x < extent && texel.y < extent)) {
        return nullptr;
    }
    const auto column = static_cast<std::uint32_t>(texel.x);
    const auto row = static_cast<std::uint32_t>(texel.y);
    const auto found = std::ranges::find_if(tiles, [&](const ShadowTile& tile) {
        const std::uint32_t level = tile.node & 0xffU;
        return tile.node >> 16U == light && column >> level == (tile.position & 0xffffU) &&
               row >> level == tile.position >> 16U;
    });
    return found == tiles.end() ? nullptr : &*found;
}

void TileAges::add_frame(const ShadowParameters& parameters, const ShadowFrame& frame,
                         std::span<const ShadowTile> tiles) {
    ++frame_;
    std::unordered_map<std::uint64_t, Seen> seen;
    seen.reserve(tiles.size());
    for (const ShadowTile& tile : tiles) {
        const auto before = seen_.find(key_of(last_name(parameters, frame, last_, tile)));
        Seen now{.first = frame_, .drawn = frame_};
        if (before != seen_.end() && (tile.state & (SHADOW_KEPT << 8U)) != 0) {
            now.first = before->second.first;
            now.drawn = (tile.state & (SHADOW_RENDER << 8U)) != 0 ? frame_ : before->second.drawn;
        }
        seen.emplace(key_of(name_of(tile)), now);
    }
    seen_ = std::move(seen);
    last_ = frame;
}

std::optional<TileAge> TileAges::age_of(const TileName& tile) const {
    const auto found = seen_.find(key_of(tile));
    if (found == seen_.end()) {
        return std::nullopt;
    }
    return TileAge{static_cast<std::uint32_t>(frame_ - found->second.first),
                   static_cast<std::uint32_t>(frame_ - found->second.drawn)};
}

}  // namespace quadtile::shadow
