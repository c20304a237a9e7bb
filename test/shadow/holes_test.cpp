// No holes while the camera jumps: what a pixel looks up in the atlas was drawn for its tile.

#include <quadtile/shadow.hpp>

#include "spheres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

namespace quadtile {
namespace {

using test::Pinhole;

constexpr std::uint32_t JUMP_WIDTH = 32;
constexpr std::uint32_t JUMP_HEIGHT = 18;

double number(std::mt19937& random, double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
}

// Anywhere in the scene or above it, in any direction.
Pinhole jumped_camera(std::mt19937& random) {
    const auto place = [&](double reach) {
        return test::Vector{number(random, -reach, reach), number(random, 0.1, 0.5 * reach),
                            number(random, -reach, reach)};
    };
    const double reach = std::exp(number(random, 0.0, 4.0));
    return {.eye = place(reach),
            .target = place(12.0),
            .tangent = number(random, 0.1, 1.5),
            .width = JUMP_WIDTH,
            .height = JUMP_HEIGHT};
}

// What each cell of the atlas was drawn for.
class DrawnAtlas {
 public:
    explicit DrawnAtlas(const ShadowOptions& options)
        : parameters_(shadow_parameters(options)), cells_(shadow_atlas_cells(parameters_)) {}

    // `suns` counts the moves of the sun.
    void draw(const reference::ShadowFitter::Result& result, std::uint32_t suns) {
        for (const std::uint32_t index : result.render) {
            const ShadowTile& tile = result.tiles[index];
            const std::uint32_t cell = shadow_cell_of_slot(parameters_.tile_extent, tile.slot);
            std::fill_n(cells_.begin() + cell, shadow_slot_cells(tile.state & 0xffU),
                        content_of(tile, suns));
        }
    }

    // The depth is that of a pixel. True if light 0 does not see it.
    [[nodiscard]] bool is_drawn(const reference::ShadowFitter::Result& result,
                                const ShadowFrame& frame, std::uint32_t column, std::uint32_t row,
                                float depth, std::uint32_t suns) const {
        const ShadowSight sight =
            shadow_sight(parameters_, frame.lights[0], column, row, depth, 0.0F, 0.0F);
        if (sight.inside == 0) {
            return true;
        }
        const std::size_t texel = (static_cast<std::size_t>(sight.y) << parameters_.map_levels) +
                                  static_cast<std::size_t>(sight.x);
        const ShadowTile& tile = result.tiles.at(shadow_page_tile(result.page_table[texel]));
        const std::uint32_t x = shadow_atlas_texel(parameters_, tile, sight.x,
                                                   tile.position & 0xffffU, tile.slot & 0xffffU);
        const std::uint32_t y =
            shadow_atlas_texel(parameters_, tile, sight.y, tile.position >> 16U, tile.slot >> 16U);
        const std::uint32_t extent = shadow_slot_extent(parameters_.tile_extent, 0);
        return cells_.at(morton_encode(x / extent, y / extent)) == content_of(tile, suns);
    }

 private:
    using Content = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

    static Content content_of(const ShadowTile& tile, std::uint32_t suns) {
        return {tile.position, tile.node, tile.state & 0xffU, suns};
    }

    ShadowParameters parameters_;
    std::vector<Content>
        cells_;  // position, node, class, moves of the sun; along the Z-order curve
};

// Would catch slots given to two tiles, tiles that are kept in slots that others have overwritten,
// tiles with moved light that are not drawn again, and pages of tiles that are gone.
TEST(ShadowHoles, AreNotInTenThousandJumps) {
    ShadowOptions options = test::with_small_tiles({.map_extent = 32, .atlas_extent = 256});
    options.max_tiles = 64;
    reference::ShadowFitter fitter(options);
    DrawnAtlas atlas(options);
    const std::vector<float> nothing = test::empty_atlas(options);
    std::mt19937 random(23);
    std::array<float, 3> sun{0.4F, -1.0F, 0.3F};
    std::uint32_t suns = 0;
    std::uint32_t looked_up = 0;
    std::uint32_t kept = 0;
    std::uint32_t repacks = 0;
    std::uint32_t holes = 0;
    for (int jump = 0; jump < 10'000; ++jump) {
        const Pinhole camera = jumped_camera(random);
        if (jump % 16 == 15) {
            sun[0] = static_cast<float>(number(random, -1.0, 1.0));
            ++suns;
        }
        const std::array lights{directional_shadow_projection(sun, test::spheres_box())};
        const ShadowFrame frame =
            make_shadow_frame(options, camera.view(), {JUMP_WIDTH, JUMP_HEIGHT}, lights);
        const std::vector<float> depth = test::depth_buffer(camera);
        const reference::ShadowFitter::Result& result = fitter.next(frame, depth, nothing);
        atlas.draw(result, suns);
        kept += result.header.kept - result.header.resized;
        repacks += result.header.flags & SHADOW_REPACKED;
        for (std::uint32_t i = 0; i < JUMP_WIDTH * JUMP_HEIGHT; ++i) {
            if (depth[i] > 0.0F) {
                holes +=
                    atlas.is_drawn(result, frame, i % JUMP_WIDTH, i / JUMP_WIDTH, depth[i], suns)
                        ? 0
                        : 1;
                ++looked_up;
            }
        }
        ASSERT_EQ(holes, 0U) << "in jump " << jump;
    }
    EXPECT_GT(looked_up, 1'000'000U);
    EXPECT_GT(kept, 10'000U);
    EXPECT_GT(repacks, 0U);
}

}  // namespace
}  // namespace quadtile
