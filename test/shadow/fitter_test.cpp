// ShadowFitter on the GPU against its twin: in every frame all is the same, to the bit.

#include "../kernel/gpu_test.hpp"
#include "../support/errors.hpp"
#include "fitter_workspace.hpp"
#include "scene.hpp"

#include <quadtile/shadow_memory.h>
#include <quadtile/shadow.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace quadtile::test {

namespace {

using testing::HasSubstr;

class ShadowFitterKernels : public GpuTest {};

// The GPU beside its twin.
struct Pair {
    Pair(Gpu& gpu, const ShadowOptions& of)
        : options(of), workspace(gpu, of), twin(of), atlas(empty_atlas(of)) {}

    // The next frame on both, which must come to the same; what it was.
    const reference::ShadowFitter::Result& next(const Camera& camera,
                                                const std::vector<ShadowProjection>& lights,
                                                const std::vector<ShadowChange>& changes = {}) {
        const ShadowFrame frame = make_shadow_frame(options, camera.view, DEPTH_EXTENT, lights);
        const std::vector<float> depth = depth_buffer(camera);
        workspace.run(frame, depth, {}, changes);
        const auto& expected = twin.next(frame, depth, atlas, changes);
        EXPECT_EQ(difference(workspace.result(), expected), "");
        return expected;
    }

