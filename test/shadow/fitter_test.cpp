// ShadowFitter on the GPU against its twin: in every frame all is the same, to the bit.

#include "../kernel/gpu_test.hpp"
#include "../support/errors.hpp"
#include "fitter_workspace.hpp"
#include "spheres.hpp"

#include <quadtile/shadow_memory.h>
#include <quadtile/shadow.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

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
// threads; more nodes above blocks than choose.comp counts at once; a device without subgroups.
// Catches nodes that no batch counts (the factor is another one then), and blocks whose arrival is
// lost.
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
                          {0,
                           with_small_tiles({.lights = 2,
                                             .map_extent = 1024,
                                             .atlas_extent = 1024,
                                             .max_tiles = 150,
                                             .resolution_scale = 8.0F}),
                           {lamp(), sun()},
                           100},
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

ShadowChange random_change(std::mt19937& random) {
    const auto between = [&](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    ShadowChange change{};
    for (int axis = 0; axis < 3; ++axis) {
        change.low[axis] = between(-10.0F, 10.0F);
        change.high[axis] = change.low[axis] + between(-0.05F, 0.6F);  // some have no extent
    }
    change.light_mask = random() % 4;
    return change;
}

// Boxes by the thousand. Catches a workgroup whose boxes or tiles are left out, and slots that are
// drawn although nothing in them has changed; with more boxes than there is room for, slots that
// are not drawn.
TEST_F(ShadowFitterKernels, DrawsAgainWhatHasChangedAsItsTwin) {
    Gpu gpu(device_for());
    const ShadowOptions options = with_small_tiles({.lights = 2,
                                                    .map_extent = 256,
                                                    .atlas_extent = 4096,
                                                    .max_tiles = 600,
                                                    .resolution_scale = 3.0F});
    Pair pair(gpu, options);
    std::mt19937 random(7);
    const Pinhole camera = camera_of_frame(3);
    std::uint32_t last = 0;
    for (const std::uint32_t count : {0U, 1U, 30U, 300U, 3000U}) {
        SCOPED_TRACE(count);
        std::vector<ShadowChange> changes(count);
        std::ranges::generate(changes, [&] { return random_change(random); });
        const ShadowHeader header = pair.next(camera, {sun(), lamp()}, changes).header;
        if (count > 0) {
            EXPECT_GT(header.render_count, last);
            EXPECT_LT(header.render_count, header.tiles);
            last = header.render_count;
        }
    }
    const std::vector<ShadowChange> two(2, ShadowChange{});
    const ShadowFrame frame =
        make_shadow_frame(options, camera.view(), DEPTH_EXTENT, std::array{sun(), lamp()});
    for (const std::uint32_t capacity : {1U, 2U}) {
        pair.workspace.run(frame, depth_buffer(camera), {}, two, capacity);
        const ShadowHeader header = pair.workspace.header();
        EXPECT_GT(header.tiles, 128U);
        EXPECT_EQ(header.render_count, capacity == 1 ? header.tiles : 0);
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

// Frames that follow each other without the host: it records them all and submits once.
TEST_F(ShadowFitterKernels, NeedsNoHostWithinAFrame) {
    Gpu gpu(device_for());
    const ShadowOptions options =
        with_small_tiles({.map_extent = 64, .atlas_extent = 512, .max_tiles = 100});
    Pair pair(gpu, options);
    pair.next(camera_of_frame(0), {sun()});
    const std::vector<float> depth = depth_buffer(camera_of_frame(0));
    std::vector<ShadowFrame> frames;
    for (int i = 0; i < 8; ++i) {
        // The same picture, taken for that of another camera: its importance moves over the map.
        frames.push_back(make_shadow_frame(options, camera_of_frame(20 * i).view(), DEPTH_EXTENT,
                                           std::array{sun()}));
    }
    gpu.run([&](VkCommandBuffer commands) {
        for (const ShadowFrame& frame : frames) {
            pair.workspace.fitter().record(commands, pair.workspace.binding(), frame);
            gpu.barrier(commands);
        }
    });
    reference::ShadowFitter::Result expected;
    for (const ShadowFrame& frame : frames) {
        expected = pair.twin.next(frame, depth, pair.atlas);
    }
    EXPECT_EQ(difference(options, pair.workspace.result(), expected), "");
}

}  // namespace

}  // namespace quadtile::test
