// A map and all that Strategy::fused needs to list its tiles.

#pragma once

#include "support/gpu.hpp"
#include "support/variants.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace quadtile::test {

// A map on the host and on the GPU, and its list by Strategy::fused.
struct ListedMap {
    ListedMap(Gpu& used_gpu, const Subdivider& used, const MapShape& map_shape,
              std::vector<float> contents, std::uint64_t tile_capacity,
              std::span<const Threshold> layer_thresholds = {})
        : gpu(used_gpu),
          subdivider(used),
          shape(map_shape),
          texels(std::move(contents)),
          map(gpu.upload(view())),
          needed(subdivider.requirements(shape, tile_capacity)),
          scratch(gpu.make_buffer(needed.scratch_size_bytes, needed.usage)),
          tile_list(gpu.make_buffer(needed.tile_list_size_bytes, needed.usage)),
          thresholds(gpu.make_buffer(needed.layer_thresholds_size_bytes, needed.usage,
                                     Memory::host_visible)),
          binding(subdivider.bind(
              shape, {.map = map.map_image(),
                      .scratch = scratch.range(),
                      .tile_list = tile_list.range(),
                      .tile_capacity = tile_capacity,
                      .layer_thresholds =
                          layer_thresholds.empty() ? BufferRange{} : thresholds.range()})) {
        gpu.fill(scratch, 0);
        if (!layer_thresholds.empty()) {
            const std::vector<float> words = Subdivider::layer_thresholds(shape, layer_thresholds);
            std::memcpy(thresholds.mapped(), words.data(), words.size() * sizeof(float));
        }
    }

    [[nodiscard]] MapView view() const { return {texels.data(), shape}; }

    void record(const Threshold& threshold, const SubdivideOptions& options = {}) {
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record(commands, binding, threshold, options);
        });
    }
    [[nodiscard]] TileListHeader header() {
        return gpu.read<TileListHeader>(tile_list, 0, 1).front();
    }
    [[nodiscard]] std::vector<Tile> tiles(std::uint32_t first, std::uint32_t count) {
        return gpu.read<Tile>(tile_list,
                              sizeof(TileListHeader) + VkDeviceSize{first} * sizeof(Tile), count);
    }
    [[nodiscard]] std::uint64_t nan_texels() {
        const auto counts =
            gpu.read<std::uint32_t>(scratch, Subdivider::nan_texels_offset_bytes, shape.layers);
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    }

    // The list is the reference's, bit for bit as it lies.
    void expect_up_to_date(const Threshold& threshold) {
        const TileList expected = reference::subdivide(view(), threshold);
        const TileListHeader found = header();
        EXPECT_EQ(found.flags, 0U);
        EXPECT_EQ(found.required, expected.tiles.size());
        EXPECT_TRUE(tiles(0, found.written) == expected.tiles);
        EXPECT_EQ(nan_texels(), expected.nan_texels);
    }

    Gpu& gpu;
    const Subdivider& subdivider;
    MapShape shape;
    std::vector<float> texels;
    Image map;
    Subdivider::Requirements needed;
    Buffer scratch;
    Buffer tile_list;
    Buffer thresholds;
    Subdivider::Binding binding;
};

}  // namespace quadtile::test
