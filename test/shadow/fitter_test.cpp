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

void expect_same(const ShadowOptions& options, const reference::ShadowFitter::Result& gpu,
                 const reference::ShadowFitter::Result& twin) {
    EXPECT_EQ(difference(options, gpu, twin), "");
}

constexpr VkExtent2D DEPTH_EXTENT{96, 54};

// The GPU beside its twin.
class Pair {
 public:
    Pair(Gpu& gpu, const ShadowOptions& options)
        : workspace(gpu, options, DEPTH_EXTENT), twin(options), atlas(empty_atlas(options)) {}

    // The next frame on both, which must come to the same; what it was.
    const reference::ShadowFitter::Result& next(const ShadowFrame& frame,
                                                const std::vector<float>& depth) {
        workspace.run(frame, depth);
        const auto& expected = twin.next(frame, depth, atlas);
        expect_same(workspace.fitter().options(), workspace.result(), expected);
        return expected;
    }

    // Frame of what a camera sees of the spheres.
    const reference::ShadowFitter::Result& next(const Pinhole& camera,
                                                const std::vector<ShadowProjection>& lights) {
        return next(
            make_shadow_frame(workspace.fitter().options(), camera.view(), DEPTH_EXTENT, lights),
            depth_buffer(camera));
    }

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

std::vector<ShadowProjection> lamp_and_sun() {
    const auto faces = point_shadow_projections({1.0F, 2.5F, -1.0F}, 0.1F, 40.0F);
    std::vector<ShadowProjection> lights(faces.begin(), faces.end());
    lights.push_back(sun());
    lights.back().weight = 0.25F;
    return lights;
}

// The random test (test/random) has all other options.
struct Case {
    const char* name;
    ShadowOptions options;
    std::vector<ShadowProjection> lights;
};

std::vector<Case> cases() {
    return {{"a sun and a lamp",
             with_small_tiles({.lights = 2,
                               .map_extent = 64,
                               .atlas_extent = 512,
                               .max_tiles = 120,
                               .importance_decay = 0.475F,  // so that much changes
                               .max_stretch = 8.0F}),
             {sun(), lamp()}},
            {"without hysteresis",
             with_small_tiles({.map_extent = 128,
                               .atlas_extent = 256,
                               .max_tiles = 500,
                               .atlas_fill = 1.0F,
                               .merge_ratio = 1.0F,
                               .importance_decay = 0.0F,
                               .max_stretch = 8.0F}),
             {lamp()}},
            // Several levels above the blocks that workgroups have: an arrival that is lost in one,
            // as a driver did, leaves no list.
            {"many blocks",
             {.lights = 2,
              .map_extent = 256,
              .atlas_extent = 1024,
              .tile_extent = 64,
              .gutter = 1,
              .max_tiles = 400,
              .importance_decay = 0.8F},
             {sun(), lamp()}},
            // Each pixel asks one face. Catches faces that are not the twin's, and weights.
            {"a lamp in all directions, and a weak sun",
             with_small_tiles({.lights = 7,
                               .map_extent = 64,
                               .atlas_extent = 512,
                               .max_tiles = 200,
                               .importance_decay = 0.475F}),
             lamp_and_sun()},
            // Catches a pixel that asks another level than the twin's.
            {"a sun of levels",
             with_small_tiles({.lights = 4,
                               .map_extent = 64,
                               .atlas_extent = 512,
                               .max_tiles = 200,
                               .importance_decay = 0.475F}),
             directional_shadow_levels({-0.5F, -1.0F, -0.3F}, spheres_box(), {4.0F, 1.7F, 4.0F},
                                       6.0F, 4)}};
}

// Counts of events in all frames.
struct Events {
    std::uint32_t kept = 0;
    std::uint32_t removed = 0;
    std::uint32_t resized = 0;
};

Events expect_twins(const Device& device, const std::vector<Case>& cases, int frames) {
    Gpu gpu(device);
    Events events;
    for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        Pair pair(gpu, each.options);
        for (int frame = 0; frame < frames; ++frame) {
            SCOPED_TRACE(frame);
            // It stands still for a while, too.
            const int place = frame < 6 ? 4 * frame : frame < 9 ? 24 : 9 * frame;
            const auto& expected = pair.next(camera_of_frame(place), each.lights);
            events.kept += expected.header.kept;
            events.removed += expected.header.removed;
            events.resized += expected.header.resized;
            if (testing::Test::HasFailure()) {
                return events;
            }
        }
    }
    return events;
}

