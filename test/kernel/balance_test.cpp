// Balanced lists against the reference's, to the bit. Random cases (test/random) have all
// combinations of shapes, formats, thresholds, strategies and orders.

#include "gpu_test.hpp"
#include "listed_map.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <quadtile/kernel_parameters.h>

#include <cmath>
#include <limits>

namespace quadtile::test {
namespace {

class BalancedLists : public GpuTest {};

// One peak just beside edges and corners of blocks of 64 and groups of 1024 texels, where splits
// reach over; others have more.
std::vector<std::vector<float>> maps_of(const MapShape& shape) {
    std::vector<std::vector<float>> maps{
        with_special_values(smooth_map(shape), 1000), peaks_map(shape, 200),
        corner_peak_map(shape, Corner::bottom_right), none_split(shape).texels,
        with_special_values(constant_map(shape, -1.0F), 3000)};
    for (const auto& [x, y] : {std::pair{64U, 63U}, {63U, 128U}, {1024U, 10U}, {1023U, 64U}}) {
        if (x < shape.width && y < shape.height) {
            maps.push_back(constant_map(shape, 0.0F));
            maps.back()[std::size_t{y} * shape.width + x] = PEAK_IMPORTANCE;
        }
    }
    return maps;
}

void expect_balanced(Tiler& tiler, const MapShape& shape, const Threshold& threshold,
                     Balance balance) {
    for (const std::vector<float>& texels : maps_of(shape)) {
        const MapView map{texels.data(), shape};
        expect_reference(tiler, map, threshold,
                         reference::subdivide(map, threshold, {.balance = balance}));
    }
}

// A wrong mask, row of bits, side or place: of one block with fewer levels, of one, of more, and of
// two hand-overs.
TEST_F(BalancedLists, EqualTheReference) {
    for (const MapShape& shape : {MapShape{1, 1},
                                  {2, 1},
                                  {37, 20},
                                  {64, 64},
                                  {7, 70, 9},
                                  {65, 129, 2},
                                  {1100, 140},
                                  {4097, 3}}) {
        expect_balanced(tiler_for(Strategy::fused), shape, Threshold::constant(1.0F),
                        Balance::edges);
    }
}

// Neighbours that only share a corner, and thresholds by level.
TEST_F(BalancedLists, ByCorners) {
    expect_balanced(tiler_for(Strategy::automatic), {200, 137, 2},
                    Threshold::per_level({4, 2, 2, 2, 1, 1, 1, 0.5F, 0.5F}), Balance::corners);
}

// Through the recording layer: a list that is too short, counters that stay, a list of the same
// scratch that is spoilt.
TEST_F(BalancedLists, LeaveCountersAtRestAndCountOn) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{300, 200, 3};
    const Threshold threshold = Threshold::constant(1.0F);
    const std::vector<Threshold> thresholds(shape.layers, threshold);
    const Pyramid pyramid(gpu.device());
    const std::vector<float> texels = peaks_map(shape, 100);
    const MapView view{texels.data(), shape};
    const PyramidWorkspace map(gpu, pyramid, view);
    const std::vector<Tile> expected =
        reference::subdivide(view, threshold, {.balance = Balance::edges}).tiles;
    const auto capacity = static_cast<std::uint32_t>(expected.size()) - 1;
    const SubdivisionWorkspace list(gpu, subdivider, map, capacity, true);
    for (const Order order : {Order::any, Order::canonical}) {
        list.run(gpu, pyramid, map, subdivider, threshold,
                 {.order = order, .balance = Balance::edges});
        const TileListHeader header = list.read_header(gpu);
        EXPECT_EQ(header.required, expected.size());
        EXPECT_EQ(header.written, capacity);
        EXPECT_EQ(header.flags, TILE_LIST_OVERFLOW | TILE_LIST_BALANCED);
        const auto words = gpu.read<std::uint32_t>(
            list.scratch, 0, list.scratch.size_bytes() / sizeof(std::uint32_t));
        const std::size_t own = sizeof(FusedState) / sizeof(std::uint32_t);
        EXPECT_TRUE(std::ranges::all_of(std::span(words).first(own),
                                        [](std::uint32_t word) { return word == 0; }));
        EXPECT_EQ(counter_not_at_rest(std::span(words).subspan(own), shape, true), "");
        std::vector<Tile> tiles = list.read_tiles(gpu);
        if (order == Order::canonical) {
            EXPECT_TRUE(std::ranges::equal(tiles, std::span(expected).first(capacity)));
        }
    }
    list.run(gpu, pyramid, map, subdivider, threshold);
    EXPECT_TRUE(list.read_sorted(gpu) == reference::subdivide(view, threshold).tiles);
}

// Without a buffer the kernels would write anywhere; a budget would not be kept; `subtree` would
// return an ordinary list; nodes below one that is not split would be taken for split.
TEST_F(BalancedLists, RefuseWhatCannotWork) {
    Gpu gpu(device_for());
    const MapShape shape{8, 8};
    const Threshold one = Threshold::constant(1.0F);
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    ListedMap space(gpu, subdivider, shape, random_map(shape), 100);
    EXPECT_THAT([&] { space.record(one, {.balance = Balance::edges}); },
                is_refused("the binding has no buffer for balanced lists"));
    for (const Strategy strategy : {Strategy::automatic, Strategy::fused, Strategy::subtree}) {
        EXPECT_THAT(
            [&] {
                (void)tiler_for(strategy).subdivide(space.view(), one,
                                                    {.max_tiles = 9, .balance = Balance::corners});
            },
            is_refused("max_tiles is 9, but a balanced list cannot have a budget"));
    }
    const auto balanced = [&](Strategy strategy, const Threshold& threshold) {
        return [&, strategy, threshold] {
            (void)tiler_for(strategy).subdivide(space.view(), threshold,
                                                {.balance = Balance::edges});
        };
    };
    EXPECT_THAT(balanced(Strategy::subtree, one), is_refused("a balanced list needs the strategy"));
    const Subdivider descending(gpu.device(), {.strategy = Strategy::subtree});
    const Pyramid pyramid(gpu.device());
    const PyramidWorkspace map(gpu, pyramid, space.view());
    const SubdivisionWorkspace list(gpu, descending, map, 100, true);
    EXPECT_THAT(
        [&] {
            list.run(gpu, pyramid, map, descending, one,
                     {.order = Order::any, .balance = Balance::edges});
        },
        is_refused("only the strategies fused and reference make balanced lists"));
    for (const Strategy strategy : {Strategy::automatic, Strategy::fused}) {
        EXPECT_THAT(balanced(strategy, Threshold::per_level({1, 1, 2, 1})),
                    is_refused("balanced lists need thresholds that do not grow", "level 2 has 2"));
    }
}

}  // namespace
}  // namespace quadtile::test
