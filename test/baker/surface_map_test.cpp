#include "surface_map.hpp"

#include "atlas_checks.hpp"
#include "small_scenes.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <numeric>

namespace quadtile::baker::test {

namespace {

Scene scene_with(const std::vector<Material>& materials) {
    Scene scene;
    scene.materials = materials;
    return scene;
}

// By one thread and by many, which must come to the same.
SurfaceMap map_of(const Scene& scene, const Extent& extent) {
    const SurfaceMap one = make_surface_map(scene, extent, 1);
    const SurfaceMap many = make_surface_map(scene, extent, 16);
    EXPECT_TRUE(one.coverage == many.coverage && one.albedo == many.albedo &&
                one.normal == many.normal && one.triangle == many.triangle &&
                one.overlapping_texels == many.overlapping_texels);
    return one;
}

double covered_texels(const SurfaceMap& map) {
    return std::accumulate(map.coverage.begin(), map.coverage.end(), 0.0);
}

// Squares of 20 x 20 texels, turned, and fans around a point, in the way of samples and not.
// Catches samples on edges that both triangles have, or none.
TEST(SurfaceMap, CoverageIsAnAreaAndCoversEachSampleOnce) {
    for (const double degrees : {10.0, 45.0, 77.0}) {
        const double angle = degrees * std::numbers::pi / 180.0;
        std::array<glm::vec2, 4> corners;
        for (std::size_t i = 0; i < 4; ++i) {
            const double a = angle + static_cast<double>(i) * std::numbers::pi / 2.0;
            corners[i] = glm::vec2(16.0 + std::sqrt(200.0) * std::cos(a),
                                   16.0 + std::sqrt(200.0) * std::sin(a)) /
                         32.0F;
        }
        Scene scene = scene_with({{}});
        add_quad(scene, square(0.0F), corners);
        const SurfaceMap map = map_of(scene, {32, 32});
        EXPECT_NEAR(covered_texels(map), 400.0, 1.0) << degrees;
        EXPECT_EQ(map.overlapping_texels, 0U);
    }
    for (const glm::vec2 centre : {glm::vec2(8.0F), glm::vec2(8.0625F), glm::vec2(3.3F, 11.7F)}) {
        Scene scene = scene_with({{}});
        const std::array<glm::vec2, 8> rim = {
            {{0, 0}, {8, 0}, {16, 0}, {16, 8}, {16, 16}, {8, 16}, {0, 16}, {0, 8}}};
        for (std::size_t i = 0; i < rim.size(); ++i) {
            add_triangle(scene, {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
                         {centre / 16.0F, rim[i] / 16.0F, rim[(i + 1) % 8] / 16.0F});
        }
        const SurfaceMap map = map_of(scene, {16, 16});
        EXPECT_EQ(covered_texels(map), 256.0);
        EXPECT_EQ(map.overlapping_texels, 0U);
    }
    // From samples to samples: those on one of two opposite edges are in it.
    Scene scene = scene_with({{}});
    add_quad(scene, square(0.0F), rectangle(glm::vec2(1.0625F / 4.0F), glm::vec2(2.5625F / 4.0F)));
    EXPECT_EQ(covered_texels(map_of(scene, {4, 4})), 2.25);
}

// What meets in a texel counts by its area; of what overlaps, the first triangle wins.
TEST(SurfaceMap, MixesWhatMeetsAndCountsOverlaps) {
    const auto halves = [](float end, float begin, const Extent& extent) {
        Scene scene = scene_with(
            {Material{.albedo = {1.0F, 0.0F, 0.0F}}, Material{.albedo = {0.0F, 1.0F, 0.0F}}});
        scene.materials[0].double_sided = true;
        add_quad(scene, square(0.0F), rectangle({0.0F, 0.0F}, {end, 1.0F}), 0);
        add_quad(scene, square(0.0F), rectangle({begin, 0.0F}, {1.0F, 1.0F}), 1);
        return map_of(scene, extent);
    };
    const SurfaceMap mixed = halves(0.25F, 0.25F, {1, 1});
    expect_near(mixed.albedo[0], {0.25F, 0.75F, 0.0F}, 1e-6F);
    EXPECT_EQ(mixed.double_sided[0], 0);
    EXPECT_EQ(mixed.overlapping_texels, 0U);
    const SurfaceMap map = halves(0.5F, 0.375F, {8, 4});
    EXPECT_EQ(map.overlapping_texels, 4U);
    expect_near(map.albedo[3], {1.0F, 0.0F, 0.0F}, 1e-6F);
    expect_near(map.albedo[4], {0.0F, 1.0F, 0.0F}, 1e-6F);
    EXPECT_EQ(covered_texels(map), 32.0);
    // Rounded coordinates are no overlap: the edges are on samples.
    constexpr float MIDDLE = 4.0625F / 8.0F;
    constexpr float ROUNDED = 0.004F / 8.0F;
    const SurfaceMap rounded = halves(MIDDLE + ROUNDED, MIDDLE - ROUNDED, {8, 8});
    EXPECT_EQ(rounded.overlapping_texels, 0U);
    EXPECT_EQ(covered_texels(rounded), 64.0);
}

// Charts in more tiles than are made together, with gaps. Catches texels that get the number, or
// the surface, of one in another row of tiles.
TEST(SurfaceMap, NumbersTexelsRowByRow) {
    constexpr std::uint32_t SIDE = 1024;
    Scene scene = scene_with({Material{}});
    std::vector<std::uint32_t> quads(SIDE * SIDE);  // by texel, from 1
    for (std::uint32_t cell = 0; cell < 121; ++cell) {
        const glm::uvec2 low(cell % 11 * 93 + cell % 7, cell / 11 * 93 + cell % 5);
        if (cell % 4 != 0) {
            add_quad(scene, square(0.0F),
                     rectangle(glm::vec2(low) / 1024.0F, glm::vec2(low + 80U) / 1024.0F));
        }
        for (std::uint32_t i = 0; cell % 4 != 0 && i < 80 * 80; ++i) {
            quads[(low.y + i / 80) * SIDE + low.x + i % 80] =
                static_cast<std::uint32_t>(scene.triangles.size() / 2);
        }
    }
    const SurfaceMap map = map_of(scene, {SIDE, SIDE});
    for (std::size_t i = 0; i < quads.size(); ++i) {
        const std::uint32_t number = map.texels[i];
        ASSERT_EQ(number < map.texels.count() ? map.triangle[number] / 2 + 1 : 0, quads[i]) << i;
    }
    EXPECT_EQ(map.triangle.size(), map.texels.places());
}

TEST(SurfaceMap, NoChartIsTooSmall) {
    // One between the samples, one across four texels, a long and thin one.
    Scene scene = scene_with({Material{.albedo = {0.5F, 0.25F, 0.125F}}});
    const std::array<glm::vec3, 3> positions = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    const auto add = [&](const std::array<glm::vec2, 3>& texels) {
        add_triangle(scene, positions, {texels[0] / 16.0F, texels[1] / 16.0F, texels[2] / 16.0F});
    };
    add({{{1.99F, 1.99F}, {1.991F, 1.99F}, {1.99F, 1.991F}}});
    add({{{4.99F, 4.99F}, {5.02F, 5.0F}, {5.0F, 5.02F}}});
    add({{{8.0F, 10.001F}, {15.0F, 10.0F}, {15.0F, 10.002F}}});
    const SurfaceMap map = map_of(scene, {16, 16});
    std::vector<std::size_t> covered;
    for (std::size_t i = 0; i < map.texels.count(); ++i) {
        covered.push_back(map.texels.texel(i));
        EXPECT_EQ(map.texels[covered.back()], i);
        EXPECT_GT(map.coverage[i], 0.0F);
        EXPECT_LE(map.coverage[i], 1.0F / 64.0F);
        expect_near(map.albedo[i], {0.5F, 0.25F, 0.125F}, 1e-6F);
        expect_near(map.normal[i], {0.0F, 0.0F, 1.0F}, 1e-6F);
    }
    EXPECT_THAT(covered,
                testing::ElementsAre(17, 68, 69, 84, 85, 168, 169, 170, 171, 172, 173, 174));
}

TEST(SurfaceMap, NormalsHaveLength1) {
    // Two planes in one texel, at a right angle; in another one, against each other.
    const std::array<glm::vec3, 4> up{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
    const std::array<glm::vec3, 4> planes[] = {
        up, {{{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}}}, up, {{up[0], up[3], up[2], up[1]}}};
    Scene scene = scene_with({{}});
    for (float x = 0.0F; const auto& plane : planes) {
        add_quad(scene, plane, rectangle({x, 0.0F}, {x + 0.25F, 1.0F}));
        x += 0.25F;
    }
    const SurfaceMap map = map_of(scene, {2, 1});
    const float half = std::sqrt(0.5F);
    expect_near(map.normal[0], {half, 0.0F, half}, 1e-6F);
    expect_near(map.normal[1], {0.0F, 0.0F, 1.0F}, 1e-6F);  // the first one's
}

TEST(SurfaceMap, TexturesAreLinearAndRepeat) {
    const Material material{.albedo = {0.5F, 1.0F, 1.0F},
                            .emission = glm::vec3(2.0F),
                            .albedo_texture = 0,
                            .emission_texture = 1};
    Scene scene = scene_with({material});
    scene.textures.push_back(
        {{2, 2},
         {{{255, 255, 255, 255}}, {{0, 0, 0, 255}}, {{188, 188, 188, 255}}, {{0, 255, 0, 255}}}});
    scene.textures.push_back({{1, 1}, {{{128, 0, 255, 255}}}});
    // 64 texels show the texture from 10 to 12: twice in each direction.
    add_quad(scene, square(0.0F), rectangle({0.0F, 0.0F}, {1.0F, 1.0F}));
    for (const glm::vec2& corner : rectangle({10.0F, -3.0F}, {12.0F, -1.0F})) {
        scene.texture_coordinates.push_back(corner);
    }
    const SurfaceMap map = map_of(scene, {64, 64});
    const auto at = [&](std::size_t x, std::size_t y) { return map.albedo[y * 64 + x]; };
    for (const std::size_t repeat : {0U, 32U}) {
        // Around the middles of the texture's texels; bilinear filtering takes a little of others.
        expect_near(at(8 + repeat, 8), {0.5F, 1.0F, 1.0F}, 0.12F);
        expect_near(at(24, 8 + repeat), {0.0F, 0.0F, 0.0F}, 0.12F);
        expect_near(at(8, 24 + repeat), {0.25F, 0.503F, 0.503F}, 0.12F);
        expect_near(at(24 + repeat, 24), {0.0F, 1.0F, 0.0F}, 0.12F);
    }
    // Half-way between white and black, also over the border.
    EXPECT_NEAR((at(15, 8).x + at(16, 8).x) / 2.0F, 0.25F, 0.01F);
    EXPECT_NEAR((at(31, 8).x + at(32, 8).x) / 2.0F, 0.25F, 0.01F);
    expect_near(map.emission[0], {2.0F * 0.21586F, 0.0F, 2.0F}, 1e-4F);
    // Coordinates that transforms make of others give the same.
    scene.materials[0].albedo_coordinates = glm::mat3x2({0.0F, 2.0F}, {-4.0F, 0.0F}, {1.0F, 5.0F});
    const std::array<glm::vec2, 4> made{scene.texture_coordinates[0], scene.texture_coordinates[1],
                                        scene.texture_coordinates[2], scene.texture_coordinates[3]};
    for (std::size_t i = 0; i < 4; ++i) {
        scene.texture_coordinates[i] = {(made[i].y - 5.0F) / 2.0F, (made[i].x - 1.0F) / -4.0F};
    }
    EXPECT_EQ(map_of(scene, {64, 64}).albedo, map.albedo);
    // The whole texture's mean, in one texel.
    const SurfaceMap mean = map_of(scene, {1, 1});
    expect_near(mean.albedo[0], {0.5F * 1.503F / 4.0F, 2.503F / 4.0F, 1.503F / 4.0F}, 2e-3F);
}

}  // namespace
}  // namespace quadtile::baker::test