TEST_F(ShadowFitterKernels, EqualsItsTwinInEveryFrame) {
    const Events events = expect_twins(device_for(), cases(), 12);
    // All that is compared has happened.
    EXPECT_GT(events.kept, 500U);
    EXPECT_GT(events.removed, 50U);
    EXPECT_GT(events.resized, 10U);
}

TEST_F(ShadowFitterKernels, EqualsItsTwinWithoutSubgroups) {
    // Its sums take lavapipe longer.
    Case small = cases().front();
    small.options.map_extent = 32;
    const Events events = expect_twins(device_for(all_variants().back()), {small}, 4);
    EXPECT_GT(events.kept, 0U);
}

// More than workgroups have threads.
TEST_F(ShadowFitterKernels, EqualsItsTwinWithManyTiles) {
    Gpu gpu(device_for());
    const ShadowOptions options = with_small_tiles({.lights = 8,
                                                    .map_extent = 128,
                                                    .atlas_extent = 8192,
                                                    .max_tiles = 6000,
                                                    .resolution_scale = 64.0F});
    std::vector<ShadowProjection> suns;
    for (std::uint32_t light = 0; light < options.lights; ++light) {
        const float sideways = 0.1F * static_cast<float>(light);
        suns.push_back(directional_shadow_projection({-sideways, -1.0F, -0.3F}, spheres_box()));
    }
    Pair pair(gpu, options);
    for (const int frame : {0, 8}) {
        EXPECT_GT(pair.next(camera_of_frame(frame), suns).header.tiles, 2048U);
    }
}

// More nodes above blocks than choose.comp counts at once, and more sums of tallies than elsewhere.
// Catches nodes that no batch counts: the factor is another one then.
TEST_F(ShadowFitterKernels, EqualsItsTwinOnLargeMaps) {
    Gpu gpu(device_for());
    Pair pair(gpu, {.lights = 2,
                    .map_extent = 1024,
                    .atlas_extent = 1024,
                    .tile_extent = 64,
                    .gutter = 1,
                    .max_tiles = 150,
                    .resolution_scale = 8.0F});
    for (const int frame : {0, 8}) {
        EXPECT_GT(pair.next(camera_of_frame(frame), {lamp(), sun()}).header.factor_index, 0U);
    }
}

// An atlas that is full to the last cell, now and then to one more than fits beside what stays.
TEST_F(ShadowFitterKernels, EqualsItsTwinInACrowdedAtlas) {
    Gpu gpu(device_for());
    Pair pair(gpu, with_small_tiles({.map_extent = 64,
                                     .atlas_extent = 128,
                                     .max_tiles = 200,
                                     .atlas_fill = 1.0F,
                                     .importance_decay = 0.8F}));
    std::uint32_t repacked = 0;
    std::uint32_t resized_in_place = 0;
    for (int frame = 0; frame < 80 && !HasFailure(); ++frame) {
        SCOPED_TRACE(frame);
        const auto& expected = pair.next(camera_of_frame(3 * frame), {sun()});
        repacked += expected.header.flags & SHADOW_REPACKED;
        resized_in_place += expected.header.flags == 0 ? expected.header.resized : 0;
    }
    EXPECT_GT(repacked, 4U);
    EXPECT_GT(resized_in_place, 50U);
}

