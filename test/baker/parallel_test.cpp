#include "parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace quadtile::baker::test {

namespace {

// Loops in loops, of several threads at once. Catches calls that are left out or made twice,
// threads that wait for each other, and loops that go on after an error.
TEST(Parallel, CallsEachOnce) {
    constexpr std::size_t CALLERS = 4;
    constexpr std::size_t OUTER = 50;
    constexpr std::size_t INNER = 40;
    std::vector<std::atomic<int>> calls(CALLERS * OUTER * INNER);
    std::atomic<std::size_t> errors = 0;
    {
        std::vector<std::jthread> callers;
        for (std::size_t c = 0; c < CALLERS; ++c) {
            callers.emplace_back([&, c] {
                parallel_for(OUTER, 8, [&](std::size_t i) {
                    const auto inner = [&](std::size_t k) { ++calls[(c * OUTER + i) * INNER + k]; };
                    parallel_for(INNER, 3, inner, 7);
                });
                try {
                    parallel_for(1000, 4, [](std::size_t) { throw std::runtime_error("told"); });
                } catch (const std::runtime_error&) {
                    ++errors;
                }
            });
        }
    }
    for (const std::atomic<int>& count : calls) {
        ASSERT_EQ(count, 1);
    }
    EXPECT_EQ(errors, CALLERS);
}

// Catches parts that are left out or added twice, and an order that depends on the threads.
TEST(Parallel, SumsDoNotDependOnTheThreads) {
    for (const std::size_t count : {0U, 1U, 255U, 256U, 100'003U}) {
        const auto sum = [&](std::uint32_t threads) {
            return parallel_sum<double>(count, threads,
                                        [](std::size_t i) { return 1.0 / (1.0 + double(i)); });
        };
        double expected = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            expected += 1.0 / (1.0 + double(i));
        }
        EXPECT_NEAR(sum(1), expected, 1e-10) << count;
        EXPECT_EQ(sum(1), sum(2)) << count;
        EXPECT_EQ(sum(1), sum(7)) << count;
    }
}

TEST(Parallel, TakesNoMoreThreadsThanSet) {
    set_threads(1);
    const std::thread::id own = std::this_thread::get_id();
    parallel_for(1000, 0, [&](std::size_t) { ASSERT_EQ(std::this_thread::get_id(), own); });
    set_threads(0);
    EXPECT_GE(threads_of(0), 1U);
    EXPECT_EQ(threads_of(5), 5U);
}

}  // namespace

}  // namespace quadtile::baker::test
