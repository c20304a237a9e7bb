// The whole bake against what is known of the light: by formulas, and by a path tracer.

#include "gathered_light.hpp"
#include "load_scene.hpp"
#include "path_tracer.hpp"
#include "quads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quadtile::baker::test {
namespace {

constexpr float PI = std::numbers::pi_v<float>;

// By the reference tracer, whose bits are those of the GPU's.
LightMap light(const Prepared& what, const BakeOptions& options) {
    return bake_by_reference(what, options).map;
}

// The mean over a quad's texels.
glm::dvec3 mean(const std::vector<glm::vec3>& values, const std::vector<std::size_t>& texels) {
    glm::dvec3 sum(0.0);
    for (const std::size_t texel : texels) {
        sum += glm::dvec3(values[texel]);
    }
    return sum / static_cast<double>(texels.size());
}

// ---- Formulas

// Every ray of every texel within sees the same, so that there is no noise at all. Catches rays
// that meet two walls near the edge between them and pass through: the sky is brighter. The walls
// end at the edges, or reach out beyond them. Sums are of whole units, 2^-22 of the greatest
// radiance there is or less, rounded down.
TEST(Light, FurnaceIsEvenAfterAnyNumberOfBounces) {
    const glm::dvec3 albedo(0.25, 0.5, 0.75);
    const glm::dvec3 emission(1.0, 0.1, 30.0);
    const glm::vec3 size(1.1F, 2.2F, 3.3F);
    const glm::vec3 low(-3.1F, 5.2F, 7.3F);
    for (const float over : {0.0F, 0.5F}) {
        Quads box(3, 2, 16);
        box.add_material({.albedo = albedo, .emission = emission});
        for (int axis = 0; axis < 3; ++axis) {
            std::array<glm::vec3, 3> edges{};
            for (int i = 0; i < 3; ++i) {
                edges[static_cast<std::size_t>(i)][(axis + i) % 3] = size[(axis + i) % 3];
            }
            const auto& [across, a, b] = edges;
            const glm::vec3 corner = low - over * (a + b);
            box.add(corner, (1.0F + 2.0F * over) * a, (1.0F + 2.0F * over) * b);
            box.add(corner + across, (1.0F + 2.0F * over) * b, (1.0F + 2.0F * over) * a);
        }
        Prepared what(box.scene, box.extent(), 2.0F);
        what.sky.radiance = glm::vec3(50.0F);
        // Outside of the room walls are lit otherwise.
        for (std::uint32_t bounces = 0; bounces <= (over > 0.0F ? 0U : 8U); bounces += 4) {
            const LightMap map = light(what, {.directions = 96, .bounces = bounces, .seed = 2});
            glm::dvec3 expected(0.0);
            for (std::uint32_t i = 0; i <= bounces; ++i) {
                expected = emission * std::numbers::pi + albedo * expected;
            }
            for (std::size_t i = 0; i < std::size_t{6 * 16 * 16}; ++i) {
                const std::size_t margin = over > 0.0F ? 5 : 0;
                const auto [least, most] = std::minmax({i % 16, i / 16 % 16});
                const std::size_t texel = box.texels(static_cast<std::uint32_t>(i / 256))[i % 256];
                if (least >= margin && most < 16 - margin) {
                    EXPECT_EQ(map.known[texel], 1) << i;
                    const glm::dvec3 share = glm::dvec3(map.irradiance[texel]) / expected;
                    EXPECT_LT(glm::length(share - 1.0), 3e-6) << over << ", " << bounces;
                }
            }
        }
    }
}

// A map whose sums are read in several pieces. Catches pieces that are left out, or whose sums
// other texels get.
TEST(Light, EachTexelHasItsOwnSums) {
    Quads quads(1, 1, 1500);
    quads.add_material({});
    quads.add({0, 0, 0}, X, Y);
    const Prepared what(quads.scene, quads.extent(), 1.0F);
    ASSERT_GT(what.traced.sum_count(), 2 * PIECE_TEXELS);
    const std::unique_ptr<Tracer> tracer = make_reference_tracer(what.traced, what.tiles);
    std::vector<Accumulator> sums(what.traced.sum_count());
    for (std::uint32_t i = 0; i < sums.size(); ++i) {
        sums[i] = {.radiance = {i, 0, 2 * i, 0, 1, 0}, .weight = {1, 0}};
    }
    tracer->begin_pass({});
    tracer->set_sums(0, sums);
    Ranks alone;
    BakeState state;
    state.known.assign(sums.size(), 0);
    const Lamps none;
    const std::array tracers{tracer.get()};
    GatheredLight light(what.traced, what.surface, none, {}, tracers, alone, state);
    light.note_half();
    light.finish_direct();
    for (std::uint32_t i = 0; i < what.traced.texels.count(); ++i) {
        ASSERT_EQ(state.half[i], grey({i, 2 * i, 1}));
        ASSERT_EQ(state.direct[i], std::numbers::pi_v<float> * glm::vec3(i, 2 * i, 1));
    }
}

// From the literature: squares that face each other, and squares at a right angle, whose light is
// that of a sun along the second one. Catches backs of two sides that are lit as fronts are, or do
// not send their light, and texels along the light that are unknown.
TEST(Light, SquaresHaveTheirFormFactors) {
    Quads facing(2, 1, 6);
    facing.add_material({});
    facing.add({0, 0, 0}, Z, X);
    facing.add({0, 1, 0}, X, Z, facing.add_material({.emission = glm::vec3(1.0F)}));
    for (const auto& [directions, tolerance] : {std::pair(64U, 0.07), {1024U, 0.008}}) {
        const LightMap map = light(Prepared(facing.scene, facing.extent(), 2.0F),
                                   {.directions = directions, .bounces = 0});
        const double found = mean(map.irradiance, facing.texels(0)).x / std::numbers::pi;
        EXPECT_NEAR(found / 0.19982, 1.0, tolerance) << directions;
    }
    for (const bool is_front : {true, false}) {
        Quads corner(2, 1, 12);
        corner.add_material({.albedo = glm::vec3(0.5F), .double_sided = !is_front});
        corner.add({0, 0, 0}, is_front ? Z : X, is_front ? X : Z);
        corner.add({0, 0, 0}, Y, Z, corner.add_material({}));
        corner.scene.suns = {{.direction = {0, -1, 0},
                              .irradiance = glm::vec3(2.0F),
                              .angular_diameter_degrees = 0.0F}};
        for (const std::uint32_t bounces : {0U, 1U}) {
            const LightMap map = light(Prepared(corner.scene, corner.extent(), 2.0F),
                                       {.directions = 1024, .bounces = bounces});
            EXPECT_NEAR(mean(map.irradiance, corner.texels(1)).x, bounces * 0.20004, 0.004);
            EXPECT_NEAR(mean(map.irradiance, corner.texels(0)).x, is_front ? 2.0 : 0.0, 0.1);
        }
    }
}

// Each of two suns has its channel, without the cosine at the floor. A narrow blocker hides a row
// of texels and a half of the first one, which lights it from the side; one shines from below.
// A lamp above the blocker hides more of the floor, near and far alike.
TEST(Light, SharesOfLightsAreThoseOfTheirRays) {
    Quads scene(2, 1, 8);
    scene.add_material({});
    scene.add({0, 0, 0}, 8.0F * Z, 8.0F * X);  // rows of the lightmap go along the world's x
    scene.add({2, 1, 0}, 8.0F * Z, 1.5F * X);
    for (const glm::vec3& direction : {glm::vec3(1, -1, 0), glm::vec3(0.5F, -1, 0), Y}) {
        scene.scene.suns.push_back({.direction = glm::normalize(direction),
                                    .irradiance = glm::vec3(0.0F),
                                    .angular_diameter_degrees = 0.1F});
        scene.scene.suns.back().irradiance[static_cast<int>(scene.scene.suns.size()) - 1] = 1.0F;
    }
    const Prepared what(scene.scene, scene.extent(), 4.0F);
    const LightMap map = light(what, {.directions = 16, .bounces = 0, .light_shares = true});
    const std::vector<std::size_t> texels = scene.texels(0);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        const float share = i / 8 == 3 ? 0.0F : i / 8 == 4 ? 0.5F : 1.0F;
        EXPECT_NEAR(map.irradiance[texels[i]].x, share, 0.04F) << i;
        EXPECT_EQ(map.irradiance[texels[i]].z, 0.0F) << i;
    }
    EXPECT_EQ(map.irradiance[texels.back()].y, 1.0F);

