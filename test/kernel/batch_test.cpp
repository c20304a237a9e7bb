// Batches: many maps of one shape in one run, each with its own threshold and its own part of the
// list.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>
#include <quadtile/budget.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace quadtile::test {
namespace {

class Batches : public GpuTest {};

constexpr std::uint32_t LAYERS = 7;

// Layers of mixed content: random, smooth, nothing to split, all split, one peak, special values,
// random.
struct Batch {
    MapShape shape;
    std::vector<float> texels;
    std::vector<Threshold> thresholds;

    explicit Batch(std::uint32_t width, std::uint32_t height) : shape{width, height, LAYERS} {
        const MapShape one{width, height};
        const MapAndThreshold all = all_split(one);
        const MapAndThreshold none = none_split(one);
        add(random_map(one, 1), Threshold::constant(0.97F));
        add(smooth_map(one), Threshold::max_resolution(16.0F));
        add(none.texels, none.threshold);
        add(all.texels, all.threshold);
        add(corner_peak_map(one, Corner::bottom_right), Threshold::constant(1.0F));
        add(with_special_values(random_map(one, 2), 32), Threshold::constant(0.9F));
        add(random_map(one, 3), Threshold::constant(0.5F));
    }

    [[nodiscard]] MapView layer(std::uint32_t index) const {
        const std::size_t texels_per_layer = std::size_t{shape.width} * shape.height;
        return {texels.data() + index * texels_per_layer, {shape.width, shape.height}};
    }

    // A layer's tiles as the batch has them, under the threshold of a factor.
    [[nodiscard]] std::vector<Tile> expected(std::uint32_t index, float factor = 1.0F) const {
        std::vector<Tile> tiles =
            reference::subdivide(layer(index), thresholds[index].scaled(factor)).tiles;
        for (Tile& tile : tiles) {
            tile.node |= index << 16U;
        }
        return tiles;
    }

 private:
    void add(const std::vector<float>& layer_texels, const Threshold& threshold) {
        texels.insert(texels.end(), layer_texels.begin(), layer_texels.end());
        thresholds.push_back(threshold);
    }
};

// A batch on the GPU, bound with thresholds and headers for each layer.
struct BatchWorkspace {
    BatchWorkspace(Gpu& gpu, const Subdivider& subdivider, const Batch& batch,
                   std::uint64_t tile_capacity)
        : needed(subdivider.requirements(batch.shape, tile_capacity)),
          map(gpu.upload({batch.texels.data(), batch.shape})),
          scratch(gpu.make_buffer(needed.scratch_size_bytes, needed.usage)),
          tile_list(gpu.make_buffer(needed.tile_list_size_bytes, needed.usage)),
          thresholds(gpu.make_buffer(needed.layer_thresholds_size_bytes, needed.usage,
                                     Memory::host_visible)),
          headers(gpu.make_buffer(needed.layer_headers_size_bytes, needed.usage)),
          binding(subdivider.bind(batch.shape, {.map = map.map_image(),
                                                .scratch = scratch.range(),
                                                .tile_list = tile_list.range(),
                                                .tile_capacity = tile_capacity,
                                                .layer_thresholds = thresholds.range(),
                                                .layer_headers = headers.range()})) {
        gpu.fill(scratch, 0);
        const std::vector<float> words =
            Subdivider::layer_thresholds(batch.shape, batch.thresholds);
        EXPECT_EQ(words.size() * sizeof(float), needed.layer_thresholds_size_bytes);
        std::memcpy(thresholds.mapped(), words.data(), words.size() * sizeof(float));
    }

