// Point and spot lights, small emitters by points of them, and probes against what is known of
// them: formulas of KHR_lights_punctual, sums over many points, harmonics.

#include "quads.hpp"

#include "shaders/lamps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace quadtile::baker::test {
namespace {

// ---- Point and spot lights

// A floor of 8 by 8 metres and as many texels, cell 0, under a light; rows of the lightmap go along
// the world's x.
struct LitFloor {
    explicit LitFloor(const PointLight& light) {
        quads.add_material({.albedo = glm::vec3(0.5F)});
        quads.add_material({.albedo = glm::vec3(0.5F), .double_sided = true});
        quads.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
        quads.scene.point_lights = {light};
    }
    // Looks up.
    std::uint32_t add_sheet(const glm::vec3& corner, float along_x, float along_z,
                            std::uint32_t material = 0) {
        return quads.add(corner, along_z * Z, along_x * X, material);
    }
    [[nodiscard]] LightMap bake(const BakeOptions& options, float pixels_per_texel = 2.0F) const {
        return bake_by_reference(Prepared(quads.scene, quads.extent(), pixels_per_texel), options)
            .map;
    }
    [[nodiscard]] std::vector<std::size_t> texels(std::uint32_t cell = 0) const {
        return quads.texels(cell);
    }
    // The mean of a function over a floor's texel.
    template <typename Function>
    static double mean_over(std::size_t texel, int points, const Function& at) {
        double sum = 0.0;
        for (int i = 0; i < points * points; ++i) {
            sum += at(glm::dvec3(static_cast<double>(texel / 8) + (i / points + 0.5) / points, 0.0,
                                 static_cast<double>(texel % 8) + (i % points + 0.5) / points));
        }
        return sum / (points * points);
    }