    scene.scene.suns.clear();
    scene.scene.point_lights = {
        {.position = {2.75F, 2, 4}, .intensity = {0, 1, 0}, .radius = 0.01F}};
    const Prepared lamp(scene.scene, scene.extent(), 4.0F);
    const LightMap of_lamp = light(lamp, {.directions = 16, .bounces = 0, .light_shares = true});
    constexpr std::array SHARES{1.0F, 0.25F, 0.0F, 0.0F, 0.75F, 1.0F, 1.0F, 1.0F};
    for (std::size_t i = 0; i < texels.size(); ++i) {
        const float noise = i / 8 == 1 || i / 8 == 4 ? 0.12F : 0.0F;  // at the shadow's edges
        EXPECT_NEAR(of_lamp.irradiance[texels[i]].y, SHARES[i / 8], noise) << i;
        EXPECT_EQ(of_lamp.irradiance[texels[i]].x, 0.0F) << i;
    }
}

TEST(Light, SkyPictureIsIntegrated) {
    Quads plane(2, 1, 4);
    plane.add_material({});
    plane.add({0, 0, 0}, Z, X);
    plane.add({0, -0.01F, 0}, X, Z);  // looks down
    Prepared what(plane.scene, plane.extent());
    Sky& sky = what.sky;
    sky.extent = {64, 32};
    sky.radiance = {1.0F, 1.0F, 2.0F};
    for (std::uint32_t y = 0; y < 32; ++y) {
        const float height = std::cos(PI * (static_cast<float>(y) + 0.5F) / 32.0F);
        for (std::uint32_t x = 0; x < 64; ++x) {
            // A gradient, something small, and what only the right half has: +X.
            sky.texels.emplace_back(0.5F + 0.5F * height, x == 10 && y == 6 ? 1000.0F : 0.0F,
                                    x >= 32 ? 1.0F : 0.0F);
        }
    }
    const BakeOptions options{.directions = 1024, .bounces = 0};
    const LightMap map = light(what, options);
    const glm::dvec3 up = mean(map.irradiance, plane.texels(0));
    const glm::dvec3 down = mean(map.irradiance, plane.texels(1));
    // 0.5 + 0.5 cos over the hemisphere. The other plane hides some of it.
    const double angle = std::numbers::pi * 6.5 / 32.0;
    const double solid_angle =
        2.0 * std::numbers::pi / 64.0 *
        (std::cos(std::numbers::pi * 6.0 / 32.0) - std::cos(std::numbers::pi * 7.0 / 32.0));
    const double pi = std::numbers::pi;
    EXPECT_NEAR(up.x, 5.0 * pi / 6.0, 0.01);
    EXPECT_NEAR(down.x, pi / 6.0, 0.01);
    EXPECT_NEAR(up.y, 1000.0 * solid_angle * std::cos(angle), 0.1);
    EXPECT_EQ(down.y, 0.0);
    EXPECT_NEAR(up.z, pi, 0.05);
    EXPECT_NEAR(down.z, pi, 0.05);

    // The right half, seen by walls that look at -Z, +X, +Z and -X. Seen from above, a turn of 90
    // degrees is counterclockwise.
    Quads walls(4, 1, 4);
    walls.add_material({});
    for (const glm::vec3& front : {-Z, X, Z, -X}) {
        walls.add(3.0F * front, Y, glm::cross(front, Y));
    }
    for (const auto& [degrees, brightest] :
         {std::pair(0.0F, 1U), {90.0F, 0U}, {-90.0F, 2U}, {180.0F, 3U}, {-360.0F, 1U}}) {
        Prepared round(walls.scene, walls.extent());
        round.sky = sky;
        round.sky.turn_degrees = degrees;
        const LightMap turned = light(round, {.directions = 128, .bounces = 0});
        for (std::uint32_t wall = 0; wall < 4; ++wall) {
            const double share = mean(turned.irradiance, walls.texels(wall)).z / (2.0 * pi);
            EXPECT_NEAR(share,
                        wall == brightest             ? 1.0
                        : wall == (brightest + 2) % 4 ? 0.0
                                                      : 0.5,
                        0.08)
                << degrees << ", " << wall;
        }
        // As the preview draws it.
        const std::array fronts{-Z, X, Z, -X};
        EXPECT_EQ(radiance_from(round.sky, fronts[brightest] + 0.1F * Y).z, 2.0F) << degrees;
        EXPECT_EQ(radiance_from(round.sky, fronts[(brightest + 2) % 4] - Y).z, 0.0F) << degrees;
    }
    const double longitude = 2.0 * pi * (10.5 / 64.0 - 0.5);
    EXPECT_EQ(radiance_from(sky, {std::sin(angle) * std::sin(longitude), std::cos(angle),
                                  -std::sin(angle) * std::cos(longitude)})
                  .y,
              1000.0F);
}

