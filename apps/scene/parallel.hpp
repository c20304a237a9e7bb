// Distribution of work over all processors, and over submissions to a GPU.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace quadtile::baker {

// Calls work(0) to work(count - 1), each once, in no particular order, from at most so many threads
// (0: as many as processors). Rethrows an exception of one of the calls.
template <typename Work>
void parallel_for(std::size_t count, std::uint32_t threads, const Work& work) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto take = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) {
                work(i);
            }
        } catch (...) {
            next = count;
            const std::scoped_lock lock(mutex);
            failure = std::current_exception();
        }
    };
    if (threads == 0) {
        threads = std::max(1U, std::thread::hardware_concurrency());
    }
    {
        std::vector<std::jthread> others;  // joined at the end of the block
        for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
            others.emplace_back(take);
        }
        take();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

// Calls work(first, end) for consecutive ranges of 0 to `count`, each of `size` but the last.
template <typename Work>
void parallel_ranges(std::size_t count, std::size_t size, std::uint32_t threads, const Work& work) {
    parallel_for((count + size - 1) / size, threads,
                 [&](std::size_t i) { work(i * size, std::min(count, (i + 1) * size)); });
}

// Sorts with all processors. The order of equal values does not depend on their number.
template <typename Value, typename Less>
void parallel_sort(std::vector<Value>& values, const Less& less) {
    constexpr std::size_t FEW = 1U << 14U;
    constexpr std::size_t RUNS = 16;
    std::size_t run = std::max(FEW, (values.size() + RUNS - 1) / RUNS);
    const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
    parallel_ranges(values.size(), run, 0, [&](std::size_t first, std::size_t end) {
        std::sort(at(first), at(end), less);
    });
    for (; run < values.size(); run *= 2) {
        parallel_ranges(values.size(), 2 * run, 0, [&](std::size_t first, std::size_t end) {
            std::inplace_merge(at(first), at(std::min(end, first + run)), at(end), less);
        });
    }
}

// Size of submissions, so that none takes much longer than it should: by the speed of earlier
// submissions. Work is counted in any unit that is proportional to its duration.
class SubmissionSize {
 public:
    SubmissionSize(double first_work, double seconds)
        : seconds_(seconds), least_work_(first_work / 8.0), speed_(first_work / seconds) {}

    [[nodiscard]] double most_work() const { return std::max(least_work_, speed_ * seconds_); }

    // Small submissions give only a lower bound of the speed.
    void note(double work, double seconds) {
        const double speed = std::max(work, 1.0) / seconds;
        speed_ = speed > speed_       ? std::min(speed, 2.0 * speed_)
                 : seconds > seconds_ ? 0.5 * (speed_ + speed)
                                      : speed_;
    }

 private:
    double seconds_;
    double least_work_;
    double speed_;  // work per second
};

}  // namespace quadtile::baker
