// Tiles and tracing on a Vulkan device.

#pragma once

#include "gpu.hpp"
#include "tracer.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace quadtile::baker {

struct GpuTracerOptions {
    // For list heads and nodes. Tiles that need more are cut, so less memory costs only time.
    std::uint64_t pool_bytes = std::uint64_t{256} << 20U;
    // That a submission should take at most, so that no driver takes it for hung and Ctrl-C is
    // heard.
    double submission_seconds = 0.1;
    // Pairs of a tile and a cluster of triangles that may touch it, of a submission; all clusters
    // of the scene find room in any case.
    std::uint32_t tile_clusters = 2U << 20U;
};

// List nodes that such a pool has room for.
[[nodiscard]] std::uint64_t node_capacity(std::uint64_t pool_bytes);

// `options` with what is 0 or depends on the memory: map_extent, unless it is given, and max_nodes.
[[nodiscard]] TileOptions suited_tiles(const TileOptions& options, const Extent& light_map,
                                       float pixels_per_texel, std::uint64_t pool_bytes);

// Throws std::runtime_error for a scene or a light map that is too large for the device, with what
// to do; quadtile::Error, vk::SystemError. The scene and the device must outlive it.
[[nodiscard]] std::unique_ptr<Tracer> make_gpu_tracer(app::Gpu& gpu, const TracedScene& scene,
                                                      const TileOptions& tile_options,
                                                      const GpuTracerOptions& options);

}  // namespace quadtile::baker
