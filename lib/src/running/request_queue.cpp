#include "running/request_queue.hpp"

#include <quadtile/error.hpp>

namespace quadtile::detail {

namespace {

using Clock = std::chrono::steady_clock;

void answer_all(std::vector<WaitingRequest>& requests, const std::exception_ptr& reason) {
    for (WaitingRequest& request : requests) {
        request.answer(reason);
    }
}

bool is_expired(const WaitingRequest& request, Clock::time_point now) {
    return request.request.deadline && *request.request.deadline <= now;
}

const std::exception_ptr& deadline_exceeded() {
    static const std::exception_ptr error = std::make_exception_ptr(
        Error(ErrorCode::deadline_exceeded,
              "the request still waited at its deadline; give it more time, a higher priority or "
              "the service fewer requests"));
    return error;
}

bool same_size(const MapShape& a, const MapShape& b) {
    return a.width == b.width && a.height == b.height && a.format == b.format;
}

}  // namespace

void WaitingRequest::answer(TileList list) {
    request.texels_owner.reset();
    promise.set_value(std::move(list));
}

void WaitingRequest::answer(const std::exception_ptr& failure) {
    request.texels_owner.reset();
    promise.set_exception(failure);
}

// Taken out with the mutex held, to be answered without it: whoever waits for an answer may call
// the queue again at once.
std::vector<WaitingRequest> RequestQueue::remove_if(
    const std::function<bool(const Turn&, const WaitingRequest&)>& condition) {
    std::vector<WaitingRequest> removed;
    for (auto i = waiting_.begin(); i != waiting_.end();) {
        if (condition(i->first, i->second)) {
            removed.push_back(std::move(i->second));
            i = waiting_.erase(i);
        } else {
            ++i;
        }
    }
    if (!removed.empty()) {
        has_room_.notify_all();
        if (waiting_.empty() && closed_) {
            has_work_.notify_all();
            deadlines_changed_.notify_all();
        }
    }
    return removed;
}

std::optional<std::uint64_t> RequestQueue::push(WaitingRequest&& request, WhenFull when_full) {
    std::unique_lock lock(mutex_);
    if (when_full == WhenFull::wait) {
        has_room_.wait(lock, [&] { return waiting_.size() < capacity_ || closed_; });
    }
    if (closed_) {
        std::rethrow_exception(closed_);
    }
    if (waiting_.size() >= capacity_) {
        return std::nullopt;
    }
    const std::uint64_t number = counts_.pushed;
    const bool has_deadline = request.request.deadline.has_value();
    const Turn turn(-std::int64_t{request.request.priority}, number);
    waiting_.emplace(turn, std::move(request));
    ++counts_.pushed;
    has_work_.notify_one();
    if (has_deadline) {
        deadlines_changed_.notify_one();
    }
    return number;
}

std::vector<WaitingRequest> RequestQueue::take(std::uint32_t max_layers) {
    while (true) {
        std::vector<WaitingRequest> expired;
        std::vector<WaitingRequest> taken;
        {
            std::unique_lock lock(mutex_);
            has_work_.wait(lock, [&] { return !waiting_.empty() || closed_; });
            if (waiting_.empty()) {
                return {};
            }
            const Clock::time_point now = Clock::now();
            expired = remove_if([&](const Turn&, const WaitingRequest& request) {
                return is_expired(request, now);
            });
            counts_.expired += expired.size();
            if (!waiting_.empty()) {
                taken = take_batch(max_layers);
            }
        }
        answer_all(expired, deadline_exceeded());
        if (!taken.empty()) {
            return taken;
        }
    }
}

std::vector<WaitingRequest> RequestQueue::take_batch(std::uint32_t max_layers) {
    const Turn first = waiting_.begin()->first;
    const MapShape shape = waiting_.begin()->second.request.map.shape;
    const bool batches = waiting_.begin()->second.batches;
    const bool in_buffer = waiting_.begin()->second.request.buffer.has_value();
    std::uint64_t layers = 0;
    return remove_if([&](const Turn& turn, const WaitingRequest& request) {
        const MapShape& other = request.request.map.shape;
        const bool fits = turn == first || (batches && request.batches && same_size(other, shape) &&
                                            request.request.buffer.has_value() == in_buffer &&
                                            layers + other.layers <= max_layers);
        layers += fits ? other.layers : 0;
        return fits;
    });
}

bool RequestQueue::cancel(std::uint64_t number) {
    std::vector<WaitingRequest> cancelled;
    {
        const std::lock_guard lock(mutex_);
        cancelled = remove_if(
            [&](const Turn& turn, const WaitingRequest&) { return turn.second == number; });
        counts_.cancelled += cancelled.size();
    }
    answer_all(cancelled,
               std::make_exception_ptr(Error(ErrorCode::cancelled, "the request was cancelled")));
    return !cancelled.empty();
}

void RequestQueue::watch_deadlines() {
    std::unique_lock lock(mutex_);
    while (!closed_ || !waiting_.empty()) {
        std::optional<Clock::time_point> next;
        for (const auto& [turn, request] : waiting_) {
            const auto& deadline = request.request.deadline;
            if (deadline && (!next || *deadline < *next)) {
                next = deadline;
            }
        }
        if (!next) {
            deadlines_changed_.wait(lock);
            continue;
        }
        deadlines_changed_.wait_until(lock, *next);
        const Clock::time_point now = Clock::now();
        std::vector<WaitingRequest> expired = remove_if(
            [&](const Turn&, const WaitingRequest& request) { return is_expired(request, now); });
        counts_.expired += expired.size();
        lock.unlock();
        answer_all(expired, deadline_exceeded());
        lock.lock();
    }
}

void RequestQueue::close(std::exception_ptr reason) {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
        closed_ = std::move(reason);
    }
    has_room_.notify_all();
    has_work_.notify_all();
    deadlines_changed_.notify_all();
}

void RequestQueue::fail_waiting(std::exception_ptr reason) {
    std::vector<WaitingRequest> failed;
    bool is_cancellation = false;
    {
        const std::lock_guard lock(mutex_);
        failed = remove_if([](const Turn&, const WaitingRequest&) { return true; });
        try {
            std::rethrow_exception(reason);
        } catch (const Error& error) {
            is_cancellation = error.code() == ErrorCode::cancelled;
        } catch (...) {  // counts as a failure
        }
        (is_cancellation ? counts_.cancelled : counts_.failed) += failed.size();
    }
    answer_all(failed, reason);
}

RequestQueue::Counts RequestQueue::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace quadtile::detail
