// What tile lists are by definition, in other words than those of the reference. The reference is
// the measure for all kernels, so it is held against this (test/random).

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

// A map and its thresholds as lists see them.
class Seen {
 public:
    Seen(const MapView& map, const Threshold& threshold)
        : shape_(map.shape),
          thresholds_(threshold.resolve(map.shape)),
          texels_(reference::decode(map)) {
        for (float& texel : texels_) {
            nan_texels_ += std::isnan(texel) ? 1 : 0;
            texel = std::isnan(texel) ? std::numeric_limits<float>::infinity()
                    : std::fpclassify(texel) == FP_SUBNORMAL ? 0.0F
                                                             : texel + 0.0F;  // -0 becomes 0
        }
    }

    [[nodiscard]] float largest(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                std::uint32_t layer) const {
        float most = -std::numeric_limits<float>::infinity();
        for (std::uint32_t j = y << level; j < std::min((y + 1) << level, shape_.height); ++j) {
            const float* const row =
                texels_.data() + (std::size_t{layer} * shape_.height + j) * shape_.width;
            most =
                std::max(most, *std::max_element(row + (x << level),
                                                 row + std::min((x + 1) << level, shape_.width)));
        }
        return most;
    }
    [[nodiscard]] bool is_split(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                std::uint32_t layer) const {
        return !(largest(level, x, y, layer) < thresholds_.at(level, x, y, layer));
    }

    // Whether a list counts its NaN texels, is in order, and its tiles have their nodes' values.
    [[nodiscard]] bool has_values(const TileList& list) const {
        TileList sorted = list;
        sort_canonical(sorted.tiles);
        return list.nan_texels == nan_texels_ && list.tiles == sorted.tiles &&
               std::ranges::all_of(list.tiles, [&](const Tile& tile) {
                   const float threshold =
                       thresholds_.at(tile.level(), tile.x(), tile.y(), tile.layer());
                   return tile.importance ==
                              largest(tile.level(), tile.x(), tile.y(), tile.layer()) &&
                          tile.threshold == threshold && !std::signbit(threshold) &&
                          std::fpclassify(threshold) != FP_SUBNORMAL;
               });
    }

 private:
    MapShape shape_;
    ResolvedThreshold thresholds_;
    std::vector<float> texels_;
    std::uint64_t nan_texels_ = 0;
};

// The tiles cover each texel once, and each is the first node on the way down whose largest texel
// is below its threshold, or a texel.
inline std::string wrong_by_definition(const MapView& map, const Threshold& threshold,
                                       const TileList& list) {
    const MapShape& shape = map.shape;
    const Seen seen(map, threshold);
    std::vector<bool> is_covered(std::size_t{shape.width} * shape.height * shape.layers);
    for (const Tile& tile : list.tiles) {
        const TexelRect rect = texels_of(tile, shape.width, shape.height);
        bool is_right = tile.clamped() ==
                        (tile.level() == 0 && seen.is_split(0, tile.x(), tile.y(), tile.layer()));
        for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
            for (std::uint32_t x = rect.left; x < rect.right; ++x) {
                const std::size_t texel =
                    (std::size_t{tile.layer()} * shape.height + y) * shape.width + x;
                is_right = is_right && !is_covered[texel];
                is_covered[texel] = true;
            }
        }
        for (std::uint32_t level = std::max(tile.level(), 1U); level < list.levels(); ++level) {
            const bool is_split =
                seen.is_split(level, rect.left >> level, rect.top >> level, tile.layer());
            is_right = is_right && is_split == (level > tile.level());
        }
        if (!is_right) {
            return "by the definition, the reference is wrong about " + text_of(tile);
        }
    }
    return std::ranges::find(is_covered, false) != is_covered.end()
               ? "the reference's tiles leave texels"
           : seen.has_values(list) ? ""
                                   : "the reference's values, NaN texels or order are others";
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