// A floor of 8 by 8 texels under a sheet with as many texels, but 8 times as long, and a texture of
// 64 by 64: each of its texels is over one of the floor.
double light_below(const Material& material, std::size_t column, const auto& light_scene) {
    Quads scene(2, 1, 8);
    scene.add_material({.albedo = glm::vec3(0.0F)});
    const std::uint32_t floor = scene.add({28, 0, 28}, 8.0F * Z, 8.0F * X);
    const std::uint32_t sheet =
        scene.add({0, 1, 0}, 64.0F * Z, 64.0F * X, scene.add_material(material));
    for (const glm::vec3& position : scene.scene.positions) {
        scene.scene.texture_coordinates.emplace_back(glm::vec2(position.x, position.z) / 64.0F);
    }
    Texture stripes{.extent = {64, 64}, .texels = {}};
    for (std::uint32_t i = 0; i < 64 * 64; ++i) {
        stripes.texels.push_back({255, 0, 0, static_cast<std::uint8_t>(i % 2 * 255)});
    }
    scene.scene.textures = {stripes};
    light_scene(scene.scene);
    Prepared what(scene.scene, scene.extent(), 4.0F);
    const LightMap map = light(what, {.directions = 256, .bounces = 0, .sun_directions = 64});
    // The sheet is lit as if it had no holes, and does not send the colour of these.
    EXPECT_EQ(what.surface.albedo[what.surface.texels[scene.texels(sheet)[27]]],
              glm::vec3(1.0F, 0.0F, 0.0F));
    std::vector<std::size_t> texels;
    for (std::size_t row = 2; row < 6; ++row) {
        texels.push_back(scene.texels(floor)[8 * column + row]);
    }
    return mean(map.irradiance, texels).x;
}

