// The requests of a Service that wait. Knows devices by their numbers only.

#pragma once

#include <quadtile/error.hpp>
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
    // The one refusal that there is, or all in one sentence.
    [[nodiscard]] Error why_refused() const;

    SubdivisionRequest request;
    bool batches = false;  // may share a run with others of its shape
    std::promise<TileList> promise;
    std::chrono::steady_clock::time_point arrival;
    std::uint64_t number = 0;                 // given by the queue, in the order of arrival
    std::map<std::uint32_t, Error> refusals;  // why devices cannot answer, by their numbers
};

// Thread-safe. Each request that was pushed is taken, cancelled, expired or failed, exactly once;
// in all cases but the first the queue answers it. What was taken may be put back.
class RequestQueue {
 public:
    RequestQueue(std::size_t capacity, std::size_t devices) : capacity_(capacity), lost_(devices) {}

    enum class WhenFull { wait, refuse };
    // The request's number, or none where the queue is full and does not wait.
    // Throws what `close` was given, and why the only device that may answer is lost.
    std::optional<std::uint64_t> push(WaitingRequest&& request, WhenFull when_full);

    // A lane that takes requests.
    struct Taker {
        std::uint32_t device;
        std::uint32_t max_layers;  // of a run
        bool batches;              // puts requests together
    };
    // The next request that the device may answer and those that may share its run; they run until
    // `done`. Waits for one; empty where none will come: the device is lost, or the queue is closed
    // and nothing waits or runs that could be put back.
    [[nodiscard]] std::vector<WaitingRequest> take(const Taker& taker);
    // A request that runs waits again, for the devices that have not refused it. False where there
    // is none, or what waits was failed; the request is as it was then.
    [[nodiscard]] bool put_back(WaitingRequest& request);
    // So many requests run no more: they are answered or put back.
    void done(std::size_t count);

    // A device takes no more requests; what no other may answer is failed. The last one closes the
    // queue.
    void lose(std::uint32_t device, const Error& why);

    // Whether it still waited.
    bool cancel(std::uint64_t number);

    // Answers requests when their deadlines have passed; returns when the queue is closed and
    // empty.
    void watch_deadlines();

    // Later pushes throw `reason`; what waits stays.
    void close(std::exception_ptr reason);
    // What waits is answered with it, and nothing is put back any more.
    void cancel_waiting(const std::exception_ptr& reason);

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
    std::uint64_t insert(WaitingRequest&& request);
    [[nodiscard]] bool may_answer(std::uint32_t device, const WaitingRequest& request) const;
    [[nodiscard]] bool has_device(const WaitingRequest& request) const;
    [[nodiscard]] Requests::iterator next_for(std::uint32_t device);
    [[nodiscard]] std::vector<WaitingRequest> take_batch(const Taker& taker,
                                                         const Requests::value_type& first);
    [[nodiscard]] std::vector<WaitingRequest> remove_if(
        const std::function<bool(const Turn&, const WaitingRequest&)>& condition);

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable has_room_;
    std::condition_variable has_work_;
    std::condition_variable deadlines_changed_;
    Requests waiting_;
    std::size_t running_ = 0;                 // taken and not done
    std::vector<std::optional<Error>> lost_;  // of each device, why
    bool is_cancelled_ = false;
    std::exception_ptr closed_;  // null while open
    Counts counts_;
};

}  // namespace quadtile::detail
