// The path tracer against what is known of the light by formulas.

#include "path_tracer.hpp"

#include "quads.hpp"

#include <gmock/gmock.h>

#include <glm/geometric.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

namespace quadtile::baker::test {
namespace {

using quadtile::test::PathTracedMap;
using quadtile::test::PathTracerOptions;
using ::testing::Each;
using ::testing::FloatNear;

constexpr float PI = std::numbers::pi_v<float>;

PathTracedMap trace(const Quads& quads, const PathTracerOptions& options) {
    return quadtile::test::trace_paths(quads.scene, make_surface_map(quads.scene, quads.extent()),
                                       options);
}

Material glowing(float emission, const glm::vec3& albedo = glm::vec3(0.0F)) {
    return {.albedo = albedo, .emission = glm::vec3(emission)};
}

// One of the colours of the irradiance, by texel of a quad.
std::vector<float> irradiance(const Quads& quads, const PathTracedMap& map, std::uint32_t cell,
                              int colour = 0) {
    std::vector<float> values;
    for (const std::size_t texel : quads.texels(cell)) {
        values.push_back(map.irradiance[texel][colour]);
    }
    return values;
}

float mean(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size());
}

// A unit cube, seen from its inside. The sky is there to show leaks.
Quads closed_box() {
    Quads box(3, 2, 8);
    box.add_material(glowing(1.0F, glm::vec3(0.5F)));
    box.add_room({0, 0, 0}, {1, 1, 1});
    return box;
}

// Each segment of a path adds pi * L * albedo^i, wherever it goes.
TEST(PathTracer, FurnaceIsEvenAfterAnyNumberOfBounces) {
    const Quads box = closed_box();
    for (const std::uint32_t bounces : {0U, 1U, 3U}) {
        const PathTracedMap map =
            trace(box, {.samples_per_texel = 64, .bounces = bounces, .sky = glm::vec3(1000.0F)});
        const float expected = PI * 2.0F * (1.0F - std::pow(0.5F, static_cast<float>(bounces + 1)));
        for (std::uint32_t face = 0; face < 6; ++face) {
            EXPECT_THAT(irradiance(box, map, face), Each(FloatNear(expected, 1e-4F)));
            EXPECT_THAT(irradiance(box, map, face, 2), Each(FloatNear(expected, 1e-4F)));
        }
        EXPECT_THAT(map.back_share, Each(0.0F));
        EXPECT_EQ(map.rays, 6 * 64 * 64 * (bounces + 1));
    }
}

TEST(PathTracer, FurnaceConvergesToInterreflection) {
    const Quads box = closed_box();
    const PathTracedMap map = trace(box, {.samples_per_texel = 256, .bounces = 64});
    for (std::uint32_t face = 0; face < 6; ++face) {
        const std::vector<float> values = irradiance(box, map, face);
        EXPECT_THAT(values, Each(FloatNear(2.0F * PI, 0.1F)));  // Russian roulette makes noise
        EXPECT_NEAR(mean(values), 2.0F * PI, 0.01F);
    }
}

// Far from the origin, and with large coplanar neighbours: none may hide a part of the sky.
TEST(PathTracer, CoplanarNeighboursDoNotDarken) {
    Quads plane(4, 4, 4);
    plane.add_material({});
    const glm::vec3 tilted_x(0.8F, 0.6F, 0.0F);
    for (int i = 0; i < 16; ++i) {
        plane.add(glm::vec3(700, -300, 900) + static_cast<float>(i % 4) * tilted_x +
                      static_cast<float>(i / 4) * Z,
                  Z, tilted_x);
    }
    const glm::vec3 direction = glm::normalize(glm::vec3(0.9F, -0.2F, 0.1F));
    plane.scene.suns.push_back({.direction = direction, .irradiance = glm::vec3(2.0F)});
    const PathTracedMap map =
        trace(plane, {.samples_per_texel = 256, .bounces = 2, .sky = {1.0F, 2.0F, 3.0F}});
    const float sun = 2.0F * -glm::dot(direction, glm::vec3(-0.6F, 0.8F, 0.0F));
    for (std::uint32_t cell = 0; cell < 16; ++cell) {
        EXPECT_THAT(irradiance(plane, map, cell, 0), Each(FloatNear(PI + sun, 1e-4F)));
        EXPECT_THAT(irradiance(plane, map, cell, 2), Each(FloatNear(3.0F * PI + sun, 1e-4F)));
    }
}

TEST(PathTracer, BlockersThrowShadowsOfTheSun) {
    const Quads scene = blocked_floor({.irradiance = glm::vec3(4.0F)});
    const std::vector<float> light =
        irradiance(scene, trace(scene, {.samples_per_texel = 1024, .bounces = 0}), 0);
    for (std::size_t i = 0; i < light.size(); ++i) {
        EXPECT_NEAR(light[i], share_of_sun(i) * 4.0F * std::sqrt(0.5F), 0.02F) << i;
    }
}

// By the form factor of perpendicular squares.
TEST(PathTracer, SunReachesByOneBounceWhatItDoesNotShineOn) {
    Quads scene(2, 1, 16);
    scene.add_material({.albedo = glm::vec3(0.5F)});
    scene.add({0, 0, 0}, Z, X);
    scene.add({0, 0, 0}, X, Y);
    scene.scene.suns.push_back({.direction = {0, -1, 0}, .irradiance = glm::vec3(2.0F)});
    EXPECT_THAT(irradiance(scene, trace(scene, {.samples_per_texel = 16, .bounces = 0}), 1),
                Each(0.0F));
    const PathTracedMap map = trace(scene, {.samples_per_texel = 1024, .bounces = 1});
    EXPECT_NEAR(mean(irradiance(scene, map, 1)), 0.5F * 2.0F * 0.20004F, 5e-4F);
}

TEST(PathTracer, BacksAreBlackUnlessDoubleSided) {
    for (const bool black : {true, false}) {
        Quads scene(2, 1, 4);
        scene.add_material({});
        scene.add({0, 0, 0}, Z, X);
        // Its front is away from the first, which sees what its back emits.
        scene.add(
            {-500, 1, -500}, 1000.0F * Z, 1000.0F * X,
            scene.add_material(
                {.albedo = glm::vec3(0.5F), .emission = glm::vec3(0.5F), .double_sided = !black}));
        const PathTracedMap map =
            trace(scene, {.samples_per_texel = 256, .bounces = 0, .sky = glm::vec3(1.0F)});
        EXPECT_THAT(irradiance(scene, map, 0), Each(FloatNear(black ? 0.0F : 0.5F * PI, 1e-3F)));
        EXPECT_THAT(irradiance(scene, map, 1), Each(FloatNear(PI, 1e-4F)));
        for (const std::size_t texel : scene.texels(0)) {
            EXPECT_NEAR(map.back_share[texel], black ? 1.0F : 0.0F, 1e-3F);
        }
    }
}

// A triangle's half of a texel is lit, the other half is not there.
TEST(PathTracer, SamplesOnlyWhatChartsCover) {
    Scene scene;
    scene.materials.emplace_back();
    add_triangle(scene, {{{0, 0, 0}, {0, 0, 4}, {4, 0, 0}}}, {{{0, 0}, {0.5F, 0}, {0, 0.5F}}});
    const PathTracedMap map =
        quadtile::test::trace_paths(scene, make_surface_map(scene, {20, 20}),
                                    {.samples_per_texel = 8, .bounces = 0, .sky = glm::vec3(1.0F)});
    for (std::uint32_t y = 0; y < 20; ++y) {
        for (std::uint32_t x = 0; x < 20; ++x) {
            const bool covered = x + y < 10;
            EXPECT_EQ(map.samples[y * 20 + x], covered ? 8U : 0U) << x << ", " << y;
            EXPECT_NEAR(map.irradiance[y * 20 + x].x, covered ? PI : 0.0F, 1e-5F);
        }
    }
}

TEST(PathTracer, ResultDoesNotDependOnThreads) {
    Quads scene(8, 8, 4);
    std::mt19937 random(7);
    const auto number = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    const auto point = [&] { return glm::vec3(number(), number(), number()); };
    scene.add_material({.albedo = glm::vec3(0.7F), .emission = glm::vec3(0.5F)});
    scene.add_material({.albedo = glm::vec3(0.4F), .double_sided = true});
    for (std::uint32_t i = 0; i < 64; ++i) {
        scene.add(point(), 0.4F * point(), 0.4F * point() - glm::vec3(0.2F), i % 2);
    }
    scene.scene.suns.push_back({.direction = {0, -1, 0}, .irradiance = glm::vec3(1.0F)});
    PathTracerOptions options{
        .samples_per_texel = 80, .bounces = 6, .sky = glm::vec3(0.3F), .threads = 1};
    const PathTracedMap one = trace(scene, options);
    options.threads = 4;
    const PathTracedMap four = trace(scene, options);
    EXPECT_EQ(one.irradiance, four.irradiance);
    EXPECT_EQ(one.samples, four.samples);
    EXPECT_EQ(one.back_share, four.back_share);
    EXPECT_EQ(one.rays, four.rays);
    options.seed = 2;
    EXPECT_NE(trace(scene, options).irradiance, four.irradiance);
}

TEST(PathTracer, NothingToTraceGivesNothing) {
    const SurfaceMap surface = make_surface_map({}, {4, 4});
    const PathTracedMap map = quadtile::test::trace_paths({}, surface, {});
    EXPECT_THAT(map.samples, Each(0U));
    EXPECT_EQ(map.irradiance.size(), 16U);

    Quads scene(1, 1, 2);
    scene.add_material({});
    scene.add({0, 0, 0}, Z, X);
    scene.scene.light_map_coordinates.clear();
    EXPECT_THROW((void)quadtile::test::trace_paths(scene.scene, surface, {}),
                 std::invalid_argument);
}

}  // namespace
}  // namespace quadtile::baker::test
