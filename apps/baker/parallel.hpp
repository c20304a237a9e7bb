// Work on all processors.

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

// Calls work(0) to work(count - 1), each once, in no particular order, from so many threads at most
// (0: as many as there are processors). Throws what one of the calls threw.
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

}  // namespace quadtile::baker
