// Tile lists that are brought up to date after a part of the map has changed.

#include "gpu_test.hpp"
#include "listed_map.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <span>

namespace quadtile::test {
namespace {

// Tests of all variants make what they need themselves.
class UpdatesOfVariants : public GpuTest {};

class Updates : public GpuTest {
 protected:
    Gpu gpu{device_for()};
    const Subdivider subdivider{gpu.device(), {.strategy = Strategy::fused}};
    const Threshold threshold = Threshold::constant(1.0F);
};

// From a texel to a good part of a layer.
DirtyRectangle changed_rectangle(std::mt19937& random, const MapShape& shape) {
    return random_rectangle(shape, random() % 2 == 0 ? 3 : 200, [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    });
}

// Low texels, a few above 1, and NaN now and then.
std::function<float()> random_importance(std::mt19937& random) {
    const std::uint32_t kind = random() % 4;
    return [&random, kind] {
        const float low = static_cast<float>(random() % 1000) / 1000.0F;
        if (kind == 0 && random() % 100 == 0) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        return kind < 3 && random() % 50 == 0 ? low + 1.0F : low;
    };
}

// Shapes: one block; few; two hand-overs with groups at odd edges, in both directions.
const MapShape SHAPES[] = {{1, 1, 1}, {63, 40, 3}, {300, 200, 3}, {4200, 70, 1}, {90, 8500, 2}};

TEST_F(UpdatesOfVariants, TheListIsThatOfTheChangedMap) {
    for (const Variant& variant : tile_variants()) {
        Gpu gpu(device_for(variant));
        const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
        const bool is_whole = variant.name == all_variants().front().name;
        for (const MapShape& shape : std::span(SHAPES).first(is_whole ? 5 : 2)) {
            const std::uint64_t capacity =
                std::min<std::uint64_t>(std::uint64_t{shape.width} * shape.height * shape.layers,
                                        gpu.device().info().max_tiles);
            const Threshold threshold = Threshold::constant(1.0F);
            ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), capacity);
            map.record(threshold);
            std::mt19937 random(shape.width);
            for (int round = 0; round < 4; ++round) {
                std::vector<DirtyRectangle> rectangles;
                for (std::uint32_t i = random() % 4 + 1; i > 0; --i) {
                    rectangles.push_back(changed_rectangle(random, shape));
                    map.change(rectangles.back(), random_importance(random));
                }
                SCOPED_TRACE(variant.name + ", " + text_of(shape));
                map.upload();
                map.update(threshold, rectangles);
                map.expect_up_to_date(threshold);
            }
        }
    }
}

// Everything above the blocks changes: a map without a tile but the root gets a peak and loses it.
TEST_F(Updates, OnePeakComesAndGoes) {
    const MapShape shape{4200, 200, 2};
    ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10000);
    map.record(threshold);
    EXPECT_EQ(map.header().written, 2U);
    const DirtyRectangle texel{4100, 199, 1, 1, 1};
    for (const float importance : {2.0F, 0.25F, 3.0F, 0.5F}) {
        map.change(texel, [importance] { return importance; });
        map.upload();
        map.update(threshold, {{texel}});
        map.expect_up_to_date(threshold);
    }
}

// Only what the rectangles touch is read again.
TEST_F(Updates, BlocksOutsideAreNotCounted) {
    const MapShape shape{200, 200, 1};
    ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10000);
    map.record(threshold);
    const std::vector<float> before = map.texels;
    map.change({0, 0, 1, 1, 0}, [] { return 2.0F; });
    map.change({199, 199, 1, 1, 0}, [] { return 2.0F; });
    map.upload();
    map.update(threshold, {{DirtyRectangle{0, 0, 64, 64, 0}}});
    map.texels = before;
    map.change({0, 0, 1, 1, 0}, [] { return 2.0F; });
    map.expect_up_to_date(threshold);
}

TEST_F(Updates, LayersKeepTheirThresholdsAndParts) {
    const MapShape shape{130, 70, 3};
    const std::vector<Threshold> thresholds{
        Threshold::constant(1.0F), Threshold::max_resolution(8.0F), Threshold::constant(0.25F)};
    ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 40000, thresholds);
    gpu.run([&](VkCommandBuffer commands) {
        subdivider.record(commands, map.binding, {Order::canonical});
    });
    std::mt19937 random(7);
    for (int round = 0; round < 5; ++round) {
        const DirtyRectangle rectangle = changed_rectangle(random, shape);
        map.change(rectangle, random_importance(random));
        map.upload();
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record_update(commands, map.binding, {{rectangle}});
        });
        const auto headers = gpu.read<TileListHeader>(map.headers, 0, shape.layers);
        const TileList expected = reference::subdivide(map.view(), thresholds);
        std::uint32_t place = 0;
        for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
            EXPECT_EQ(headers[layer].first_tile, place);
            EXPECT_TRUE(std::ranges::equal(map.tiles(place, headers[layer].written),
                                           expected.tiles_of_layer(layer)));
            place += headers[layer].written;
        }
        EXPECT_EQ(map.header().required, place);
    }
}

