// Limits of ShadowOptions, and values derived from them.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace quadtile {
namespace {

using testing::HasSubstr;

constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

// Empty where there is no error.
std::string error_of(const ShadowOptions& options) {
    return test::refusal_of([&] { (void)shadow_parameters(options); });
}

struct Refused {
    std::function<void(ShadowOptions&)> change;
    std::vector<std::string> words;  // of the message
};

TEST(ShadowOptions, ErrorsNameTheMemberAndItsRange) {
    using O = ShadowOptions;
    const std::vector<Refused> refused{
        {[](O& o) { o.lights = 0; }, {"lights is 0,", "1 to 16"}},
        {[](O& o) { o.lights = 17; }, {"lights is 17,", "1 to 16"}},
        {[](O& o) { o.map_extent = 100; }, {"map_extent is 100,", "a power of two, 16 to 2048"}},
        {[](O& o) { o.map_extent = 8; }, {"map_extent is 8,", "16 to 2048"}},
        {[](O& o) { o.map_extent = 0; }, {"map_extent is 0,", "16 to 2048"}},
        {[](O& o) { o.map_extent = 8192; }, {"map_extent is 8192,", "16 to 2048"}},
        {[](O& o) { o.map_extent = 4096; }, {"map_extent is 4096,", "16 to 2048"}},
        {[](O& o) { o.lights = 16; }, {"map_extent is 1024,", "512 or less for 16 lights"}},
        {[](O& o) { o.tile_extent = 32; }, {"tile_extent is 32,", "64 to 1024"}},
        {[](O& o) { o.tile_extent = 2048; }, {"tile_extent is 2048,", "64 to 1024"}},
        {[](O& o) { o.tile_extent = 96; }, {"tile_extent is 96,", "a power of two"}},
        {[](O& o) { o.atlas_extent = 64; }, {"atlas_extent is 64,", "128 to 16384", "hold a tile"}},
        {[](O& o) { o.atlas_extent = 3000; }, {"atlas_extent is 3000,", "a power of two"}},
        {[](O& o) { o.atlas_extent = 32768; }, {"atlas_extent is 32768,", "128 to 16384"}},
        {[](O& o) {
             o.tile_extent = 64;
             o.gutter = 1;
             o.atlas_extent = 16384;
         },
         {"atlas_extent is 16384,", "64 to 8192"}},
        {[](O& o) { o.gutter = 0; }, {"gutter is 0,", "1 to 3"}},
        {[](O& o) { o.gutter = 4; }, {"gutter is 4,", "1 to 3", "tile_extent, which is 128"}},
        {[](O& o) { o.max_tiles = 0; }, {"max_tiles is 0,", "1 to 65535", "each light"}},
        {[](O& o) {
             o.lights = 3;
             o.max_tiles = 2;
         },
         {"max_tiles is 2,", "3 to 65535"}},
        {[](O& o) { o.max_tiles = 65536; }, {"max_tiles is 65536,", "1 to 65535"}},
        {[](O& o) { o.merge_ratio = 0.5F; }, {"merge_ratio is 0.5,", "above 0.5 and at most 1"}},
        {[](O& o) { o.merge_ratio = 1.25F; }, {"merge_ratio is 1.25,", "above 0.5"}},
        {[](O& o) { o.atlas_fill = 0.0F; }, {"atlas_fill is 0", "0.1 to 1"}},
        {[](O& o) { o.atlas_fill = 1.5F; }, {"atlas_fill is 1.5", "0.1 to 1"}},
        {[](O& o) { o.atlas_fill = NOT_A_NUMBER; }, {"atlas_fill is NaN"}},
        {[](O& o) { o.importance_decay = -0.1F; }, {"importance_decay is -0.1", "0.99"}},
        {[](O& o) { o.importance_decay = 1.0F; }, {"importance_decay is 1", "0.99"}},
        {[](O& o) { o.importance_decay = NOT_A_NUMBER; }, {"importance_decay is NaN"}},
        {[](O& o) { o.merge_ratio = NOT_A_NUMBER; }, {"merge_ratio is NaN,"}},
        {[](O& o) { o.resolution_scale = 0.0F; }, {"resolution_scale is 0,", "1/64 to 64"}},
        {[](O& o) { o.resolution_scale = 65.0F; }, {"resolution_scale is 65,", "1/64 to 64"}},
        {[](O& o) { o.resolution_scale = NOT_A_NUMBER; }, {"resolution_scale is NaN,"}},
        {[](O& o) { o.edge_scale = 0.5F; }, {"edge_scale is 0.5,", "1 (as elsewhere) to 64"}},
        {[](O& o) { o.edge_scale = 65.0F; }, {"edge_scale is 65,"}},
        {[](O& o) { o.edge_scale = NOT_A_NUMBER; }, {"edge_scale is NaN,"}},
        {[](O& o) { o.max_stretch = 0.5F; }, {"max_stretch is 0.5,", "1 to 1024"}},
        {[](O& o) { o.max_stretch = 2000.0F; }, {"max_stretch is 2000,", "1 to 1024"}},
        {[](O& o) { o.max_stretch = NOT_A_NUMBER; }, {"max_stretch is NaN,"}},
    };
    for (const Refused& each : refused) {
        ShadowOptions options;
        each.change(options);
        for (const std::string& word : each.words) {
            EXPECT_THAT(error_of(options), HasSubstr(word));
        }
        EXPECT_THROW((void)shadow_parameters(options), Error);
        EXPECT_THROW(reference::ShadowFitter{options}, Error);
    }
}

TEST(ShadowOptions, TheEndsOfTheRangesAreAllowed) {
    EXPECT_EQ(error_of({}), "");
    EXPECT_EQ(error_of({.map_extent = 16,
                        .atlas_extent = 64,
                        .tile_extent = 64,
                        .gutter = 1,
                        .max_tiles = 1,
                        .merge_ratio = 0.501F,
                        .resolution_scale = 1.0F / 64,
                        .max_stretch = 1.0F}),
              "");
    EXPECT_EQ(error_of({.lights = 16,
                        .map_extent = 512,
                        .atlas_extent = 16384,
                        .tile_extent = 1024,
                        .gutter = 31,
                        .max_tiles = 65535,
                        .merge_ratio = 1.0F,
                        .resolution_scale = 64.0F,
                        .max_stretch = 1024.0F}),
              "");
    for (const auto& [lights, map_extent, text] : {std::tuple(2U, 2048U, "16 to 2048"),
                                                   {3U, 1024U, "1024 or less"},
                                                   {8U, 1024U, "1024 or less"}}) {
        EXPECT_EQ(error_of({.lights = lights, .map_extent = map_extent}), "");
        EXPECT_THAT(error_of({.lights = lights, .map_extent = 2 * map_extent}), HasSubstr(text));
    }
}

}  // namespace
}  // namespace quadtile