    Quads quads{3, 1, 8};
};

double greatest_difference(const LightMap& map, const std::vector<std::size_t>& texels,
                           const std::function<double(std::size_t)>& expected) {
    double greatest = 0.0;
    for (std::size_t i = 0; i < texels.size(); ++i) {
        EXPECT_EQ(map.known[texels[i]], 1) << i;
        greatest = std::max(greatest, std::abs(map.irradiance[texels[i]].x - expected(i)));
    }
    return greatest;
}

const BakeOptions DIRECT{.directions = 8, .bounces = 0, .sun_directions = 16};

// Also where a texel is larger than the light's distance: within it the light falls off.
TEST(PointLights, FallOffWithTheSquareOfTheDistance) {
    for (const float height : {2.0F, 0.3F}) {
        const LitFloor floor({.position = {4.1F, height, 3.3F}, .intensity = {3.0F, 6.0F, 0.0F}});
        BakeOptions options = DIRECT;
        options.directional = true;
        const LightMap map = floor.bake(options);
        const double most = 3.0 / (height * height);
        EXPECT_LT(greatest_difference(
                      map, floor.texels(),
                      [&](std::size_t i) {
                          return LitFloor::mean_over(i, 128, [&](const glm::dvec3& point) {
                              const glm::dvec3 to(4.1 - point.x, height, 3.3 - point.z);
                              return 3.0 * to.y / std::pow(glm::length(to), 3);
                          });
                      }),
                  1e-3 * most);
        const std::size_t texel = floor.texels()[0];
        EXPECT_EQ(map.irradiance[texel].y, 2.0F * map.irradiance[texel].x);
        EXPECT_EQ(map.irradiance[texel].z, 0.0F);
        // Y1 times the direction to the light, seen from the texel's middle.
        const glm::vec3 to = glm::normalize(glm::vec3(3.6F, height, 2.8F));
        for (const auto& [band, cosine] : {std::pair(1, to.y), {2, to.z}, {3, to.x}}) {
            EXPECT_NEAR(map.radiance_sh[static_cast<std::size_t>(band)][texel].x,
                        0.4886F * cosine * map.irradiance[texel].x, 1e-3 * most);
        }
    }
}

// Narrow cones are seen in one map, wide ones in five. Beyond them, and beyond the range, it is
// dark. From far away an edge within a texel counts, too.
TEST(PointLights, HaveConesAndARange) {
    struct Case {
        double height;
        double inner;
        double outer;
        double error;
    };
    for (const Case& here : {Case{2.5, 0.3, 0.6, 0.005}, Case{2.5, 0.0, 1.4, 0.005},
                             Case{2.5, 0.5, 0.5, 0.04}, Case{40.0, 0.06, 0.06, 0.11}}) {
        const double intensity = 10.0 * std::pow(here.height / 2.5, 2);
        const double range = 1.6 * here.height;
        const glm::dvec3 position(3.6, here.height, 4.3);
        const glm::dvec3 axis = glm::normalize(glm::dvec3(0.5, -here.height, 0.25));
        const LitFloor floor({.position = position,
                              .intensity = glm::vec3(static_cast<float>(intensity)),
                              .range = static_cast<float>(range),
                              .is_spot = true,
                              .direction = axis,
                              .inner_angle = static_cast<float>(here.inner),
                              .outer_angle = static_cast<float>(here.outer)});
        const LightMap map = floor.bake(DIRECT);
        std::size_t dark = 0;
        const auto expected = [&](std::size_t i) {
            const double mean = LitFloor::mean_over(i, 128, [&](const glm::dvec3& point) {
                const glm::dvec3 to = position - point;
                const double distance = glm::length(to);
                // The reference code of the specification.
                const double scale =
                    1.0 / std::max(0.001, std::cos(here.inner) - std::cos(here.outer));
                const double offset = -std::cos(here.outer) * scale;
                const double cd = glm::dot(axis, -to / distance);
                const double angular = std::clamp(cd * scale + offset, 0.0, 1.0);
                const double cut =
                    std::max(std::min(1.0 - std::pow(distance / range, 4.0), 1.0), 0.0);
                return intensity * angular * angular * cut * to.y / std::pow(distance, 3);
            });
            dark += mean == 0.0 ? 1 : 0;
            EXPECT_TRUE(mean > 0.0 || map.irradiance[floor.texels()[i]].x == 0.0F) << i;
            return mean;
        };
        EXPECT_LT(greatest_difference(map, floor.texels(), expected), here.error)
            << here.height << ", " << here.inner;
        EXPECT_GT(dark, 5U);
    }
}

// Catches rays that slip through where triangles meet, and triangles that are lost beside or above
// the light.
TEST(PointLights, DoNotShineThroughAMesh) {
    LitFloor floor({.position = {4.0F, 1.5F, 4.0F}, .intensity = glm::vec3(1.0F)});
    constexpr int CELLS = 24;
    std::mt19937 random(1);
    std::vector<glm::vec3> points;
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); ++i) {
        // On a bowl around the light's lower half and far beyond its rim.
        const float x = 40.0F * (static_cast<float>(i / (CELLS + 1)) / CELLS - 0.5F);
        const float z = 40.0F * (static_cast<float>(i % (CELLS + 1)) / CELLS - 0.5F);
        const float shift = static_cast<float>(random() % 65536) / 65536.0F;
        points.emplace_back(4.0F + x + shift, 0.5F + 0.1F * (x * x + z * z), 4.0F + z - shift);
    }
    for (int row = 0; row < CELLS; ++row) {
        for (int i = row * (CELLS + 1); i < row * (CELLS + 1) + CELLS; ++i) {
            const auto at = [&](int point) { return points[static_cast<std::size_t>(point)]; };
            // In a texel of its own, as are all of these.
            const Extent extent = floor.quads.extent();
            add_quad(
                floor.quads.scene, {at(i), at(i + 1), at(i + CELLS + 2), at(i + CELLS + 1)},
                rectangle(1.0F - 1.0F / glm::vec2(extent.width, extent.height), glm::vec2(1.0F)));
        }
    }
    const LightMap map = floor.bake(DIRECT, 8.0F);
    for (const std::size_t texel : floor.texels()) {
        EXPECT_EQ(map.known[texel], 1);
        EXPECT_EQ(map.irradiance[texel].x, 0.0F);
    }
}

// A step, with its edge in the middle of a row of texels, under a sun and a far light from random
// directions. Catches light by a texel's mean normal, up to 1.4 times as much as its parts receive.
TEST(PointLights, AndSunsLightThePartsOfATexel) {
    std::mt19937 random(7);
    for (int i = 0; i < 24; ++i) {
        const auto number = [&] { return static_cast<float>(random()) / 4.3e9F - 0.5F; };
        const glm::vec3 to_light = glm::normalize(glm::vec3(number(), number(), number()));
        const float expected = 0.5F * (std::max(to_light.y, 0.0F) + std::max(to_light.z, 0.0F));
        Scene scene;
        scene.materials = {{.double_sided = i % 3 == 0}};
        add_quad(scene, {{{0, 0, 0}, {3, 0, 0}, {3, 0, -1.5F}, {0, 0, -1.5F}}},
                 rectangle({0, 0}, {1, 0.5F}));
        add_quad(scene, {{{0, -1.5F, 0}, {3, -1.5F, 0}, {3, 0, 0}, {0, 0, 0}}},
                 rectangle({0, 0.5F}, {1, 1}));
        if (i % 2 == 0) {
            scene.suns = {{.direction = -to_light, .irradiance = glm::vec3(1.0F)}};
        } else {
            scene.point_lights = {{.position = 1000.0F * to_light, .intensity = glm::vec3(1e6F)}};
        }
        const LightMap map = bake_by_reference(Prepared(scene, {3, 3}, 16.0F), DIRECT).map;
        EXPECT_NEAR(map.irradiance[4].x, expected, 0.03F) << i;
    }
}

