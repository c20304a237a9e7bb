// Deterministic importance maps: the same floats on every machine.

#pragma once

#include <quadtile/quadtree.h>
#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

namespace quadtile::test {

// ---- Maps of 32-bit floats with the extents and layers of `shape`, whose format is ignored

[[nodiscard]] std::vector<float> constant_map(const MapShape& shape, float importance);

// Returns some wide and narrow bumps over low ground; values are above 0 and at most a few units.
[[nodiscard]] std::vector<float> smooth_map(const MapShape& shape);

// Returns independent random texels, uniform in [0, 1).
[[nodiscard]] std::vector<float> random_map(const MapShape& shape, std::uint32_t seed = 1);

// Peaks: one texel at a random place of each `block_extent`^2 texels; all others are 0.
inline constexpr float PEAK_IMPORTANCE = 1000.0F;
[[nodiscard]] std::vector<float> peaks_map(const MapShape& shape, std::uint32_t block_extent = 64,
                                           std::uint32_t seed = 1);

// 0 and 1, NaN of either sign, infinities, negatives, -0, denormals, the largest float.
inline constexpr std::array SPECIAL_VALUES = {0.0F,
                                              1.0F,
                                              std::numeric_limits<float>::quiet_NaN(),
                                              -std::numeric_limits<float>::quiet_NaN(),
                                              std::numeric_limits<float>::infinity(),
                                              -std::numeric_limits<float>::infinity(),
                                              -0.0F,
                                              -1.0F,
                                              -std::numeric_limits<float>::max(),
                                              std::numeric_limits<float>::max(),
                                              std::numeric_limits<float>::min(),
                                              -std::numeric_limits<float>::min(),
                                              std::numeric_limits<float>::denorm_min(),
                                              -std::numeric_limits<float>::denorm_min(),
                                              0.5F * std::numeric_limits<float>::min()};

// Replaces about one in `period` texels by a special value.
[[nodiscard]] std::vector<float> with_special_values(std::vector<float> texels,
                                                     std::uint32_t period = 64,
                                                     std::uint32_t seed = 1);

// Calls visit(level, x, y, layer) for each node: layer by layer, level 0 first, row by row.
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

// Returns the thresholds value(level, x, y, layer), called in the order of for_each_node.
template <typename Value>
[[nodiscard]] NodeThresholds make_thresholds(const MapShape& shape, const Value& value) {
    NodeThresholds thresholds(shape.width, shape.height, shape.layers);
    for_each_node(shape, [&](auto... node) { thresholds.at(node...) = value(node...); });
    return thresholds;
}

// Returns independent random thresholds, which are not monotone: uniform in [0, 1.1), but about one
// in 16 is 0, -0, denormal, the smallest or largest float, or infinite.
[[nodiscard]] NodeThresholds random_thresholds(const MapShape& shape, std::uint32_t seed = 1);

// Returns fragment counts: half are 0, most others 1 to 15, a few are 1000.
[[nodiscard]] std::vector<float> random_fragments(const MapShape& shape, std::uint32_t seed = 1);

// Returns the folder of the real importance maps and scenes: the environment variable
// QUADTILE_DATA, or else the folder shared/data beside the checkout; nullopt if there is none.
[[nodiscard]] std::optional<std::filesystem::path> data_directory();

}  // namespace quadtile::test