// Catches alpha that is looked up by texel of the lightmap, at the wrong place or not at all; and
// light from the sheet to itself.
TEST(Light, GoesThroughHoles) {
    const auto sun = [](Scene& scene) {
        scene.suns = {{.direction = {0, -1, 0},
                       .irradiance = glm::vec3(2.0F),
                       .angular_diameter_degrees = 0.01F}};
    };
    const auto lamp = [](Scene& scene) {
        scene.point_lights = {{.position = {32, 1001, 32}, .intensity = glm::vec3(2e6F)}};
    };
    const Material leaf{.albedo = {1, 1, 1}, .albedo_texture = 0, .alpha_mode = AlphaMode::mask};
    const Material glass{.albedo = {1, 0, 0}, .alpha_mode = AlphaMode::blend, .alpha = 0.75F};
    for (const std::size_t column : {2U, 3U}) {
        EXPECT_NEAR(light_below(leaf, column, sun), column % 2 == 0 ? 2.0 : 0.0, 0.02);
        EXPECT_NEAR(light_below(leaf, column, lamp), column % 2 == 0 ? 2.0 : 0.0, 0.1);
    }
    EXPECT_NEAR(light_below(glass, 3, sun), 0.5, 0.02);
    EXPECT_NEAR(light_below(glass, 3, lamp), 0.5, 0.05);
}

