// The CPU twin of the kernels in plain loops: tiles and sums are bit-identical to every device's.

#pragma once

#include "tracer.hpp"

#include <memory>

namespace quadtile::baker {

// Importance and fragments of a direction, as from density.comp; rows from the top.
struct ReferenceMaps {
    std::vector<float> importance;
    std::vector<float> fragments;
};
// Returns the maps. `conservative`: all texels that a triangle touches have its density, not only
// those whose centre it covers.
[[nodiscard]] ReferenceMaps reference_maps(const TracedScene& scene, const ProjectionFrame& frame,
                                           std::uint32_t map_extent, bool conservative = true);

// Makes a tracer with `threads` threads; 0: as many as processors. The scene must outlive it.
[[nodiscard]] std::unique_ptr<Tracer> make_reference_tracer(const TracedScene& scene,
                                                            const TileOptions& options,
                                                            std::uint32_t threads = 0);

}  // namespace quadtile::baker
