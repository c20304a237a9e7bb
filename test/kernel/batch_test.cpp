// Batches: many maps of one shape in one run, each with its own threshold and its own part of the
// list.

#include "gpu_test.hpp"
#include "listed_map.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

    // A layer's tiles as the batch has them.
    [[nodiscard]] std::vector<Tile> expected(std::uint32_t index) const {
        std::vector<Tile> tiles = reference::subdivide(layer(index), thresholds[index]).tiles;
        for (Tile& tile : tiles) {
            tile.node |= index << 16U;
        }
        return tiles;
    }

    [[nodiscard]] MapView view() const { return {texels.data(), shape}; }

 private:
    void add(const std::vector<float>& layer_texels, const Threshold& threshold) {
        texels.insert(texels.end(), layer_texels.begin(), layer_texels.end());
        thresholds.push_back(threshold);
    }
};

// A batch on the GPU, bound with thresholds and headers for each layer.
ListedMap listed(Gpu& gpu, const Subdivider& subdivider, const Batch& batch,
                 std::uint64_t tile_capacity) {
    return {gpu, subdivider, batch.shape, batch.texels, tile_capacity, batch.thresholds};
}

// Parts that are long enough and too short ones; orders by turns, on one scratch.
TEST_F(Batches, EveryLayerHasItsOwnThresholdAndPartOfTheList) {
    for (const Variant& variant : tile_variants()) {
        Gpu gpu(device_for(variant));
        const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
        for (const auto& [batch, part] :
             {std::pair{Batch(1, 1), 1U}, {Batch(43, 50), 43U * 50U}, {Batch(65, 130), 300U}}) {
            SCOPED_TRACE(variant.name + ", " + text_of(batch.shape));
            ListedMap space = listed(gpu, subdivider, batch, LAYERS * part);
            for (const Order order : {Order::any, Order::canonical, Order::any, Order::canonical}) {
                gpu.run([&](VkCommandBuffer commands) {
                    subdivider.record(commands, space.binding, {order});
                });
                const auto headers = gpu.read<TileListHeader>(space.headers, 0, LAYERS);
                std::uint64_t required = 0;
                std::uint64_t written = 0;
                for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
                    const TileListHeader& header = headers[layer];
                    const std::vector<Tile> expected = batch.expected(layer);
                    const std::uint64_t before = std::min<std::uint64_t>(required, LAYERS * part);
                    const std::uint64_t room = order == Order::any ? part : LAYERS * part - before;
                    EXPECT_EQ(header.required, expected.size());
                    EXPECT_EQ(header.written, std::min<std::uint64_t>(room, expected.size()));
                    EXPECT_EQ(header.draw_instance_count, header.written);
                    EXPECT_EQ(header.flags, expected.size() > room ? TILE_LIST_OVERFLOW : 0U);
                    EXPECT_EQ(header.first_tile, order == Order::any ? layer * part : required);
                    required += header.required;
                    written += header.written;
                    std::vector<Tile> tiles = space.tiles(header.first_tile, header.written);
                    if (expected.size() <= room) {
                        sort_canonical(tiles);
                        EXPECT_TRUE(tiles == expected) << "layer " << layer;
                    } else {
                        for (const Tile& tile : tiles) {
                            EXPECT_NE(std::ranges::find(expected, tile), expected.end());
                        }
                    }
                }
                const auto whole = space.header();
                EXPECT_EQ(whole.required, required);
                EXPECT_EQ(whole.written, written);
                EXPECT_EQ(whole.flags, required > written ? TILE_LIST_OVERFLOW : 0U);
                EXPECT_EQ(whole.draw_instance_count, order == Order::any ? 0 : written);
            }
        }
    }
}

