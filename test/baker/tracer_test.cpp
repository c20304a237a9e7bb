// The kernels and their CPU twin where random bakes (test/random) do not come: long lists, sums
// that carry, little memory, and stops. The same tiles and the same sums, to the bit.

#include "apps/app_gpu_test.hpp"
#include "directions.hpp"
#include "gpu_tracer.hpp"
#include "reference_tracer.hpp"
#include "small_scenes.hpp"

#include <quadtile/device.hpp>

#include <gmock/gmock.h>
#include <glm/common.hpp>

#include <bit>
#include <cstring>
#include <random>

namespace quadtile::test {
namespace {

using namespace quadtile::baker;

// Triangles of all sizes anywhere in a box, each with a part of the lightmap that has nothing to
// do with its shape; `layers` copies of each, one a little behind the other, which have two sides.
Scene random_scene(std::uint32_t seed, std::uint32_t triangles, std::uint32_t layers) {
    std::mt19937 random(seed);
    const auto unit = [&] { return static_cast<float>(random() % 65536) / 65536.0F; };
    Scene scene;
    scene.materials.push_back({.double_sided = true});
    for (std::uint32_t i = 0; i < triangles; ++i) {
        const float size = 0.02F + 2.0F * unit() * unit() * unit();
        const glm::vec3 middle(unit() * 10.0F, unit() * 3.0F, unit() * 6.0F);
        const glm::vec2 place(unit(), unit());
        std::array<glm::vec3, 3> corners;
        std::array<glm::vec2, 3> coordinates;
        for (std::size_t corner = 0; corner < 3; ++corner) {
            corners[corner] = middle + size * (glm::vec3(unit(), unit(), unit()) - 0.5F);
            coordinates[corner] =
                glm::clamp(place + 0.1F * size * glm::vec2(unit(), unit()), 0.0F, 1.0F);
        }
        for (std::uint32_t layer = 0; layer < layers; ++layer) {
            // Some exactly at the same place.
            const glm::vec3 shift(0.0F, 0.01F * static_cast<float>(layer / 2), 0.0F);
            baker::test::add_triangle(
                scene, {corners[0] + shift, corners[1] + shift, corners[2] + shift}, coordinates);
            if (random() % 2 == 0) {
                auto& vertices = scene.triangles.back().vertices;
                std::swap(vertices[1], vertices[2]);
            }
        }
    }
    return scene;
}

class TracerTest : public app::test::AppGpuTest {};

std::vector<Accumulator> sums_of(Tracer& tracer, const TracedScene& scene) {
    std::vector<Accumulator> sums(scene.sum_count());
    tracer.read_sums(0, sums);
    return sums;
}

// Returns frames of parallel rays, and six frames for each light amid the triangles.
std::vector<ProjectionFrame> frames_of(const TracedScene& scene, std::uint32_t count,
                                       std::uint32_t map_extent, std::uint32_t points = 0) {
    Sky sky{.radiance = {0.25F, 0.5F, 1.0F}};
    std::vector<ProjectionFrame> frames;
    std::vector<BundleDirection> directions = make_directions(count, 7, sky);
    std::ranges::copy(
        make_light_directions({.position = {5.0F, 1.5F, 3.0F}, .radius = 1.0F}, points, 7),
        std::back_inserter(directions));
    for (const BundleDirection& direction : directions) {
        frames.push_back(make_frame(direction, scene, map_extent));
        frames.back().is_source = frames.size() % 2;
        frames.back().share_ahead = frames.size() % 2 == 0 ? 1.0F : 0.3F;
        frames.back().share_behind = 1.0F;
    }
    return frames;
}

std::vector<glm::vec4> outgoing_of(const TracedScene& scene) {
    std::mt19937 random(3);
    std::vector<glm::vec4> outgoing(scene.sum_count());
    for (glm::vec4& radiance : outgoing) {
        for (int i = 0; i < 3; ++i) {
            radiance[i] = static_cast<float>(random() % 1000) / 300.0F;
        }
        radiance.w = std::bit_cast<float>(random() % 4 == 0 ? TWO_SIDED : 0U);
    }
    return outgoing;
}

struct Work {
    std::vector<TracedTile> tiles;
    std::vector<double> nodes;
};

Work work_of(const std::vector<std::vector<MapTile>>& tiles) {
    Work work;
    for (std::uint32_t frame = 0; frame < tiles.size(); ++frame) {
        for (const MapTile& tile : tiles[frame]) {
            work.tiles.push_back({.frame = frame,
                                  .map_x = static_cast<float>(tile.x << tile.level),
                                  .map_y = static_cast<float>(tile.y << tile.level),
                                  .scale = static_cast<float>(tile.resolution) /
                                           static_cast<float>(1U << tile.level),
                                  .width = tile.resolution,
                                  .height = tile.resolution,
                                  .weight = 0x01000001U + frame,  // carries
                                  .radiance_scale = 3.1e8F + static_cast<float>(frame)});
            work.nodes.push_back(tile.predicted_nodes);
        }
    }
    return work;
}

bool equal(const std::vector<Accumulator>& a, const std::vector<Accumulator>& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), a.size() * sizeof(Accumulator)) == 0;
}

