// Deterministic importance maps: the same floats on every machine.

#pragma once

#include <quadtile/quadtree.h>
#include <quadtile/image.hpp>
#include <quadtile/node_thresholds.hpp>
#include <quadtile/threshold.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace quadtile::test {

// Each map has the extents and layers of `shape`, as 32-bit floats (its format is not looked at).

[[nodiscard]] std::vector<float> constant_map(const MapShape& shape, float importance);

// Some wide and narrow bumps over a low ground; values above 0, a few units at most.
[[nodiscard]] std::vector<float> smooth_map(const MapShape& shape);

// Uniform in [0, 1), each texel on its own.
[[nodiscard]] std::vector<float> random_map(const MapShape& shape, std::uint32_t seed = 1);

// One texel of PEAK_IMPORTANCE at a random place of each `block_extent`^2 texels, 0 elsewhere.
inline constexpr float PEAK_IMPORTANCE = 1000.0F;
[[nodiscard]] std::vector<float> peaks_map(const MapShape& shape, std::uint32_t block_extent = 64,
                                           std::uint32_t seed = 1);

// One texel of PEAK_IMPORTANCE in one corner of each layer, 0 elsewhere.
enum class Corner { top_left, top_right, bottom_left, bottom_right };
[[nodiscard]] std::vector<float> corner_peak_map(const MapShape& shape, Corner corner);

// A map with the threshold that makes it what its name says.
struct MapAndThreshold {
    std::vector<float> texels;
    Threshold threshold;
};

// Every node is split: each texel is a tile, flagged clamped.
[[nodiscard]] MapAndThreshold all_split(const MapShape& shape);

// No node is split: each layer is one tile.
[[nodiscard]] MapAndThreshold none_split(const MapShape& shape);

// The texels with about one in `period` replaced by one of: NaN of either sign, infinities,
// negatives, -0, denormals, the largest float.
[[nodiscard]] std::vector<float> with_special_values(std::vector<float> texels,
                                                     std::uint32_t period = 64,
                                                     std::uint32_t seed = 1);

// Calls visit(level, x, y, layer) for each node: layer by layer, from the texels up, row by row.
template <typename Visit>
void for_each_node(const MapShape& shape, const Visit& visit) {
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        for (std::uint32_t level = 0; level <= top_level(shape.width, shape.height); ++level) {
            for (std::uint32_t y = 0; y < level_extent(shape.height, level); ++y) {
                for (std::uint32_t x = 0; x < level_extent(shape.width, level); ++x) {
                    visit(level, x, y, layer);
                }
            }
        }
    }
}

// Thresholds of nodes: value(level, x, y, layer) of each, asked for in the order of for_each_node.
template <typename Value>
[[nodiscard]] NodeThresholds make_thresholds(const MapShape& shape, const Value& value) {
    NodeThresholds thresholds(shape.width, shape.height, shape.layers);
    for_each_node(shape, [&](auto... node) { thresholds.at(node...) = value(node...); });
    return thresholds;
}

// Thresholds of nodes, each on its own and so not monotone: uniform in [0, 1.1), but about one in
// 16 is 0, -0, denormal, the smallest or largest float, or infinite.
[[nodiscard]] NodeThresholds random_thresholds(const MapShape& shape, std::uint32_t seed = 1);

// Numbers of fragments: half are 0, the others 1 to 15, but for peaks of 1000.
[[nodiscard]] std::vector<float> random_fragments(const MapShape& shape, std::uint32_t seed = 1);

// Where the real importance maps and scenes lie: the environment variable QUADTILE_DATA, else the
// folder shared/data beside the checkout; nullopt where there is none.
[[nodiscard]] std::optional<std::filesystem::path> data_directory();

}  // namespace quadtile::test
