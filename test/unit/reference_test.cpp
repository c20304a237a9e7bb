#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/tile_lists.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace quadtile {
namespace {

using test::is_refused;

// The definition, node by node and without recursion over maxima: the maximum over the texels that
// a node covers.
float brute_force_importance(const std::vector<float>& texels, const MapShape& shape,
                             const Tile& tile) {
    const TexelRect rect = texels_of(tile, shape.width, shape.height);
    float maximum = -INFINITY;
    for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
        for (std::uint32_t x = rect.left; x < rect.right; ++x) {
            const float texel =
                texels[(std::size_t{tile.layer()} * shape.height + y) * shape.width + x];
            maximum = std::isnan(texel) ? INFINITY : std::max(maximum, texel);
        }
    }
    return std::abs(maximum) < std::numeric_limits<float>::min() ? 0.0F : maximum;
}

TEST(Reference, NaNCountsAsInfinityAndDenormalsAsZero) {
    const std::vector<float> texels{1e-40F, -1.0F, std::nanf(""), -std::nanf("")};
    const reference::Pyramid pyramid = reference::build_pyramid(view_of(texels, 4, 1));
    EXPECT_EQ(pyramid.nan_texels, 2U);
    EXPECT_EQ(pyramid.levels[0].at(0, 0), 0.0F);
    EXPECT_EQ(pyramid.levels[1].importance, (std::vector<float>{0.0F, INFINITY}));
    EXPECT_EQ(pyramid.levels[2].importance, (std::vector<float>{INFINITY}));
}

// Whatever list satisfies this is the only one: tiles that partition the map, below their own
// thresholds or texels, under ancestors that are not.
TEST(Reference, EveryNodeIsComparedWithItsOwnThreshold) {
    std::uint64_t lists_of_several_levels = 0;
    for (const MapShape& shape : {MapShape{1, 1}, MapShape{1, 9}, MapShape{17, 1}, MapShape{31, 33},
                                  MapShape{64, 64}, MapShape{100, 37, 3}}) {
        const std::vector<float> texels = test::with_special_values(test::random_map(shape), 16);
        for (const Threshold& threshold :
             {Threshold::constant(0.0F), Threshold::constant(0.9F), Threshold::constant(INFINITY),
              Threshold::map(test::random_thresholds(shape, 1)),
              Threshold::map(test::random_thresholds(shape, 2)),
              Threshold::map(test::random_thresholds(shape, 3))}) {
            const ResolvedThreshold thresholds = threshold.resolve(shape);
            const TileList list = reference::subdivide({texels.data(), shape}, threshold);
            EXPECT_TRUE(test::is_partition(list.tiles, shape));
            for (const Tile& tile : list.tiles) {
                EXPECT_EQ(tile.importance, brute_force_importance(texels, shape, tile));
                EXPECT_EQ(tile.threshold,
                          thresholds.at(tile.level(), tile.x(), tile.y(), tile.layer()));
                EXPECT_FALSE(std::signbit(tile.threshold));
                EXPECT_EQ(tile.clamped(), !(tile.importance < tile.threshold));
                EXPECT_TRUE(tile.level() == 0 || !tile.clamped());
                for (std::uint32_t level = tile.level() + 1; level < list.levels(); ++level) {
                    const std::uint32_t up = level - tile.level();
                    const Tile ancestor{tile_position(tile.x() >> up, tile.y() >> up),
                                        tile_node(level, 0, tile.layer()), 0, 0};
                    EXPECT_FALSE(brute_force_importance(texels, shape, ancestor) <
                                 thresholds.at(level, ancestor.x(), ancestor.y(), tile.layer()));
                }
            }
            const auto has_tiles = [](std::uint64_t tiles) { return tiles > 0; };
            lists_of_several_levels += std::ranges::count_if(list.tiles_per_level(), has_tiles) > 2;
        }
    }
    EXPECT_GT(lists_of_several_levels, 10U);
}

