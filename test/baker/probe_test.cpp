// Probes against what is known of their light. That they have the same bits on all devices, and
// after an interruption, is in random cases (test/random).

#include "bake_fixture.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

namespace quadtile::baker::test {
namespace {

using Coefficients = std::array<double, 9>;

// By other formulas than the baker's: Legendre polynomials about each axis.
Coefficients basis_at(const glm::dvec3& d) {
    const double first = std::sqrt(3.0 / (4.0 * std::numbers::pi));
    const double second = std::sqrt(15.0 / (4.0 * std::numbers::pi));
    return {std::sqrt(0.25 / std::numbers::pi),
            first * d.y,
            first * d.z,
            first * d.x,
            second * d.x * d.y,
            second * d.y * d.z,
            second / std::sqrt(3.0) * (d.z * d.z - 0.5 * (d.x * d.x + d.y * d.y)),
            second * d.x * d.z,
            0.5 * second * (d.x * d.x - d.y * d.y)};
}

void expect_light(const Probe& probe, const glm::dvec3& irradiance, const glm::dvec3& from,
                  double error = 1e-5) {
    const Coefficients basis = basis_at(glm::normalize(from));
    for (std::size_t i = 0; i < basis.size(); ++i) {
        for (int colour = 0; colour < 3; ++colour) {
            EXPECT_NEAR(probe.radiance_sh[i][colour], irradiance[colour] * basis[i], error) << i;
        }
    }
}

std::vector<Probe> probes_in(const Quads& quads, const BakeOptions& options,
                             const glm::vec3& sky = glm::vec3(0.0F)) {
    Prepared what(quads.scene, quads.extent());
    what.sky.radiance = sky;
    return bake_by_reference(what, options).probes;
}

// Catches rays that miss or see twice at edges, a wrong solid angle, light that is left out, and
// the inside of a wall that is not told: an even sky through the room's open side, and walls that
// after so many bounces send 1 less 2 to the power of -5.
TEST(Probes, HaveTheFirstCoefficientAloneWhereLightIsEven) {
    Quads room(3, 2, 4);
    room.add_material({.albedo = glm::vec3(0.5F), .emission = glm::vec3(0.5F)});
    room.add_room({0, 0, 0}, {1, 2, 3});
    const BakeOptions options{.directions = 2048,
                              .bounces = 3,
                              .probes = {{0.5F, 1, 1}, {0.99F, 0.01F, 2.5F}, {-1, 1, 1}}};
    for (const bool is_open : {false, true}) {
        Quads here = room;
        if (is_open) {
            here.scene.triangles.resize(10);
            here.scene.materials[0] = {.albedo = glm::vec3(0.0F), .emission = glm::vec3(1.0F)};
        }
        const std::vector<Probe> probes =
            probes_in(here, options, glm::vec3(is_open ? 1.0F : 0.0F));
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_TRUE(probes[i].is_valid);
            const double even = (is_open ? 1.0 : 1.0 - 0x1p-5) * std::sqrt(4.0 * std::numbers::pi);
            EXPECT_NEAR(probes[i].radiance_sh[0].y, even, 1e-4);
            for (std::size_t j = 1; j < 9; ++j) {
                EXPECT_NEAR(probes[i].radiance_sh[j].y, 0.0, 8e-3) << j;
            }
        }
        EXPECT_EQ(probes[2].position, options.probes[2]);
        EXPECT_LT(probes[2].radiance_sh[0].y, is_open ? 3.5F : 1e-6F);
    }
    // A block: from within backs are all that is seen.
    Quads block(3, 2, 4);
    block.add_material({});
    block.add_block({0, 0, 0}, {1, 1, 1});
    const std::vector<Probe> probes = probes_in(
        block, {.directions = 64, .probes = {{0.5F, 0.5F, 0.5F}, {0.5F, 1.1F, 0.5F}}}, {1, 1, 1});
    EXPECT_FALSE(probes[0].is_valid);
    EXPECT_EQ(probes[0].radiance_sh[0], glm::vec3(0.0F));
    EXPECT_TRUE(probes[1].is_valid);
}

// Catches signs and axes of harmonics, and shadows on the wrong side: the blocker lies between the
// sources and the second probe. The wall behind the first one blocks nothing.
TEST(Probes, HaveTheHarmonicsOfASource) {
    Quads quads(2, 1, 4);
    quads.add_material({.albedo = glm::vec3(0.0F)});
    quads.add({2, 2, -1}, 2.0F * Z, 2.0F * X);
    quads.add({-2, 0, -2}, 4.0F * Z, 4.0F * X);
    const BakeOptions options{
        .directions = 2, .bounces = 0, .sun_directions = 9, .probes = {{0, 0.5F, 0}, {3, 1, 0}}};
    const glm::vec3 towards(-0.1F, -1.0F, 0.2F);
    quads.scene.suns = {{.direction = glm::normalize(towards), .irradiance = {3.0F, 2.0F, 1.0F}}};
    std::vector<Probe> probes = probes_in(quads, options);
    expect_light(probes[0], {3.0, 2.0, 1.0}, -towards);
    expect_light(probes[1], glm::dvec3(0.0), -towards);
    quads.scene.suns.clear();
    const PointLight light{
        .position = {1.5F, 4.0F, 0.5F}, .intensity = {5.0F, 0.0F, 1.0F}, .radius = 0.1F};
    quads.scene.point_lights = {light};
    probes = probes_in(quads, options);
    const glm::vec3 way = light.position - probes[0].position;
    expect_light(probes[0], glm::dvec3(light.intensity) / double{glm::dot(way, way)}, way);
    expect_light(probes[1], glm::dvec3(0.0), way);
}

}  // namespace
}  // namespace quadtile::baker::test
