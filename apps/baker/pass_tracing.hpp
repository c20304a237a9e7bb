// The way of a pass from its directions to the tracer: tiles by request, also of windows, then
// frames and pieces of tiles.

#pragma once

#include "passes.hpp"
#include "ranks.hpp"
#include "traced_scene.hpp"
#include "tracer.hpp"

#include <cstdint>
#include <vector>

namespace quadtile::baker {

// Returns the units of a pass's sums for a radiance of 1 with a weight of 1: a power of two that no
// sum can overflow, for light from the sky and surfaces of at most a radiance.
[[nodiscard]] double scale_of(const TracedScene& scene, const Pass& pass,
                              const std::vector<BundleDirection>& directions,
                              float greatest_radiance);

// Returns whether a texel of an importance map needs so many pixels that it gets a window: a map of
// its own.
[[nodiscard]] bool needs_window(const MapTile& tile, const TileOptions& options);

// A pass has one for each tracer, in threads that trace different directions of the same set.
class PassTracing {
 public:
    // `scale`: see scale_of.
    PassTracing(const TracedScene& scene, const TileOptions& options, Tracer& tracer,
                const Pass& pass, DirectionSet& set, double scale)
        : scene_(scene), options_(options), tracer_(tracer), pass_(pass), set_(set), scale_(scale) {
        set.tiles.resize(set.directions.size());
    }

    // Requests the tiles of directions that are missing, traces all of them, of the first direction
    // those that are not finished, and removes finished directions. `interrupted` stops requests,
    // which begin anew; `stop` stops tracing.
    void trace(Range& directions, std::uint64_t& tiles_done, const Stop& interrupted,
               const Stop& stop);

    // Requests the tiles of directions that have none yet. Returns false if stopped.
    [[nodiscard]] bool request_missing_tiles(const Range& directions, const Stop& stop);

 private:
    // Work that the tracer receives at a time.
    struct Work {
        const WindowTiles* part = nullptr;  // part of the last frame
        std::vector<ProjectionFrame> frames;
        std::vector<TracedTile> tiles;
        std::vector<double> predicted_nodes;
    };

    // These return false if stopped.
    [[nodiscard]] bool request(std::size_t count, const Stop& stop, const auto& frame,
                               const auto& take);
    [[nodiscard]] bool add_windows(const BundleDirection& direction, const Stop& stop,
                                   DirectionTiles& parts);
    bool finish(const Work& work, Range& directions, std::uint64_t& tiles_done, const Stop& stop);
    [[nodiscard]] ProjectionFrame frame_of(const BundleDirection& direction,
                                           const MapWindow& window) const;
    [[nodiscard]] TracedTile traced_tile(const MapTile& tile, std::uint32_t frame_index,
                                         const ProjectionFrame& frame) const;

    const TracedScene& scene_;
    const TileOptions& options_;
    Tracer& tracer_;
    const Pass& pass_;
    DirectionSet& set_;
    double scale_;
};

}  // namespace quadtile::baker