// A sphere shines evenly from all of its surface. A sheet covers part of it, and the floor's
// horizon another: the sphere reaches below the floor.
TEST(PointLights, HavePenumbrasOfASphere) {
    struct Case {
        glm::vec3 position;
        float radius;
        double of_16_points;  // the error, relative to the greatest light
        double of_256_points;
    };
    for (const Case& here : {Case{{3.0F, 3.0F, 4.0F}, 0.8F, 0.06, 0.025},
                             Case{{-0.8F, 0.4F, 4.2F}, 0.7F, 0.003, 0.003}}) {
        LitFloor floor(
            {.position = here.position, .intensity = glm::vec3(1.0F), .radius = here.radius});
        floor.add_sheet({0.0F, 1.5F, 0.0F}, 2.2F, 8.0F);
        // Points of the sphere and of a texel.
        constexpr int COLUMNS = 64;
        constexpr int ROWS = 48;
        std::vector<double> expected;
        for (std::size_t i = 0; i < 64; ++i) {
            expected.push_back(LitFloor::mean_over(i, 8, [&](const glm::dvec3& point) {
                double sum = 0.0;
                for (int k = 0; k < COLUMNS * ROWS; ++k) {
                    const double z = 1.0 - 2.0 * (k / COLUMNS + 0.5) / ROWS;
                    const double angle =
                        2.0 * std::numbers::pi * (k % COLUMNS + 0.5 * (k / COLUMNS % 2)) / COLUMNS;
                    const glm::dvec3 normal(std::sqrt(1.0 - z * z) * std::cos(angle), z,
                                            std::sqrt(1.0 - z * z) * std::sin(angle));
                    const glm::dvec3 at = glm::dvec3(here.position) + double{here.radius} * normal;
                    const glm::dvec3 to = at - point;
                    const double distance = glm::length(to);
                    const double emitted = std::max(glm::dot(normal, -to) / distance, 0.0);
                    const glm::dvec3 crossing = point + to * (1.5 / to.y);
                    const bool is_hidden = to.y > 1.5 && crossing.x < 2.2 && crossing.x > 0.0 &&
                                           crossing.z > 0.0 && crossing.z < 8.0;
                    // Radiance 1 / (pi r^2), from an area of 4 pi r^2.
                    sum += is_hidden ? 0.0
                                     : 4.0 * emitted * std::max(to.y, 0.0) / std::pow(distance, 3);
                }
                return sum / (COLUMNS * ROWS);
            }));
        }
        const double most = std::ranges::max(expected);
        const auto error = [&](std::uint32_t points) {
            BakeOptions options = DIRECT;
            options.sun_directions = points;
            return greatest_difference(floor.bake(options), floor.texels(),
                                       [&](std::size_t i) { return expected[i]; }) /
                   most;
        };
        EXPECT_LT(error(16), here.of_16_points);
        EXPECT_LT(error(256), here.of_256_points);
    }
}

// A neighbour in its plane knows more than what few rays find of a sliver: a tenth of a texel.
TEST(PointLights, ForgetSlivers) {
    LitFloor floor({.position = {9, 3, 0}, .intensity = glm::vec3(1.0F)});
    const std::size_t texel = floor.texels(2).front();
    const Extent extent = floor.quads.extent();
    const glm::vec2 size(extent.width, extent.height);
    const glm::vec2 low(texel % extent.width, texel / extent.width);
    const glm::vec2 high = low + glm::vec2(1.1F, 1.0F);
    add_quad(floor.quads.scene, {{{9, 0, 0}, {9, 0, 1.1F}, {10, 0, 1.1F}, {10, 0, 0}}},
             {low / size, glm::vec2(high.x, low.y) / size, high / size,
              glm::vec2(low.x, high.y) / size});
    const LightMap map = floor.bake(DIRECT);
    EXPECT_EQ(map.known[texel], 1);
    EXPECT_EQ(map.known[texel + 1], 0);
}