    Subdivider::Requirements needed;
    Image map;
    Buffer scratch;
    Buffer tile_list;
    Buffer thresholds;
    Buffer headers;
    Subdivider::Binding binding;
};

// A layer's part of the list, as its header says.
std::vector<Tile> part_of(Gpu& gpu, const BatchWorkspace& space, const TileListHeader& header) {
    return gpu.read<Tile>(space.tile_list,
                          sizeof(TileListHeader) + VkDeviceSize{header.first_tile} * sizeof(Tile),
                          header.written);
}

TEST_F(Batches, EveryLayerHasItsOwnThresholdAndPartOfTheList) {
    for (const Variant& variant : tile_variants()) {
        Gpu gpu(device_for(variant));
        const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
        for (const Batch& batch : {Batch(1, 1), Batch(63, 40), Batch(65, 130)}) {
            const std::uint64_t largest_part =
                std::uint64_t{batch.shape.width} * batch.shape.height;
            if (LAYERS * largest_part > gpu.device().info().max_tiles) {
                continue;  // a variant with short chunks
            }
            const BatchWorkspace space(gpu, subdivider, batch, LAYERS * largest_part);
            // Orders by turns, on one scratch.
            for (const Order order : {Order::any, Order::canonical, Order::any, Order::canonical}) {
                gpu.run([&](VkCommandBuffer commands) {
                    subdivider.record(commands, space.binding, order);
                });
                const auto headers = gpu.read<TileListHeader>(space.headers, 0, LAYERS);
                std::uint32_t tiles_before = 0;
                for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
                    const TileListHeader& header = headers[layer];
                    const std::vector<Tile> expected = batch.expected(layer);
                    EXPECT_EQ(header.required, expected.size());
                    EXPECT_EQ(header.draw_instance_count, expected.size());
                    EXPECT_EQ(header.flags, 0U);
                    EXPECT_EQ(header.first_tile,
                              order == Order::any ? layer * largest_part : tiles_before);
                    tiles_before += header.written;
                    std::vector<Tile> tiles = part_of(gpu, space, header);
                    if (order == Order::any) {
                        sort_canonical(tiles);
                    }
                    EXPECT_TRUE(tiles == expected)
                        << "layer " << layer << ", " << variant.name << ", " << batch.shape.width;
                }
                const auto whole = gpu.read<TileListHeader>(space.tile_list, 0, 1).front();
                EXPECT_EQ(whole.required, tiles_before);
                EXPECT_EQ(whole.written, tiles_before);
                EXPECT_EQ(whole.draw_instance_count, order == Order::any ? 0 : tiles_before);
            }
        }
    }
}

TEST_F(Batches, PartsOverflowByThemselves) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const Batch batch(70, 50);
    const std::uint64_t part = 100;
    const BatchWorkspace space(gpu, subdivider, batch, LAYERS * part);
    for (const Order order : {Order::any, Order::canonical}) {
        gpu.run(
            [&](VkCommandBuffer commands) { subdivider.record(commands, space.binding, order); });
        const auto headers = gpu.read<TileListHeader>(space.headers, 0, LAYERS);
        std::uint64_t required = 0;
        std::uint64_t written = 0;
        for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
            const std::vector<Tile> expected = batch.expected(layer);
            const std::uint64_t room =
                order == Order::any ? part : LAYERS * part - std::min(required, LAYERS * part);
            EXPECT_EQ(headers[layer].required, expected.size());
            EXPECT_EQ(headers[layer].written, std::min<std::uint64_t>(room, expected.size()));
            EXPECT_EQ(headers[layer].flags, expected.size() > room ? TILE_LIST_OVERFLOW : 0U);
            required += expected.size();
            written += headers[layer].written;
            for (const Tile& tile : part_of(gpu, space, headers[layer])) {
                EXPECT_NE(std::ranges::find(expected, tile), expected.end());
            }
        }
        const auto whole = gpu.read<TileListHeader>(space.tile_list, 0, 1).front();
        EXPECT_EQ(whole.required, required);
        EXPECT_EQ(whole.written, written);
        EXPECT_EQ(whole.flags, TILE_LIST_OVERFLOW);
    }
}

