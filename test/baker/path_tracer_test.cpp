#include "path_tracer.hpp"

#include <gmock/gmock.h>

#include <glm/geometric.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

namespace quadtile::test {

namespace {

using ::testing::Each;
using ::testing::FloatNear;

constexpr float PI = std::numbers::pi_v<float>;

// Quads that each fill a cell of the light map: cell i is the i-th of `columns` by `rows`.
class QuadScene {
 public:
    QuadScene(std::uint32_t columns, std::uint32_t rows, std::uint32_t cell_texels)
        : columns_(columns), rows_(rows), cell_texels_(cell_texels) {
        scene.materials.push_back({.name = "one-sided"});
        scene.materials.push_back({.name = "double-sided", .double_sided = true});
        surface.extent = {columns * cell_texels, rows * cell_texels};
        surface.coverage.assign(surface.extent.texels(), 1.0F);
        surface.albedo.assign(surface.extent.texels(), glm::vec3(0.0F));
        surface.emission.assign(surface.extent.texels(), glm::vec3(0.0F));
        surface.normal.assign(surface.extent.texels(), glm::vec3(0.0F, 1.0F, 0.0F));
        surface.double_sided.assign(surface.extent.texels(), 0);
    }

    // The front is where cross(a, b) points.
    void add(const glm::vec3& corner, const glm::vec3& a, const glm::vec3& b, float emission = 0.0F,
             float albedo = 0.0F, std::uint32_t material = 0) {
        const std::uint32_t cell = count_++;
        const auto first = static_cast<std::uint32_t>(scene.positions.size());
        const glm::vec2 extent(1.0F / static_cast<float>(columns_),
                               1.0F / static_cast<float>(rows_));
        const glm::vec2 origin = glm::vec2(cell % columns_, cell / columns_) * extent;
        for (const glm::vec2 p : {glm::vec2{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
            scene.positions.push_back(corner + p.x * a + p.y * b);
            scene.light_map_coordinates.push_back(origin + p * extent);
        }
        scene.triangles.push_back({{first, first + 1, first + 2}, material});
        scene.triangles.push_back({{first, first + 2, first + 3}, material});
        for (const std::size_t texel : texels(cell)) {
            surface.albedo[texel] = glm::vec3(albedo);
            surface.emission[texel] = glm::vec3(emission);
        }
    }

    [[nodiscard]] std::vector<std::size_t> texels(std::uint32_t cell) const {
        std::vector<std::size_t> result;
        for (std::uint32_t y = 0; y < cell_texels_; ++y) {
            for (std::uint32_t x = 0; x < cell_texels_; ++x) {
                const std::size_t row = std::size_t{cell / columns_} * cell_texels_ + y;
                const std::size_t column = std::size_t{cell % columns_} * cell_texels_ + x;
                result.push_back(row * surface.extent.width + column);
            }
        }
        return result;
    }

    [[nodiscard]] std::vector<float> irradiance(const PathTracedMap& map,
                                                std::uint32_t cell) const {
        std::vector<float> values;
        for (const std::size_t texel : texels(cell)) {
            values.push_back(map.irradiance[texel].x);
        }
        return values;
    }

    [[nodiscard]] PathTracedMap trace(const PathTracerOptions& options) const {
        return trace_paths(scene, surface, options);
    }

    baker::Scene scene;
    baker::SurfaceMap surface;

 private:
    std::uint32_t columns_;
    std::uint32_t rows_;
    std::uint32_t cell_texels_;
    std::uint32_t count_ = 0;
};

constexpr glm::vec3 X{1, 0, 0};
constexpr glm::vec3 Y{0, 1, 0};
constexpr glm::vec3 Z{0, 0, 1};

// A unit cube, seen from its inside.
QuadScene closed_box(float emission, float albedo) {
    QuadScene box(3, 2, 8);
    box.add({0, 0, 0}, Z, X, emission, albedo);
    box.add({0, 1, 0}, X, Z, emission, albedo);
    box.add({0, 0, 0}, X, Y, emission, albedo);
    box.add({0, 0, 1}, Y, X, emission, albedo);
    box.add({0, 0, 0}, Y, Z, emission, albedo);
    box.add({1, 0, 0}, Z, Y, emission, albedo);
    return box;
}

float mean(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size());
}

}  // namespace

// Each segment of a path adds pi * L * albedo^i, wherever it goes. The sky is there to show leaks.
TEST(PathTracer, FurnaceIsEvenAfterAnyNumberOfBounces) {
    QuadScene box = closed_box(1.0F, 0.5F);
    for (const std::uint32_t bounces : {0U, 1U, 3U}) {
        const PathTracedMap map =
            box.trace({.samples_per_texel = 64, .bounces = bounces, .sky = glm::vec3(1000.0F)});
        const float expected = PI * 2.0F * (1.0F - std::pow(0.5F, static_cast<float>(bounces + 1)));
        for (const glm::vec3& value : map.irradiance) {
            EXPECT_NEAR(value.x, expected, 1e-4F);
            EXPECT_NEAR(value.z, expected, 1e-4F);
        }
        EXPECT_THAT(map.samples, Each(64U));
        EXPECT_THAT(map.back_share, Each(0.0F));
        EXPECT_EQ(map.rays, 6 * 64 * 64 * (bounces + 1));
    }
}

TEST(PathTracer, FurnaceConvergesToInterreflection) {
    QuadScene box = closed_box(1.0F, 0.5F);
    const PathTracedMap map = box.trace({.samples_per_texel = 256, .bounces = 64});
    double sum = 0.0;
    for (const glm::vec3& value : map.irradiance) {
        EXPECT_NEAR(value.x, 2.0F * PI, 0.1F);  // only Russian roulette makes noise
        sum += value.x;
    }
    EXPECT_NEAR(sum / static_cast<double>(map.irradiance.size()), 2.0F * PI, 0.005F);
}

// Far from the origin, and with large coplanar neighbours: none may hide a part of the sky.
TEST(PathTracer, CoplanarNeighboursDoNotDarken) {
    QuadScene plane(4, 4, 4);
    for (int i = 0; i < 16; ++i) {
        const glm::vec3 tilted_x(0.8F, 0.6F, 0.0F);
        plane.add(glm::vec3(700, -300, 900) + static_cast<float>(i % 4) * tilted_x +
                      static_cast<float>(i - i % 4) / 4.0F * Z,
                  Z, tilted_x);
    }
    plane.scene.suns.push_back({.direction = {0.9F, -0.2F, 0.1F}, .irradiance = glm::vec3(2.0F)});
    glm::vec3& direction = plane.scene.suns[0].direction;
    direction = glm::normalize(direction);
    const PathTracedMap map =
        plane.trace({.samples_per_texel = 256, .bounces = 2, .sky = glm::vec3(1.0F)});
    const float sun = 2.0F * -glm::dot(direction, glm::vec3(-0.6F, 0.8F, 0.0F));
    for (const glm::vec3& value : map.irradiance) {
        EXPECT_NEAR(value.x, PI + sun, 1e-4F);
    }
}

// The form factor of two squares, from the literature. The mean over a square is E / (pi * L).
TEST(PathTracer, FacingSquaresHaveTheirFormFactor) {
    QuadScene squares(2, 1, 8);
    squares.add({0, 0, 0}, Z, X);
    squares.add({0, 1, 0}, X, Z, 1.0F);
    const PathTracedMap map = squares.trace({.samples_per_texel = 16384, .bounces = 0});
    EXPECT_NEAR(mean(squares.irradiance(map, 0)) / PI, 0.19982F, 3e-4F);
    EXPECT_THAT(squares.irradiance(map, 1), Each(0.0F));
}

TEST(PathTracer, PerpendicularSquaresHaveTheirFormFactor) {
    QuadScene squares(2, 1, 8);
    squares.add({0, 0, 0}, Z, X);
    squares.add({0, 0, 0}, X, Y, 1.0F);
    const PathTracedMap map = squares.trace({.samples_per_texel = 16384, .bounces = 0});
    EXPECT_NEAR(mean(squares.irradiance(map, 0)) / PI, 0.20004F, 3e-4F);
}

// Light that goes from one square to the other and back.
TEST(PathTracer, LightBouncesOffTheAlbedoOfItsTexel) {
    QuadScene squares(2, 1, 16);
    squares.add({0, 0, 0}, Z, X, 1.0F, 0.0F);
    squares.add({0, 1e-2F, 0}, X, Z, 0.0F, 0.25F);
    for (const std::size_t texel : squares.texels(1)) {
        squares.surface.albedo[texel] = {0.25F, 0.5F, 0.0F};
    }
    const PathTracedMap map = squares.trace({.samples_per_texel = 1024, .bounces = 1});
    const glm::vec3 middle = map.irradiance[8 * 32 + 8];
    EXPECT_NEAR(middle.x, PI * 0.25F, 5e-3F);
    EXPECT_NEAR(middle.y, PI * 0.5F, 1e-2F);
    EXPECT_EQ(middle.z, 0.0F);
}

TEST(PathTracer, OpenPlaneReceivesPiTimesTheSky) {
    QuadScene plane(1, 1, 8);
    plane.add({-3, 0, 2}, Z, X);
    const PathTracedMap map =
        plane.trace({.samples_per_texel = 16, .bounces = 2, .sky = {1.0F, 2.0F, 3.0F}});
    for (const glm::vec3& value : map.irradiance) {
        EXPECT_NEAR(value.x, PI, 1e-5F);
        EXPECT_NEAR(value.y, 2.0F * PI, 1e-5F);
        EXPECT_NEAR(value.z, 3.0F * PI, 1e-5F);
    }
}

TEST(PathTracer, BlockersThrowShadowsOfTheSun) {
    QuadScene scene(2, 1, 8);
    scene.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
    // Light that goes to +x moves the shadow one texel further at a height of 1.
    scene.add({2, 1, 0}, 8.0F * Z, 1.5F * X);
    const glm::vec3 direction = glm::normalize(glm::vec3(1.0F, -1.0F, 0.0F));
    scene.scene.suns.push_back({.direction = direction, .irradiance = glm::vec3(4.0F)});
    scene.scene.suns.push_back({.direction = {0, 1, 0}, .irradiance = glm::vec3(9.0F)});
    const PathTracedMap map = scene.trace({.samples_per_texel = 256, .bounces = 0});
    const float lit = 4.0F * std::sqrt(0.5F);
    for (std::uint32_t z = 0; z < 8; ++z) {
        for (std::uint32_t x = 0; x < 8; ++x) {
            // The quad's first edge, along the light map's x, is the world's z.
            const float value = map.irradiance[std::size_t{x} * 16 + z].x;
            const float visible = x == 3 ? 0.0F : x == 4 ? 0.5F : 1.0F;
            EXPECT_NEAR(value, visible * lit, 0.02F) << x << ", " << z;
        }
    }
}

TEST(PathTracer, SunReachesByOneBounceWhatItDoesNotShineOn) {
    QuadScene scene(2, 1, 16);
    scene.add({0, 0, 0}, Z, X, 0.0F, 0.5F);
    scene.add({0, 0, 0}, X, Y, 0.0F, 0.5F);
    scene.scene.suns.push_back({.direction = {0, -1, 0}, .irradiance = glm::vec3(2.0F)});
    EXPECT_THAT(scene.irradiance(scene.trace({.samples_per_texel = 16, .bounces = 0}), 1),
                Each(0.0F));
    const PathTracedMap map = scene.trace({.samples_per_texel = 1024, .bounces = 1});
    EXPECT_NEAR(mean(scene.irradiance(map, 1)), 0.5F * 2.0F * 0.20004F, 5e-4F);
}

TEST(PathTracer, BacksAreBlackUnlessDoubleSided) {
    for (const std::uint32_t material : {0U, 1U}) {
        QuadScene scene(2, 1, 4);
        scene.add({0, 0, 0}, Z, X);
        // Its front is away from the first: it sees only the sky, and reflects it to both sides.
        scene.add({-500, 1, -500}, 1000.0F * Z, 1000.0F * X, 0.5F, 0.5F, material);
        const PathTracedMap map =
            scene.trace({.samples_per_texel = 256, .bounces = 1, .sky = glm::vec3(1.0F)});
        const bool black = material == 0;
        EXPECT_THAT(scene.irradiance(map, 0), Each(FloatNear(black ? 0.0F : PI, 1e-3F)));
        EXPECT_THAT(scene.irradiance(map, 1), Each(FloatNear(PI, 1e-4F)));
        for (const std::size_t texel : scene.texels(0)) {
            EXPECT_NEAR(map.back_share[texel], black ? 1.0F : 0.0F, 1e-3F);
        }
    }
}

// A triangle's half of a texel is lit, the other half is not there.
TEST(PathTracer, SamplesOnlyWhatChartsCover) {
    baker::Scene scene;
    scene.materials.emplace_back();
    scene.positions = {{0, 0, 0}, {0, 0, 4}, {4, 0, 0}};
    scene.light_map_coordinates = {{0, 0}, {0.5F, 0}, {0, 0.5F}};
    scene.triangles = {{{0, 1, 2}, 0}};
    baker::SurfaceMap surface;
    surface.extent = {20, 20};
    surface.albedo.assign(400, glm::vec3(0.0F));
    surface.emission = surface.albedo;
    const PathTracedMap map =
        trace_paths(scene, surface, {.samples_per_texel = 8, .bounces = 0, .sky = glm::vec3(1.0F)});
    for (std::uint32_t y = 0; y < 20; ++y) {
        for (std::uint32_t x = 0; x < 20; ++x) {
            const bool covered = x + y < 10;
            EXPECT_EQ(map.samples[y * 20 + x], covered ? 8U : 0U) << x << ", " << y;
            EXPECT_NEAR(map.irradiance[y * 20 + x].x, covered ? PI : 0.0F, 1e-5F);
        }
    }
}

// The light grows along the quad, so that a texel's mean tells where its samples lie.
TEST(PathTracer, SamplesAreUniformInTheTexel) {
    QuadScene scene(2, 1, 1);
    scene.add({0, 0, 0}, Z, X);
    // Its shadow is a quarter of the texel.
    scene.add({0, 1, 0}, 0.5F * Z, 0.5F * X);
    scene.scene.suns.push_back({.direction = {0, -1, 0}, .irradiance = glm::vec3(1.0F)});
    const PathTracedMap map = scene.trace({.samples_per_texel = 4096, .bounces = 0});
    EXPECT_NEAR(map.irradiance[0].x, 0.75F, 0.005F);
}

TEST(PathTracer, ResultDoesNotDependOnThreads) {
    QuadScene scene(16, 16, 4);
    std::mt19937 random(7);
    const auto number = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    const auto point = [&] { return glm::vec3(number(), number(), number()); };
    for (std::uint32_t i = 0; i < 256; ++i) {
        scene.add(point(), 0.2F * point(), 0.2F * point() - glm::vec3(0.1F), number(), number(),
                  i % 2);
    }
    scene.scene.suns.push_back({.direction = {0, -1, 0}, .irradiance = glm::vec3(1.0F)});
    PathTracerOptions options{
        .samples_per_texel = 80, .bounces = 6, .sky = glm::vec3(0.3F), .threads = 1};
    const PathTracedMap one = scene.trace(options);
    options.threads = 4;
    const PathTracedMap four = scene.trace(options);
    EXPECT_EQ(one.irradiance, four.irradiance);
    EXPECT_EQ(one.samples, four.samples);
    EXPECT_EQ(one.back_share, four.back_share);
    EXPECT_EQ(one.rays, four.rays);
    options.seed = 2;
    EXPECT_NE(scene.trace(options).irradiance, four.irradiance);
}

TEST(PathTracer, NothingToTraceGivesNothing) {
    baker::SurfaceMap surface;
    surface.extent = {4, 4};
    surface.albedo.assign(16, glm::vec3(0.0F));
    surface.emission = surface.albedo;
    const PathTracedMap map = trace_paths({}, surface, {});
    EXPECT_THAT(map.samples, Each(0U));
    EXPECT_EQ(map.irradiance.size(), 16U);

    QuadScene scene(1, 1, 4);
    scene.add({0, 0, 0}, Z, X);
    scene.scene.light_map_coordinates.clear();
    EXPECT_THROW((void)scene.trace({}), std::invalid_argument);
}

}  // namespace quadtile::test
