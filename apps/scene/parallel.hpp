// Distribution of work over all processors, and over submissions to a GPU.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

namespace quadtile::baker {

// Sets how many threads share work unless it says so; 0: as many as processors, as at first.
void set_threads(std::uint32_t threads);
// Returns that number for 0, and others as they are.
[[nodiscard]] std::uint32_t threads_of(std::uint32_t threads);
// Calls `take`, which must not throw, from this thread and, as soon as they are idle, from up to
// `threads - 1` of the threads that wait for work. Returns when all have returned.
void share(std::size_t threads, const std::function<void()>& take);

// Calls that are taken at a time if they are short.
constexpr std::size_t SHORT_CALLS = 1U << 13U;

// Calls work(0) to work(count - 1), each once, in no particular order, from at most so many threads
// (0: see set_threads), which take `some` calls at a time. Rethrows an exception of one of the
// calls.
template <typename Work>
void parallel_for(std::size_t count, std::uint32_t threads, const Work& work,
                  std::size_t some = 1) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto take = [&] {
        try {
            for (std::size_t i = next.fetch_add(some); i < count; i = next.fetch_add(some)) {
                for (std::size_t k = i; k < std::min(count, i + some); ++k) {
                    work(k);
                }
            }
        } catch (...) {
            next = count;
            const std::scoped_lock lock(mutex);
            failure = std::current_exception();
        }
    };
    share(std::min<std::size_t>(threads_of(threads), (count + some - 1) / some), take);
    if (failure) {
        std::rethrow_exception(failure);
    }
}

// A vector whose `resize` leaves new elements unset: threads that set them also touch their memory
// first, which takes longer.
template <typename Value>
struct UnsetAllocator : std::allocator<Value> {
    UnsetAllocator() = default;
    void construct(Value* /*unset*/) const noexcept {}
};
template <typename Value>
using UnsetVector = std::vector<Value, UnsetAllocator<Value>>;

// Returns the sum of term(0) to term(count - 1), in an order that does not depend on the threads.
template <typename Sum>
[[nodiscard]] Sum parallel_sum(std::size_t count, std::uint32_t threads, const auto& term) {
    std::vector<Sum> parts((count + SHORT_CALLS - 1) / SHORT_CALLS);
    parallel_for(parts.size(), threads, [&](std::size_t part) {
        const std::size_t end = std::min(count, (part + 1) * SHORT_CALLS);
        Sum sum(0.0);  // not in `parts`, where threads would wait for each other's cache lines
        for (std::size_t i = part * SHORT_CALLS; i < end; ++i) {
            sum += term(i);
        }
        parts[part] = sum;
    });
    return std::accumulate(parts.begin(), parts.end(), Sum(0.0));
}

// Resizes vectors beside each other, because memory is slow when it is touched first.
template <typename... Vectors>
void resize_all(std::size_t size, Vectors&... vectors) {
    const std::array<std::function<void()>, sizeof...(vectors)> all{
        [&vectors, size] { vectors.resize(size); }...};
    parallel_for(all.size(), 0, [&](std::size_t i) { all[i](); });
}

// Sorts with all processors. The order of equal values does not depend on their number.
template <typename Value, typename Less>
void parallel_sort(std::vector<Value>& values, const Less& less) {
    constexpr std::size_t RUNS = 16;
    const auto at = [&](std::size_t run) {
        return values.begin() + static_cast<std::ptrdiff_t>(values.size() * run / RUNS);
    };
    parallel_for(RUNS, 0, [&](std::size_t i) { std::sort(at(i), at(i + 1), less); });
    for (std::size_t runs = 1; runs < RUNS; runs *= 2) {
        parallel_for(RUNS / (2 * runs), 0, [&](std::size_t i) {
            const std::size_t first = 2 * runs * i;
            std::inplace_merge(at(first), at(first + runs), at(first + 2 * runs), less);
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
