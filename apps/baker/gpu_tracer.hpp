// Tiles and tracing on a Vulkan device.

#pragma once

#include "gpu.hpp"
#include "tracer.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace quadtile::baker {

struct GpuTracerOptions {
    // Memory of list heads and nodes. Larger tiles are split, so less memory costs only time.
    std::uint64_t pool_bytes = std::uint64_t{256} << 20U;
    // Longest submission, so that no driver takes it for hung and Ctrl-C is noticed.
    double submission_seconds = 0.1;
    // Most pairs of a tile and a cluster of triangles that may touch it, per submission; all
    // clusters of the scene fit in any case.
    std::uint32_t tile_clusters = 2U << 20U;
};

// Returns about what a tracer on a CPU takes beside sums and radiance: few lists are in use at a
// time there.
[[nodiscard]] std::uint64_t gpu_tracer_bytes(const TileOptions& tiles, std::uint64_t pool_bytes);

// Returns the list nodes that fit into such a pool.
[[nodiscard]] std::uint64_t node_capacity(std::uint64_t pool_bytes);

// Returns the options that suit a lightmap, of which a share is baked, and the memory for lists.
[[nodiscard]] TileOptions suited_tiles(const Extent& light_map, float pixels_per_texel,
                                       std::uint64_t pool_bytes, double baked_share = 1.0);

// Throws std::runtime_error if the device cannot address a lightmap with so many sums of light, as
// in TracedScene::sum_count.
void check_light_map(const app::Gpu& gpu, const Extent& light_map, std::size_t sum_count);

// Makes a tracer. Throws std::runtime_error, with the remedy, for a scene or a lightmap that is
// too large for the device; quadtile::Error, vk::SystemError. The scene and the device must outlive
// it.
[[nodiscard]] std::unique_ptr<Tracer> make_gpu_tracer(app::Gpu& gpu, const TracedScene& scene,
                                                      const TileOptions& tile_options,
                                                      const GpuTracerOptions& options);

}  // namespace quadtile::baker