TEST_F(ShadowFitterKernels, CullsAsItsTwin) {
    Gpu gpu(device_for());
    const ShadowOptions options =
        with_small_tiles({.lights = 2, .map_extent = 128, .atlas_extent = 1024, .max_tiles = 400});
    Pair pair(gpu, options);
    const Pinhole camera = camera_of_frame(3);
    const std::vector<float> depth = depth_buffer(camera);
    const ShadowFrame frame =
        make_shadow_frame(options, camera.view(), DEPTH_EXTENT, std::array{sun(), lamp()});
    const std::uint32_t rendered = pair.next(frame, depth).header.render_count;

    std::mt19937 random(3);
    const auto between = [&](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    std::vector<ShadowObject> objects;
    for (std::uint32_t i = 0; i < 150; ++i) {
        ShadowObject object{};
        for (int axis = 0; axis < 3; ++axis) {
            object.low[axis] = between(-30.0F, 30.0F);
            object.high[axis] = object.low[axis] + between(0.0F, 5.0F);
        }
        object.index_count = 3 * i;
        object.first_index = 7 * i;
        object.vertex_offset = static_cast<std::int32_t>(i) - 50;
        object.light_mask = i % 4;
        objects.push_back(object);
    }
    // Behind the lamp, and around it.
    objects.push_back({.low = {-20.0F, 20.0F, 10.0F},
                       .index_count = 3,
                       .high = {20.0F, 30.0F, 20.0F},
                       .light_mask = 2});
    objects.push_back({.low = {-20.0F, 0.0F, -20.0F},
                       .index_count = 3,
                       .high = {20.0F, 30.0F, 20.0F},
                       .light_mask = 2});
    const auto expected = pair.twin.cull(objects);
    EXPECT_TRUE(expected[objects.size() - 2].empty());
    EXPECT_GT(expected.back().size(), 1U);
    std::size_t pairs = 0;
    for (const auto& tiles : expected) {
        pairs += tiles.size();
    }
    ASSERT_GT(pairs, 200U);
    EXPECT_THAT(pair.workspace.cull(objects, 100000), testing::ElementsAreArray(expected));
    // Others in the same frame, with just enough room: the first ones must not have taken it.
    const auto enough = static_cast<std::uint32_t>(options.max_tiles + pairs);
    EXPECT_THAT(pair.workspace.cull(objects, enough), testing::ElementsAreArray(expected));
    EXPECT_EQ(pair.workspace.header().instances, 2 * pairs);

    // Too few instances: what finds no room is drawn in all tiles.
    std::size_t in_all = 0;
    const auto drawn = pair.workspace.cull(objects, options.max_tiles + 50);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (drawn[i] != expected[i]) {
            EXPECT_EQ(drawn[i].size(), rendered);
            EXPECT_TRUE(std::ranges::includes(drawn[i], expected[i]));
            ++in_all;
        }
    }
    EXPECT_GT(in_all, 0U);
    EXPECT_LT(in_all, objects.size());
}

// Edges of shadows by an atlas of dark specks: what it says of pixels decides what they need.
// Catches a kernel that looks at another texel, or compares otherwise.
TEST_F(ShadowFitterKernels, SeesShadowsInTheAtlasAsItsTwin) {
    Gpu gpu(device_for());
    const ShadowOptions options = with_small_tiles(
        {.lights = 2, .map_extent = 64, .atlas_extent = 256, .max_tiles = 60, .edge_scale = 4.0F});
    Workspace workspace(gpu, options, DEPTH_EXTENT);
    reference::ShadowFitter twin(options);
    reference::ShadowFitter blind(options);
    std::mt19937 random(5);
    std::uniform_real_distribution<float> between(0.0F, 1.0F);
    bool is_other = false;
    for (int i = 0; i < 6; ++i) {
        SCOPED_TRACE(i);
        std::vector<float> atlas;
        for (std::uint32_t texel = 0; texel < options.atlas_extent * options.atlas_extent;
             ++texel) {
            // So few are dark that one texel decides about a block of pixels.
            atlas.push_back(random() % 50 == 0 ? between(random) : 1.0F);
        }
        const Pinhole camera = camera_of_frame(2 * i);
        const std::vector<float> depth = depth_buffer(camera);
        const ShadowFrame frame =
            make_shadow_frame(options, camera.view(), DEPTH_EXTENT, std::array{sun(), lamp()});
        workspace.run(frame, depth, atlas);
        const auto& expected = twin.next(frame, depth, atlas);
        expect_same(options, workspace.result(), expected);
        is_other = is_other ||
                   expected.importance != blind.next(frame, depth, empty_atlas(options)).importance;
    }
    EXPECT_TRUE(is_other);
}