// A light under a sheet lights its back, if that is a surface, and nothing above it. What the back
// sends on comes to the floor.
TEST(PointLights, LightTheSideThatTheyAreOn) {
    for (const std::uint32_t material : {0U, 1U}) {
        LitFloor floor({.position = {4.0F, 0.5F, 4.0F}, .intensity = glm::vec3(1.0F)});
        const std::uint32_t sheet = floor.add_sheet({0, 1, 0}, 8.0F, 8.0F, material);
        const std::uint32_t above = floor.add_sheet({0, 2, 0}, 8.0F, 8.0F, 1);
        BakeOptions options{.directions = 64, .bounces = 0, .sun_directions = 4};
        const LightMap direct = floor.bake(options);
        options.bounces = 1;
        const LightMap bounced = floor.bake(options);
        float more = 0.0F;
        for (std::size_t i = 0; i < 64; ++i) {
            EXPECT_EQ(bounced.irradiance[floor.texels(sheet)[i]].x, 0.0F);
            EXPECT_EQ(bounced.irradiance[floor.texels(above)[i]].x, 0.0F);
            more +=
                bounced.irradiance[floor.texels()[i]].x - direct.irradiance[floor.texels()[i]].x;
        }
        EXPECT_EQ(more > 0.0F, material == 1);
    }
}

// ---- Small emitters

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

// Light of a floor's texel, red: the mean over its points and the lamp's.
double expected_at(std::size_t texel, double height) {
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
        sum += to.y * to.y / (square * square);
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

// Lambert's formula in double precision.
double polygon_irradiance(const std::array<glm::dvec3, 3>& corners, const glm::dvec3& normal) {
    std::vector<glm::dvec3> above;
    for (std::size_t i = 0; i < 3; ++i) {
        const glm::dvec3& here = corners[i];
        const glm::dvec3& next = corners[(i + 1) % 3];
        const double height = glm::dot(here, normal);
        const double next_height = glm::dot(next, normal);
        if (height >= 0.0) {
            above.push_back(here);
        }
        if ((height >= 0.0) != (next_height >= 0.0)) {
            above.push_back(here + height / (height - next_height) * (next - here));
        }
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < above.size(); ++i) {
        const glm::dvec3& next = above[(i + 1) % above.size()];
        const glm::dvec3 across = glm::cross(above[i], next);
        sum += std::atan2(glm::length(across), glm::dot(above[i], next)) *
               glm::dot(across, normal) / std::max(glm::length(across), 1e-30);
    }
    return 0.5 * std::abs(sum);
}

// Catches errors of the kernel's arithmetic: roots, angles, horizons, far triangles.
TEST(Lamps, FollowLambertsFormula) {
    std::mt19937 random(1);
    const auto number = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
    };
    const auto vector = [&] {
        const double x = number(-1, 1);
        const double y = number(-1, 1);
        return glm::dvec3(x, y, number(-1, 1));
    };
    int near = 0;
    for (int i = 0; i < 20000; ++i) {
        const glm::dvec3 middle = std::pow(10.0, number(-2, 1)) * vector();
        const double size = std::pow(10.0, number(-3, 1));
        LampPiece piece{{}, glm::vec3(1.0F)};
        for (glm::dvec3& corner : piece.corners) {
            corner = glm::vec3(middle + size * vector());
        }
        const glm::vec3 normal(glm::normalize(vector()));
        const double square = glm::dot(piece.middle(), piece.middle());
        const double area = glm::length(piece.cross());
        const double shown = -glm::dot(piece.cross(), piece.middle()) / (area * std::sqrt(square));
        const float light =
            lamps::triangle_light(lamp_triangle(piece), glm::vec3(0), glm::vec3(0), normal);
        if (shown < 0.0) {
            ASSERT_EQ(light, 0.0F) << i;
        } else if (shown > 0.01) {
            const bool is_far = square > 256.0 * area;
            near += is_far ? 0 : 1;
            ASSERT_NEAR(light, polygon_irradiance(piece.corners, normal), is_far ? 2e-4 : 1e-5)
                << i << ", " << shown;
        }
    }
    EXPECT_GT(near, 5000);
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
        const CoveredTexels numbers = make_surface_map(quads.scene, quads.extent()).texels;
        const auto shines = [&](std::size_t texel) { return lamps.texels[numbers[texel]] != 0; };
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

// ---- Probes; their bits on all devices, and after an interruption, are in random cases

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
