// The recording layer of the subdivision: the header, the overflow protocol, and the state that it
// leaves behind.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <quadtile/kernel_parameters.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace quadtile::test {
namespace {

class SubdividerKernels : public GpuTest {};

// Counters and arguments are back at zero.
void expect_state_at_rest(Gpu& gpu, const SubdivisionWorkspace& list, Strategy strategy,
                          const MapShape& shape) {
    const bool fused = strategy == Strategy::fused;
    const std::size_t own_bytes = fused ? sizeof(FusedState) : sizeof(SubdivisionState);
    const auto words = gpu.read<std::uint32_t>(list.scratch, 0, own_bytes / sizeof(std::uint32_t));
    EXPECT_TRUE(std::ranges::all_of(words, [](std::uint32_t word) { return word == 0; }));
    if (fused) {
        const auto state = gpu.read<std::uint32_t>(
            list.scratch, own_bytes,
            (list.scratch.size_bytes() - own_bytes) / sizeof(std::uint32_t));
        EXPECT_EQ(counter_not_at_rest(state, shape, true), "");
    }
}

TEST_F(SubdividerKernels, HeaderIsReadyForIndirectUse) {
    for (const Variant& variant :
         {all_variants().front(), variant_named("7 workgroups in a dimension")}) {
        Gpu gpu(device_for(variant));
        const Pyramid pyramid(gpu.device());
        const MapShape shape{150, 90, 2};
        const std::vector<float> texels = random_map(shape);
        const MapView view{texels.data(), shape};
        const PyramidWorkspace map(gpu, pyramid, view);
        const Threshold threshold = Threshold::constant(0.9F);
        const std::uint64_t tiles = reference::subdivide(view, threshold).tiles.size();
        for (const Strategy strategy : STRATEGIES) {
            const Subdivider subdivider(gpu.device(), {.strategy = strategy});
            const SubdivisionWorkspace list(gpu, subdivider, map, tiles + 10);
            list.run(gpu, pyramid, map, subdivider, threshold);
            const TileListHeader header = list.read_header(gpu);
            EXPECT_EQ(header.written, tiles);
            EXPECT_EQ(header.required, tiles);
            EXPECT_EQ(header.flags, 0U);
            EXPECT_EQ(header.capacity, tiles + 10);
            EXPECT_GE(std::uint64_t{header.dispatch_x} * header.dispatch_y, tiles);
            EXPECT_LE(header.dispatch_x, gpu.properties().limits.maxComputeWorkGroupCount[0]);
            if (variant.limits.max_workgroup_count != 0) {
                EXPECT_EQ(header.dispatch_x, variant.limits.max_workgroup_count);
            }
            EXPECT_EQ(header.dispatch_z, 1U);
            EXPECT_EQ(header.draw_vertex_count, 4U);
            EXPECT_EQ(header.draw_instance_count, tiles);
            EXPECT_EQ(header.draw_first_vertex, 0U);
            EXPECT_EQ(header.draw_first_instance, 0U);
        }
    }
}

TEST_F(SubdividerKernels, OverflowCountsOnWithoutWritingBeyondTheBuffer) {
    constexpr std::uint32_t GUARD = 0xabababab;
    for (const Variant& variant : tile_variants()) {
        Gpu gpu(device_for(variant));
        const Pyramid pyramid(gpu.device());
        const MapShape shape{60, 60};
        const std::vector<float> texels = random_map(shape);
        const MapView view{texels.data(), shape};
        const PyramidWorkspace map(gpu, pyramid, view);
        const Threshold threshold = Threshold::constant(0.5F);
        const std::vector<Tile> expected = reference::subdivide(view, threshold).tiles;
        for (const Strategy strategy : STRATEGIES) {
            const Subdivider subdivider(gpu.device(), {.strategy = strategy});
            // Bound with less room than the buffer has: the rest is the guard. (It is of no use on
            // drivers that drop what is written behind a descriptor's range: lavapipe, NVIDIA.)
            for (const std::uint64_t capacity : {std::size_t{1}, expected.size() - 1}) {
                SubdivisionWorkspace list(gpu, subdivider, map, expected.size() + 64);
                gpu.fill(list.tile_list, GUARD);
                list.binding = subdivider.bind(shape, list.resources(map, capacity));
                list.run(gpu, pyramid, map, subdivider, threshold);
                const TileListHeader header = list.read_header(gpu);
                EXPECT_EQ(header.required, expected.size());
                EXPECT_EQ(header.written, capacity);
                EXPECT_EQ(header.flags, TILE_LIST_OVERFLOW);
                EXPECT_EQ(header.draw_instance_count, header.written);

                // The written tiles belong to the subdivision, each once.
                std::vector<Tile> tiles = list.read_tiles(gpu);
                const auto by_position = [](const Tile& tile) {
                    return std::make_pair(tile.node & 0xffff00ffU, tile.position);
                };
                std::vector<Tile> all = expected;
                std::ranges::sort(all, {}, by_position);
                std::ranges::sort(tiles, {}, by_position);
                EXPECT_TRUE(std::ranges::includes(all, tiles, {}, by_position, by_position));
                EXPECT_TRUE(std::ranges::adjacent_find(tiles) == tiles.end());

                const std::size_t end = sizeof(TileListHeader) + capacity * sizeof(Tile);
                const auto guard = gpu.read<std::uint32_t>(
                    list.tile_list, end,
                    (list.tile_list.size_bytes() - end) / sizeof(std::uint32_t));
                EXPECT_TRUE(
                    std::ranges::all_of(guard, [](std::uint32_t word) { return word == GUARD; }));
                expect_state_at_rest(gpu, list, strategy, shape);
            }
        }
    }
}

// A host-visible buffer with these words from `offset_bytes` on.
Buffer buffer_of(const Gpu& gpu, const std::vector<float>& values, VkDeviceSize offset_bytes) {
    const std::size_t size_bytes = values.size() * sizeof(values[0]);
    Buffer buffer = gpu.make_buffer(offset_bytes + size_bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                    Memory::host_visible);
    std::memcpy(buffer.mapped() + offset_bytes, values.data(), size_bytes);
    return buffer;
}

TEST_F(SubdividerKernels, ThresholdsByNodeAreReadFromTheBoundBuffer) {
    constexpr VkDeviceSize OFFSET = 1024;
    constexpr float INF = std::numeric_limits<float>::infinity();
    Gpu gpu(device_for());
    const Pyramid pyramid(gpu.device());
    const MapShape shape{99, 61, 2};
    const std::vector<float> texels = random_map(shape);
    const MapView view{texels.data(), shape};
    const PyramidWorkspace map(gpu, pyramid, view);

    // As a kernel might leave it: NaN for infinity and denormals for 0.
    const Threshold by_node = Threshold::map(random_thresholds(shape, 3));
    const std::vector<float> contents = threshold_map_contents(by_node, shape);
    std::vector<float> loose = contents;
    for (std::size_t i = 0; i < loose.size(); ++i) {
        if (loose[i] == INF) {
            loose[i] = i % 2 == 0 ? std::nanf("") : -std::nanf("");
        } else if (loose[i] == 0.0F) {
            loose[i] = i % 3 == 0 ? -0.0F : std::numeric_limits<float>::denorm_min();
        }
    }
    const Threshold by_level = Threshold::constant(0.8F);
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::subtree});
    const std::uint64_t capacity = texels.size();
    SubdivisionWorkspace list(gpu, subdivider, map, capacity);
    const auto bind = [&](const Buffer& thresholds) {
        Subdivider::Resources resources = list.resources(map, capacity);
        resources.node_thresholds = {thresholds.handle(), OFFSET};
        list.binding = subdivider.bind(shape, resources);
    };
    const auto expect_tiles_of = [&](const Threshold& recorded, const Threshold& expected) {
        list.run(gpu, pyramid, map, subdivider, recorded);
        EXPECT_TRUE(list.read_sorted(gpu) == reference::subdivide(view, expected).tiles);
        expect_state_at_rest(gpu, list, Strategy::subtree, shape);
    };
    const Buffer exact = buffer_of(gpu, contents, OFFSET);
    bind(exact);
    expect_tiles_of(by_node, by_node);
    expect_tiles_of(Threshold::bound_map(), by_node);
    expect_tiles_of(by_level, by_level);
    const Buffer as_made = buffer_of(gpu, loose, OFFSET);
    bind(as_made);
    expect_tiles_of(Threshold::bound_map(), by_node);
}