// A lit roof at the left of the picture, high above the ground, under a tilted sun. Blockers are a
// plane at the light's depth of a point, drawn in the whole atlas.
class RoofScene {
 public:
    explicit RoofScene(Gpu& gpu)
        : frame_(make_shadow_frame(options_, camera_.view(), DEPTH_EXTENT, std::array{sun_})),
          workspace_(gpu, options_, DEPTH_EXTENT),
          twin_(options_),
          blind_(options_) {
        for (std::uint32_t pixel = 0; pixel < DEPTH_EXTENT.width * DEPTH_EXTENT.height; ++pixel) {
            depth_.push_back(pixel % DEPTH_EXTENT.width < 32 ? 0.1F / 2.0F : 0.1F / 6.0F);
        }
    }

    // Returns by texel how many times as much importance the twin's map has as without an atlas.
    std::vector<float> raised_by_blockers_at(float height) {
        const float* const matrix = frame_.lights[0].clip_from_world;
        const std::vector<float> atlas(std::size_t{options_.atlas_extent} * options_.atlas_extent,
                                       matrix[6] * height + matrix[14]);
        workspace_.run(frame_, depth_, atlas);
        const auto& expected = twin_.next(frame_, depth_, atlas);
        expect_same(options_, workspace_.result(), expected);
        const std::vector<float> without =
            blind_.next(frame_, depth_, empty_atlas(options_)).importance;
        std::vector<float> raised;
        for (std::size_t i = 0; i < without.size(); ++i) {
            if (without[i] > 0.0F) {
                raised.push_back(expected.importance[i] / without[i]);
            }
        }
        return raised;
    }

 private:
    const ShadowOptions options_ = with_small_tiles({.map_extent = 128,
                                                     .atlas_extent = 1024,
                                                     .max_tiles = 1000,
                                                     .importance_decay = 0.0F,
                                                     .edge_scale = 4.0F});
    const ShadowProjection sun_ =
        directional_shadow_projection({-1, -1, 0}, {{-4, 0, -4}, {4, 4.5F, 4}});
    const Pinhole camera_{.eye = {0, 6, 0}, .target = {0, 0, -0.001}, .tangent = 0.3};
    const ShadowFrame frame_;
    std::vector<float> depth_;
    Workspace workspace_;
    reference::ShadowFitter twin_;
    reference::ShadowFitter blind_;
};

// Catches requests that take a lit surface before a shadowed one for an edge of a shadow, on either
// side, and requests that no longer find the edges on their own surface.
TEST_F(ShadowFitterKernels, FindsEdgesOnOneSurfaceOnly) {
    Gpu gpu(device_for());
    RoofScene scene(gpu);
    const auto all = [](float times) { return testing::Each(times); };
    EXPECT_THAT(scene.raised_by_blockers_at(2.6F), all(1.0F));  // no last frame yet
    // Between them: all of the roof is lit, all of the ground is in shadow.
    EXPECT_THAT(scene.raised_by_blockers_at(2.6F), all(1.0F));
    // The edge of the shadow crosses the ground.
    const std::vector<float> raised = scene.raised_by_blockers_at(0.0F);
    EXPECT_THAT(raised, testing::Each(testing::AnyOf(1.0F, 4.0F)));
    const auto share =
        static_cast<double>(std::ranges::count(raised, 4.0F)) / static_cast<double>(raised.size());
    EXPECT_GT(share, 0.05);
    EXPECT_LT(share, 0.3);
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
    Workspace workspace(gpu, options, DEPTH_EXTENT);
    reference::ShadowFitter twin(options);
    std::mt19937 random(7);
    const Pinhole camera = camera_of_frame(3);
    const std::vector<float> depth = depth_buffer(camera);
    const ShadowFrame frame =
        make_shadow_frame(options, camera.view(), DEPTH_EXTENT, std::array{sun(), lamp()});
    std::uint32_t last = 0;
    for (const std::uint32_t count : {0U, 1U, 30U, 300U, 3000U}) {
        SCOPED_TRACE(count);
        std::vector<ShadowChange> changes(count);
        std::ranges::generate(changes, [&] { return random_change(random); });
        workspace.run(frame, depth, {}, changes);
        const auto& expected = twin.next(frame, depth, empty_atlas(options), changes);
        expect_same(options, workspace.result(), expected);
        if (count > 0) {
            EXPECT_GT(expected.header.render_count, last);
            EXPECT_LT(expected.header.render_count, expected.header.tiles);
            last = expected.header.render_count;
        }
    }
    const std::vector<ShadowChange> two(2, ShadowChange{});
    workspace.run(frame, depth, {}, two, 1);
    const ShadowHeader header = workspace.header();
    EXPECT_GT(header.tiles, 128U);
    EXPECT_EQ(header.render_count, header.tiles);
    workspace.run(frame, depth, {}, two);
    EXPECT_EQ(workspace.header().render_count, 0U);
}