// Catches panes that colour nothing, or only once, or the light of one kind alone.
TEST(Light, IsTintedByEachPaneOfGlass) {
    const glm::vec3 tint(1.0F, 0.5F, 0.25F);
    Quads scene(3, 1, 8);
    scene.add_material({.albedo = glm::vec3(0.0F)});
    scene.add_material(
        {.albedo = glm::vec3(0.0F), .alpha_mode = AlphaMode::blend, .alpha = 0.25F, .tint = tint});
    scene.add({-4, 0, -4}, 8.0F * Z, 8.0F * X);
    for (const float y : {1.0F, 1.5F}) {
        scene.add({-2000, y, -2000}, 4000.0F * Z, 4000.0F * X, 1);
    }
    const auto expect_tint = [&](const Prepared& what) {
        const LightMap map = light(what, {.directions = 512, .bounces = 0, .sun_directions = 64});
        const glm::vec3 found = mean(map.irradiance, scene.texels(0));
        const glm::vec3 expected = 0.75F * 0.75F * tint * tint;
        EXPECT_LT(greatest_of(glm::abs(found / expected - 1.0F)), 0.03F) << found.x;
    };
    Prepared sky(scene.scene, scene.extent(), 2.0F);
    sky.sky.radiance = glm::vec3(std::numbers::inv_pi_v<float>);
    expect_tint(sky);
    scene.scene.suns = {{.direction = {0, -1, 0}, .irradiance = glm::vec3(1.0F)}};
    expect_tint(Prepared(scene.scene, scene.extent(), 2.0F));
    scene.scene.suns.clear();
    scene.scene.point_lights = {{.position = {0, 1000, 0}, .intensity = glm::vec3(1e6F)}};
    expect_tint(Prepared(scene.scene, scene.extent(), 2.0F));
}

// A sphere in latitude and longitude with smooth normals. The poles are cut off.
Scene smooth_sphere(std::uint32_t columns) {
    Scene scene;
    scene.materials.push_back({.albedo = glm::vec3(0.5F)});
    const std::uint32_t rows = columns / 2;
    for (std::uint32_t y = 0; y <= rows; ++y) {
        for (std::uint32_t x = 0; x <= columns; ++x) {
            const glm::vec2 place(glm::vec2(x, y) / glm::vec2(columns, rows));
            const float latitude = PI * (0.04F + 0.92F * place.y);
            const float longitude = 2.0F * PI * place.x;
            const glm::vec3 normal(std::sin(latitude) * std::sin(longitude), std::cos(latitude),
                                   std::sin(latitude) * std::cos(longitude));
            add_vertex(scene, normal, place);
            scene.normals.push_back(normal);
        }
    }
    for (std::uint32_t i = 0; i < rows * columns; ++i) {
        const std::uint32_t upper = i / columns * (columns + 1) + i % columns;
        const std::uint32_t lower = upper + columns + 1;
        scene.triangles.push_back({{upper, lower, lower + 1}});
        scene.triangles.push_back({{upper, lower + 1, upper + 1}});
    }
    return scene;
}