// One factor for all layers: the smallest that keeps the budget.
TEST_F(Batches, BudgetsHoldForAllLayersTogether) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    Batch batch(65, 100);
    for (float& texel : batch.texels) {  // what is infinite is split under every factor
        texel = std::isfinite(texel) ? texel : 1.0F;
    }
    for (Threshold& threshold : batch.thresholds) {
        threshold = Threshold::constant(
            0.1F + 0.05F * static_cast<float>(&threshold - &batch.thresholds[0]));
    }
    const auto tiles_under = [&](std::uint32_t factor) {
        std::uint64_t tiles = 0;
        for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
            tiles += batch.expected(layer, budget_factor(factor)).size();
        }
        return tiles;
    };
    const BatchWorkspace space(gpu, subdivider, batch, LAYERS * 6500);
    for (const std::uint64_t budget :
         {std::uint64_t{2000}, std::uint64_t{10000}, std::uint64_t{100000}}) {
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record(commands, space.binding, Order::canonical, budget);
        });
        const auto whole = gpu.read<TileListHeader>(space.tile_list, 0, 1).front();
        EXPECT_LE(whole.required, budget);
        EXPECT_EQ(whole.flags, 0U);
        std::uint32_t factor = 0;
        while (budget_factor(factor) < whole.threshold_factor) {
            ++factor;
        }
        EXPECT_EQ(whole.required, tiles_under(factor));
        if (factor > 0) {
            EXPECT_GT(tiles_under(factor - 1), budget);
        }
        const auto headers = gpu.read<TileListHeader>(space.headers, 0, LAYERS);
        for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
            EXPECT_TRUE(part_of(gpu, space, headers[layer]) ==
                        batch.expected(layer, whole.threshold_factor));
        }
    }
}

std::string text_of(Strategy strategy, const Variant& variant, const MapShape& shape) {
    return "strategy " + std::to_string(static_cast<int>(strategy)) + ", " + variant.name + ", " +
           std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

void expect_batch_equal_to_the_reference(const Variant& variant, Strategy strategy,
                                         const Batch& batch) {
    Tiler& tiler = tiler_for(variant, strategy);
    const MapView map{batch.texels.data(), batch.shape};
    const TileList expected = reference::subdivide(map, batch.thresholds);
    if (expected.tiles.size() > device_for(variant).info().max_tiles) {
        return;  // a variant with short chunks
    }
    const std::string what = text_of(strategy, variant, batch.shape);
    const TileList list = tiler.subdivide(map, batch.thresholds);
    EXPECT_EQ(difference(list, expected), "") << what;
    EXPECT_EQ(list.strategy, strategy == Strategy::automatic ? Strategy::fused : strategy);
    EXPECT_EQ(list.strategy_reason.empty(), strategy != Strategy::automatic);
    EXPECT_EQ(list.order, Order::canonical);
    for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
        EXPECT_TRUE(std::ranges::equal(list.tiles_of_layer(layer), batch.expected(layer)))
            << "layer " << layer << ", " << what;
    }
    TileList mixed = tiler.subdivide(map, batch.thresholds, Order::any);
    EXPECT_EQ(mixed.order, Order::any);
    sort_canonical(mixed.tiles);
    EXPECT_EQ(difference(mixed, expected), "") << what << ", any order";
}

TEST_F(Batches, InOneCallEqualTheReference) {
    for (const Batch& batch : {Batch(1, 1), Batch(63, 40), Batch(65, 130)}) {
        for (const Variant& variant : tile_variants()) {
            expect_batch_equal_to_the_reference(variant, Strategy::fused, batch);
        }
        for (const Strategy strategy :
             {Strategy::automatic, Strategy::per_level, Strategy::subtree}) {
            expect_batch_equal_to_the_reference(all_variants().front(), strategy, batch);
        }
    }
}

// What fused cannot take as thresholds of layers goes through thresholds by node.
TEST_F(Batches, InOneCallTakeThresholdsOfAllKinds) {
    const MapShape one{70, 50};
    const MapShape shape{one.width, one.height, 3};
    const std::vector<float> texels = with_special_values(random_map(shape), 8);
    const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
    const std::vector<float> fragments = random_fragments(one);
    const Threshold level = Threshold::max_resolution(4.0F);
    const Threshold growing =
        Threshold::per_level({0.9F, 0.8F, 0.9F, 0.97F, 0.9F, 0.7F, 0.6F, 0.5F});
    const Threshold node =
        Threshold::memory(4.0F, 30.0F, view_of(fragments, one.width, one.height));
    for (const auto& [thresholds, monotone] :
         {std::pair{std::vector{level, growing, level}, false},
          std::pair{std::vector{level, node, Threshold::constant(0.9F)}, true},
          std::pair{std::vector{node, growing, Threshold::map(random_thresholds(one))}, false}}) {
        const TileList expected = reference::subdivide(map, thresholds);
        for (const Strategy strategy :
             {Strategy::automatic, Strategy::fused, Strategy::per_level, Strategy::subtree}) {
            Tiler& tiler = tiler_for(all_variants().front(), strategy);
            if (strategy == Strategy::fused && !monotone) {
                EXPECT_THROW((void)tiler.subdivide(map, thresholds), Error);
                continue;
            }
            EXPECT_EQ(difference(tiler.subdivide(map, thresholds), expected), "")
                << text_of(strategy, all_variants().front(), shape);
        }
    }
}

