// The queue of a service, without a device: order, batches, bounds, and each request answered once.

#include "running/request_queue.hpp"
#include "support/errors.hpp"

#include <quadtile/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

namespace quadtile::detail {
namespace {

using namespace std::chrono_literals;
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

// An owner of texels whose destructor calls the queue, which must hold no lock then, and which must
// not have answered yet.
struct CallingOwner {
    CallingOwner(RequestQueue& called, std::future<TileList>& answer)
        : queue(called), result(answer) {}
    CallingOwner(const CallingOwner&) = delete;
    CallingOwner& operator=(const CallingOwner&) = delete;
    ~CallingOwner() {
        EXPECT_EQ(result.wait_for(0s), std::future_status::timeout);
        EXPECT_FALSE(queue.cancel(0));
        EXPECT_EQ(queue.counts().pushed, 1U);
    }

    RequestQueue& queue;
    std::future<TileList>& result;
};

TEST(RequestQueue, OwnersAreLetGoBeforeTheAnswerAndOutsideOfTheLock) {
    const auto reason = std::make_exception_ptr(Error(ErrorCode::cancelled, "closed"));
    const std::function<void(RequestQueue&)> ways[] = {
        [](RequestQueue& queue) { EXPECT_TRUE(queue.cancel(0)); },
        [&](RequestQueue& queue) { queue.cancel_waiting(reason); },
        [](RequestQueue& queue) { queue.watch_deadlines(); },
        [](RequestQueue& queue) {
            EXPECT_TRUE(queue.take({0, 1, true}).empty());
        },
    };
    for (std::size_t way = 0; way < std::size(ways); ++way) {
        const bool expires = way >= 2;
        RequestQueue queue(4, 1);
        WaitingRequest waiting = request_of({1, 1});
        std::future<TileList> result = waiting.promise.get_future();
        waiting.request.texels_owner = std::make_shared<CallingOwner>(queue, result);
        if (expires) {
            waiting.request.deadline = std::chrono::steady_clock::now() - 1ms;
        }
        EXPECT_EQ(queue.push(std::move(waiting), WhenFull::refuse), 0U);
        if (expires) {
            queue.close(reason);
        }
        std::promise<void> done;
        std::thread thread([&] {
            ways[way](queue);
            done.set_value();
        });
        // A deadlock ends in the thread's destructor.
        ASSERT_EQ(done.get_future().wait_for(20s), std::future_status::ready) << "way " << way;
        thread.join();
        EXPECT_THAT([&] { (void)result.get(); },
                    test::fails(expires ? ErrorCode::deadline_exceeded : ErrorCode::cancelled));
    }
}

}  // namespace
}  // namespace quadtile::detail