bool any_light(const std::vector<Accumulator>& sums) {
    return std::ranges::any_of(sums, [](const Accumulator& sum) { return sum.radiance[1] > 0; });
}

struct Case {
    const char* name;
    std::uint32_t triangles;
    std::uint32_t layers;
    TileOptions tiles;
    std::uint64_t pool_bytes;
    std::uint32_t tile_clusters = 2U << 20U;
};

class TracerCases : public TracerTest, public testing::WithParamInterface<Case> {};

TEST_P(TracerCases, EqualsItsTwin) {
    const Case& here = GetParam();
    const TracedScene scene =
        make_traced_scene(random_scene(5, here.triangles, here.layers), {96, 64}, 4.0F);
    const auto frames = frames_of(scene, 3, here.tiles.map_extent, 1);
    const auto outgoing = outgoing_of(scene);
    const auto twin = make_reference_tracer(scene, here.tiles, 2);
    const auto gpu =
        make_gpu_tracer(*gpu_, scene, here.tiles,
                        {.pool_bytes = here.pool_bytes,
                         .submission_seconds = 1e-6,  // small submissions on devices of any speed
                         .tile_clusters = here.tile_clusters});

    const auto expected_tiles = twin->request_tiles(frames);
    // Requests that were stopped leave nothing behind.
    std::uint32_t asks = 0;
    const auto stopped = gpu->request_tiles(frames, [&] { return ++asks == 2; });
    EXPECT_EQ(stopped.empty(), asks == 2);
    const auto tiles = gpu->request_tiles(frames);
    ASSERT_EQ(tiles.size(), expected_tiles.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        EXPECT_GT(tiles[i].size(), i < 3 ? 1U : 0U);
        EXPECT_TRUE(tiles[i] == expected_tiles[i])
            << "frame " << i << ": " << tiles[i].size() << " and " << expected_tiles[i].size();
    }

    const Work work = work_of(expected_tiles);
    twin->begin_pass(outgoing);
    twin->trace(frames, work.tiles, work.nodes);
    gpu->begin_pass(outgoing);
    std::vector<double> optimistic = work.nodes;
    for (double& nodes : optimistic) {
        nodes *= here.pool_bytes < 1U << 20U ? 0.01 : 1.0;
    }
    gpu->trace(frames, work.tiles, optimistic);
    const std::vector<Accumulator> expected = sums_of(*twin, scene);
    EXPECT_TRUE(any_light(expected));
    EXPECT_TRUE(equal(sums_of(*gpu, scene), expected));
    EXPECT_EQ(gpu->statistics().nodes, twin->statistics().nodes);
    if (here.pool_bytes < 1U << 20U) {
        EXPECT_GT(gpu->statistics().split_tiles, 0U);
    }
    if (here.pool_bytes < 1U << 20U || here.tile_clusters == 1) {
        EXPECT_GT(gpu->statistics().repeated_tiles, 0U);
    }

    // From sums that were kept: the same once more, with as many stops as there can be.
    gpu->begin_pass(outgoing);
    gpu->set_sums(expected);
    std::size_t done = 0;
    std::size_t stops = 0;
    for (; done < work.tiles.size(); ++stops) {
        done += gpu->trace(frames, std::span(work.tiles).subspan(done),
                           std::span(optimistic).subspan(done), [] { return true; });
    }
    EXPECT_GT(stops, 1U);
    EXPECT_EQ(gpu->statistics().tiles, 2 * work.tiles.size());
    twin->trace(frames, work.tiles, work.nodes);
    EXPECT_TRUE(equal(sums_of(*gpu, scene), sums_of(*twin, scene)));
}