// Each layer as a map of its own, under thresholds of every kind.
TEST(Reference, LayersHaveThresholdsOfTheirOwn) {
    const MapShape one{37, 20};
    const std::vector<float> fragments = test::random_fragments(one);
    const std::vector<Threshold> thresholds{
        Threshold::constant(0.9F),
        Threshold::constant(0.5F).scaled(1.5F),
        Threshold::max_resolution(4.0F),
        Threshold::per_level({0.1F, 0.2F, 0.9F, 1.1F, 0.3F, 0.2F, 0.1F}),  // grows, and falls
        Threshold::map(test::random_thresholds(one)),
        Threshold::memory(4.0F, 30.0F, view_of(fragments, one.width, one.height)),
        Threshold::constant(INFINITY),
    };
    const auto layers = static_cast<std::uint32_t>(thresholds.size());
    const MapShape shape{one.width, one.height, layers};
    const std::vector<float> texels = test::with_special_values(test::random_map(shape), 8);
    const TileList list =
        reference::subdivide(view_of(texels, one.width, one.height, layers), thresholds);
    EXPECT_TRUE(test::is_partition(list.tiles, shape));
    EXPECT_EQ(list.order, Order::canonical);
    std::uint64_t nan_texels = 0;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        const float* first = texels.data() + std::size_t{layer} * one.width * one.height;
        TileList alone = reference::subdivide({first, one}, thresholds[layer]);
        for (Tile& tile : alone.tiles) {
            tile.node |= layer << 16U;
        }
        EXPECT_THAT(test::tiles_of_layer(list, layer), testing::ElementsAreArray(alone.tiles))
            << "layer " << layer;
        nan_texels += alone.nan_texels;
    }
    EXPECT_EQ(list.nan_texels, nan_texels);
}

TEST(Reference, ThresholdsOfLayersThatDoNotFitAreRefused) {
    const std::vector<float> texels(32, 1.0F);
    const MapView map = view_of(texels, 4, 4, 2);
    const Threshold one = Threshold::constant(1.0F);
    const auto subdividing = [&](const std::vector<Threshold>& thresholds) {
        return [&, thresholds] { (void)reference::subdivide(map, thresholds); };
    };
    EXPECT_NO_THROW(subdividing({one, one})());
    EXPECT_THAT(subdividing({}), is_refused("layers of the map (2) and their thresholds (0)"));
    EXPECT_THAT(subdividing({one}), is_refused("layers of the map (2) and their thresholds (1)"));
    EXPECT_THAT(subdividing({one, one, one}),
                is_refused("layers of the map (2) and their thresholds (3)"));
    EXPECT_THAT(subdividing({one, Threshold::per_level({1.0F})}),
                is_refused("layer 1 does not fit", "1 level thresholds"));
    // Each fits its layer, not the whole map.
    EXPECT_THAT(subdividing({Threshold::map(NodeThresholds(4, 4, 2)), one}),
                is_refused("layer 0 does not fit"));
    EXPECT_NO_THROW(subdividing({Threshold::map(NodeThresholds(4, 4)), one})());
    EXPECT_THAT(subdividing({one, Threshold::bound_map()}), is_refused("layer 1 does not fit"));
}

// As Tiler and Mipmapper do; each of these read the texels before.
TEST(Reference, BadInputIsRefused) {
    const std::vector<float> texels(4, 1.0F);
    EXPECT_THROW((void)reference::build_pyramid(view_of(texels, 2, 2), 1), Error);
    EXPECT_THROW((void)reference::subdivide({texels.data(), {0, 2}}, Threshold::constant(1)),
                 Error);
    EXPECT_THROW((void)reference::subdivide(view_of(texels, 2, 2), Threshold::per_level({1.0F})),
                 Error);
    const MapView map{nullptr, {2, 2, 2}};
    const Threshold one = Threshold::constant(1.0F);
    const std::function<void()> calls[] = {
        [&] { (void)reference::decode(map); },
        [&] { (void)reference::decode_texels(map); },
        [&] { (void)reference::build_pyramid(map, 0); },
        [&] { (void)reference::build_pyramid(map, 1); },
        [&] { (void)reference::subdivide(map, one); },
        [&] { (void)reference::subdivide(map, one, {.max_tiles = 8}); },
        [&] { (void)reference::subdivide(map, std::vector<Threshold>(2, one)); },
        [&] { (void)reference::downsample(map, {.format = TexelFormat::r32_float}); },
        [&] { (void)Threshold::memory(1.0F, 1.0F, map); }};
    for (const auto& call : calls) {
        EXPECT_THAT(call, is_refused("null pointer"));
    }
}

}  // namespace
}  // namespace quadtile