// Catches light by the planes of triangles, black bands where light ends, and rays that are weighed
// with the wrong sign, on a sphere of few triangles.
TEST(Light, SmoothNormalsSmoothTheLight) {
    Scene sphere = smooth_sphere(24);
    const Extent extent{96, 48};
    const glm::vec3 to_light = glm::normalize(glm::vec3(3.0F, 2.0F, 1.0F));
    for (const bool has_sun : {false, true}) {
        sphere.materials[0].double_sided = has_sun;
        sphere.suns = {{.direction = -to_light, .irradiance = glm::vec3(2.0F)}};
        sphere.point_lights = {{.position = 1000.0F * to_light, .intensity = glm::vec3(2e6F)}};
        (has_sun ? sphere.point_lights.clear() : sphere.suns.clear());
        Prepared what(sphere, extent, 2.0F);
        what.sky = {.radiance = glm::vec3(1.0F), .extent = {64, 32}};
        what.sky.texels.resize(32 * 64, glm::vec3(0.0F));
        std::fill_n(what.sky.texels.begin(), 16 * 64, glm::vec3(1.0F));  // the upper half
        const LightMap map = light(what, {.directions = 192, .bounces = 0, .sun_directions = 8});
        double worst = 0.0;
        double sum = 0.0;
        double expected_sum = 0.0;
        for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
            const glm::vec3& normal = what.surface.normal[what.surface.texels[i]];
            const float cosine = glm::dot(normal, to_light);
            const double expected = 0.5 * PI * (1.0 + normal.y) + 2.0 * std::max(cosine, 0.0F);
            worst = std::max(worst, std::abs(map.irradiance[i].x - expected));
            sum += map.irradiance[i].x;
            expected_sum += expected;
        }
        EXPECT_LT(worst, 0.1) << has_sun;
        EXPECT_NEAR(sum / expected_sum, 1.0, 0.003) << has_sun;
    }
}

// Catches a ceiling close above a lamp that counts as inside of something.
TEST(Light, TexelsInsideOfThingsAreUnknownAndThoseBehindASheetInShadow) {
    Quads scene(4, 3, 6);
    scene.add_material({});
    const std::uint32_t floor = scene.add({0, 0, 0}, 6.0F * Z, 6.0F * X);
    scene.add_block({2, -0.5F, 2}, {2, 2, 2});
    const std::uint32_t ceiling = scene.add({20, 3, 0}, 6.0F * X, 6.0F * Z);
    scene.add({21, 2, 1}, 4.0F * X, 4.0F * Z);
    Prepared what(scene.scene, scene.extent());
    what.sky.radiance = glm::vec3(1.0F);
    const BakeResult result = bake_by_reference(what, {.directions = 256, .bounces = 0});
    for (std::size_t i = 0; i < 36; ++i) {
        const auto [least, most] = std::minmax({i % 6, i / 6});
        EXPECT_EQ(result.map.known[scene.texels(floor)[i]], least >= 2 && most < 4 ? 0 : 1) << i;
        const std::size_t above = scene.texels(ceiling)[i];
        if (least >= 2 && most < 4) {
            EXPECT_EQ(result.map.known[above], 1) << i;
            // From the middle, the sheet covers this part of the light (a form factor).
            EXPECT_NEAR(result.map.irradiance[above].x, PI * (1.0F - 0.81F), 0.15F);
        }
    }
    EXPECT_GE(result.inside_texels, 4U);
}

// The bands: Y00 and Y1-1, Y10, Y11 (of y, z, x) times the moments of radiance * cosine.
TEST(Light, DirectionalMapsAreMomentsOfTheLight) {
    constexpr double Y0 = 0.2820947918;
    constexpr double Y1 = 0.4886025119;
    Quads plane(1, 1, 4);
    plane.add_material({});
    plane.add({0, 0, 0}, Z, X);
    const glm::vec3 direction = glm::normalize(glm::vec3(2.0F, -3.0F, 1.0F));
    plane.scene.suns.push_back({.direction = direction, .irradiance = {1, 2, 4}});
    const Prepared sunny(plane.scene, plane.extent());
    const BakeOptions options{.directions = 512, .bounces = 1, .directional = true};
    const std::vector<std::size_t> texels = plane.texels(0);
    const glm::dvec3 sun = glm::dvec3(1, 2, 4) * -double{direction.y};
    const LightMap in_sun = light(sunny, options);
    const glm::dvec3 expected_sun[4] = {Y0 * sun, Y1 * sun * -double{direction.y},
                                        Y1 * sun * -double{direction.z},
                                        Y1 * sun * -double{direction.x}};
    Prepared cloudy = sunny;
    cloudy.suns.clear();
    cloudy.sky.radiance = {1, 2, 4};
    const LightMap under_sky = light(cloudy, options);
    const double pi = std::numbers::pi;
    const glm::dvec3 sky(1, 2, 4);
    const glm::dvec3 expected_sky[4] = {Y0 * pi * sky, Y1 * 2.0 * pi / 3.0 * sky, glm::dvec3(0.0),
                                        glm::dvec3(0.0)};
    for (std::size_t band = 0; band < 4; ++band) {
        const glm::dvec3 of_sun = mean(in_sun.radiance_sh[band], texels);
        const glm::dvec3 of_sky = mean(under_sky.radiance_sh[band], texels);
        for (int colour = 0; colour < 3; ++colour) {
            EXPECT_NEAR(of_sun[colour], expected_sun[band][colour], 1e-5);
            EXPECT_NEAR(of_sky[colour], expected_sky[band][colour], 0.05);  // noise
        }
    }
}

