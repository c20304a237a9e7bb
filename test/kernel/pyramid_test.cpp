// The pyramid kernel against its twin: every node of every level, and what it leaves behind.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <quadtile/kernel_parameters.h>
#include <quadtile/quadtree.h>

#include <bit>
#include <limits>

namespace quadtile::test {
namespace {

class PyramidKernel : public GpuTest {};

// Levels 1 to TOP of all layers against the reference, bit for bit.
void expect_levels_equal(Gpu& gpu, const PyramidWorkspace& workspace, const MapView& map) {
    const MapShape& shape = map.shape;
    const std::vector<float> levels =
        gpu.read<float>(workspace.levels, 0, workspace.levels.size_bytes() / sizeof(float));
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        const reference::Pyramid expected = reference::build_pyramid(map, layer);
        for (std::uint32_t level = 1; level < expected.levels.size(); ++level) {
            const reference::Level& nodes = expected.levels[level];
            for (std::uint32_t y = 0; y < nodes.height; ++y) {
                for (std::uint32_t x = 0; x < nodes.width; ++x) {
                    const float actual =
                        levels[pyramid_index(shape.width, shape.height, level, x, y, layer)];
                    ASSERT_EQ(std::bit_cast<std::uint32_t>(actual),
                              std::bit_cast<std::uint32_t>(nodes.at(x, y)))
                        << shape.width << " x " << shape.height << ", layer " << layer << ", level "
                        << level << " (" << x << ", " << y << "): " << actual << " where "
                        << nodes.at(x, y) << " was expected";
                }
            }
        }
        const auto nan_texels = gpu.read<std::uint32_t>(workspace.state, 0, shape.layers);
        EXPECT_EQ(nan_texels[layer], expected.nan_texels);
    }
}

// The state is zero but for the NaN counts in front: ready for the next run.
void expect_state_at_rest(Gpu& gpu, const PyramidWorkspace& workspace) {
    const std::size_t words = workspace.state.size_bytes() / sizeof(std::uint32_t);
    const auto state = gpu.read<std::uint32_t>(workspace.state, 0, words);
    EXPECT_EQ(counter_not_at_rest(state, workspace.shape), "");
}

TEST_F(PyramidKernel, EqualsItsTwinInEveryVariant) {
    for (const Variant& variant : tile_variants()) {
        Gpu gpu(device_for(variant));
        const Pyramid pyramid(gpu.device());
        std::vector<MapShape> shapes{{127, 129, 3}, {1025, 1023}};
        if (variant.name == all_variants().front().name) {
            shapes.insert(shapes.end(), {{1, 1},
                                         {1, 3},
                                         {31, 33},
                                         {64, 64},
                                         {65, 64},
                                         {1000, 7},
                                         {500, 520},
                                         {3, 4000, 2}});
        }
        for (const MapShape& shape : shapes) {
            const std::vector<float> texels = with_special_values(random_map(shape), 64);
            const MapView map{texels.data(), shape};
            const std::uint64_t range_bytes = variant.limits.max_storage_buffer_range_bytes;
            const std::uint64_t floats = std::uint64_t{pyramid_pitch(shape.width)} *
                                         pyramid_rows(shape.height) * shape.layers;
            if (range_bytes != 0 && floats * sizeof(float) > BUFFER_CHUNKS * range_bytes) {
                EXPECT_THROW((void)pyramid.requirements(shape), Error);
                continue;
            }
            PyramidWorkspace workspace(gpu, pyramid, map);
            gpu.run([&](VkCommandBuffer commands) { pyramid.record(commands, workspace.binding); });
            expect_levels_equal(gpu, workspace, map);
            expect_state_at_rest(gpu, workspace);
        }
    }
}

TEST_F(PyramidKernel, NothingOutsideTheMapWinsAMaximum) {
    Gpu gpu(device_for());
    const Pyramid pyramid(gpu.device());
    for (const MapShape& shape : {MapShape{1, 1}, MapShape{65, 3}, MapShape{67, 67}}) {
        // Were the padding 0 or the like, it would win over these.
        for (const float value : {-5.0F, -std::numeric_limits<float>::infinity()}) {
            const std::vector<float> texels = constant_map(shape, value);
            const MapView map{texels.data(), shape};
            PyramidWorkspace workspace(gpu, pyramid, map);
            gpu.run([&](VkCommandBuffer commands) { pyramid.record(commands, workspace.binding); });
            expect_levels_equal(gpu, workspace, map);
        }
    }
}

TEST_F(PyramidKernel, SeveralAtOnceDoNotInterfere) {
    Gpu gpu(device_for());
    const Pyramid pyramid(gpu.device());
    std::vector<std::vector<float>> texels;
    std::vector<MapView> maps;
    std::vector<PyramidWorkspace> workspaces;
    texels.reserve(4);  // the views point into it
    for (std::uint32_t i = 0; i < 4; ++i) {
        const MapShape shape{300 + i, 200 - i};
        texels.push_back(random_map(shape, i + 1));
        maps.push_back(view_of(texels.back(), shape.width, shape.height));
        workspaces.emplace_back(gpu, pyramid, maps.back());
    }
    // No barrier in between: the dispatches may overlap.
    gpu.run([&](VkCommandBuffer commands) {
        for (const PyramidWorkspace& workspace : workspaces) {
            pyramid.record(commands, workspace.binding);
        }
    });
    for (std::size_t i = 0; i < workspaces.size(); ++i) {
        expect_levels_equal(gpu, workspaces[i], maps[i]);
    }
}

TEST_F(PyramidKernel, ShapesThatTheDeviceCannotHoldAreRefused) {
    const Pyramid pyramid(device_for());
    const DeviceInfo& info = device_for().info();
    EXPECT_THROW((void)pyramid.requirements({0, 1}), Error);
    EXPECT_THROW((void)pyramid.requirements({1, 1, info.max_layers + 1}), Error);
    if (info.max_map_extent < MAX_MAP_EXTENT) {
        EXPECT_THROW((void)pyramid.requirements({info.max_map_extent + 1, 1}), Error);
    }
}

// Strategy::fused only reads the map, as the pyramid does: no barrier lies between them.
TEST_F(PyramidKernel, FusedRunsBesideIt) {
    Gpu gpu(device_for());
    const Pyramid pyramid(gpu.device());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{300, 500, 2};
    const std::vector<float> texels = smooth_map(shape);
    const MapView map{texels.data(), shape};
    const PyramidWorkspace workspace(gpu, pyramid, map);
    const Threshold threshold = Threshold::max_resolution(16.0F);
    const std::vector<Tile> expected = reference::subdivide(map, threshold).tiles;
    const SubdivisionWorkspace list(gpu, subdivider, workspace, expected.size());
    gpu.run([&](VkCommandBuffer commands) {
        pyramid.record(commands, workspace.binding);
        subdivider.record(commands, list.binding, threshold, {Order::canonical});
    });
    expect_levels_equal(gpu, workspace, map);
    EXPECT_TRUE(list.read_tiles(gpu) == expected);
}

}  // namespace
}  // namespace quadtile::test