TEST_F(SubdividerKernels, ThresholdsByNodeNeedABufferAndAStrategy) {
    Gpu gpu(device_for());
    const Pyramid pyramid(gpu.device());
    const std::vector<float> texels(64, 1.0F);
    const PyramidWorkspace map(gpu, pyramid, view_of(texels, 8, 8));
    for (const Strategy strategy : STRATEGIES) {
        const Subdivider subdivider(gpu.device(), {.strategy = strategy});
        const SubdivisionWorkspace list(gpu, subdivider, map, 64);
        for (const Threshold& threshold :
             {Threshold::map(NodeThresholds(8, 8)), Threshold::bound_map()}) {
            gpu.run([&](VkCommandBuffer commands) {
                EXPECT_THAT([&] { subdivider.record(commands, list.binding, threshold); },
                            is_refused());
            });
            const auto check = [&] { subdivider.check_threshold({8, 8}, threshold); };
            if (strategy == Strategy::fused && !threshold.is_monotone(3)) {
                EXPECT_THAT(check, is_refused());
            } else {
                EXPECT_NO_THROW(check());
            }
        }
        EXPECT_THAT(
            [&] {
                subdivider.check_threshold({8, 8}, Threshold::map(NodeThresholds(8, 7)));
            },
            is_refused());
    }
    // Bound with more than a descriptor reaches.
    const Device& short_reach = device_for(variant_named("short chunks"));
    const Subdivider subdivider(short_reach, {.strategy = Strategy::subtree});
    Subdivider::Resources resources;
    resources.tile_capacity = 1;
    resources.node_thresholds = map.levels.range();  // refused before it is looked at
    EXPECT_THAT(
        [&] {
            (void)subdivider.bind({256, 256}, resources);
        },
        fails(ErrorCode::unsupported));
}

