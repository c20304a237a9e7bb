#include "pass_tracing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace quadtile::baker {

namespace {

// That the tracer receives at a time. Directions with more tiles request them again in each pass.
constexpr std::size_t MOST_TILES = 65536;

constexpr double LARGEST_WEIGHT = 1073741824.0;  // four times this value is a word

constexpr std::uint32_t LARGEST_TEXEL = 256;

}  // namespace

bool needs_window(const MapTile& tile, const TileOptions& options) {
    return tile.level == 0 && tile.resolution > LARGEST_TEXEL &&
           static_cast<float>(tile.resolution) > options.max_resolution;
}

ProjectionFrame PassTracing::frame_of(const BundleDirection& direction,
                                      const MapWindow& window) const {
    ProjectionFrame frame = make_frame(direction, scene_, options_.map_extent, window);
    frame.is_source = is_of_source(pass_) ? 1 : 0;
    frame.share_ahead = 1.0F;
    frame.share_behind = 1.0F;
    if (!is_of_source(pass_) && !is_direct(pass_)) {
        std::ranges::fill(frame.sky_ahead, 0.0F);
        std::ranges::fill(frame.sky_behind, 0.0F);
    }
    if (is_moment(pass_)) {
        const auto cosine = static_cast<float>(direction.direction[static_cast<int>(pass_.number)]);
        frame.share_ahead = 0.5F + 0.5F * cosine;
        frame.share_behind = 0.5F - 0.5F * cosine;
    }
    return frame;
}

// Calls frame(i) for the frames, and take(tiles) for the tiles of each of them in the same order.
void PassTracing::request(std::size_t count, const auto& frame, const auto& take) {
    std::vector<ProjectionFrame> frames;
    for (std::size_t i = 0; i < count; ++i) {
        frames.push_back(frame(i));
        if (frames.size() == tracer_.frames_at_once() || i + 1 == count) {
            for (std::vector<MapTile>& tiles : tracer_.request_tiles(frames)) {
                take(std::move(tiles));
            }
            frames.clear();
        }
    }
}

void PassTracing::request_missing_tiles(const Range& directions) {
    set_.tiles.resize(set_.directions.size());
    std::vector<std::size_t> missing;
    for (std::size_t i = directions.first; i < directions.end; ++i) {
        if (set_.tiles[i].empty()) {
            missing.push_back(i);
        }
    }
    auto next = missing.begin();
    request(
        missing.size(),
        [&](std::size_t i) {
            return make_frame(set_.directions[missing[i]], scene_, options_.map_extent);
        },
        [&](std::vector<MapTile> tiles) {
            set_.tiles[*next] = with_windows(set_.directions[*next], std::move(tiles));
            ++next;
        });
}

// Returns all tiles of a direction, from those of its whole map.
DirectionTiles PassTracing::with_windows(const BundleDirection& direction,
                                         std::vector<MapTile> of_map) {
    DirectionTiles parts;
    parts.push_back({{}, std::move(of_map)});
    for (std::size_t part = 0; part < parts.size();) {
        std::vector<MapWindow> windows;
        for (; part < parts.size(); ++part) {
            std::erase_if(parts[part].tiles, [&](const MapTile& tile) {
                if (needs_window(tile, options_)) {
                    windows.push_back(
                        parts[part].window.within(tile.x, tile.y, options_.map_extent));
                }
                return needs_window(tile, options_);
            });
        }
        auto next = windows.begin();
        request(
            windows.size(),
            [&](std::size_t i) {
                return make_frame(direction, scene_, options_.map_extent, windows[i]);
            },
            [&](std::vector<MapTile> tiles) {
                parts.push_back({*next++, std::move(tiles)});
            });
    }
    return parts;
}

void PassTracing::trace(const Range& directions) {
    request_missing_tiles(directions);
    Work work;
    const auto finish = [&] {
        if (!work.tiles.empty()) {
            tracer_.trace(work.frames, work.tiles, work.predicted_nodes);
        }
        work = {};
    };
    for (std::size_t i = directions.first; i < directions.end; ++i) {
        std::size_t count = 0;
        for (const auto& [window, tiles] : set_.tiles[i]) {
            bool has_frame = false;
            for (const MapTile& tile : tiles) {
                if (work.tiles.size() == MOST_TILES ||
                    (!has_frame && work.frames.size() == tracer_.frames_at_once())) {
                    finish();
                    has_frame = false;
                }
                if (!has_frame) {
                    work.frames.push_back(frame_of(set_.directions[i], window));
                    has_frame = true;
                }
                work.tiles.push_back(traced_tile(
                    tile, static_cast<std::uint32_t>(work.frames.size()) - 1, work.frames.back()));
                work.predicted_nodes.push_back(tile.predicted_nodes);
            }
            count += tiles.size();
        }
        if (count > MOST_TILES) {
            set_.tiles[i] = {};
        }
    }
    finish();
}

TracedTile PassTracing::traced_tile(const MapTile& tile, std::uint32_t frame_index,
                                    const ProjectionFrame& frame) const {
    const double map_texels = std::exp2(tile.level);
    const double scale = tile.resolution / map_texels;
    const double pixel = frame.units_per_texel / scale;
    // Around a point: at the scene's extent, at which all texels would fill the sphere.
    const double unit_area = frame.is_perspective != 0
                                 ? 4.0 * std::numbers::pi * scene_.depth_extent *
                                       scene_.depth_extent /
                                       static_cast<double>(scene_.light_map.texels())
                                 : scene_.unit_area;
    const double weight =
        std::clamp(std::round(MEAN_WEIGHT * pixel * pixel / unit_area), 1.0, LARGEST_WEIGHT);
    return {.frame = frame_index,
            .map_x = static_cast<float>(std::uint32_t{tile.x} << tile.level),
            .map_y = static_cast<float>(std::uint32_t{tile.y} << tile.level),
            .scale = static_cast<float>(scale),
            .width = tile.resolution,
            .height = tile.resolution,
            .weight = static_cast<std::uint32_t>(weight),
            .radiance_scale = static_cast<float>(weight * scale_)};
}

}  // namespace quadtile::baker
