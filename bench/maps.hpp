// The importance maps to measure on.

#pragma once

#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace quadtile::bench {

// A map in host memory with the threshold that it is subdivided by.
struct Map {
    std::shared_ptr<const void> texels;
    MapShape shape;
    Threshold threshold;

    [[nodiscard]] MapView view() const noexcept { return {texels.get(), shape}; }
};

// Where a map comes from: large ones are made when they are needed, and dropped after.
struct MapSource {
    std::string name;
    MapShape shape;
    std::function<Map()> load;
};

// `extent` x `extent` texels of each synthetic content:
// - smooth: some thousands of tiles at every extent, max_resolution(extent / 128);
// - one_peak: one bright texel, constant(1);
// - peaks: one bright texel in 64 x 64, constant(1): 21 tiles around each peak and more;
// - all_split: each texel a tile; none_split: the whole map one tile.
[[nodiscard]] std::vector<MapSource> synthetic_maps(std::uint32_t extent);

// Many maps of 1024 x 1024 texels as layers: peaks, and none split.
[[nodiscard]] std::vector<MapSource> batches(std::uint32_t layers);

// The .exr files in the folder importance of the data directory, by name; empty where there is
// none. Threshold: max_resolution of the largest power of two that gives 4096 tiles or more. Throws
// std::runtime_error for a file that cannot be read.
[[nodiscard]] std::vector<MapSource> real_maps();

// The number of tiles by the host's pyramid, without making the list.
[[nodiscard]] std::uint64_t count_tiles(const Map& map);

}  // namespace quadtile::bench
