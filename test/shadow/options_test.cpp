// Limits of ShadowOptions, and values derived from them.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace quadtile {
namespace {

using testing::HasSubstr;

// Empty where there is no error.
std::string error_of(const ShadowOptions& options) {
    return test::refusal_of([&] { (void)shadow_parameters(options); });
}

// Beyond both ends of each range, and NaN, which is in none.
TEST(ShadowOptions, ErrorsNameTheMemberAndItsRange) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::pair<ShadowOptions, const char*> refused[] = {
        {{.lights = 0}, "lights is 0, but must be 1 to 16"},
        {{.lights = 17}, "lights is 17,"},
        {{.map_extent = 100}, "map_extent is 100, but must be a power of two, 16 to 2048"},
        {{.map_extent = 8}, "map_extent is 8,"},
        {{.map_extent = 4096}, "map_extent is 4096,"},
        {{.lights = 16}, "map_extent is 1024, but must be 512 or less for 16 lights"},
        {{.tile_extent = 32}, "tile_extent is 32, but must be a power of two, 64 to 1024"},
        {{.tile_extent = 2048}, "tile_extent is 2048,"},
        {{.atlas_extent = 64}, "atlas_extent is 64, but must be a power of two, 128 to 16384"},
        {{.atlas_extent = 32768}, "atlas_extent is 32768,"},
        {{.atlas_extent = 16384, .tile_extent = 64, .gutter = 1}, "two, 64 to 8192"},
        {{.gutter = 0}, "gutter is 0, but must be 1 to 3"},
        {{.gutter = 4}, "tile_extent, which is 128"},
        {{.max_tiles = 0}, "max_tiles is 0, but must be 1 to 65535"},
        {{.lights = 3, .max_tiles = 2}, "max_tiles is 2, but must be 3 to 65535 (each light"},
        {{.max_tiles = 65536}, "max_tiles is 65536,"},
        {{.merge_ratio = 0.5F}, "merge_ratio is 0.5, but must be above 0.5 and at most 1"},
        {{.merge_ratio = 1.25F}, "merge_ratio is 1.25,"},
        {{.merge_ratio = nan}, "merge_ratio is NaN,"},
        {{.atlas_fill = 0.0F}, "atlas_fill is 0, but must be 0.1 to 1"},
        {{.atlas_fill = 1.5F}, "atlas_fill is 1.5,"},
        {{.importance_decay = -0.1F}, "importance_decay is -0.1,"},
        {{.importance_decay = 1.0F}, "importance_decay is 1,"},
        {{.resolution_scale = 0.0F}, "resolution_scale is 0, but must be 1/64 to 64"},
        {{.resolution_scale = 65.0F}, "resolution_scale is 65,"},
        {{.edge_scale = 0.5F}, "edge_scale is 0.5, but must be 1 (as elsewhere) to 64"},
        {{.edge_scale = 65.0F}, "edge_scale is 65,"},
        {{.max_stretch = 0.5F}, "max_stretch is 0.5, but must be 1 to 1024"},
        {{.max_stretch = 2000.0F}, "max_stretch is 2000,"}};
    for (const auto& [options, text] : refused) {
        EXPECT_THAT(error_of(options), HasSubstr(text));
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
