// Small emitters by points of them: against sums over many points, and against many directions.

#include "bake_fixture.hpp"

#include "light_map.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace quadtile::baker::test {
namespace {

const glm::vec3 RADIANCE{4.0F, 8.0F, 0.0F};

// A floor of 8 by 8 metres and as many texels, cell 0, and a lamp of a square metre over its
// middle, cell 1, that shines down.
Quads lit_floor(float height, bool double_sided = false) {
    Quads quads(4, 1, 8);
    quads.add_material({.albedo = glm::vec3(0.5F)});
    quads.add_material({.emission = RADIANCE, .double_sided = double_sided});
    quads.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
    quads.add({3.5F, height, 3.5F}, X, Z, 1);
    return quads;
}

LightMap bake_direct(const Quads& quads, std::uint32_t points, bool directional = false) {
    return bake_by_reference(
               Prepared(quads.scene, quads.extent(), 2.0F),
               {.directions = 8, .bounces = 0, .lamp_points = points, .directional = directional})
        .map;
}

// Light of a floor's texel, red: the mean over its points and the lamp's that see each other.
using IsSeen = std::function<bool(const glm::dvec3& point, const glm::dvec3& lamp)>;
double expected_at(std::size_t texel, double height, const IsSeen& is_seen = {}) {
    constexpr int POINTS = 24;
    double sum = 0.0;
    for (int i = 0; i < POINTS * POINTS * POINTS * POINTS; ++i) {
        const auto part = [&](int axis) {
            return (static_cast<int>(i / std::pow(POINTS, axis)) % POINTS + 0.5) / POINTS;
        };
        // Rows of the lightmap go along the world's x.
        const glm::dvec3 point(static_cast<double>(texel / 8) + part(0), 0.0,
                               static_cast<double>(texel % 8) + part(1));
        const glm::dvec3 lamp(3.5 + part(2), height, 3.5 + part(3));
        const glm::dvec3 to = lamp - point;
        const double square = glm::dot(to, to);
        if (!is_seen || is_seen(point, lamp)) {
            sum += to.y * to.y / (square * square);
        }
    }
    return double{RADIANCE.x} * sum / std::pow(POINTS, 4);
}

// Catches formulas that are wrong near, far and below the horizon, light of the lamp's back, light
// that directions find once more, and moments that do not point to the lamp.
TEST(Lamps, ShineAsTheirSolidAngle) {
    for (const float height : {3.0F, 0.4F}) {
        const Quads quads = lit_floor(height);
        const LightMap map = bake_direct(quads, 16, true);
        const std::vector<std::size_t> floor = quads.texels(0);
        for (const std::size_t i : {0U, 9U, 27U, 28U, 36U, 51U, 63U}) {
            const glm::vec3& irradiance = map.irradiance[floor[i]];
            const double expected = expected_at(i, height);
            EXPECT_NEAR(irradiance.x, expected, 2e-3 * expected + 1e-6) << height << ", " << i;
            EXPECT_FLOAT_EQ(irradiance.y, 2.0F * irradiance.x);
            EXPECT_EQ(irradiance.z, 0.0F);
        }
        const glm::vec3 to = glm::normalize(glm::vec3(3.5F, height, 3.5F));
        for (const auto& [band, cosine] : {std::pair(1, to.y), {2, to.z}, {3, to.x}}) {
            EXPECT_NEAR(map.radiance_sh[static_cast<std::size_t>(band)][floor[0]].x,
                        0.4886F * cosine * map.irradiance[floor[0]].x, 1e-4F);
        }
    }
}

// Catches noise where only one half of a patch's points meets a texel: close to the lamp most do
// not.
TEST(Lamps, HaveNoNoiseWhereNothingIsBetween) {
    Quads quads(2, 1, 128);
    quads.add_material({});
    quads.add_material({.emission = RADIANCE});
    quads.add({0, 0, 0}, Z, X);
    quads.add({0.375F, 0.005F, 0.375F}, 0.25F * X, 0.25F * Z, 1);
    const BakeResult result = bake_by_reference(Prepared(quads.scene, quads.extent()),
                                                {.directions = 8, .bounces = 0, .lamp_points = 2});
    ASSERT_TRUE(result.noise);
    EXPECT_LT(*result.noise, 1e-3);
}

// Catches shadows of a patch's middle, patches that are counted twice and halves that are
// forgotten.
TEST(Lamps, ThrowSoftShadows) {
    Quads quads = lit_floor(3.0F);
    quads.add({2, 1.5F, 0}, 2.0F * X, 8.0F * Z);  // looks down
    const LightMap map = bake_direct(quads, 512);
    const auto is_seen = [](const glm::dvec3& point, const glm::dvec3& lamp) {
        const double x = 0.5 * (point.x + lamp.x);
        return x < 2.0 || x > 4.0;
    };
    const std::vector<std::size_t> floor = quads.texels(0);
    for (std::size_t row = 0; row < 8; ++row) {
        const double expected = expected_at(8 * row + 3, 3.0, is_seen);
        EXPECT_NEAR(map.irradiance[floor[8 * row + 3]].x, expected,
                    0.03 * expected_at(8 * row + 3, 3.0))
            << row;
    }
    EXPECT_EQ(map.irradiance[floor[8 * 2 + 3]].x, 0.0F);
}

// Catches lamps that shine to one side alone, or twice to each, and backs that receive nothing.
TEST(Lamps, ShineToBothSidesWhereTheyHaveTwo) {
    Quads quads = lit_floor(1.0F, true);
    // Above, as far away: it looks up, and what its back receives counts by its bounce alone.
    const std::uint32_t panel = quads.add_material({.double_sided = true});
    const std::uint32_t above = quads.add({0, 2, 0}, 8.0F * X, 8.0F * Z);
    const std::uint32_t wall = quads.add({0, 0, 0}, 8.0F * X, 2.0F * Y, panel);
    const LightMap map = bake_direct(quads, 16);
    const std::vector<std::size_t> floor = quads.texels(0);
    const std::vector<std::size_t> ceiling = quads.texels(above);
    for (const std::size_t x : {0U, 2U, 3U, 6U}) {
        // Rows of the ceiling go along z.
        EXPECT_NEAR(map.irradiance[ceiling[8 * 3 + x]].x, map.irradiance[floor[8 * x + 3]].x,
                    1e-4F * RADIANCE.x);
    }
    EXPECT_GT(map.irradiance[quads.texels(wall)[8 * 4 + 3]].x, 1e-3F * RADIANCE.x);
}

// Catches emitters that are taken although directions do better, and such as are lost when patches
// are cut.
TEST(Lamps, AreSmallEvenAndFew) {
    const auto lamps_of = [](const Quads& quads, std::uint32_t points, std::uint32_t directions) {
        return find_lamps(quads.scene, make_surface_map(quads.scene, quads.extent()), points,
                          directions);
    };
    Quads quads = lit_floor(3.0F);
    quads.add({0, 1, 0}, 0.5F * X, 0.5F * Z, 1);
    quads.add({7, 1, 0}, 0.5F * X, 0.5F * Z, 1);
    for (const std::uint32_t points : {1U, 6U, 64U, 100U}) {
        const Lamps lamps = lamps_of(quads, points, 1024);
        EXPECT_EQ(lamps.patches.size(), std::max(points / 2, 3U));
        double area = 0.0;
        for (const LampPatch& patch : lamps.patches) {
            EXPECT_LT(patch.box.size().x, 1.001);  // lamps apart are patches apart
            for (const LampPiece& piece : patch.pieces) {
                area += 0.5 * glm::length(piece.cross());
                EXPECT_LT(piece.cross().y, 0.0);
            }
        }
        EXPECT_NEAR(area, 1.5, 1e-9);
        std::vector<std::uint32_t> counts(lamps.patches.size());
        for (const LampPoint& point : make_lamp_points(lamps.patches, 7)) {
            ++counts[point.patch];
            EXPECT_LT(point.position.y, point.position.x < 1 || point.position.x > 6 ? 1.0 : 3.0);
        }
        EXPECT_THAT(counts, ::testing::Each(POINTS_A_PATCH));
        const auto shines = [&](std::size_t texel) { return lamps.texels[texel] != 0; };
        EXPECT_TRUE(std::ranges::all_of(quads.texels(1), shines));
        EXPECT_TRUE(std::ranges::none_of(quads.texels(0), shines));
    }
    EXPECT_THAT(lamps_of(quads, 0, 1024).patches, ::testing::IsEmpty());
    EXPECT_THAT(lamps_of(quads, 64, 23).patches, ::testing::IsEmpty());
    quads.scene.textures.resize(1);
    quads.scene.materials[1].emission_texture = 0;
    quads.scene.textures[0] = {.extent = {1, 1}, .texels = {{255, 255, 255, 255}}};
    EXPECT_THAT(lamps_of(quads, 64, 1024).patches, ::testing::IsEmpty());
    quads.scene.materials[1].emission_texture.reset();
    quads.scene.materials[0].emission = glm::vec3(0.1F);  // the floor, too
    EXPECT_THAT(lamps_of(quads, 64, 1024).patches, ::testing::IsEmpty());
}

}  // namespace
}  // namespace quadtile::baker::test
