// Limits of ShadowOptions, and the CPU twin where closed forms tell its importance. That all else
// is as defined is in the random cases (test/random), by definition.hpp.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"
#include "scene.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace quadtile {
namespace {

using reference::ShadowFitter;
using Result = ShadowFitter::Result;
using testing::HasSubstr;

// ---- Options

// The ends of each range, and beyond both ends.
TEST(ShadowOptions, ErrorsNameTheMemberAndItsRange) {
    const std::pair<ShadowOptions, const char*> refused[] = {
        {{}, ""},
        {{.map_extent = 16, .atlas_extent = 64, .tile_extent = 64, .gutter = 1, .max_tiles = 1},
         ""},
        {{.lights = 256,
          .map_extent = 128,
          .atlas_extent = 16384,
          .tile_extent = 1024,
          .gutter = 31,
          .max_tiles = 65535},
         ""},
        {{.lights = 2, .map_extent = 2048}, ""},
        {{.lights = 8, .map_extent = 1024}, ""},
        {{.lights = 3, .map_extent = 2048}, "1024 or less"},
        {{.lights = 0}, "lights is 0, but must be 1 to 256"},
        {{.lights = 257}, "lights is 257,"},
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
        {{.max_tiles = 65536}, "max_tiles is 65536,"}};
    for (const auto& [options, text] : refused) {
        const std::string error =
            test::refusal_of([&options = options] { return shadow_parameters(options); });
        EXPECT_EQ(error.empty(), *text == '\0') << error;
        EXPECT_THAT(error, HasSubstr(text));
        EXPECT_EQ(test::refusal_of([&options = options] { ShadowFitter{options}; }), error);
    }
}

// ---- Frames

ShadowOptions small_options() {
    return test::with_small_tiles({.map_extent = 64, .atlas_extent = 512, .max_tiles = 300});
}

ShadowProjection sun_over_spheres() {
    return directional_shadow_projection({0.4F, -1.0F, 0.3F}, {{-10, 0, -10}, {10, 3, 10}});
}

// A plane that the camera looks straight down on, under a sun overhead: all pixels need the same.
class ShadowEdges : public testing::Test {
 protected:
    using Pixel = std::array<std::uint32_t, 2>;

    // Returns the needs by square in units of what a pixel needs elsewhere, if the last frame's
    // atlas has shadows at these pixels alone. The map has more texels than the picture pixels.
    [[nodiscard]] std::vector<float> needs(std::span<const Pixel> shaded) const {
        const std::vector<float> depth(SIDE * SIDE, DEPTH);
        ShadowFitter fitter(options);
        std::vector<float> atlas = test::empty_atlas(options);
        const Result last = fitter.next(frame, depth, atlas);
        for (const Pixel& pixel : shaded) {
            atlas[atlas_texel(last, pixel)] = 0.0F;
        }
        const std::vector<float> map = fitter.next(frame, depth, atlas).importance;
        std::vector<float> needs;
        for (std::uint32_t i = 0; i < SIDE * SIDE; ++i) {
            const std::uint32_t x = i % SIDE / SHADOW_SQUARE;
            const std::uint32_t y = i / SIDE / SHADOW_SQUARE;
            const ShadowMapping mapping = shadow_mapping(
                parameters, frame.lights[0], SHADOW_SQUARE * x + SHADOW_SQUARE / 2 * (y % 2),
                SHADOW_SQUARE * y + SHADOW_SQUARE / 2 * (x % 2), DEPTH, 0.0F, 0.0F);
            EXPECT_EQ(mapping.inside, 1U);
            const auto column = static_cast<std::size_t>(mapping.at[0]);
            const auto row = static_cast<std::size_t>(mapping.at[1]);
            needs.push_back(map[row * options.map_extent + column] /
                            shadow_request(parameters, frame.lights[0], mapping));
        }
        return needs;
    }