// ---- Noise, and a path tracer

double grey(const glm::dvec3& colour) {
    return (colour.r + colour.g + colour.b) / 3.0;
}

// Catches a figure that is not that of the lightmap's error: halves of the directions that are no
// lattices themselves, passes that are left out, a wrong mean.
TEST(Light, NoiseIsTheErrorFromTooFewDirections) {
    Quads room = small_room();
    room.scene.suns = {{.direction = glm::normalize(glm::vec3(0.5F, -0.4F, -1.0F)),
                        .irradiance = glm::vec3(2.0F),
                        .angular_diameter_degrees = 20.0F}};
    Prepared what(room.scene, room.extent());
    const auto check = [&](const BakeOptions& few, const LightMap& truth, double least = 0.9) {
        BakeResult result = bake_by_reference(what, few);
        double squares = 0.0;
        double sum = 0.0;
        double known = 0.0;
        for (std::size_t i = 0; i < truth.known.size(); ++i) {
            const double here = grey(result.map.irradiance[i]);
            squares += result.map.known[i] * std::pow(here - grey(truth.irradiance[i]), 2.0);
            sum += result.map.known[i] * here;
            known += result.map.known[i];
        }
        const double found = std::sqrt(squares / known) / (sum / known);
        EXPECT_GT(*result.noise, least * found);
        EXPECT_LT(*result.noise, 1.2 * found);
        return result;
    };
    const LightMap many = light(what, {.directions = 2048, .bounces = 1, .seed = 7});
    const double noise = *check({.directions = 128, .bounces = 1}, many).noise;
    const BakeResult less = check({.directions = 128, .bounces = 1, .noise = 0.6 * noise}, many);
    EXPECT_LE(*less.noise, 0.6 * noise);
    EXPECT_GT(less.passes.size(), 3U);
    // Where suns alone are noisier, more directions of the rest are of no use.
    EXPECT_EQ(bake_by_reference(what, {.directions = 8, .bounces = 1, .noise = 1e-6}).passes.size(),
              3U);
    what.suns.clear();
    what.sky.radiance = glm::vec3(2.0F);
    check({.directions = 65, .bounces = 0},
          light(what, {.directions = 2048, .bounces = 0, .seed = 7}));
    EXPECT_FALSE(bake_by_reference(what, {.directions = 1, .bounces = 0}).noise);
    // Halves of a sphere's points that part a point's faces would tell too much.
    room.scene.suns.clear();
    room.scene.materials[2].emission = glm::vec3(0.0F);
    room.scene.point_lights = {
        {.position = {1, 1, 1}, .intensity = glm::vec3(1.0F), .radius = 0.25F}};
    what = Prepared(room.scene, room.extent());
    check({.directions = 8, .bounces = 0, .sun_directions = 64},
          light(what, {.directions = 8, .bounces = 0, .sun_directions = 2048}), 0.5);
}

