// What tile lists are by definition, in other words than those of the reference.

#pragma once

#include "support/maps.hpp"
#include "support/variants.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace quadtile::test {

// The definition of a list, from the texels alone: the tiles cover each texel once, and each is the
// first node on the way down whose largest texel is below its threshold, or a texel. The reference
// is the measure for all kernels, so it is held against this.
inline std::string wrong_by_definition(const MapView& map, const Threshold& threshold,
                                       const TileList& list) {
    const MapShape& shape = map.shape;
    const auto thresholds = threshold.resolve(shape);
    std::vector<float> texels = reference::decode(map);
    for (float& texel : texels) {
        texel = std::isnan(texel)                        ? std::numeric_limits<float>::infinity()
                : std::fpclassify(texel) == FP_SUBNORMAL ? 0.0F
                                                         : texel + 0.0F;  // -0 becomes 0
    }
    const auto largest = [&](std::uint32_t level, std::uint32_t x, std::uint32_t y,
                             std::uint32_t layer) {
        float most = -std::numeric_limits<float>::infinity();
        for (std::uint32_t j = y << level; j < std::min((y + 1) << level, shape.height); ++j) {
            const auto row = texels.begin() + (std::size_t{layer} * shape.height + j) * shape.width;
            most = std::max(most, *std::max_element(row + (x << level),
                                                    row + std::min((x + 1) << level, shape.width)));
        }
        return most;
    };
    std::vector<bool> is_covered(texels.size());
    std::size_t covered = 0;
    for (const Tile& tile : list.tiles) {
        const TexelRect rect = texels_of(tile, shape.width, shape.height);
        for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
            for (std::uint32_t x = rect.left; x < rect.right; ++x) {
                const std::size_t texel =
                    (std::size_t{tile.layer()} * shape.height + y) * shape.width + x;
                covered += is_covered[texel] ? 0 : 1;
                is_covered[texel] = true;
            }
        }
        const auto is_split = [&](std::uint32_t level) {
            const std::uint32_t x = rect.left >> level;
            const std::uint32_t y = rect.top >> level;
            return !(largest(level, x, y, tile.layer()) < thresholds.at(level, x, y, tile.layer()));
        };
        const std::uint32_t level = tile.level();
        bool is_right = tile.importance == largest(level, tile.x(), tile.y(), tile.layer()) &&
                        tile.threshold == thresholds.at(level, tile.x(), tile.y(), tile.layer()) &&
                        tile.clamped() == is_split(level) && (level == 0 || !is_split(level));
        for (std::uint32_t above = level + 1; above < list.levels(); ++above) {
            is_right = is_right && is_split(above);
        }
        if (!is_right) {
            return "by the definition, the reference is wrong about " + text_of(tile);
        }
    }
    return covered == texels.size() ? "" : "the reference's tiles leave texels";
}

// A list under a budget is that of the smallest factor (quadtile/budget.h) that keeps it.
inline std::string wrong_budget(const MapView& map, const Threshold& threshold,
                                const TileList& list, std::uint64_t max_tiles) {
    const auto given = threshold.resolve(map.shape);
    const auto times = [&](float factor) {
        return Threshold::map(make_thresholds(map.shape, [&](auto... node) {
            const float value = given.at(node...);
            return std::fpclassify(value) == FP_SUBNORMAL ? 0.0F : value * factor;
        }));
    };
    if (list.tiles.size() > max_tiles) {
        return "the reference does not keep the budget";
    }
    if (list.threshold_factor > 1.0F) {
        const auto bits = std::bit_cast<std::uint32_t>(list.threshold_factor);
        const float smaller = std::bit_cast<float>(bits - (1U << 17U));
        if (reference::subdivide(map, times(smaller)).tiles.size() <= max_tiles) {
            return "the reference scales by more than the budget needs";
        }
    }
    return wrong_by_definition(map, times(list.threshold_factor), list);
}

}  // namespace quadtile::test
