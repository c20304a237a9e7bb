#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include "support/errors.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace quadtile {
namespace {

using test::is_refused;

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
        {[&] { (void)reference::subdivide(map, one, {.max_tiles = 9, .balance = Balance::edges}); },
         "max_tiles is 9, but a balanced list cannot have a budget"},
        {[&] {
             (void)reference::subdivide(map, Threshold::per_level({1.0F, 2.0F, 1.0F}),
                                        {.balance = Balance::edges});
         },
         "balanced lists need thresholds that do not grow"},
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
