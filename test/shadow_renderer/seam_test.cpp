// Filters across the borders of tiles: an even floor is evenly lit.

#include "studio.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace quadtile::shadow {
namespace {

// A floor, and towers at z > 5 that the sun of side_sun() shadows nothing with at z < 0.
Geometry floor_with_towers() {
    baker::Scene scene;
    scene.materials.emplace_back();
    constexpr int QUADS = 16;
    constexpr float QUAD = 4.0F;
    for (int x = -QUADS / 2; x < QUADS / 2; ++x) {
        for (int z = -QUADS / 2; z < QUADS / 2; ++z) {
            add_quad(scene, {QUAD * static_cast<float>(x), 0.0F, QUAD * static_cast<float>(z)},
                     {0.0F, 0.0F, QUAD}, {QUAD, 0.0F, 0.0F});
        }
    }
    for (int i = -3; i <= 3; ++i) {
        const glm::vec3 corner(8.0F * static_cast<float>(i), 0.0F, 14.0F);
        add_quad(scene, corner, {2.0F, 0.0F, 0.0F}, {0.0F, 12.0F, 0.0F});
        add_quad(scene, corner + glm::vec3(0.0F, 0.0F, 2.0F), {2.0F, 0.0F, 0.0F},
                 {0.0F, 12.0F, 0.0F});
    }
    return make_geometry(scene);
}

// Returns the largest range of a channel, over pixels with surfaces.
int colour_range(const std::vector<std::uint32_t>& colours,
                 const std::vector<std::uint32_t>& mask) {
    int widest = 0;
    for (const std::uint32_t shift : {0U, 8U, 16U}) {
        int low = 255;
        int high = 0;
        for (std::size_t i = 0; i < colours.size(); ++i) {
            if (mask[i] != 0) {
                low = std::min(low, static_cast<int>(colours[i] >> shift & 0xffU));
                high = std::max(high, static_cast<int>(colours[i] >> shift & 0xffU));
            }
        }
        widest = std::max(widest, high - low);
    }
    return widest;
}

TEST_F(ShadowRenderer, LightsAnEvenFloorEvenly) {
    const ShadowOptions options{.map_extent = 256, .atlas_extent = 2048, .max_tiles = 400};
    Studio studio(floor_with_towers(), {240, 135}, options);
    std::set<std::uint32_t> levels;
    for (int i = 0; i < 4; ++i) {
        SCOPED_TRACE(i);
        const FrameSettings settings{
            .camera = {.position = {0.0F, 1.0F + static_cast<float>(i), 0.0F},
                       .yaw_degrees = 9.0F * static_cast<float>(i - 2),
                       .pitch_degrees = -20.0F - 2.0F * static_cast<float>(i)},
            .lights = {{.direction = {-0.5F, -1.0F, 0.2F}}}};
        EXPECT_EQ(studio.compare(settings).wrong, 0U);
        const std::vector<std::uint32_t> mask = studio.mask();
        EXPECT_EQ(std::ranges::count(mask, shadow_lit_word(0, true, false)), 0)
            << "pixels in shadow";
        EXPECT_GT(std::ranges::count(mask, shadow_lit_word(0, true, true)), 5000);
        EXPECT_LE(colour_range(studio.colours(), mask), 1);
        const Studio::Fit fit = studio.fit();
        EXPECT_GT(fit.tiles.size(), 20U);
        for (const ShadowTile& tile : fit.tiles) {
            levels.insert(tile.node & 0xffU);
        }
    }
    EXPECT_GE(levels.size(), 4U);
}

}  // namespace
}  // namespace quadtile::shadow
