// Batches: many maps of one shape in one run, each with its own threshold. The random tests compare
// their lists with the reference.

#include "gpu_test.hpp"
#include "listed_map.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"

#include <algorithm>
#include <array>

namespace quadtile::test {
namespace {

class Batches : public GpuTest {};

// One factor for all layers, recorded and by a Tiler whose list each budget outgrows.
TEST_F(Batches, KeepBudgetsForAllLayersTogether) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    constexpr std::uint32_t LAYERS = 7;
    const MapShape shape{65, 100, LAYERS};
    const std::vector<float> texels = random_map(shape);
    const MapView map{texels.data(), shape};
    std::vector<Threshold> thresholds;
    for (std::uint32_t layer = 0; layer < LAYERS; ++layer) {
        thresholds.push_back(Threshold::constant(0.1F + 0.05F * static_cast<float>(layer)));
    }
    ListedMap space(gpu, subdivider, shape, texels, texels.size(), thresholds);
    Tiler tiler(device_for());
    for (const std::uint64_t budget : {500, 10000, 100000}) {
        const TileList expected = reference::subdivide(map, thresholds, {.max_tiles = budget});
        expect_reference(tiler, map, thresholds, expected, budget);
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record(commands, space.binding, {.max_tiles = budget});
        });
        const auto whole = space.header();
        EXPECT_EQ(whole.threshold_factor, expected.threshold_factor);
        EXPECT_EQ(whole.required, expected.tiles.size());
        EXPECT_TRUE(space.tiles(0, whole.written) == expected.tiles);
    }
    // A threshold by node among them.
    NodeThresholds nodes(65, 100);
    nodes.at(0, 3, 4) = 2.0F;
    thresholds[2] = Threshold::map(nodes);
    expect_reference(tiler, map, thresholds, 10000);
}

// Thresholds of layers that fused cannot take become thresholds per node.
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
        for (const Strategy strategy : {Strategy::automatic, Strategy::fused, Strategy::subtree}) {
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
    for (const Strategy strategy : {Strategy::automatic, Strategy::fused, Strategy::subtree}) {
        EXPECT_THAT(subdividing(strategy, {}),
                    is_refused("layers of the map (2) and their thresholds (0)"));
        EXPECT_THAT(subdividing(strategy, {one, one, one}),
                    is_refused("layers of the map (2) and their thresholds (3)"));
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
                is_refused("layers of the map (2) and their thresholds (1)"));
    EXPECT_THAT(
        [&] {
            (void)Subdivider::layer_thresholds(shape, std::array{one, growing});
        },
        is_refused("do not grow"));
    const Subdivider fused(gpu.device(), {.strategy = Strategy::fused});
    const Subdivider subtree(gpu.device(), {.strategy = Strategy::subtree});
    const ListedMap space(gpu, fused, shape, random_map(shape), 1000, std::vector(2, one));
    Subdivider::Resources resources{.map = space.map.map_image(),
                                    .scratch = space.scratch.range(),
                                    .tile_list = space.tile_list.range(),
                                    .tile_capacity = 10};
    const auto without = fused.bind(shape, resources);
    gpu.run([&](VkCommandBuffer commands) {
        EXPECT_THAT([&] { fused.record(commands, without); }, is_refused("a threshold is missing"));
    });
    resources.layer_thresholds = space.thresholds.range();
    EXPECT_THAT([&] { (void)subtree.bind(shape, resources); },
                is_refused("only the strategy fused"));
}

}  // namespace
}  // namespace quadtile::test
