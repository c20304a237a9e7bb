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
    for (const Variant& variant : all_variants()) {
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