    // Returns the texel of the atlas that shows a pixel.
    [[nodiscard]] std::size_t atlas_texel(const Result& result, const Pixel& pixel) const {
        const ShadowMapping mapping =
            shadow_mapping(parameters, frame.lights[0], pixel[0], pixel[1], DEPTH, 0.0F, 0.0F);
        const auto texel = static_cast<std::size_t>(mapping.at[1]) * options.map_extent +
                           static_cast<std::size_t>(mapping.at[0]);
        const ShadowTile& tile = result.tiles[shadow_page_tile(result.page_table[texel])];
        const std::size_t column = shadow_atlas_texel(parameters, tile, mapping.at[0],
                                                      tile.position & 0xffffU, tile.slot & 0xffffU);
        return std::size_t{shadow_atlas_texel(parameters, tile, mapping.at[1], tile.position >> 16U,
                                              tile.slot >> 16U)} *
                   options.atlas_extent +
               column;
    }

    static constexpr std::uint32_t SIDE = 44;  // pixels, not whole blocks
    static constexpr float DEPTH = 0.1F / 6.0F;
    const ShadowOptions options =
        test::with_small_tiles({.map_extent = 256, .atlas_extent = 2048, .max_tiles = 1000});
    const ShadowParameters parameters = shadow_parameters(options);
    const ShadowFrame frame = make_shadow_frame(
        options, test::camera_at({0, 6, 0}, {0, 0, -0.001}, 0.5, 1.0).view, {SIDE, SIDE},
        std::array{directional_shadow_projection({0, -1, 0}, {{-3.5, 0, -3.5}, {3.5, 0, 3.5}})});
};

// Catches blocks that are not looked at or not made finer, and those that are for nothing.
TEST_F(ShadowEdges, MakeTheirBlocksFinerAndThoseAround) {
    const std::vector<float> ones(SIDE * SIDE, 1.0F);
    EXPECT_EQ(needs({}), ones);
    const Pixel beside{40, 20};  // not looked at; of its block (42, 20) is
    EXPECT_EQ(needs({&beside, 1}), ones);
    const Pixel shaded{42, 20};
    const std::vector<float> needed = needs({&shaded, 1});
    for (std::uint32_t i = 0; i < needed.size(); ++i) {
        const auto blocks = [](std::uint32_t pixel, std::uint32_t edge) {  // from the edge's
            return std::abs(static_cast<int>(pixel / SHADOW_SQUARE) -
                            static_cast<int>(edge / SHADOW_SQUARE));
        };
        const bool is_near = blocks(i % SIDE, 42) <= 1 && blocks(i / SIDE, 20) <= 1;
        EXPECT_EQ(needed[i], is_near ? 8.0F : 1.0F) << i;
    }
    // All in shadow: no edge.
    std::vector<Pixel> all;
    for (std::uint32_t i = 0; i < SIDE * SIDE; ++i) {
        all.push_back({i % SIDE, i / SIDE});
    }
    EXPECT_EQ(needs(all), ones);
}

TEST(ShadowTwin, BuffersOfTheWrongSizeAreRefused) {
    ShadowFitter fitter(small_options());
    const ShadowFrame frame = make_shadow_frame(small_options(), test::camera_of_frame(0).view,
                                                test::DEPTH_EXTENT, std::array{sun_over_spheres()});
    const auto error_of = [&](std::size_t depths, std::size_t texels) {
        return test::refusal_of([&] {
            return fitter.next(frame, std::vector<float>(depths), std::vector<float>(texels));
        });
    };
    EXPECT_THAT(error_of(17, 0), AllOf(HasSubstr("17 values"), HasSubstr("5184")));
    EXPECT_THAT(error_of(5184, 17),
                AllOf(HasSubstr("the atlas has 17 depths"), HasSubstr("262144")));
}

// Catches NaN that hides a caster. Random cases have boxes that are inside out or behind a light.
TEST(ShadowCulling, BoxesWithNanAreEverywhere) {
    const ShadowFrame frame = make_shadow_frame(small_options(), test::camera_of_frame(0).view,
                                                test::DEPTH_EXTENT, std::array{sun_over_spheres()});
    const ShadowChange change{{std::nanf(""), 0, 0}, 0, {1, 1, 1}, 0};
    const ShadowBounds bounds =
        shadow_bounds(shadow_parameters(small_options()), frame.lights[0], change.low, change.high);
    EXPECT_TRUE(bounds.low[0] < -1e9F && bounds.high[1] > 1e9F);
}

}  // namespace
}  // namespace quadtile