// A tile's square, not cut at the map's edge.
struct Square {
    std::int64_t left, top, right, bottom;
};

inline Square square_of(const Tile& tile) {
    const std::int64_t extent = std::int64_t{1} << tile.level();
    return {tile.x() * extent, tile.y() * extent, (tile.x() + 1) * extent, (tile.y() + 1) * extent};
}

// Tells whether two tiles of a list share an edge or, for corners, a point.
inline bool do_touch(const Tile& one, const Tile& other, Balance balance) {
    if (one.layer() != other.layer()) {
        return false;
    }
    const Square a = square_of(one);
    const Square b = square_of(other);
    const std::int64_t across = std::min(a.right, b.right) - std::max(a.left, b.left);
    const std::int64_t along = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    return across >= 0 && along >= 0 && (balance == Balance::corners || across + along > 0);
}

// Finds a pair of tiles that touch and differ by two levels or more: one of the coarser ones.
inline const Tile* find_too_coarse(const std::vector<Tile>& tiles, Balance balance) {
    for (const Tile& coarse : tiles) {
        for (std::size_t i = 0; coarse.level() > 1 && i < tiles.size(); ++i) {
            if (coarse.level() > tiles[i].level() + 1 && do_touch(coarse, tiles[i], balance)) {
                return &coarse;
            }
        }
    }
    return nullptr;
}

// The definition in words: splits tiles that are too coarse for a neighbour until none is left.
inline std::vector<Tile> balance_naively(std::vector<Tile> tiles, const MapShape& shape,
                                         Balance balance) {
    while (const Tile* coarse = find_too_coarse(tiles, balance)) {
        const Tile split = *coarse;
        const std::uint32_t level = split.level() - 1;
        tiles.erase(tiles.begin() + (coarse - tiles.data()));
        for (std::uint32_t child = 0; child < 4; ++child) {
            const std::uint32_t x = 2 * split.x() + child % 2;
            const std::uint32_t y = 2 * split.y() + child / 2;
            if (x < level_extent(shape.width, level) && y < level_extent(shape.height, level)) {
                tiles.push_back(
                    {tile_position(x, y), tile_node(level, 0, split.layer()), 0.0F, 0.0F});
            }
        }
    }
    sort_canonical(tiles);
    return tiles;
}

// The flags of a tile by a search through all tiles.
inline std::uint32_t search_flags(const Tile& tile, const std::vector<Tile>& tiles) {
    const Square a = square_of(tile);
    std::uint32_t flags =
        tile.level() == 0 && !(tile.importance < tile.threshold) ? TILE_CLAMPED : 0;
    for (const Tile& other : tiles) {
        if (other.level() != tile.level() + 1 || !do_touch(tile, other, Balance::edges)) {
            continue;
        }
        const Square b = square_of(other);
        flags |= b.right == a.left ? TILE_COARSER_LEFT : 0;
        flags |= b.left == a.right ? TILE_COARSER_RIGHT : 0;
        flags |= b.bottom == a.top ? TILE_COARSER_TOP : 0;
        flags |= b.top == a.bottom ? TILE_COARSER_BOTTOM : 0;
    }
    return flags;
}

// A balanced list has the nodes of one that is split naively, their values, and flags by a search.
inline std::string wrong_balance(const MapView& map, const Threshold& threshold,
                                 const TileList& list) {
    const std::vector<Tile> expected =
        balance_naively(reference::subdivide(map, threshold).tiles, map.shape, list.balance);
    const auto is_right = [&](const Tile& tile, const Tile& node) {
        return tile.position == node.position && tile.level() == node.level() &&
               tile.layer() == node.layer() && tile.flags() == search_flags(tile, list.tiles);
    };
    return std::ranges::equal(list.tiles, expected, is_right) &&
                   Seen(map, threshold).has_values(list)
               ? ""
               : "by the definition, the reference balances wrongly";
}

}  // namespace quadtile::test