// Four times fewer errors, or less, with 16 times the directions. The light that has bounced is one
// value a texel in the baker, but not for paths: that difference stays. Normals lean, as on curved
// surfaces. Catches rays that count by another normal, points of lamps that their own lamp hides,
// and lamps that are left out where other light is gathered.
TEST(Light, ConvergesToThePathTracer) {
    Quads room = small_room();
    room.scene.normals.resize(room.scene.positions.size());
    for (const Triangle& triangle : room.scene.triangles) {
        for (const std::uint32_t vertex : triangle.vertices) {
            const glm::vec3 lean(vertex % 3, vertex % 2, vertex % 5);
            room.scene.normals[vertex] =
                glm::normalize(glm::vec3(room.scene.plane_normal(triangle)) + 0.1F * lean);
        }
    }
    Prepared what(room.scene, room.extent(), 2.0F);
    what.sky.radiance = {0.5F, 0.75F, 1.0F};
    // Root mean square error and bias, relative to the mean.
    const auto errors = [&](const auto& truth, const BakeOptions& options) {
        const LightMap map = light(what, options);
        std::vector<std::size_t> texels;
        double squares = 0.0;
        for (std::size_t i = 0; i < map.known.size(); ++i) {
            if (what.surface.coverage[what.surface.texels[i]] > 0.99F && map.known[i] != 0) {
                texels.push_back(i);
                const glm::dvec3 error =
                    glm::dvec3(map.irradiance[i]) - glm::dvec3(truth.irradiance[i]);
                squares += glm::dot(error, error) / 3.0;
            }
        }
        EXPECT_GT(texels.size(), 300U);
        const double level = grey(mean(truth.irradiance, texels));
        return std::pair(std::sqrt(squares / static_cast<double>(texels.size())) / level,
                         grey(mean(map.irradiance, texels)) / level - 1.0);
    };
    const auto truth_of = [&](std::uint32_t bounces) {
        return quadtile::test::trace_paths(room.scene, what.surface,
                                           {.samples_per_texel = 4096,
                                            .bounces = bounces,
                                            .sky = what.sky.radiance,
                                            .threads = 2});
    };
    const auto direct = truth_of(0);
    const auto [of_64, bias_of_64] = errors(direct, {.directions = 64, .bounces = 0});
    const auto [of_1024, bias] = errors(direct, {.directions = 1024, .bounces = 0});
    EXPECT_LT(of_1024, std::min(of_64 / 4.0, 0.05));
    EXPECT_LT(std::abs(bias), 0.004);
    what.suns = room.scene.suns = {{.direction = glm::normalize(glm::vec3(0.5F, -0.4F, -1.0F)),
                                    .irradiance = glm::vec3(2.0F)}};
    const auto truth = truth_of(2);
    for (const std::uint32_t lamp_points : {0U, 64U}) {
        const auto [bounced, bias_of_bounced] =
            errors(truth, {.directions = 1024, .bounces = 2, .lamp_points = lamp_points});
        EXPECT_LT(bounced, 0.08) << lamp_points;
        EXPECT_LT(std::abs(bias_of_bounced), 0.01) << lamp_points;
    }

    // Eleven point lights and as many spot lights, with ranges and without.
    what.suns = room.scene.suns = {};
    what.sky.radiance = glm::vec3(0.0F);
    room.scene.materials[2].emission = glm::vec3(0.0F);
    for (int i = 0; i < 22; ++i) {
        const auto number = static_cast<float>(i);
        PointLight lamp{
            .position = {0.3F + 0.4F * static_cast<float>(i % 7), 1.55F, 0.2F + 0.125F * number},
            .intensity = {0.2F, 0.15F, 0.02F * number},
            .is_spot = i % 2 == 1,
            .direction = glm::normalize(glm::vec3(0.3F, -1.0F, 0.2F)),
            .inner_angle = 0.3F,
            .outer_angle = 0.4F + 0.05F * number};
        lamp.range = i % 3 == 0 ? 2.0F : lamp.range;
        room.scene.point_lights.push_back(lamp);
    }
    what = Prepared(room.scene, room.extent(), 2.0F);
    const auto [of_lamps, bias_of_lamps] =
        errors(truth_of(2), {.directions = 1024, .bounces = 2, .sun_directions = 64});
    EXPECT_LT(of_lamps, 0.05);
    EXPECT_LT(std::abs(bias_of_lamps), 0.01);
}

}  // namespace
}  // namespace quadtile::baker::test
