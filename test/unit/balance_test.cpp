// Properties of balanced lists, each checked without the twin's way of finding them.

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/tile_lists.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>

namespace quadtile {
namespace {

// A tile's square, not cut at the map's edge.
struct Square {
    std::int64_t left, top, right, bottom;
};

Square square_of(const Tile& tile) {
    const std::int64_t extent = std::int64_t{1} << tile.level();
    return {tile.x() * extent, tile.y() * extent, (tile.x() + 1) * extent, (tile.y() + 1) * extent};
}

// Tells whether two tiles of a list share an edge or, for corners, a point.
bool do_touch(const Tile& one, const Tile& other, Balance balance) {
    const Square a = square_of(one);
    const Square b = square_of(other);
    const std::int64_t across = std::min(a.right, b.right) - std::max(a.left, b.left);
    const std::int64_t along = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    return across >= 0 && along >= 0 && (balance == Balance::corners || across + along > 0);
}

// Finds a pair of tiles that touch and differ by two levels or more: one of the coarser ones.
const Tile* find_too_coarse(std::span<const Tile> tiles, Balance balance) {
    for (const Tile& coarse : tiles) {
        for (const Tile& fine : tiles) {
            if (coarse.level() > fine.level() + 1 && do_touch(coarse, fine, balance)) {
                return &coarse;
            }
        }
    }
    return nullptr;
}

// The definition in words: splits tiles that are too coarse for a neighbour until none is left.
std::vector<Tile> balance_naively(std::vector<Tile> tiles, const MapShape& shape, Balance balance) {
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

std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes_of(std::span<const Tile> tiles) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes;
    for (const Tile& tile : tiles) {
        nodes.emplace_back(tile.level(), tile.position);
    }
    return nodes;
}

// The flags of a tile by a search through all tiles of its layer.
std::uint32_t search_flags(const Tile& tile, std::span<const Tile> tiles) {
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

// Monotone thresholds of several kinds.
std::vector<Threshold> thresholds_for(const MapShape& shape, std::uint32_t seed) {
    std::vector<float> levels;  // equal in pairs
    for (std::uint32_t level = 0; level <= top_level(shape.width, shape.height); ++level) {
        levels.push_back(1000.0F / static_cast<float>(1U << (level / 2)));
    }
    const std::vector<float> fragments = test::random_map(shape, seed);
    return {Threshold::constant(500.0F), Threshold::max_resolution(700.0F),
            Threshold::per_level(levels),
            Threshold::memory(900.0F, 1e6F, {fragments.data(), shape})};
}

// Catches every fault of the twin: a pair, a split, a flag or a layer that is forgotten, and splits
// without a reason.
TEST(Balance, PropertiesOfRandomLists) {
    std::mt19937 random(1);
    std::uint64_t added = 0;
    std::uint64_t differing = 0;
    for (std::uint32_t i = 0; i < 150; ++i) {
        const auto up_to = [&](std::uint32_t most) {
            return 1 + static_cast<std::uint32_t>(random() % most);
        };
        const MapShape shape{up_to(40), up_to(40), up_to(2)};
        const std::vector<float> texels =
            i % 2 == 0 ? test::peaks_map(shape, 15 + up_to(17), i)
                       : test::with_special_values(test::smooth_map(shape), 300, i);
        const std::vector<Threshold> thresholds = thresholds_for(shape, i);
        const Threshold& threshold = thresholds[i / 2 % thresholds.size()];
        const MapView map{texels.data(), shape};
        const TileList ordinary = reference::subdivide(map, threshold);
        std::size_t tiles_by_edges = 0;
        for (const Balance balance : {Balance::edges, Balance::corners}) {
            SCOPED_TRACE("case " + std::to_string(i) +
                         (balance == Balance::edges ? ", edges" : ", corners"));
            const TileList list = reference::subdivide(map, threshold, {.balance = balance});
            EXPECT_EQ(list.balance, balance);
            EXPECT_EQ(list.nan_texels, ordinary.nan_texels);
            EXPECT_TRUE(test::is_partition(list.tiles, shape));
            for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
                const std::vector<Tile> tiles = test::tiles_of_layer(list, layer);
                const std::vector<Tile> before = test::tiles_of_layer(ordinary, layer);
                EXPECT_EQ(find_too_coarse(tiles, balance), nullptr);
                EXPECT_EQ(nodes_of(tiles), nodes_of(balance_naively(before, shape, balance)));
                const reference::Pyramid pyramid = reference::build_pyramid(map, layer);
                const ResolvedThreshold resolved = threshold.resolve(shape);
                for (const Tile& tile : tiles) {
                    EXPECT_EQ(tile.flags(), search_flags(tile, tiles));
                    EXPECT_EQ(tile.flags(), (tile.coarser_left() ? TILE_COARSER_LEFT : 0) |
                                                (tile.coarser_right() ? TILE_COARSER_RIGHT : 0) |
                                                (tile.coarser_top() ? TILE_COARSER_TOP : 0) |
                                                (tile.coarser_bottom() ? TILE_COARSER_BOTTOM : 0) |
                                                (tile.clamped() ? TILE_CLAMPED : 0));
                    EXPECT_EQ(tile.importance, pyramid.levels[tile.level()].at(tile.x(), tile.y()));
                    EXPECT_EQ(tile.threshold, resolved.at(tile.level(), tile.x(), tile.y(), layer));
                }
                added += tiles.size() - before.size();
            }
            differing += balance == Balance::corners && list.tiles.size() != tiles_by_edges ? 1 : 0;
            tiles_by_edges = list.tiles.size();
        }
    }
    EXPECT_GT(added, 1000U);    // the maps need balancing
    EXPECT_GT(differing, 20U);  // and corners more of it than edges
}

// Catches a refusal that is lost: a list with more tiles than the budget, or one that the device
// does not make.
TEST(Balance, BudgetsAndThresholdsThatGrowAreRefused) {
    const std::vector<float> texels(16, 1.0F);
    for (const auto& [threshold, budget, text] :
         {std::tuple(Threshold::constant(2.0F), std::optional<std::uint64_t>(100),
                     "max_tiles is 100, but a balanced list cannot have a budget"),
          std::tuple(Threshold::per_level({1.0F, 2.0F, 1.0F}), std::optional<std::uint64_t>(),
                     "balanced lists need thresholds that do not grow")}) {
        const SubdivideOptions options{.max_tiles = budget, .balance = Balance::edges};
        const auto subdivide = [&, asked = threshold] {
            (void)reference::subdivide(view_of(texels, 4, 4), asked, options);
        };
        EXPECT_THAT(subdivide, test::is_refused(text));
    }
}

}  // namespace
}  // namespace quadtile