TEST_F(Batches, InOneCallKeepBudgetsForAllLayersTogether) {
    Batch batch(65, 100);
    for (float& texel : batch.texels) {  // what is infinite is split under every factor
        texel = std::isfinite(texel) ? texel : 1.0F;
    }
    for (Threshold& threshold : batch.thresholds) {
        threshold = Threshold::constant(
            0.1F + 0.05F * static_cast<float>(&threshold - &batch.thresholds[0]));
    }
    const MapView map{batch.texels.data(), batch.shape};
    Tiler tiler(device_for(), {.initial_tile_capacity = 1});  // each list outgrows it
    for (const std::uint64_t budget :
         {std::uint64_t{500}, std::uint64_t{2000}, std::uint64_t{10000}, std::uint64_t{100000}}) {
        const TileList expected =
            reference::subdivide(map, batch.thresholds, {.max_tiles = budget});
        EXPECT_LE(expected.tiles.size(), budget);
        for (const Order order : {Order::canonical, Order::any}) {
            TileList list = tiler.subdivide(map, batch.thresholds, order, budget);
            sort_canonical(list.tiles);
            EXPECT_EQ(difference(list, expected), "") << "budget " << budget;
            EXPECT_EQ(list.threshold_factor, expected.threshold_factor);
            EXPECT_EQ(list.strategy, Strategy::fused);
        }
    }
    // A threshold by node among them.
    NodeThresholds nodes(65, 100);
    nodes.at(0, 3, 4) = 2.0F;
    batch.thresholds[2] = Threshold::map(nodes);
    const TileList expected = reference::subdivide(map, batch.thresholds, {.max_tiles = 10000});
    EXPECT_GT(expected.threshold_factor, 1.0F);
    const TileList list =
        tiler.subdivide(map, batch.thresholds, Order::canonical, std::uint64_t{10000});
    EXPECT_EQ(difference(list, expected), "");
    EXPECT_EQ(list.threshold_factor, expected.threshold_factor);
}

// Their buffers and bindings are kept side by side.
TEST_F(Batches, OneTilerServesThresholdsOfAllLayersOfEachAndOfNodesInTurn) {
    const Batch batch(63, 40);
    const MapView map{batch.texels.data(), batch.shape};
    const Threshold all = Threshold::constant(0.9F);
    const std::vector<float> fragments = random_fragments(batch.shape);
    const Threshold nodes = Threshold::memory(
        16.0F, 60.0F, view_of(fragments, batch.shape.width, batch.shape.height, LAYERS));
    std::vector<Threshold> reversed = batch.thresholds;
    std::ranges::reverse(reversed);
    Tiler tiler(device_for(), {.strategy = Strategy::fused});
    for (int repeat = 0; repeat < 2; ++repeat) {
        EXPECT_EQ(difference(tiler.subdivide(map, all), reference::subdivide(map, all)), "");
        EXPECT_EQ(difference(tiler.subdivide(map, batch.thresholds),
                             reference::subdivide(map, batch.thresholds)),
                  "");
        EXPECT_EQ(difference(tiler.subdivide(map, nodes), reference::subdivide(map, nodes)), "");
        EXPECT_EQ(difference(tiler.subdivide(map, reversed), reference::subdivide(map, reversed)),
                  "");
    }
}