// One factor for all layers, recorded and by a Tiler whose list each budget outgrows.
TEST_F(Batches, KeepBudgetsForAllLayersTogether) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    Batch batch(65, 100);
    for (float& texel : batch.texels) {  // what is infinite is split under every factor
        texel = std::isfinite(texel) ? texel : 1.0F;
    }
    for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
        batch.thresholds[layer] = Threshold::constant(0.1F + 0.05F * static_cast<float>(layer));
    }
    ListedMap space = listed(gpu, subdivider, batch, LAYERS * 6500);
    Tiler tiler(device_for(), {.initial_tile_capacity = 1});
    for (const std::uint64_t budget : {500, 10000, 100000}) {
        const TileList expected =
            reference::subdivide(batch.view(), batch.thresholds, {.max_tiles = budget});
        expect_reference(tiler, batch.view(), batch.thresholds, expected, budget);
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record(commands, space.binding, {.max_tiles = budget});
        });
        const auto whole = space.header();
        EXPECT_EQ(whole.threshold_factor, expected.threshold_factor);
        EXPECT_EQ(whole.required, expected.tiles.size());
        const auto headers = gpu.read<TileListHeader>(space.headers, 0, LAYERS);
        for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
            EXPECT_TRUE(
                std::ranges::equal(space.tiles(headers[layer].first_tile, headers[layer].written),
                                   expected.tiles_of_layer(layer)));
        }
    }
    // A threshold by node among them.
    NodeThresholds nodes(65, 100);
    nodes.at(0, 3, 4) = 2.0F;
    batch.thresholds[2] = Threshold::map(nodes);
    expect_reference(tiler, batch.view(), batch.thresholds, 10000);
}

TEST_F(Batches, InOneCallEqualTheReference) {
    const Batch batch(43, 50);
    for (const Variant& variant : tile_variants()) {
        expect_reference(tiler_for(variant, Strategy::fused), batch.view(), batch.thresholds);
    }
    for (const Strategy strategy : {Strategy::automatic, Strategy::per_level, Strategy::subtree}) {
        expect_reference(tiler_for(strategy), batch.view(), batch.thresholds);
    }
    const TileList list = tiler_for(Strategy::automatic).subdivide(batch.view(), batch.thresholds);
    EXPECT_EQ(list.report.strategy, Strategy::fused);
    EXPECT_FALSE(list.report.strategy_reason.empty());
    for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
        EXPECT_TRUE(std::ranges::equal(list.tiles_of_layer(layer), batch.expected(layer)));
    }
}

// What fused cannot take as thresholds of layers goes through thresholds by node.
TEST_F(Batches, InOneCallTakeThresholdsOfAllKinds) {
    const MapShape one{70, 50};
    const MapShape shape{one.width, one.height, 3};
    const std::vector<float> texels = with_special_values(random_map(shape), 8);
    const MapView map{texels.data(), shape};
    const std::vector<float> fragments = random_fragments(one);
    const Threshold level = Threshold::max_resolution(4.0F);
    const Threshold growing =
        Threshold::per_level({0.9F, 0.8F, 0.9F, 0.97F, 0.9F, 0.7F, 0.6F, 0.5F});
    const Threshold node = Threshold::memory(4.0F, 30.0F, {fragments.data(), one});
    for (const auto& [thresholds, monotone] :
         {std::pair{std::vector{level, growing, level}, false},
          std::pair{std::vector{level, node, Threshold::constant(0.9F)}, true},
          std::pair{std::vector{node, growing, Threshold::map(random_thresholds(one))}, false}}) {
        for (const Strategy strategy :
             {Strategy::automatic, Strategy::fused, Strategy::per_level, Strategy::subtree}) {
            if (strategy == Strategy::fused && !monotone) {
                EXPECT_THROW((void)tiler_for(strategy).subdivide(map, thresholds), Error);
            } else {
                expect_reference(tiler_for(strategy), map, thresholds);
            }
        }
    }
}

