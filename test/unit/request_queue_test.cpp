// The queue of a service, without a device: order and batches.

#include "running/request_queue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace quadtile::detail {
namespace {

using WhenFull = RequestQueue::WhenFull;

const float TEXELS[64] = {};

WaitingRequest request_of(MapShape shape, bool batches = true, int priority = 0) {
    WaitingRequest waiting{.request = {.map = {TEXELS, shape},
                                       .threshold = Threshold::constant(1.0F),
                                       .priority = priority},
                           .batches = batches,
                           .promise = {},
                           .arrival = std::chrono::steady_clock::now()};
    return waiting;
}

TEST(RequestQueue, PriorityThenArrival) {
    RequestQueue queue(10, 1);
    const int priorities[] = {0, 5, 0, -3, 5};
    for (std::uint32_t i = 0; i < 5; ++i) {
        (void)queue.push(request_of({1 + i, 1}, false, priorities[i]), WhenFull::refuse);
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

TEST(RequestQueue, BatchesAreOfOneSizeAndNotTooLong) {
    RequestQueue queue(20, 1);
    (void)queue.push(request_of({4, 4, 3}), WhenFull::refuse);
    (void)queue.push(request_of({4, 2}), WhenFull::refuse);
    (void)queue.push(request_of({4, 4, 1, TexelFormat::r16_float}), WhenFull::refuse);
    (void)queue.push(request_of({4, 4}, false), WhenFull::refuse);
    (void)queue.push(request_of({4, 4, 4}), WhenFull::refuse);  // too many with the first
    (void)queue.push(request_of({4, 4, 2}), WhenFull::refuse);
    std::vector<std::size_t> sizes;
    std::vector<std::uint32_t> layers;
    for (int i = 0; i < 5; ++i) {
        std::uint32_t sum = 0;
        auto taken = queue.take({0, 6, true});
        for (WaitingRequest& waiting : taken) {
            sum += waiting.request.map.shape.layers;
            waiting.promise.set_value({});
        }
        sizes.push_back(taken.size());
        layers.push_back(sum);
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1, 1, 1, 1}));
    EXPECT_EQ(layers, (std::vector<std::uint32_t>{5, 1, 1, 1, 4}));
    // Longer than any batch, but alone.
    (void)queue.push(request_of({4, 4, 50}), WhenFull::refuse);
    EXPECT_EQ(queue.take({0, 6, true}).size(), 1U);
}

}  // namespace
}  // namespace quadtile::detail
