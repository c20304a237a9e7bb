#include "running/request_queue.hpp"

#include <algorithm>

namespace quadtile::detail {

namespace {

using Clock = std::chrono::steady_clock;

void answer_all(std::vector<WaitingRequest>& requests, const std::exception_ptr& reason) {
    for (WaitingRequest& request : requests) {
        request.answer(reason);
    }
}

const std::exception_ptr& deadline_exceeded() {
    static const auto& error = *new std::exception_ptr(  // threads may outlive statics
        std::make_exception_ptr(Error(ErrorCode::deadline_exceeded,
                                      "the request was still waiting at its deadline; give it more "
                                      "time or a higher priority, or submit fewer requests")));
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

Error WaitingRequest::why_refused() const {
    if (refusals.size() == 1) {
        return refusals.begin()->second;
    }
    std::string text = "no device can answer this request";
    const Error* main = nullptr;  // one that may not come again, if there is one
    for (const auto& [device, refusal] : refusals) {
        text += (main == nullptr ? ": " : "; ") + std::string(refusal.what());
        main = main == nullptr || main->code() < refusal.code() ? &refusal : main;
    }
    return {main->code(), text, main->vk_result()};
}

bool RequestQueue::may_answer(std::uint32_t device, const WaitingRequest& request) const {
    return !lost_[device] && request.request.device.value_or(device) == device &&
           !request.refusals.contains(device);
}

bool RequestQueue::has_device(const WaitingRequest& request) const {
    for (std::uint32_t device = 0; device < lost_.size(); ++device) {
        if (may_answer(device, request)) {
            return true;
        }
    }
    return false;
}

RequestQueue::Requests::iterator RequestQueue::next_for(std::uint32_t device) {
    return std::ranges::find_if(
        waiting_, [&](const auto& entry) { return may_answer(device, entry.second); });
}

void RequestQueue::wake_all() {
    has_room_.notify_all();
    has_work_.notify_all();
    deadlines_changed_.notify_all();
}

// Removes requests with the mutex held, to be answered without it: a caller that waits for an
// answer may call the queue again at once.
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
        waiting_.empty() && closed_ ? wake_all() : has_room_.notify_all();
    }
    return removed;
}

std::vector<WaitingRequest> RequestQueue::remove_expired() {
    std::vector<WaitingRequest> expired =
        remove_if([now = Clock::now()](const Turn&, const WaitingRequest& request) {
            return request.request.deadline && *request.request.deadline <= now;
        });
    counts_.expired += expired.size();
    return expired;
}

std::optional<std::uint64_t> RequestQueue::push(WaitingRequest&& request, WhenFull when_full) {
    std::unique_lock lock(mutex_);
    if (when_full == WhenFull::wait) {
        has_room_.wait(
            lock, [&] { return waiting_.size() < capacity_ || closed_ || !has_device(request); });
    }
    if (closed_) {
        std::rethrow_exception(closed_);
    }
    if (!has_device(request)) {
        throw Error(*lost_[*request.request.device]);
    }
    if (waiting_.size() >= capacity_) {
        return std::nullopt;
    }
    request.number = counts_.pushed++;
    return insert(std::move(request));
}

std::uint64_t RequestQueue::insert(WaitingRequest&& request) {
    const std::uint64_t number = request.number;
    const bool is_for_any = !request.request.device && request.refusals.empty();
    const bool has_deadline = request.request.deadline.has_value();
    waiting_.emplace(Turn(-std::int64_t{request.request.priority}, number), std::move(request));
    is_for_any ? has_work_.notify_one() : has_work_.notify_all();
    if (has_deadline) {
        deadlines_changed_.notify_one();
    }
    return number;
}

bool RequestQueue::put_back(WaitingRequest& request) {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_ || !has_device(request)) {
        return false;
    }
    insert(std::move(request));
    return true;
}

void RequestQueue::done(std::size_t count) {
    const std::lock_guard lock(mutex_);
    running_ -= count;
    if (running_ == 0 && closed_) {
        wake_all();
    }
}

std::vector<WaitingRequest> RequestQueue::take(const Taker& taker) {
    while (true) {
        std::vector<WaitingRequest> expired;
        std::vector<WaitingRequest> taken;
        {
            std::unique_lock lock(mutex_);
            has_work_.wait(lock, [&] {
                return lost_[taker.device] || next_for(taker.device) != waiting_.end() ||
                       (closed_ && running_ == 0);
            });
            if (next_for(taker.device) == waiting_.end()) {
                return {};
            }
            expired = remove_expired();
            if (const auto first = next_for(taker.device); first != waiting_.end()) {
                taken = take_batch(taker, *first);
                running_ += taken.size();
            }
        }
        answer_all(expired, deadline_exceeded());
        if (!taken.empty()) {
            return taken;
        }
    }
}

std::vector<WaitingRequest> RequestQueue::take_batch(const Taker& taker,
                                                     const Requests::value_type& first) {
    const Turn turn = first.first;
    const MapShape shape = first.second.request.map.shape;
    const bool batches = taker.batches && first.second.batches;
    const Balance balance = first.second.request.options.balance;
    const bool is_for_any = !first.second.request.device;
    const auto fits = [&](const WaitingRequest& request) {
        return batches && request.batches && same_size(request.request.map.shape, shape) &&
               request.request.options.balance == balance && may_answer(taker.device, request);
    };
    std::uint64_t most = taker.max_layers;
    if (is_for_any && lost_.size() > 1) {  // the other devices get their share
        std::uint64_t waiting = 0;
        for (const auto& [other, request] : waiting_) {
            waiting += fits(request) ? request.request.map.shape.layers : 0;
        }
        const auto devices =
            static_cast<std::uint64_t>(std::ranges::count_if(lost_, std::logical_not()));
        most = std::min(most, (waiting + devices - 1) / devices);
    }
    std::uint64_t layers = 0;
    return remove_if([&](const Turn& other, const WaitingRequest& request) {
        const std::uint32_t more = request.request.map.shape.layers;
        const bool taken = other == turn || (fits(request) && layers + more <= most);
        layers += taken ? more : 0;
        return taken;
    });
}

bool RequestQueue::cancel(std::uint64_t number) {
    if (made_in_.is_forked()) {
        return false;
    }
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
    while (!closed_ || !waiting_.empty() || running_ != 0) {
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
        std::vector<WaitingRequest> expired = remove_expired();
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
    wake_all();
}

void RequestQueue::cancel_waiting(const std::exception_ptr& reason) {
    std::vector<WaitingRequest> cancelled;
    {
        const std::lock_guard lock(mutex_);
        is_cancelled_ = true;
        cancelled = remove_if([](const Turn&, const WaitingRequest&) { return true; });
        counts_.cancelled += cancelled.size();
    }
    answer_all(cancelled, reason);
}

void RequestQueue::lose(std::uint32_t device, const Error& why) {
    std::vector<WaitingRequest> failed;
    {
        const std::lock_guard lock(mutex_);
        if (lost_[device]) {
            return;
        }
        lost_[device] = why;
        if (!closed_ &&
            std::ranges::all_of(lost_, [](const auto& lost) { return lost.has_value(); })) {
            closed_ = std::make_exception_ptr(why);
        }
        failed = remove_if(
            [&](const Turn&, const WaitingRequest& request) { return !has_device(request); });
        counts_.failed += failed.size();
        wake_all();
    }
    for (WaitingRequest& request : failed) {
        request.refusals.emplace(device, why);
        request.answer(std::make_exception_ptr(request.why_refused()));
    }
}

RequestQueue::Counts RequestQueue::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace quadtile::detail
