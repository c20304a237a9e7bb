// The queue of a service, without a device: order, batches, bounds, and each request answered once.

#include "running/request_queue.hpp"

#include <quadtile/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
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

void close(RequestQueue& queue) {
    queue.close(std::make_exception_ptr(Error(ErrorCode::cancelled, "closed")));
}

ErrorCode code_of(std::future<TileList>& result) {
    try {
        (void)result.get();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::vulkan;
}

TEST(RequestQueue, PriorityThenArrival) {
    RequestQueue queue(10);
    const int priorities[] = {0, 5, 0, -3, 5};
    for (std::uint32_t i = 0; i < 5; ++i) {
        (void)queue.push(request_of({1 + i, 1}, false, priorities[i]), WhenFull::refuse);
    }
    std::vector<std::uint32_t> widths;
    for (int i = 0; i < 5; ++i) {
        auto taken = queue.take(100);
        ASSERT_EQ(taken.size(), 1U);
        widths.push_back(taken.front().request.map.shape.width);
        taken.front().promise.set_value({});
    }
    EXPECT_EQ(widths, (std::vector<std::uint32_t>{2, 5, 1, 3, 4}));
}

TEST(RequestQueue, BatchesAreOfOneSizeAndNotTooLong) {
    RequestQueue queue(20);
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
        auto taken = queue.take(6);
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
    EXPECT_EQ(queue.take(6).size(), 1U);
}

TEST(RequestQueue, FullRefusesOrWaitsForRoom) {
    RequestQueue queue(1);
    ASSERT_TRUE(queue.push(request_of({1, 1}), WhenFull::refuse));
    EXPECT_FALSE(queue.push(request_of({1, 1}), WhenFull::refuse));
    std::atomic<bool> pushed = false;
    std::thread pusher([&] {
        (void)queue.push(request_of({2, 1}), WhenFull::wait);
        pushed = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(pushed);
    EXPECT_EQ(queue.take(1).size(), 1U);
    pusher.join();
    EXPECT_EQ(queue.take(1).front().request.map.shape.width, 2U);
}

TEST(RequestQueue, ClosedRefusesAndIsEmptied) {
    RequestQueue queue(4);
    WaitingRequest first = request_of({1, 1});
    std::future<TileList> result = first.promise.get_future();
    (void)queue.push(std::move(first), WhenFull::refuse);
    close(queue);
    EXPECT_THROW((void)queue.push(request_of({1, 1}), WhenFull::wait), Error);
    EXPECT_EQ(queue.take(1).size(), 1U);
    EXPECT_TRUE(queue.take(1).empty());
    // Whoever waits for room is woken.
    RequestQueue full(1);
    (void)full.push(request_of({1, 1}), WhenFull::refuse);
    std::thread pusher([&] {
        EXPECT_THROW((void)full.push(request_of({1, 1}), WhenFull::wait), Error);
    });
    std::this_thread::sleep_for(5ms);
    close(full);
    pusher.join();
}

TEST(RequestQueue, DeadlinesAreWatched) {
    RequestQueue queue(4);
    std::thread watch([&] { queue.watch_deadlines(); });
    WaitingRequest late = request_of({1, 1});
    late.request.deadline = std::chrono::steady_clock::now() + 10ms;
    std::future<TileList> result = late.promise.get_future();
    (void)queue.push(std::move(late), WhenFull::refuse);
    (void)queue.push(request_of({2, 1}), WhenFull::refuse);
    ASSERT_EQ(result.wait_for(20s), std::future_status::ready);
    EXPECT_EQ(code_of(result), ErrorCode::deadline_exceeded);
    EXPECT_EQ(queue.take(1).front().request.map.shape.width, 2U);
    close(queue);
    watch.join();
    EXPECT_EQ(queue.counts().expired, 1U);
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
        [&](RequestQueue& queue) { queue.fail_waiting(reason); },
        [](RequestQueue& queue) { queue.watch_deadlines(); },
        [](RequestQueue& queue) { EXPECT_TRUE(queue.take(1).empty()); },
    };
    for (std::size_t way = 0; way < std::size(ways); ++way) {
        const bool expires = way >= 2;
        RequestQueue queue(4);
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
        EXPECT_EQ(code_of(result), expires ? ErrorCode::deadline_exceeded : ErrorCode::cancelled);
    }
}

// All ways out at once. A promise that is answered twice throws; one that is never, breaks.
TEST(RequestQueue, EveryRequestLeavesOnce) {
    RequestQueue queue(8);
    std::thread watch([&] { queue.watch_deadlines(); });
    std::vector<std::thread> takers;
    for (int i = 0; i < 3; ++i) {
        takers.emplace_back([&] {
            for (auto taken = queue.take(4); !taken.empty(); taken = queue.take(4)) {
                for (WaitingRequest& waiting : taken) {
                    waiting.promise.set_value({});
                }
            }
        });
    }
    std::atomic<std::uint64_t> answered = 0;
    std::atomic<std::uint64_t> lists = 0;
    std::vector<std::thread> pushers;
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
        pushers.emplace_back([&, thread] {
            std::mt19937 random(thread);
            for (int i = 0; i < 3000; ++i) {
                WaitingRequest waiting =
                    request_of({1 + static_cast<std::uint32_t>(random() % 3), 1}, random() % 2 == 0,
                               static_cast<int>(random() % 3));
                if (random() % 4 == 0) {
                    waiting.request.deadline =
                        std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 50);
                }
                std::future<TileList> result = waiting.promise.get_future();
                const auto number = queue.push(std::move(waiting), WhenFull::wait);
                if (random() % 3 == 0) {
                    (void)queue.cancel(number.value());
                }
                try {
                    (void)result.get();
                    ++lists;
                } catch (const Error& error) {
                    EXPECT_TRUE(error.code() == ErrorCode::cancelled ||
                                error.code() == ErrorCode::deadline_exceeded);
                }
                ++answered;
            }
        });
    }
    for (std::thread& pusher : pushers) {
        pusher.join();
    }
    close(queue);
    for (std::thread& taker : takers) {
        taker.join();
    }
    watch.join();
    const RequestQueue::Counts counts = queue.counts();
    EXPECT_EQ(answered, 12000U);
    EXPECT_EQ(counts.pushed, 12000U);
    EXPECT_EQ(counts.cancelled + counts.expired + lists, 12000U);
}

}  // namespace
}  // namespace quadtile::detail