TEST_F(Batches, InOneCallRefuseWhatDoesNotFit) {
    const MapShape shape{8, 8, 2};
    const std::vector<float> texels = constant_map(shape, 1.0F);
    const Threshold one = Threshold::constant(1.0F);
    const Threshold growing = Threshold::per_level({1, 2, 3, 4});
    const auto subdividing = [&](Strategy strategy, const std::vector<Threshold>& thresholds,
                                 std::optional<std::uint64_t> budget = std::nullopt) {
        return [&, strategy, thresholds, budget] {
            (void)tiler_for(strategy).subdivide({texels.data(), shape}, thresholds,
                                                {.max_tiles = budget});
        };
    };
    for (const Strategy strategy :
         {Strategy::automatic, Strategy::fused, Strategy::per_level, Strategy::subtree}) {
        EXPECT_THAT(subdividing(strategy, {}), is_refused("2 layers, but 0 thresholds"));
        EXPECT_THAT(subdividing(strategy, {one, one, one}),
                    is_refused("2 layers, but 3 thresholds"));
        EXPECT_THAT(subdividing(strategy, {one, Threshold::per_level({1.0F})}),
                    is_refused("layer 1 does not fit"));
        EXPECT_THAT(subdividing(strategy, {Threshold::bound_map(), one}),
                    is_refused("layer 0 does not fit"));
    }
    EXPECT_THAT(subdividing(Strategy::fused, {one, growing}), is_refused("do not grow", "layer 1"));
    EXPECT_THAT(subdividing(Strategy::automatic, {one, growing}, 100),
                is_refused("do not grow", "layer 1"));
    EXPECT_THAT(subdividing(Strategy::subtree, {one, one}, 100),
                is_refused("needs the strategy automatic, fused or reference"));
    EXPECT_THROW((void)tiler_for(Strategy::fused).subdivide({nullptr, shape}, std::array{one, one}),
                 Error);
    EXPECT_THAT(subdividing(Strategy::automatic, {one, one}, 1),
                is_refused("max_tiles is 1, but this map has at least 2 tiles"));
}

// The places of layers are summed up 256 at a time.
TEST_F(Batches, MoreLayersThanAWorkgroupHasThreads) {
    for (const Variant& variant :
         {all_variants().front(), variant_named("without subgroup operations")}) {
        const MapShape shape{5, 3, 600};
        const std::vector<float> texels = random_map(shape);
        for (const float threshold : {0.9F, 2.0F}) {
            expect_reference(tiler_for(variant, Strategy::fused), MapView{texels.data(), shape},
                             Threshold::constant(threshold));
        }
    }
}

TEST_F(Batches, BadInputIsRefused) {
    Gpu gpu(device_for());
    const MapShape shape{8, 8, 2};
    const Threshold one = Threshold::constant(1.0F);
    const Threshold growing = Threshold::per_level({1, 2, 3, 4});
    EXPECT_THAT([&] { (void)Subdivider::layer_thresholds(shape, std::array{one}); },
                is_refused("2 layers, but 1 thresholds"));
    EXPECT_THAT(
        [&] {
            (void)Subdivider::layer_thresholds(shape, std::array{one, growing});
        },
        is_refused("do not grow"));
    const Subdivider fused(gpu.device(), {.strategy = Strategy::fused});
    const Subdivider subtree(gpu.device(), {.strategy = Strategy::subtree});
    const Batch batch(8, 8);
    ListedMap space = listed(gpu, fused, batch, 1000);
    Subdivider::Resources resources{.map = space.map.map_image(),
                                    .scratch = space.scratch.range(),
                                    .tile_list = space.tile_list.range(),
                                    .tile_capacity = 10};
    const auto without = fused.bind(batch.shape, resources);
    gpu.run([&](VkCommandBuffer commands) {
        EXPECT_THAT([&] { fused.record(commands, without); }, is_refused("a threshold is missing"));
    });
    resources.layer_headers = space.headers.range();
    EXPECT_THAT([&] { (void)subtree.bind(batch.shape, resources); },
                is_refused("only the strategy fused"));
}

}  // namespace
}  // namespace quadtile::test
