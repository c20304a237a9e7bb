#include "pass_tracing.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <numbers>
#include <utility>

namespace quadtile::baker {

namespace {

// That the tracer receives at a time. Directions with more tiles request them again in each pass.
constexpr std::size_t MOST_TILES = 65536;

// Weight of a fragment if the lightmap has one per texel.
constexpr double MEAN_WEIGHT = 16384.0;
// Greatest radiance with the mean weight: half of the lower word of a sum.
constexpr double LARGEST_UNITS = 2147483648.0;

constexpr double LARGEST_WEIGHT = 1073741824.0;  // four times this value is a word

constexpr std::uint32_t LARGEST_TEXEL = 256;

}  // namespace

// From each direction a texel receives at most the greatest radiance, with the weight of its whole
// surface and of some pixels at its edges. From a light's point it receives at most all light
// around that point.
double scale_of(const TracedScene& scene, const Pass& pass,
                const std::vector<BundleDirection>& directions, float greatest_radiance) {
    // The lower bound keeps the scale of all weights finite without light.
    float greatest = std::max(1e-20F, greatest_radiance);
    for (const BundleDirection& direction : directions) {
        greatest = std::max(
            {greatest, greatest_of(direction.sky_ahead), greatest_of(direction.sky_behind)});
    }
    const double largest_texel = pass.kind == Pass::Kind::light || pass.kind == Pass::Kind::lamps
                                     ? static_cast<double>(scene.texels.extent().texels())
                                     : scene.largest_texel;
    const double weights = (scene.is_smooth ? 16.0 : 4.0) * MEAN_WEIGHT * (largest_texel + 16.0) *
                           static_cast<double>(directions.size());
    const double units = std::min(LARGEST_UNITS / MEAN_WEIGHT, 0x1p62 / weights);
    return std::exp2(std::floor(std::log2(units / double{greatest})));
}

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
bool PassTracing::request(std::size_t count, const Stop& stop, const auto& frame,
                          const auto& take) {
    for (std::size_t next = 0; next < count;) {
        std::vector<ProjectionFrame> frames;
        for (; next < count && frames.size() < tracer_.frames_at_once(); ++next) {
            frames.push_back(frame(next));
        }
        std::vector<std::vector<MapTile>> tiles = tracer_.request_tiles(frames, stop);
        std::ranges::for_each(tiles, [&](auto& of_frame) { take(std::move(of_frame)); });
        if (tiles.empty() || stop()) {
            return false;
        }
    }
    return true;
}

bool PassTracing::request_missing_tiles(const Range& directions, const Stop& stop) {
    std::vector<std::size_t> missing;
    for (std::size_t i = directions.first; i < directions.end; ++i) {
        if (set_.tiles[i].empty()) {
            missing.push_back(i);
        }
    }
    std::vector<DirectionTiles> requested;
    const auto frame = [&](std::size_t i) {
        return make_frame(set_.directions[missing[i]], scene_, options_.map_extent);
    };
    if (!request(missing.size(), stop, frame, [&](std::vector<MapTile> tiles) {
            requested.push_back({{{}, std::move(tiles)}});
        })) {
        return false;
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (!add_windows(set_.directions[missing[i]], stop, requested[i])) {
            return false;
        }
        set_.tiles[missing[i]] = std::move(requested[i]);
    }
    return true;
}

// Adds the tiles of windows to those of a direction's whole map.
bool PassTracing::add_windows(const BundleDirection& direction, const Stop& stop,
                              DirectionTiles& parts) {
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
        const auto frame = [&](std::size_t i) {
            return make_frame(direction, scene_, options_.map_extent, windows[i]);
        };
        if (!request(windows.size(), stop, frame, [&](std::vector<MapTile> tiles) {
                parts.push_back({*next++, std::move(tiles)});
            })) {
            return false;
        }
    }
    return true;
}

void PassTracing::trace(Range& directions, std::uint64_t& tiles_done, const Stop& interrupted,
                        const Stop& stop) {
    if (!request_missing_tiles(directions, interrupted)) {
        return;
    }
    std::uint64_t skipped = tiles_done;
    Work work;
    std::future<bool> is_whole;  // of the work before, which is traced while the next one is made
    const auto finish_next = [&] {
        if (is_whole.valid() && !is_whole.get()) {
            return false;
        }
        is_whole = std::async(std::launch::async, [&, traced = std::exchange(work, {})] {
            return finish(traced, directions, tiles_done, stop);
        });
        return true;
    };
    const Range all = directions;
    for (std::size_t i = all.first; i < all.end; ++i) {
        for (const WindowTiles& part : set_.tiles[i]) {
            for (const MapTile& tile : part.tiles) {
                const bool is_full =
                    work.tiles.size() >= MOST_TILES ||
                    (work.part != &part && work.frames.size() == tracer_.frames_at_once());
                if (is_full && !finish_next()) {
                    return;
                }
                if (work.part != &part) {
                    work.part = &part;
                    work.frames.push_back(frame_of(set_.directions[i], part.window));
                }
                if (skipped > 0) {
                    --skipped;
                    continue;
                }
                work.tiles.push_back(traced_tile(
                    tile, static_cast<std::uint32_t>(work.frames.size()) - 1, work.frames.back()));
                work.predicted_nodes.push_back(tile.predicted_nodes);
            }
        }
    }
    if (finish_next()) {
        (void)is_whole.get();
    }
}

// Finishes work. Returns false if not all of it was done.
bool PassTracing::finish(const Work& work, Range& directions, std::uint64_t& tiles_done,
                         const Stop& stop) {
    std::size_t done = 0;
    if (!work.tiles.empty()) {
        done = tracer_.trace(work.frames, work.tiles, work.predicted_nodes, stop);
    }
    const bool is_whole = done == work.tiles.size();
    tiles_done += done;
    for (; directions.size() > 0; ++directions.first) {
        DirectionTiles& tiles = set_.tiles[directions.first];
        std::uint64_t count = 0;
        std::ranges::for_each(tiles, [&](const WindowTiles& part) { count += part.tiles.size(); });
        if (tiles_done < count) {
            break;
        }
        tiles_done -= count;
        if (count > MOST_TILES) {
            tiles = {};
        }
    }
    return is_whole;
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
                                       static_cast<double>(scene_.texels.extent().texels())
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
