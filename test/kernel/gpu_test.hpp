// Common parts of the GPU tests: any validation message is a failure, and lists are compared with
// the reference's.

#pragma once

#include "support/errors.hpp"
#include "support/variants.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace quadtile::test {

// The strategies on the device, without automatic.
inline constexpr Strategy STRATEGIES[] = {Strategy::subtree, Strategy::fused};

class GpuTest : public testing::Test {
 protected:
    void TearDown() override;
};

// The handles of a device, as its host has them.
inline AdoptedDevice handles_of(const Device& host) {
    return {.get_instance_proc_addr = host.get_instance_proc_addr(),
            .instance = host.instance(),
            .physical_device = host.physical_device(),
            .device = host.handle(),
            .queue = host.queue(),
            .queue_family = host.queue_family(),
            .enabled = host.info().features};
}

// The device as it is.
inline Tiler& tiler_for(Strategy strategy, std::uint32_t subtree_levels = 6) {
    return tiler_for(all_variants().front(), strategy, subtree_levels);
}

// A Tiler's lists in both orders are the reference's list. `Thresholds`: one threshold, or one for
// each layer.
template <typename Thresholds>
void expect_reference(Tiler& tiler, const MapView& map, const Thresholds& thresholds,
                      const TileList& expected, std::optional<std::uint64_t> max_tiles = {}) {
    for (const Order order : {Order::canonical, Order::any}) {
        TileList list = tiler.subdivide(map, thresholds, {order, max_tiles, expected.balance});
        EXPECT_EQ(list.order, order);
        EXPECT_EQ(list.balance, expected.balance);
        if (order == Order::any) {
            sort_canonical(list.tiles);
        }
        EXPECT_EQ(difference(list, expected), "")
            << text_of(map.shape) << ", strategy " << text_of(list.report.strategy)
            << (order == Order::any ? ", any order" : "");
    }
}
template <typename Thresholds>
void expect_reference(Tiler& tiler, const MapView& map, const Thresholds& thresholds,
                      std::optional<std::uint64_t> max_tiles = {}) {
    expect_reference(tiler, map, thresholds,
                     reference::subdivide(map, thresholds, {.max_tiles = max_tiles}), max_tiles);
}

}  // namespace quadtile::test
