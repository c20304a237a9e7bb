// Kinds of lights as people make them, by formulas or by exact zeros.

#include "quads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace quadtile::baker::test {
namespace {

// A closed room of 4 by 2 by 4 metres, 16 texels a side, and a light of 1 candela. Catches surfaces
// through the light that block its rays or half of its sphere, also in edges and corners, a light
// behind the ceiling that passes it, and dark surfaces that are unknown.
TEST(LightKinds, PlanesThroughALightBlockNoneOfItsRays) {
    struct Case {
        glm::vec3 position;
        float radius;
        bool shines;
    };
    for (const Case& lit : std::initializer_list<Case>{{{0.1F, 2, 0.2F}, 0.0F, true},
                                                       {{0.1F, 2, 0.2F}, 0.05F, true},
                                                       {{2, 2, 0.2F}, 0.0F, true},
                                                       {{2, 2, 2}, 0.0F, true},
                                                       {{0.1F, 1.99999F, 0.2F}, 0.0F, true},
                                                       {{0.1F, 2.00001F, 0.2F}, 0.0F, false}}) {
        Quads room(3, 2, 16);
        room.add_material({.albedo = glm::vec3(0.5F), .double_sided = true});
        room.add_room({-2, 0, -2}, {4, 2, 4});
        room.scene.point_lights = {
            {.position = lit.position, .intensity = glm::vec3(1.0F), .radius = lit.radius}};
        const Prepared what(room.scene, room.extent(), 2.0F);
        const BakeOptions options{.directions = 64, .bounces = 0, .sun_directions = 16};
        const LightMap map = bake_by_reference(what, options).map;
        const std::vector<std::size_t> texels = room.texels(0);
        for (std::size_t i = 0; i < texels.size(); ++i) {
            const glm::dvec3 point(-2.0 + 0.25 * (static_cast<double>(i / 16) + 0.5), 0.0,
                                   -2.0 + 0.25 * (static_cast<double>(i % 16) + 0.5));
            const glm::dvec3 to = glm::dvec3(lit.position) - point;
            const double expected =
                lit.shines ? lit.position.y / std::pow(glm::length(to), 3) : 0.0;
            EXPECT_NEAR(map.irradiance[texels[i]].x, expected, 2e-3) << i;
        }
        for (std::uint32_t wall = 0; lit.position.y == 2.0F && wall < 6; ++wall) {
            for (const std::size_t texel : room.texels(wall)) {
                EXPECT_EQ(map.known[texel], 1) << wall;
            }
        }
    }
}

// Catches lights without a radius that take the time of a sphere, and rays beyond a light's range.
TEST(LightKinds, RaysAreOnlyThoseThatALightNeeds) {
    std::array<std::uint64_t, 2> pixels{};
    for (const float range : {1.0F, 100.0F}) {
        Quads floor(3, 1, 16);
        floor.add_material({.albedo = glm::vec3(0.5F)});
        floor.add({-8, 0, -8}, 16.0F * Z, 16.0F * X);
        floor.scene.point_lights = {
            {.position = {0.5F, 0.5F, 0.5F}, .intensity = glm::vec3(1.0F), .range = range}};
        const Prepared what(floor.scene, floor.extent(), 2.0F);
        const auto tracer = make_reference_tracer(what.traced, what.tiles, 1);
        const BakeResult result =
            bake_with(*tracer, what, {.directions = 64, .bounces = 0, .sun_directions = 16});
        EXPECT_EQ(result.passes.front().directions, 6U);
        EXPECT_GT(result.map.irradiance[floor.texels(0)[8 * 16 + 8]].x, 1.5);
        pixels[range > 1.0F ? 1 : 0] = tracer->statistics().pixels;
    }
    EXPECT_LT(10 * pixels[0], pixels[1]);
}

// A panel in the plane of a ceiling shines as one without a ceiling, as a lamp and by directions.
// Catches ceilings that hide it from one side of the rays: half of its light.
TEST(LightKinds, PanelsInTheCeilingShineWithAllOfTheirLight) {
    const auto light = [](bool has_ceiling, bool is_first, std::uint32_t lamp_points) {
        Quads room(3, 1, 8);
        room.add_material({.albedo = glm::vec3(0.0F)});
        const std::uint32_t panel = room.add_material({.emission = glm::vec3(1.0F)});
        room.add({-2, 0, -2}, 4.0F * Z, 4.0F * X);
        const auto add = [&](bool is_panel) {
            const float half = is_panel ? 0.5F : has_ceiling ? 2.0F : 0.01F;
            const float x = is_panel || has_ceiling ? 0.0F : 50.0F;
            room.add({x - half, 2, -half}, 2.0F * half * X, 2.0F * half * Z, is_panel ? panel : 0);
        };
        add(is_first);
        add(!is_first);
        const LightMap map =
            bake_by_reference(Prepared(room.scene, room.extent(), 2.0F),
                              {.directions = 1024, .bounces = 0, .lamp_points = lamp_points})
                .map;
        double sum = 0.0;
        for (const std::size_t texel : room.texels(0)) {
            sum += map.irradiance[texel].x;
        }
        return sum;
    };
    const double open = light(false, true, 32);
    for (const std::uint32_t lamp_points : {0U, 32U}) {
        for (const bool is_first : {true, false}) {
            EXPECT_NEAR(light(true, is_first, lamp_points) / open, 1.0, 0.03) << lamp_points;
        }
    }
}

}  // namespace
}  // namespace quadtile::baker::test
