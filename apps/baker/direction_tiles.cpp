#include "direction_tiles.hpp"

#include <algorithm>
#include <utility>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t LARGEST_TEXEL = 256;

// Returns all tiles of a direction, from those of its whole map; nothing if stopped.
DirectionTiles add_windows(const TracedScene& scene, const TileOptions& options, Tracer& tracer,
                           const Stop& stop, const BundleDirection& direction,
                           std::vector<MapTile> of_map) {
    DirectionTiles parts;
    parts.push_back({{}, std::move(of_map)});
    for (std::size_t part = 0; part < parts.size();) {
        std::vector<MapWindow> windows;
        for (; part < parts.size(); ++part) {
            std::erase_if(parts[part].tiles, [&](const MapTile& tile) {
                if (needs_window(tile, options)) {
                    windows.push_back(
                        parts[part].window.within(tile.x, tile.y, options.map_extent));
                }
                return needs_window(tile, options);
            });
        }
        for (std::size_t next = 0; next < windows.size();) {
            std::vector<ProjectionFrame> frames;
            for (std::size_t i = next;
                 i < windows.size() && frames.size() < tracer.frames_at_once(); ++i) {
                frames.push_back(make_frame(direction, scene, options.map_extent, windows[i]));
            }
            std::vector<std::vector<MapTile>> tiles = tracer.request_tiles(frames, stop);
            if (tiles.empty()) {
                return {};
            }
            for (std::vector<MapTile>& of_window : tiles) {
                parts.push_back({windows[next++], std::move(of_window)});
            }
        }
    }
    return parts;
}

}  // namespace

bool needs_window(const MapTile& tile, const TileOptions& options) {
    return tile.level == 0 && tile.resolution > LARGEST_TEXEL &&
           static_cast<float>(tile.resolution) > options.max_resolution;
}

std::uint64_t count_tiles(const DirectionTiles& parts) {
    std::uint64_t count = 0;
    for (const WindowTiles& part : parts) {
        count += part.tiles.size();
    }
    return count;
}

bool request_missing_tiles(const TracedScene& scene, const TileOptions& options, Tracer& tracer,
                           const Stop& stop, DirectionSet& set, const Range& directions,
                           bool beyond) {
    set.tiles.resize(set.directions.size());
    const std::size_t last = beyond ? set.tiles.size() : directions.end;
    do {
        std::vector<std::size_t> missing;
        for (std::size_t i = directions.first; i < last && (i < directions.end || !missing.empty());
             ++i) {
            if (set.tiles[i].empty() && missing.size() < tracer.frames_at_once()) {
                missing.push_back(i);
            }
        }
        if (missing.empty()) {
            return true;
        }
        std::vector<ProjectionFrame> frames;
        for (const std::size_t i : missing) {
            frames.push_back(make_frame(set.directions[i], scene, options.map_extent));
        }
        auto next = missing.begin();
        for (std::vector<MapTile>& tiles : tracer.request_tiles(frames, stop)) {
            // Windows take long, so only those needed now are made.
            if (*next >= directions.end && std::ranges::any_of(tiles, [&](const MapTile& tile) {
                    return needs_window(tile, options);
                })) {
                break;
            }
            set.tiles[*next] =
                add_windows(scene, options, tracer, stop, set.directions[*next], std::move(tiles));
            ++next;
        }
    } while (!stop());
    return false;
}

}  // namespace quadtile::baker
