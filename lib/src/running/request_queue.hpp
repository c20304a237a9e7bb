// Queue of a Service's waiting requests. It knows devices only by their numbers.

#pragma once

#include "device/process.hpp"

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
    // Releases the texels, then answers. Their owner's destructor is the caller's code, which may
    // call the queue and the service, so no lock may be held.
    void answer(TileList list);
    void answer(const std::exception_ptr& failure);
    // Returns the only refusal, or all refusals in one sentence.
    [[nodiscard]] Error why_refused() const;

    SubdivisionRequest request;
    bool batches = false;  // whether it may share a run with others of its shape
    std::promise<TileList> promise;
    std::chrono::steady_clock::time_point arrival;
    std::uint64_t number = 0;                 // set by the queue, in order of arrival
    std::map<std::uint32_t, Error> refusals;  // reasons why devices cannot answer, by their numbers
};

// Queue of requests. Each pushed request is taken, cancelled, expired or failed, exactly once; in
// all cases except the first the queue answers it. Taken requests may be put back. Thread-safe.
class RequestQueue {
 public:
    RequestQueue(std::size_t capacity, std::size_t devices) : capacity_(capacity), lost_(devices) {}

    enum class WhenFull { wait, refuse };
    // Adds a request. Returns its number, or nothing if the queue is full and does not wait. Throws
    // the reason of `close`, or the reason why the only device that may answer is lost.
    std::optional<std::uint64_t> push(WaitingRequest&& request, WhenFull when_full);

    // A lane that takes requests.
    struct Taker {
        std::uint32_t device;
        std::uint32_t max_layers;  // per run
        bool batches;              // whether it makes batches
    };
    // Takes the next request that the device may answer, and those that may share its run; they run
    // until `done`. Waits for a request. Returns nothing if none will come: the device is lost, or
    // the queue is closed and no request waits or runs that could be put back.
    [[nodiscard]] std::vector<WaitingRequest> take(const Taker& taker);
    // Puts a running request back for the devices that have not refused it. Returns false, and
    // leaves the request as it is, after cancel_waiting and if no such device is left.
    [[nodiscard]] bool put_back(WaitingRequest& request);
    // Ends the run of so many requests: they are answered or put back.
    void done(std::size_t count);

    // Removes a device. Requests that no other device may answer are failed. The last device closes
    // the queue.
    void lose(std::uint32_t device, const Error& why);

    // Cancels a request. Returns whether it still waited; in a forked process none does.
    bool cancel(std::uint64_t number);

    // Answers requests whose deadlines have passed; returns when the queue is closed and empty.
    void watch_deadlines();

    // Makes later pushes throw `reason`; waiting requests stay.
    void close(std::exception_ptr reason);
    // Answers waiting requests with `reason`; later put_back calls fail.
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

    // The following functions need the mutex held.
    std::uint64_t insert(WaitingRequest&& request);
    [[nodiscard]] bool may_answer(std::uint32_t device, const WaitingRequest& request) const;
    [[nodiscard]] bool has_device(const WaitingRequest& request) const;
    [[nodiscard]] Requests::iterator next_for(std::uint32_t device);
    [[nodiscard]] std::vector<WaitingRequest> take_batch(const Taker& taker,
                                                         const Requests::value_type& first);
    void wake_all();
    [[nodiscard]] std::vector<WaitingRequest> remove_if(
        const std::function<bool(const Turn&, const WaitingRequest&)>& condition);
    [[nodiscard]] std::vector<WaitingRequest> remove_expired();

    const MadeIn made_in_;
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable has_room_;
    std::condition_variable has_work_;
    std::condition_variable deadlines_changed_;
    Requests waiting_;
    std::size_t running_ = 0;                 // taken and not done
    std::vector<std::optional<Error>> lost_;  // reason for each lost device
    bool is_cancelled_ = false;
    std::exception_ptr closed_;  // null while open
    Counts counts_;
};

}  // namespace quadtile::detail
