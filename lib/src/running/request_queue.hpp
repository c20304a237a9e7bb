// The requests of a Service that wait. Knows nothing of devices.

#pragma once

#include <quadtile/service.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace quadtile::detail {

struct WaitingRequest {
    // Let go of the texels, then answer. The destructor of their owner is the caller's code, which
    // may call the queue and the service: no lock may be held.
    void answer(TileList list);
    void answer(const std::exception_ptr& failure);

    SubdivisionRequest request;
    bool batches = false;  // may share a run with others of its shape
    std::promise<TileList> promise;
    std::chrono::steady_clock::time_point arrival;
};

// Thread-safe. Each request that was pushed is taken, cancelled, expired or failed, exactly once;
// in all cases but the first the queue answers it.
class RequestQueue {
 public:
    explicit RequestQueue(std::size_t capacity) : capacity_(capacity) {}

    enum class WhenFull { wait, refuse };
    // The request's number, or none where the queue is full and does not wait.
    // Throws what `close` was given.
    std::optional<std::uint64_t> push(WaitingRequest&& request, WhenFull when_full);

    // The next request and those that may share its run, up to so many layers. Waits for one; empty
    // where the queue is closed and nothing waits any more.
    [[nodiscard]] std::vector<WaitingRequest> take(std::uint32_t max_layers);

    // Whether it still waited.
    bool cancel(std::uint64_t number);

    // Answers requests when their deadlines have passed; returns when the queue is closed and
    // empty.
    void watch_deadlines();

    // Later pushes throw `reason`; what waits stays.
    void close(std::exception_ptr reason);
    // What waits is answered with it.
    void fail_waiting(std::exception_ptr reason);

    struct Counts {
        std::uint64_t pushed = 0;
        std::uint64_t cancelled = 0;
        std::uint64_t expired = 0;
        std::uint64_t failed = 0;
    };
    [[nodiscard]] Counts counts() const;

 private:
    // Higher priority first, then the order of arrival.
    using Turn = std::pair<std::int64_t, std::uint64_t>;
    using Requests = std::map<Turn, WaitingRequest>;

    // With the mutex held:
    [[nodiscard]] std::vector<WaitingRequest> take_batch(std::uint32_t max_layers);
    [[nodiscard]] std::vector<WaitingRequest> remove_if(
        const std::function<bool(const Turn&, const WaitingRequest&)>& condition);

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable has_room_;
    std::condition_variable has_work_;
    std::condition_variable deadlines_changed_;
    Requests waiting_;
    std::exception_ptr closed_;  // null while open
    Counts counts_;
};

}  // namespace quadtile::detail
