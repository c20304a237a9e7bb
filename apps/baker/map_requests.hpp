// Tile requests on a Vulkan device: importance maps of several directions, their tiles by quadtile,
// and the fragments of the tiles.

#pragma once

#include "gpu.hpp"
#include "parallel.hpp"
#include "tracer.hpp"

#include <quadtile/quadtile.hpp>

#include <optional>
#include <span>
#include <vector>

namespace quadtile::baker {

// Requests tiles; every function waits for the GPU.
class MapRequests {
 public:
    // `triangles` is a storage buffer with the scene's triangles, which must outlive this object.
    MapRequests(app::Gpu& gpu, const TracedScene& scene, vk::Buffer triangles,
                const TileOptions& options, std::uint32_t layers, double submission_seconds);

    // Returns tiles with importance, in canonical order, by frame; nothing if stopped. At most as
    // many frames as layers.
    [[nodiscard]] std::vector<std::vector<MapTile>> request(std::span<const ProjectionFrame> frames,
                                                            const Stop& stop);

 private:
    void make_maps();
    void make_list(std::uint64_t capacity);
    void write_descriptors();
    [[nodiscard]] bool make_densities(std::uint32_t frames, const Stop& stop);
    void record_maps(vk::CommandBuffer commands);
    [[nodiscard]] std::vector<Tile> subdivide();

    app::Gpu& gpu_;
    vk::Buffer triangles_;
    TileOptions options_;
    MapShape shape_;
    quadtile::Device device_;
    Downsampler summer_;
    Subdivider subdivider_;

    app::Buffer frames_;
    app::Buffer density_words_;
    app::Buffer fragment_words_;
    app::Image importance_;
    app::Image fragments_;  // level l: sums over nodes of level l
    app::Buffer sum_state_;
    app::Buffer thresholds_;
    app::Buffer scratch_;
    app::Buffer list_;
    app::Buffer tile_sums_;       // fragments of each tile
    app::Buffer answer_;          // readback of the header, the tiles and their fragments
    std::uint64_t capacity_ = 0;  // tiles
    std::optional<Downsampler::Binding> sum_binding_;
    std::optional<Subdivider::Binding> list_binding_;

    app::ProgramInterface interface_;
    vk::UniquePipeline density_;
    vk::UniquePipeline finish_;
    vk::UniquePipeline node_thresholds_;
    vk::UniquePipeline tile_fragments_;
    MapParameters parameters_{};
    SubmissionSize densities_size_;
};

}  // namespace quadtile::baker