TEST_F(Updates, AFullListIsGrownAndUpdatedAgain) {
    const MapShape shape{200, 100, 1};
    ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10);
    map.record(threshold);
    const DirtyRectangle rectangle{150, 50, 30, 30, 0};
    map.change(rectangle, [] { return 2.0F; });
    map.upload();
    map.update(threshold, {{rectangle}});
    const std::vector<Tile> expected = reference::subdivide(map.view(), threshold).tiles;
    const TileListHeader full = map.header();
    EXPECT_EQ(full.flags, TILE_LIST_OVERFLOW);
    EXPECT_EQ(full.written, 10U);
    EXPECT_EQ(full.required, expected.size());

    const Buffer longer = gpu.make_buffer(
        subdivider.requirements(shape, full.required).tile_list_size_bytes, map.needed.usage);
    const Subdivider::Binding binding = subdivider.bind(shape, {.map = map.map.map_image(),
                                                                .scratch = map.scratch.range(),
                                                                .tile_list = longer.range(),
                                                                .tile_capacity = full.required});
    gpu.run([&](VkCommandBuffer commands) {
        subdivider.record_update(commands, binding, threshold, {{rectangle}});
    });
    EXPECT_TRUE(gpu.read<Tile>(longer, sizeof(TileListHeader), full.required) == expected);
}

TEST_F(Updates, WithoutCanonicalOrderBeforeTheListIsEmptyAndSaysSo) {
    const MapShape shape{200, 100, 3};
    ListedMap map(gpu, subdivider, shape, peaks_map(shape), 60000);
    const std::vector<DirtyRectangle> rectangles{{0, 0, 1, 1, 0}, {150, 70, 1, 1, 2}};
    const auto expect_refusal = [&] {
        map.update(threshold, rectangles);
        const TileListHeader header = map.header();
        EXPECT_EQ(header.flags, TILE_LIST_NOT_COUNTED);
        EXPECT_EQ(header.written, 0U);
        EXPECT_EQ(header.required, 0U);
        EXPECT_EQ(header.draw_instance_count, 0U);
    };
    expect_refusal();  // zeros
    map.record(threshold, {Order::any});
    expect_refusal();
    map.record(threshold, {.max_tiles = 100});
    expect_refusal();
    map.record(threshold);
    map.update(threshold, rectangles);
    map.expect_up_to_date(threshold);
    map.record(threshold, {Order::any});
    expect_refusal();
    map.record(threshold);
    map.expect_up_to_date(threshold);
}

// The last pass of a budget finds tiles by the nodes that the first pass has kept. It must not take
// nodes of an earlier run that lie below a node that is no longer split.
TEST_F(Updates, BudgetsTakeNoNodesOfEarlierRuns) {
    const MapShape shape{4096, 64, 1};  // nodes of the levels 6 and 9 are handed over
    ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10000);
    map.change({100, 5, 1, 1, 0}, [] { return 2.0F; });
    for (const float importance : {2.0F, 0.5F}) {
        map.change({3000, 5, 1, 1, 0}, [importance] { return importance; });
        map.upload();
        map.record(threshold, {Order::any, 1000});
        const TileList expected = reference::subdivide(map.view(), threshold);
        std::vector<Tile> found = map.tiles(0, map.header().written);
        sort_canonical(found);
        EXPECT_TRUE(found == expected.tiles);
        EXPECT_EQ(map.header().required, expected.tiles.size());
    }
}

TEST_F(Updates, WhatCannotBeDoneIsRefused) {
    const MapShape shape{100, 60, 1};
    ListedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 100);
    const Subdivider subtree(gpu.device(), {.strategy = Strategy::subtree});
    gpu.run([&](VkCommandBuffer commands) {
        const auto updating = [&](const Subdivider& used,
                                  const std::vector<DirtyRectangle>& rectangles) {
            return [&, rectangles] {
                used.record_update(commands, map.binding, threshold, rectangles);
            };
        };
        EXPECT_THAT(updating(subdivider, {{0, 0, 0, 1, 0}}), is_refused("empty"));
        EXPECT_THAT(updating(subdivider, {{99, 0, 2, 1, 0}}), is_refused("not inside"));
        EXPECT_THAT(updating(subdivider, {{0, 0, 1, 1, 1}}), is_refused("not inside"));
        EXPECT_NO_THROW(updating(subdivider, {})());
        EXPECT_THAT(updating(subtree, {{0, 0, 1, 1, 0}}), is_refused("only the strategy fused"));
        EXPECT_THAT(
            [&] {
                subdivider.record_update(commands, map.binding, {{DirtyRectangle{0, 0, 1, 1, 0}}});
            },
            is_refused("a threshold is missing"));
    });
}

}  // namespace
}  // namespace quadtile::test