TEST_F(Batches, InOneCallRefuseWhatDoesNotFit) {
    const MapShape shape{8, 8, 2};
    const std::vector<float> texels = constant_map(shape, 1.0F);
    const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
    const Threshold one = Threshold::constant(1.0F);
    const Threshold growing = Threshold::per_level({1, 2, 3, 4});
    const auto message_of = [&](Strategy strategy, const std::vector<Threshold>& thresholds,
                                std::optional<std::uint64_t> budget = std::nullopt) {
        try {
            (void)tiler_for(all_variants().front(), strategy)
                .subdivide(map, thresholds, Order::canonical, budget);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    for (const Strategy strategy :
         {Strategy::automatic, Strategy::fused, Strategy::per_level, Strategy::subtree}) {
        EXPECT_THAT(message_of(strategy, {}), testing::HasSubstr("2 layers, but 0 thresholds"));
        EXPECT_THAT(message_of(strategy, {one}), testing::HasSubstr("2 layers, but 1 thresholds"));
        EXPECT_THAT(message_of(strategy, {one, one, one}),
                    testing::HasSubstr("2 layers, but 3 thresholds"));
        EXPECT_THAT(message_of(strategy, {one, Threshold::per_level({1.0F})}),
                    testing::HasSubstr("layer 1 does not fit"));
        EXPECT_THAT(message_of(strategy, {Threshold::bound_map(), one}),
                    testing::HasSubstr("layer 0 does not fit"));
    }
    EXPECT_THAT(message_of(Strategy::fused, {one, growing}),
                testing::AllOf(testing::HasSubstr("do not grow"), testing::HasSubstr("layer 1")));
    EXPECT_THAT(message_of(Strategy::automatic, {one, growing}, 100),
                testing::AllOf(testing::HasSubstr("do not grow"), testing::HasSubstr("layer 1")));
    EXPECT_THAT(message_of(Strategy::subtree, {one, one}, 100),
                testing::HasSubstr("needs the strategy automatic, fused or reference"));
    EXPECT_THROW((void)tiler_for(all_variants().front(), Strategy::fused)
                     .subdivide({nullptr, shape}, std::array{one, one}),
                 Error);
    EXPECT_THAT(message_of(Strategy::automatic, {one, one}, 1),
                testing::HasSubstr("max_tiles is 1, but this map has at least 2 tiles"));
}

// The places of layers are summed up 256 at a time.
TEST_F(Batches, MoreLayersThanAWorkgroupHasThreads) {
    for (const Variant& variant :
         {all_variants().front(), variant_named("without subgroup operations")}) {
        const MapShape shape{5, 3, 600};
        const std::vector<float> texels = random_map(shape);
        const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
        Tiler tiler(device_for(variant), {.strategy = Strategy::fused});
        for (const float threshold : {0.9F, 2.0F}) {
            EXPECT_EQ(difference(tiler.subdivide(map, Threshold::constant(threshold)),
                                 reference::subdivide(map, Threshold::constant(threshold))),
                      "");
        }
    }
}

TEST_F(Batches, BadInputIsRefused) {
    Gpu gpu(device_for());
    const auto message_of = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    const MapShape shape{8, 8, 2};
    const Threshold one = Threshold::constant(1.0F);
    const Threshold growing = Threshold::per_level({1, 2, 3, 4});
    EXPECT_THAT(message_of([&] { (void)Subdivider::layer_thresholds(shape, std::array{one}); }),
                testing::HasSubstr("2 layers, but 1 thresholds"));
    EXPECT_THAT(message_of([&] {
                    (void)Subdivider::layer_thresholds(shape, std::array{one, growing});
                }),
                testing::HasSubstr("do not grow"));
    const Subdivider fused(gpu.device(), {.strategy = Strategy::fused});
    const Subdivider subtree(gpu.device(), {.strategy = Strategy::subtree});
    const Batch batch(8, 8);
    const BatchWorkspace space(gpu, fused, batch, 1000);
    EXPECT_THAT(message_of([&] {
                    (void)subtree.bind(batch.shape, {.map = space.map.map_image(),
                                                     .scratch = space.scratch.range(),
                                                     .tile_list = space.tile_list.range(),
                                                     .tile_capacity = 10,
                                                     .layer_headers = space.headers.range()});
                }),
                testing::HasSubstr("only the strategy fused"));
    const auto without = fused.bind(batch.shape, {.map = space.map.map_image(),
                                                  .scratch = space.scratch.range(),
                                                  .tile_list = space.tile_list.range(),
                                                  .tile_capacity = 10});
    gpu.run([&](VkCommandBuffer commands) {
        EXPECT_THAT(message_of([&] { fused.record(commands, without); }),
                    testing::HasSubstr("a threshold is missing"));
    });
}

}  // namespace
}  // namespace quadtile::test
