// The order of a service's queue, without a device; test/service has its batches.

#include "running/request_queue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace quadtile::detail {
namespace {

using WhenFull = RequestQueue::WhenFull;

const float TEXELS[64] = {};

WaitingRequest request_of(MapShape shape, int priority) {
    return {.request = {.map = {TEXELS, shape},
                        .threshold = Threshold::constant(1.0F),
                        .priority = priority},
            .batches = false,
            .promise = {},
            .arrival = std::chrono::steady_clock::now()};
}

TEST(RequestQueue, PriorityThenArrival) {
    RequestQueue queue(10, 1);
    const int priorities[] = {0, 5, 0, -3, 5};
    for (std::uint32_t i = 0; i < 5; ++i) {
        (void)queue.push(request_of({1 + i, 1}, priorities[i]), WhenFull::refuse);
    }
    std::vector<std::uint32_t> widths;
    for (int i = 0; i < 5; ++i) {
        auto taken = queue.take({0, 100, true});
        ASSERT_EQ(taken.size(), 1U);
        widths.push_back(taken.front().request.map.shape.width);
        taken.front().promise.set_value({});
    }
    EXPECT_EQ(widths, (std::vector<std::uint32_t>{2, 5, 1, 3, 4}));
}

}  // namespace
}  // namespace quadtile::detail
