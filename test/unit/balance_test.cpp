// Properties of balanced lists, each checked without the twin's way of finding them.

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/tile_lists.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <tuple>

namespace quadtile {
namespace {

using test::is_refused;

Tile tile_at(std::uint32_t level, std::uint32_t x, std::uint32_t y, std::uint32_t layer) {
    return {tile_position(x, y), tile_node(level, 0, layer), 0.0F, 0.0F};
}

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

std::vector<Tile> children_of(const Tile& tile, const MapShape& shape) {
    std::vector<Tile> children;
    const std::uint32_t level = tile.level() - 1;
    for (std::uint32_t child = 0; child < 4; ++child) {
        const Tile node =
            tile_at(level, 2 * tile.x() + child % 2, 2 * tile.y() + child / 2, tile.layer());
        if (node.x() < level_extent(shape.width, level) &&
            node.y() < level_extent(shape.height, level)) {
            children.push_back(node);
        }
    }
    return children;
}

// The definition in words: splits tiles that are too coarse for a neighbour until none is left.
std::vector<Tile> balance_naively(std::vector<Tile> tiles, const MapShape& shape, Balance balance) {
    while (const Tile* coarse = find_too_coarse(tiles, balance)) {
        const std::vector<Tile> children = children_of(*coarse, shape);
        tiles.erase(tiles.begin() + (coarse - tiles.data()));
        tiles.insert(tiles.end(), children.begin(), children.end());
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

// Catches a refusal that is lost: the twin would return more tiles than the budget, or a list that
// the device does not make.
TEST(Balance, BudgetsAndThresholdsThatGrowAreRefused) {
    const std::vector<float> texels(16, 1.0F);
    const MapView map{texels.data(), {4, 4}};
    EXPECT_THAT(
        [&] {
            (void)reference::subdivide(map, Threshold::constant(2.0F),
                                       {.max_tiles = 100, .balance = Balance::edges});
        },
        is_refused("max_tiles is 100", "no sum over nodes", "Threshold::scaled"));
    EXPECT_THAT(
        [&] {
            (void)reference::subdivide(map, Threshold::per_level({1.0F, 2.0F, 1.0F}),
                                       {.balance = Balance::edges});
        },
        is_refused("balanced lists need thresholds that do not grow", "level 1 has 2"));
}

// Catches helpers that read another bit than the one they are named after.
TEST(Balance, TilesTellTheirCoarserNeighbours) {
    const auto sides = [](std::uint32_t flag) {
        const Tile tile{0, tile_node(3, flag, 0xffff), 0.0F, 0.0F};
        return std::tuple(tile.coarser_left(), tile.coarser_right(), tile.coarser_top(),
                          tile.coarser_bottom(), tile.clamped());
    };
    EXPECT_EQ(sides(TILE_COARSER_LEFT), std::tuple(true, false, false, false, false));
    EXPECT_EQ(sides(TILE_COARSER_RIGHT), std::tuple(false, true, false, false, false));
    EXPECT_EQ(sides(TILE_COARSER_TOP), std::tuple(false, false, true, false, false));
    EXPECT_EQ(sides(TILE_COARSER_BOTTOM), std::tuple(false, false, false, true, false));
    EXPECT_EQ(sides(TILE_CLAMPED), std::tuple(false, false, false, false, true));
    EXPECT_EQ(sides(0), std::tuple(false, false, false, false, false));
}

}  // namespace
}  // namespace quadtile