// A sun whose boxes go to and fro along both axes, by one step, by several, and farther than they
// are wide; a lamp that stays. Catches a kernel that reads another place of the last frame than its
// twin, or another texel of the importance image, and needs of places that have left the map.
TEST_F(ShadowFitterKernels, StepsAsItsTwin) {
    Gpu gpu(device_for());
    constexpr std::array<std::array<float, 2>, 12> EYES{{{4, 4},
                                                         {5, 4},
                                                         {5, 5},
                                                         {4, 6},
                                                         {4, 6},
                                                         {6, 3},
                                                         {9, 3},
                                                         {9, 7},
                                                         {-7, 0},
                                                         {-6, 0},
                                                         {-30, 2},
                                                         {4, 4}}};
    for (const bool has_casters : {false, true}) {
        for (const std::uint32_t max_tiles : {60U, 1000U}) {
            SCOPED_TRACE(testing::Message() << has_casters << ", " << max_tiles);
            ShadowOptions options = with_small_tiles({.lights = 4,
                                                      .map_extent = max_tiles < 100 ? 128U : 32U,
                                                      .atlas_extent = 1024,
                                                      .max_tiles = max_tiles,
                                                      .edge_scale = 4.0F});
            Workspace workspace(gpu, options, DEPTH_EXTENT);
            reference::ShadowFitter twin(options);
            std::mt19937 random(9);
            std::uint32_t undrawn = 0;
            for (std::size_t i = 0; i < EYES.size() && !HasFailure(); ++i) {
                SCOPED_TRACE(i);
                const Pinhole camera = camera_of_frame(20 + static_cast<int>(i));
                std::vector<ShadowProjection> lights = directional_shadow_levels(
                    {-0.5F, -1.0F, -0.3F}, spheres_box(), {EYES[i][0], 1.7F, EYES[i][1]}, 6, 3);
                lights.push_back(lamp());
                const ShadowFrame frame =
                    make_shadow_frame(options, camera.view(), DEPTH_EXTENT, lights);
                const std::vector<float> depth = depth_buffer(camera);
                std::vector<float> atlas = empty_atlas(options);
                if (has_casters) {
                    std::ranges::generate(atlas, [&] { return random() % 50 == 0 ? 0.3F : 1.0F; });
                }
                const std::vector<ShadowChange> changes(i % 3, random_change(random));
                workspace.run(frame, depth, atlas, changes);
                const auto& expected = twin.next(frame, depth, atlas, changes);
                expect_same(options, workspace.result(), expected);
                undrawn += expected.header.tiles - expected.header.render_count;
            }
            EXPECT_GT(undrawn, 100U);
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

// Frames that follow each other without the host: it records them all and submits once.
TEST_F(ShadowFitterKernels, NeedsNoHostWithinAFrame) {
    Gpu gpu(device_for());
    const ShadowOptions options =
        with_small_tiles({.map_extent = 64, .atlas_extent = 512, .max_tiles = 100});
    const Pinhole camera = camera_of_frame(0);
    const std::vector<float> depth = depth_buffer(camera);
    Pair pair(gpu, options);
    pair.next(make_shadow_frame(options, camera.view(), DEPTH_EXTENT, std::array{sun()}), depth);

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
    expect_same(options, pair.workspace.result(), expected);
}

}  // namespace

}  // namespace quadtile::test
