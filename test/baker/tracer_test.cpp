// The kernels and their CPU twin where random bakes (test/random) do not come: lists, tiles and
// sums that are long. The same tiles and the same sums, to the bit.

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

class TracerTest : public app::test::AppGpuTest {};

std::vector<Accumulator> sums_of(Tracer& tracer, const TracedScene& scene) {
    std::vector<Accumulator> sums(scene.sum_count());
    tracer.read_sums(0, sums);
    return sums;
}

ProjectionFrame frame_of(const TracedScene& scene, std::uint32_t map_extent) {
    const Sky sky{.radiance = {0.25F, 0.5F, 1.0F}};
    ProjectionFrame frame = make_frame(make_directions(1, 7, sky).front(), scene, map_extent);
    frame.is_source = 1;
    frame.share_ahead = 0.3F;
    frame.share_behind = 1.0F;
    return frame;
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

Work work_of(const std::vector<MapTile>& tiles) {
    Work work;
    for (const MapTile& tile : tiles) {
        work.tiles.push_back(
            {.frame = 0,
             .map_x = static_cast<float>(tile.x << tile.level),
             .map_y = static_cast<float>(tile.y << tile.level),
             .scale = static_cast<float>(tile.resolution) / static_cast<float>(1U << tile.level),
             .width = tile.resolution,
             .height = tile.resolution,
             .weight = 0x01000001U,  // carries
             .radiance_scale = 3.1e8F});
        work.nodes.push_back(tile.predicted_nodes);
    }
    return work;
}

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
        const TracedScene traced =
            make_traced_scene(stack(triangles), CoveredTexels(Extent{96, 64}), 4.0F);
        const std::vector<ProjectionFrame> frames{frame_of(traced, extent)};
        const auto outgoing = outgoing_of(traced);
        const auto twin = make_reference_tracer(traced, options, 2);
        const auto gpu = make_gpu_tracer(*gpu_, traced, options, {.pool_bytes = 256U << 20U});
        const auto tiles = twin->request_tiles(frames);
        EXPECT_TRUE(gpu->request_tiles(frames) == tiles);
        const Work work = work_of(tiles.front());
        twin->begin_pass({});
        twin->set_outgoing(0, outgoing);
        twin->trace(frames, work.tiles, work.nodes);
        gpu->begin_pass({});
        gpu->set_outgoing(0, outgoing);
        // With as many stops as there can be, after a request that was stopped.
        (void)gpu->request_tiles(frames, [] { return true; });
        const auto trace = [&] {
            for (std::size_t done = 0; done < work.tiles.size();) {
                done += gpu->trace(frames, std::span(work.tiles).subspan(done),
                                   std::span(work.nodes).subspan(done), [] { return true; });
            }
        };
        if (triangles == 2500 && gpu_->ends_long_loops()) {
            EXPECT_THAT(trace, testing::ThrowsMessage<std::runtime_error>(
                                   testing::HasSubstr("one ray meets 2500")));
        } else {
            trace();
            const auto sums = sums_of(*gpu, traced);
            const auto expected = sums_of(*twin, traced);
            EXPECT_EQ(std::memcmp(sums.data(), expected.data(), sums.size() * sizeof(sums[0])), 0);
        }
    }
}

}  // namespace
}  // namespace quadtile::test