const TileOptions SMALL_TILES{.map_extent = 64, .max_resolution = 48, .max_nodes = 4000};
const TileOptions LARGE_TILES{.map_extent = 64, .max_resolution = 200, .max_nodes = 1e6F};

INSTANTIATE_TEST_SUITE_P(, TracerCases,
                         testing::Values(Case{"LongLists", 40, 90, LARGE_TILES, 16U << 20U},
                                         Case{"SmallPool", 100, 20, LARGE_TILES, 1U << 18U},
                                         Case{"FewPairs", 300, 2, SMALL_TILES, 8U << 20U, 1}),
                         [](const auto& test) { return std::string(test.param.name); });

// Triangles above each other, all of one size.
Scene stack(std::uint32_t triangles) {
    Scene scene;
    scene.materials.emplace_back();
    for (std::uint32_t i = 0; i < triangles; ++i) {
        const float height = 1e-4F * static_cast<float>(i);
        baker::test::add_triangle(scene, {{{-1, height, -1}, {9, height, -1}, {-1, height, 9}}},
                                  {{{0, 0}, {1, 0}, {0, 1}}});
    }
    return scene;
}

// Catches loops over pixels that a driver ends early: 96 triangles that all cover the map and its
// one tile, whose threads would take more than 65,535 iterations each. And lists that are too long
// to be sorted where drivers end such loops: they are named.
TEST_F(TracerTest, TracesStacksOfTrianglesOrNamesWhatIsTooLong) {
    for (const auto& [triangles, extent, resolution] :
         {std::tuple(96U, 512U, 1024.0F), {2500U, 16U, 16.0F}}) {
        const TileOptions options{
            .map_extent = extent, .max_resolution = resolution, .max_nodes = 1e9F};
        const TracedScene traced = make_traced_scene(stack(triangles), {96, 64}, 4.0F);
        const auto frames = frames_of(traced, 1, extent);
        const auto outgoing = outgoing_of(traced);
        const auto twin = make_reference_tracer(traced, options, 2);
        const auto gpu = make_gpu_tracer(*gpu_, traced, options, {.pool_bytes = 256U << 20U});
        const auto tiles = twin->request_tiles(frames);
        EXPECT_TRUE(gpu->request_tiles(frames) == tiles);
        const Work work = work_of(tiles);
        twin->begin_pass(outgoing);
        twin->trace(frames, work.tiles, work.nodes);
        gpu->begin_pass(outgoing);
        const auto trace = [&] { (void)gpu->trace(frames, work.tiles, work.nodes); };
        if (triangles == 2500 && gpu_->ends_long_loops()) {
            EXPECT_THAT(trace, testing::ThrowsMessage<std::runtime_error>(
                                   testing::HasSubstr("one ray meets 2500")));
        } else {
            trace();
            EXPECT_TRUE(equal(sums_of(*gpu, traced), sums_of(*twin, traced)));
        }
    }
}

}  // namespace
}  // namespace quadtile::test