TEST_F(SubdividerKernels, BadInputIsRefused) {
    const auto making = [](const SubdividerOptions& options) {
        return [=] { const Subdivider subdivider(device_for(), options); };
    };
    EXPECT_THAT(making({.subtree_levels = 0}), is_refused());
    EXPECT_THAT(making({.subtree_levels = 9}), is_refused());
    EXPECT_THAT(making({.strategy = Strategy::reference}), is_refused());

    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device());
    const auto asking = [&](const MapShape& shape, std::uint64_t tile_capacity) {
        return [&, shape, tile_capacity] { (void)subdivider.requirements(shape, tile_capacity); };
    };
    EXPECT_THAT(asking({16, 16}, 0), is_refused());
    EXPECT_THAT(asking({16, 16}, std::uint64_t{1} << 33U), fails(ErrorCode::unsupported));
    EXPECT_THAT(asking({0, 16}, 1), is_refused());

    const Pyramid pyramid(gpu.device());
    const std::vector<float> texels(64, 1.0F);
    const PyramidWorkspace map(gpu, pyramid, view_of(texels, 8, 8));
    const SubdivisionWorkspace list(gpu, subdivider, map, 64);
    gpu.run([&](VkCommandBuffer commands) {
        EXPECT_THROW(subdivider.record(commands, list.binding, Threshold::per_level({1.0F})),
                     Error);
    });
}

}  // namespace
}  // namespace quadtile::test