    ShadowOptions options;
    Workspace workspace;
    reference::ShadowFitter twin;
    std::vector<float> atlas;
};

// What random cases (test/random) leave out, as it takes longer: more tiles than workgroups have
// threads; a device without subgroups. Catches blocks whose arrival is lost.
TEST_F(ShadowFitterKernels, EqualsItsTwinInLargeCases) {
    std::vector<ShadowProjection> suns;
    for (int light = 0; light < 12; ++light) {
        const float sideways = 0.1F * static_cast<float>(light);
        suns.push_back(directional_shadow_projection({-sideways, -1.0F, -0.3F}, spheres_box()));
        suns.back().weight = 64.0F;
    }
    struct Case {
        std::size_t variant;
        ShadowOptions options;
        std::vector<ShadowProjection> lights;
        std::uint32_t least_tiles;
    };
    const ShadowProjection lamp =
        spot_shadow_projection({3.0F, 6.0F, 2.0F}, {-0.2F, -1.0F, -0.4F}, 80.0F, 0.2F, 40.0F);
    const Case cases[] = {
        {0,
         with_small_tiles(
             {.lights = 12, .map_extent = 128, .atlas_extent = 8192, .max_tiles = 6000}),
         suns, 2048},
        {1,
         with_small_tiles({.lights = 2, .map_extent = 32, .atlas_extent = 512, .max_tiles = 120}),
         {suns[5], lamp},
         20}};
    for (const Case& here : cases) {
        SCOPED_TRACE(here.options.map_extent);
        Gpu gpu(device_for(all_variants()[here.variant]));
        Pair pair(gpu, here.options);
        for (const int frame : {8, 9}) {
            EXPECT_GT(pair.next(camera_of_frame(frame), here.lights).header.tiles,
                      here.least_tiles);
        }
    }
}

// Catches dispatches, descriptors and counts that are too small for the objects.
TEST_F(ShadowFitterKernels, RefusesChangesAndObjectsWithoutBuffersOrRoom) {
    Gpu gpu(device_for(all_variants().back()));
    Workspace workspace(gpu, {.map_extent = 16});
    const Buffer buffer = gpu.make_buffer(1U << 20U, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const auto refusal = [&](const ShadowFitter::Changes& changes) {
        return refusal_of([&] { return workspace.fitter().bind_changes(changes); });
    };
    EXPECT_THAT(refusal({.count = buffer.range(), .capacity = 1}),
                HasSubstr("a buffer of changes"));
    EXPECT_THAT(refusal({.boxes = buffer.range(), .capacity = 1}), HasSubstr("number of changes"));
    EXPECT_THAT(refusal({.boxes = buffer.range(), .count = buffer.range()}),
                HasSubstr("capacity is 0, but must be 1 to 1048576"));

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
    (void)bind(workspace, 448, 2048)();

    Gpu whole(device_for());
    Workspace tiles(whole, {.map_extent = 16, .max_tiles = 65535});
    EXPECT_THAT(bind(tiles, 65537, 65535), is_unsupported("objects, but takes 65536 on"));
}

// Nodes are counted in batches of 1536. Here the last one of the first batch is a tile, and there
// are more tiles than may be by one: a list without it would keep the budget by a lesser factor.
TEST_F(ShadowFitterKernels, CountsTheLastNodeOfABatch) {
    Gpu gpu(device_for());
    ShadowOptions options = with_small_tiles(
        {.lights = 5, .map_extent = 512, .atlas_extent = 8192, .max_tiles = 60000});
    const Camera camera = pinhole({0, 60, 0}, {0, 0, -0.001});
    ShadowProjection one = directional_shadow_projection({0, -1, 0}, {{-16, 0, -16}, {16, 1, 16}});
    one.weight = 20.0F;
    const std::vector<ShadowProjection> suns(5, one);
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

// ---- Closed forms of shadow_lookup.glsl, by a kernel of its own

constexpr std::uint32_t FILTER[] = {
#include "test_shadow_filter.spv.inc"
};
constexpr std::uint32_t FACES[] = {
#include "test_shadow_faces.spv.inc"
};

using Place = std::array<float, 4>;

class ShadowLookup : public GpuTest {
 protected:
    // `buffers`: those before the image.
    [[nodiscard]] std::vector<Place> look_up(std::span<const std::uint32_t> spirv,
                                             const std::vector<Place>& places,
                                             std::vector<BufferRange> buffers,
                                             const MapImage& image) {
        const Buffer results = gpu.make_buffer(places);
        buffers.insert(buffers.begin(), results.range());
        const ShadowParameters parameters = shadow_parameters(options);
        const ComputePipeline pipeline(gpu, spirv, buffers, &image, sizeof(parameters));
        gpu.run([&](VkCommandBuffer commands) {
            pipeline.record(commands, {static_cast<std::uint32_t>(places.size()), 1, 1},
                            std::as_bytes(std::span(&parameters, 1)));
        });
        return gpu.read<Place>(results, 0, places.size());
    }

    Gpu gpu{device_for()};
    const ShadowOptions options =
        with_small_tiles({.lights = 3, .map_extent = 16, .atlas_extent = 64});
};

// A texel's weight in the mean of 3 x 3 bilinear comparisons: 1/3 along each axis up to a texel
// away, then falling to 0. Catches weights that are mirrored, or of the other axis.
TEST_F(ShadowLookup, FilterWeighsTexelsByTheirDistance) {
    std::vector<float> depths(8 * 8, 1.0F);
    depths[3 * 8 + 4] = 0.0F;  // in shadow, at (4.5, 3.5)
    const Image atlas = gpu.upload(MapView{depths.data(), {8, 8}});
    const Owned<VkImageView> view = gpu.make_view(atlas);
    std::vector<Place> places;
    for (float y = 1.0F; y < 7.0F; y += 0.125F) {
        for (float x = 1.5F; x < 7.0F; x += 0.1875F) {
            places.push_back({x, y});
        }
    }
    const Buffer none = gpu.make_buffer(16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const auto found = look_up(FILTER, places, {none.range(), none.range(), none.range()},
                               {view.get(), atlas.layout()});
    const auto weight = [](float distance) {
        return std::clamp(2.0F - std::abs(distance), 0.0F, 1.0F) / 3.0F;
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto [x, y, light, unused] = found[i];
        EXPECT_NEAR(light, 1.0F - weight(x - 4.5F) * weight(y - 3.5F), 1e-5F) << x << " " << y;
    }
}

// Places that rounding puts beyond the edge of a map: in the tile of the edge on the faces of a
// point light, outside on those of others.
TEST_F(ShadowLookup, FacesHaveNoSeams) {
    ShadowFrame frame{};
    frame.lights[0].layers = 1;
    frame.lights[0].perspective = 1.0F;
    frame.lights[1] = frame.lights[0];
    frame.lights[1].layers = 0;  // a face
    frame.lights[2].layers = 1;  // a sun
    ShadowTile tile{};           // the whole map, in the whole atlas
    tile.state = 4;
    tile.crop_scale = 62.0F / 64.0F;
    VkImageCreateInfo info = image_info({16, 16, 3}, 1, VK_IMAGE_USAGE_SAMPLED_BIT);
    info.format = VK_FORMAT_R32_UINT;
    const Image pages = gpu.make_image(info);
    const std::vector<std::uint32_t> zeros(16 * 16 * 3);  // tile 0
    gpu.upload(pages, zeros.data());
    const float beyond = std::nextafter(1.0F, 2.0F);
    std::vector<Place> places;
    for (const float light : {0.0F, 1.0F, 2.0F}) {
        for (const auto& [x, y] : {std::pair(beyond, 0.25F),
                                   {-beyond, 0.25F},
                                   {0.25F, beyond},
                                   {0.25F, -beyond},
                                   {1.0F, -1.0F}}) {
            places.push_back({x, y, light});
        }
    }
    const Buffer frames = gpu.make_buffer(std::vector{frame});
    const Buffer tiles = gpu.make_buffer(std::vector{tile});
    const auto found = look_up(FACES, places, {frames.range(), tiles.range()}, pages.map_image());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto [x, y, light, unused] = places[i];
        const auto [is_inside, column, row, outside] = found[i];
        EXPECT_EQ(is_inside == 1.0F, light == 1.0F || i % 5 == 4) << i;
        EXPECT_EQ(outside, is_inside == 0.0F && light == 2.0F ? 1.0F : 0.0F) << i;
        if (is_inside == 1.0F) {
            EXPECT_EQ(column, 32.0F + 31.0F * std::clamp(x, -1.0F, 1.0F)) << i;
            EXPECT_EQ(row, 32.0F + 31.0F * std::clamp(y, -1.0F, 1.0F)) << i;
        }
    }
}

}  // namespace

}  // namespace quadtile::test
