// Bakes by the kernels and by their CPU twin where random ones (test/random) do not come: lists and
// tiles that are long.

#include "apps/app_gpu_test.hpp"
#include "gpu_tracer.hpp"
#include "quads.hpp"
#include "reference_tracer.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numbers>

namespace quadtile::baker::test {
namespace {

class TracerTest : public app::test::AppGpuTest {};

// Triangles above each other, all of one size.
Scene stack(std::uint32_t triangles) {
    Scene scene;
    scene.materials.emplace_back();
    for (std::uint32_t i = 0; i < triangles; ++i) {
        const float height = 1e-4F * static_cast<float>(i);
        add_triangle(scene, {{{-1, height, -1}, {9, height, -1}, {-1, height, 9}}},
                     {{{0, 0}, {1, 0}, {0, 1}}});
    }
    return scene;
}

// Catches loops over pixels that a driver ends early: 64 triangles that all cover the map and its
// one tile, whose threads would take more than 65,535 iterations each. And lists that are too long
// to be sorted where drivers end such loops: they are named.
TEST_F(TracerTest, BakesStacksOfTrianglesOrNamesWhatIsTooLong) {
    for (const auto& [triangles, extent, resolution] :
         {std::tuple(64U, 512U, 1024.0F), {2500U, 16U, 16.0F}}) {
        Prepared what(stack(triangles), {96, 64}, 16.0F);
        what.sky.radiance = {0.25F, 0.5F, 1.0F};
        what.tiles = {.map_extent = extent, .max_resolution = resolution, .max_nodes = 1e9F};
        const BakeOptions options{.directions = 1, .bounces = 0};
        const auto gpu =
            make_gpu_tracer(*gpu_, what.traced, what.tiles, {.pool_bytes = 256U << 20U});
        const auto bake = [&] { return bytes_of(bake_with(*gpu, what, options)); };
        if (triangles == 2500 && gpu_->ends_long_loops()) {
            EXPECT_THAT(bake, testing::ThrowsMessage<std::runtime_error>(
                                  testing::HasSubstr("one ray meets 2500")));
        } else {
            const auto twin = make_reference_tracer(what.traced, what.tiles, 2);
            EXPECT_TRUE(bake() == bytes_of(bake_with(*twin, what, options)));
        }
    }
}

// Catches the end of a loop over the triangles of a lamp's patch and the points of a large texel
// close to it, which would take more than 65,535 iterations; and triangles that are left out.
TEST_F(TracerTest, TakesAllTrianglesOfALamp) {
    constexpr std::uint32_t COLUMNS = 250;
    Quads quads(2, 1, 1);
    quads.add_material({.albedo = glm::vec3(0.5F)});
    quads.add_material({.emission = glm::vec3(1.0F, 2.0F, 3.0F)});
    quads.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
    for (std::uint32_t i = 0; i < COLUMNS; ++i) {
        const glm::vec3 corner(3.0F + static_cast<float>(i) / 128.0F, 0.5F, 3.0F);
        add_quad(quads.scene, {corner, corner + X / 128.0F, corner + X / 128.0F + Z, corner + Z},
                 rectangle({0.7F, 0.2F}, {0.9F, 0.8F}), 1);
    }
    const Prepared what(quads.scene, quads.extent(), 4.0F);
    const BakeOptions options{.directions = 4, .bounces = 0, .lamp_points = 2, .directional = true};
    ASSERT_EQ(what.lamps(options).patches.size(), 1U);
    const auto gpu = make_gpu_tracer(*gpu_, what.traced, what.tiles, {});
    const auto twin = make_reference_tracer(what.traced, what.tiles, 2);
    const BakeResult result = bake_with(*gpu, what, options);
    EXPECT_TRUE(bytes_of(result) == bytes_of(bake_with(*twin, what, options)));
    // The floor receives almost all of its light.
    float power = 0.0F;
    for (const std::size_t texel : quads.texels(0)) {
        power += 64.0F * result.map.irradiance[texel].x;
    }
    EXPECT_NEAR(power / (std::numbers::pi_v<float> * COLUMNS / 128.0F), 0.985F, 0.01F);
}

// Catches groups of clusters that are left out behind the first 64, which one round of cull tests:
// their texels would meet no ray.
TEST_F(TracerTest, TakesAllGroupsOfClusters) {
    constexpr std::uint32_t SIDE = 368;
    static_assert(2 * SIDE * SIDE > 64 * CLUSTERS_IN_GROUP * CLUSTER_TRIANGLES);
    Scene scene;
    scene.materials.push_back({.albedo = glm::vec3(0.5F)});
    for (std::uint32_t i = 0; i < SIDE * SIDE; ++i) {
        const glm::vec2 low(i % SIDE, i / SIDE);
        const glm::vec3 corner(low.x, 0.0F, low.y);
        const glm::vec2 high = low + 1.0F;
        add_quad(scene, {corner, corner + Z, corner + Z + X, corner + X},
                 rectangle(low / float{SIDE}, high / float{SIDE}), 0);
    }
    Prepared what(scene, {32, 32}, 3.0F);
    what.sky.radiance = glm::vec3(1.0F);
    const BakeResult result = bake_with(*make_gpu_tracer(*gpu_, what.traced, what.tiles, {}), what,
                                        {.directions = 8, .bounces = 0});
    EXPECT_EQ(std::ranges::count(result.map.known, 1), 32 * 32);
}

}  // namespace
}  // namespace quadtile::baker::test
