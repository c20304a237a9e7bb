#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include "support/definition.hpp"
#include "support/errors.hpp"
#include "support/maps.hpp"
#include "support/tile_lists.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace quadtile {
namespace {

using test::is_refused;

// Special values in place, and every node compared with its own threshold.
TEST(Reference, ListsAreThoseOfTheDefinition) {
    std::uint64_t lists_of_several_levels = 0;
    for (const MapShape& shape : {MapShape{1, 1}, MapShape{1, 9}, MapShape{17, 1}, MapShape{31, 33},
                                  MapShape{64, 64}, MapShape{100, 37, 3}}) {
        const std::vector<float> texels = test::with_special_values(test::random_map(shape), 16);
        const MapView map{texels.data(), shape};
        for (const Threshold& threshold :
             {Threshold::constant(0.0F), Threshold::constant(0.9F), Threshold::constant(INFINITY),
              Threshold::map(test::random_thresholds(shape, 1)),
              Threshold::map(test::random_thresholds(shape, 2))}) {
            const TileList list = reference::subdivide(map, threshold);
            EXPECT_TRUE(test::is_partition(list.tiles, shape));
            EXPECT_EQ(test::wrong_by_definition(map, threshold, list), "");
            EXPECT_EQ(list.nan_texels,
                      std::ranges::count_if(texels, [](float texel) { return std::isnan(texel); }));
            EXPECT_TRUE(std::ranges::none_of(
                list.tiles, [](const Tile& tile) { return std::signbit(tile.threshold); }));
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

// As Tiler and Mipmapper do. Catches texels that are read all the same.
TEST(Reference, WhatCannotWorkIsRefused) {
    const std::vector<float> texels(32, 1.0F);
    const MapView map = view_of(texels, 4, 4, 2);
    const MapView none{nullptr, {2, 2, 2}};
    const Threshold one = Threshold::constant(1.0F);
    const auto by_layers = [&](const std::vector<Threshold>& thresholds) {
        return [&, thresholds] { (void)reference::subdivide(map, thresholds); };
    };
    const std::pair<std::function<void()>, const char*> rows[] = {
        {by_layers({}), "layers of the map (2) and their thresholds (0)"},
        {by_layers({one, one, one}), "layers of the map (2) and their thresholds (3)"},
        {by_layers({one, Threshold::per_level({1.0F})}), "layer 1 does not fit"},
        // Each fits its layer, not the whole map.
        {by_layers({Threshold::map(NodeThresholds(4, 4, 2)), one}), "layer 0 does not fit"},
        {by_layers({one, Threshold::bound_map()}), "layer 1 does not fit"},
        {[&] { (void)reference::build_pyramid(map, 2); }, "layer"},
        {[&] {
             (void)reference::subdivide({texels.data(), {0, 2}}, one);
         },
         "is empty"},
        {[&] { (void)reference::subdivide(map, Threshold::per_level({1.0F})); },
         "1 level thresholds"},
        {[&] { (void)reference::decode(none); }, "null pointer"},
        {[&] { (void)reference::decode_texels(none); }, "null pointer"},
        {[&] { (void)reference::build_pyramid(none, 1); }, "null pointer"},
        {[&] { (void)reference::subdivide(none, one); }, "null pointer"},
        {[&] { (void)reference::subdivide(none, one, {.max_tiles = 8}); }, "null pointer"},
        {[&] { (void)reference::subdivide(none, std::vector<Threshold>(2, one)); }, "null pointer"},
        {[&] { (void)reference::downsample(none, {.format = TexelFormat::r32_float}); },
         "null pointer"},
        {[&] { (void)Threshold::memory(1.0F, 1.0F, none); }, "null pointer"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, is_refused(text)) << text;
    }
    EXPECT_NO_THROW(by_layers({Threshold::map(NodeThresholds(4, 4)), one})());
}

}  // namespace
}  // namespace quadtile
