// Directions of a pass for the tracer: frames, and pieces of tiles.

#pragma once

#include "direction_tiles.hpp"
#include "passes.hpp"
#include "ranks.hpp"
#include "traced_scene.hpp"
#include "tracer.hpp"

#include <cstdint>
#include <vector>

namespace quadtile::baker {

// Weight of a fragment if the lightmap has one per texel.
constexpr double MEAN_WEIGHT = 16384.0;

class PassTracing {
 public:
    // `scale` is that of GatheredLight::set_scale.
    PassTracing(const TracedScene& scene, const TileOptions& options, Tracer& tracer,
                const Pass& pass, DirectionSet& set, double scale)
        : scene_(scene),
          options_(options),
          tracer_(tracer),
          pass_(pass),
          set_(set),
          scale_(scale) {}

    // Traces directions, the first one without its finished tiles, and removes finished ones from
    // `directions`. `requests_beyond`: also requests tiles of later directions, if these go
    // together. `interrupted` stops requests, which begin anew; `stop` stops tracing.
    void trace(Range& directions, std::uint64_t& tiles_done, bool requests_beyond,
               const Stop& interrupted, const Stop& stop);

 private:
    // Work that the tracer receives at a time.
    struct Work {
        const WindowTiles* part = nullptr;  // part of the last frame
        std::vector<ProjectionFrame> frames;
        std::vector<TracedTile> tiles;
        std::vector<double> predicted_nodes;
    };

    [[nodiscard]] ProjectionFrame frame_of(const BundleDirection& direction,
                                           const MapWindow& window) const;
    [[nodiscard]] TracedTile traced_tile(const MapTile& tile, std::uint32_t frame_index,
                                         const ProjectionFrame& frame) const;
    bool finish_work(Work& work, Range& directions, std::uint64_t& tiles_done, const Stop& stop);

    const TracedScene& scene_;
    const TileOptions& options_;
    Tracer& tracer_;
    const Pass& pass_;
    DirectionSet& set_;
    double scale_;
};

}  // namespace quadtile::baker
