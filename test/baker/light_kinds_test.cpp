// Kinds of scenes as people make them, by formulas or by exact zeros.

#include "bake_fixture.hpp"
#include "gltf_file.hpp"

#include <algorithm>
#include <cmath>

namespace quadtile::baker::test {
namespace {

// ---- Seams

// Two floors that meet at x = 8, of 8 by 8 texels; the first one is bright. A sheet stands on a
// part of their edge. Catches light that is blended through it, and light that is not blended
// beside it.
TEST(SeamKinds, EndWhereASurfaceStands) {
    struct Wall {
        glm::vec3 corner;
        glm::vec3 a;
        glm::vec3 b;
        bool parts;  // the middle of the edge
        bool is_open_beside;
    };
    for (const Wall& wall : std::initializer_list<Wall>{
             {{8, 0, 0}, 8.0F * Z, 3.0F * Y, true, false},
             {{8, 0, -5}, 16.0F * Z, 3.0F * Y, true, false},
             {{8, 0, 2}, 4.0F * Z, 3.0F * Y, true, true},
             {{8, -3, 2}, 4.0F * Z, 6.0F * Y, true, true},
             {{8, 0, 2}, 4.0F * Z, glm::vec3(2, 3, 0), true, true},
             {{4, 0, 4.25F}, 8.0F * X, 3.0F * Y, false, true},  // across the edge
             {{8, -3, 0}, 8.0F * Z, 3.0F * Y, false, true},     // below
             {{4, 2, 0}, 8.0F * Z, 8.0F * X, false, true}}) {   // a ceiling
        Quads scene(3, 1, 8);
        scene.add_material({.double_sided = true});
        scene.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
        scene.add({8, 0, 0}, 8.0F * Z, 8.0F * X);
        scene.add(wall.corner, wall.a, wall.b);
        LightMap map = uniform_light_map(scene.extent(), glm::vec3(0.0F));
        for (const std::size_t texel : scene.texels(0)) {
            map.irradiance[texel] = glm::vec3(1.0F);
        }
        blend_seams(map, find_seams(scene.scene, map.extent));
        const auto dark = [&](std::size_t z) { return map.irradiance[scene.texels(1)[z]].x; };
        EXPECT_EQ(dark(3) == 0.0F && dark(4) == 0.0F, wall.parts) << wall.corner.x << wall.corner.z;
        EXPECT_EQ(dark(0) > 0.01F, wall.is_open_beside) << wall.corner.x << wall.corner.z;
    }
}

// ---- Lightmap coordinates

// Catches objects without area in the lightmap, or with a chart that is lost in a texel.
TEST(CoordinateKinds, ObjectsWithoutATexelAreTold) {
    Scene scene;
    scene.materials.emplace_back();
    for (const float side : {0.5F, 0.0F, 0.01F, 0.1F}) {
        scene.parts.push_back(
            {.first_triangle = scene.triangles.size(), .name = "", .instance = scene.parts.size()});
        add_quad(scene, quadtile::baker::test::square(0.0F),
                 rectangle({0.25F, 0.25F}, glm::vec2(0.25F + side)));
    }
    EXPECT_EQ(objects_without_texels(scene, {64, 64}), (std::vector<std::uint32_t>{2, 4}));
}

// ---- Scenes far from the origin

// A square with a light, far from the origin: its places are those of one beside it. Catches
// transforms that are rounded to floats before the origin is subtracted. Vertices that are far away
// themselves get a warning.
class FarScenes : public SceneFile {};
TEST_F(FarScenes, AreAsExactAsNearOnes) {
    const std::string light =
        R"({"extensionsUsed":["KHR_lights_punctual"],"scenes":[{"nodes":[0,1]}],
            "extensions":{"KHR_lights_punctual":{"lights":[{"type":"point"}]}},"nodes":[)";
    const std::string lamp = R"("extensions":{"KHR_lights_punctual":{"light":0}}}]})";
    const Scene near = load(square(light + R"({"mesh":0,"rotation":[0.3826834,0,0,0.9238795]},
        {"translation":[0.1,0.2,0.3],)" +
                                   lamp))
                           .scene;
    const LoadedScene far = load(square(light + R"({"mesh":0,"rotation":[0.3826834,0,0,0.9238795],
        "translation":[500000.1,120.3,4500000.7]},{"translation":[500000.2,120.5,4500001.0],)" +
                                        lamp));
    const glm::dvec3 offset = far.scene.origin - glm::dvec3(500000.1, 120.3, 4500000.7);
    for (std::size_t i = 0; i < near.positions.size(); ++i) {
        EXPECT_LT(glm::distance(glm::dvec3(far.scene.positions[i]) + offset,
                                glm::dvec3(near.positions[i])),
                  1e-6);
    }
    EXPECT_LT(glm::distance(glm::dvec3(far.scene.point_lights[0].position) + offset,
                            glm::dvec3(near.point_lights[0].position)),
              1e-6);
    EXPECT_TRUE(far.warnings.empty());
    std::vector<float> positions = SQUARE_POSITIONS;
    for (std::size_t i = 0; i < positions.size(); i += 3) {
        positions[i] += 500000.0F;
    }
    const LoadedScene coarse = load(square("{}", positions));
    ASSERT_EQ(coarse.warnings.size(), 1U);
    EXPECT_THAT(coarse.warnings[0], testing::HasSubstr("too coarse"));
}

// ---- Lights in planes

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
