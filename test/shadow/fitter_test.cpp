// ShadowFitter on the GPU against its twin: in every frame all is the same, to the bit.

#include "../kernel/gpu_test.hpp"
#include "../support/errors.hpp"
#include "fitter_workspace.hpp"
#include "spheres.hpp"

#include <quadtile/shadow_memory.h>
#include <quadtile/shadow.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace quadtile::test {

namespace {

using testing::HasSubstr;

class ShadowFitterKernels : public GpuTest {};

constexpr VkExtent2D DEPTH_EXTENT{96, 54};

// The GPU beside its twin.
struct Pair {
    Pair(Gpu& gpu, const ShadowOptions& of)
        : options(of), workspace(gpu, of, DEPTH_EXTENT), twin(of), atlas(empty_atlas(of)) {}

    // The next frame on both, which must come to the same; what it was.
    const reference::ShadowFitter::Result& next(const Pinhole& camera,
                                                const std::vector<ShadowProjection>& lights,
                                                const std::vector<ShadowChange>& changes = {}) {
        const ShadowFrame frame = make_shadow_frame(options, camera.view(), DEPTH_EXTENT, lights);
        const std::vector<float> depth = depth_buffer(camera);
        workspace.run(frame, depth, {}, changes);
        const auto& expected = twin.next(frame, depth, atlas, changes);
        EXPECT_EQ(difference(options, workspace.result(), expected), "");
        return expected;
    }

    ShadowOptions options;
    Workspace workspace;
    reference::ShadowFitter twin;
    std::vector<float> atlas;
};

ShadowProjection sun() {
    return directional_shadow_projection({-0.5F, -1.0F, -0.3F}, spheres_box());
}

ShadowProjection lamp() {
    return spot_shadow_projection({3.0F, 6.0F, 2.0F}, {-0.2F, -1.0F, -0.4F}, 80.0F, 0.2F, 40.0F);
}

// What random cases (test/random) leave out, as it takes longer: more tiles than workgroups have
// threads; a device without subgroups. Catches blocks whose arrival is lost.
TEST_F(ShadowFitterKernels, EqualsItsTwinInLargeCases) {
    std::vector<ShadowProjection> suns;
    for (int light = 0; light < 8; ++light) {
        const float sideways = 0.1F * static_cast<float>(light);
        suns.push_back(directional_shadow_projection({-sideways, -1.0F, -0.3F}, spheres_box()));
    }
    struct Case {
        std::size_t variant;
        ShadowOptions options;
        std::vector<ShadowProjection> lights;
        std::uint32_t least_tiles;
    };
    const Case cases[] = {{0,
                           with_small_tiles({.lights = 8,
                                             .map_extent = 128,
                                             .atlas_extent = 8192,
                                             .max_tiles = 6000,
                                             .resolution_scale = 64.0F}),
                           suns, 2048},
                          {1,
                           with_small_tiles({.lights = 2,
                                             .map_extent = 32,
                                             .atlas_extent = 512,
                                             .max_tiles = 120,
                                             .importance_decay = 0.475F}),
                           {sun(), lamp()},
                           20}};
    for (const Case& here : cases) {
        SCOPED_TRACE(here.options.map_extent);
        Gpu gpu(device_for(all_variants()[here.variant]));
        Pair pair(gpu, here.options);
        for (const int frame : {0, 8, 9}) {
            EXPECT_GT(pair.next(camera_of_frame(frame), here.lights).header.tiles,
                      here.least_tiles);
        }
    }
}

TEST_F(ShadowFitterKernels, RefusesChangesWithoutBuffersOrRoom) {
    Gpu gpu(device_for());
    const ShadowFitter fitter(gpu.device(), {});
    const Buffer buffer = gpu.make_buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const auto refusal = [&](const ShadowFitter::Changes& changes) {
        return refusal_of([&] { return fitter.bind_changes(changes); });
    };
    EXPECT_THAT(refusal({.count = buffer.range(), .capacity = 1}),
                HasSubstr("a buffer of changes"));
    EXPECT_THAT(refusal({.boxes = buffer.range(), .capacity = 1}), HasSubstr("number of changes"));
    EXPECT_THAT(refusal({.boxes = buffer.range(), .count = buffer.range()}),
                HasSubstr("capacity is 0, but must be 1 to 1048576"));
}

// Catches dispatches, descriptors and counts that are too small for the objects, a counter that two
// sets of objects share, and one that is not given back.
TEST_F(ShadowFitterKernels, RefusesMoreObjectsThanItCanCull) {
    Gpu gpu(device_for(all_variants().back()));
    Workspace workspace(gpu, {.map_extent = 16}, DEPTH_EXTENT);
    const Buffer buffer = gpu.make_buffer(1U << 20U, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const auto bind = [&](Workspace& space, std::uint32_t count, std::uint32_t instances) {
        return [&, count, instances] {
            return space.fitter().bind_objects(space.binding(), {.objects = buffer.range(),
                                                                 .object_count = count,
                                                                 .draws = buffer.range(),
                                                                 .instances = buffer.range(),
                                                                 .instance_capacity = instances});
        };
    };
    const auto is_unsupported = [](const auto&... parts) {
        return fails(ErrorCode::unsupported, parts...);
    };
    EXPECT_THAT(bind(workspace, 449, 2048), is_unsupported("449 objects, but takes 448 on"));
    EXPECT_THAT(bind(workspace, 1, 0xffffffffU), is_unsupported("room for 4294967295 instances"));
    std::vector<ShadowFitter::ObjectBinding> bindings;
    for (std::uint32_t i = 0; i < SHADOW_CULLS; ++i) {
        bindings.push_back(bind(workspace, 448, 2048)());
    }
    EXPECT_THAT(bind(workspace, 1, 2048), is_refused("48 sets of objects at a time"));
    bindings.erase(bindings.begin() + 3);
    (void)bind(workspace, 1, 2048)();

    Gpu whole(device_for());
    Workspace tiles(whole, {.map_extent = 16, .max_tiles = 65535}, DEPTH_EXTENT);
    EXPECT_THAT(bind(tiles, 65537, 65535), is_unsupported("objects, but takes 65536 on"));
}

// Nodes are counted in batches of 1536. Here the last one of the first batch is a tile, and there
// are more tiles than may be by one: a list without it would keep the budget by a lesser factor.
TEST_F(ShadowFitterKernels, CountsTheLastNodeOfABatch) {
    Gpu gpu(device_for());
    ShadowOptions options = with_small_tiles({.lights = 5,
                                              .map_extent = 512,
                                              .atlas_extent = 8192,
                                              .max_tiles = 60000,
                                              .resolution_scale = 20.0F});
    const Pinhole camera{.eye = {0, 60, 0}, .target = {0, 0, -0.001}};
    const std::vector<ShadowProjection> suns(
        5, directional_shadow_projection({0, -1, 0}, {{-16, 0, -16}, {16, 1, 16}}));
    const auto tiles = [&] {
        Pair pair(gpu, options);
        return pair.next(camera, suns).tiles;
    };
    // Light 4 has the nodes from 4 * (1 + 4 + 16 + 64 + 256) on.
    const std::vector<ShadowTile> all = tiles();
    EXPECT_TRUE(std::ranges::any_of(all, [](const ShadowTile& tile) {
        return tile.node == tile_node(5, 0, 4) && tile.position == tile_position(14, 1);
    }));
    options.max_tiles = static_cast<std::uint32_t>(all.size()) - 1;
    EXPECT_LT(tiles().size(), all.size());
}

}  // namespace

}  // namespace quadtile::test
