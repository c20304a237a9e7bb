#include <quadtile/error.hpp>
#include <quadtile/service.hpp>

#include "running/request_queue.hpp"
#include "running/tile_engine.hpp"
#include "values/layers_and_budgets.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace quadtile {

namespace {

using detail::MemoryAccount;
using detail::RequestQueue;
using detail::TileEngine;
using detail::WaitingRequest;

using Clock = std::chrono::steady_clock;

void check(const std::vector<Device>& devices, const ServiceOptions& options) {
    if (devices.empty()) {
        detail::refuse("the list of devices is empty; a service needs at least one device");
    }
    if (options.lanes == 0 || options.max_batch_layers == 0 || options.queue_capacity == 0) {
        detail::refuse(
            "a service needs at least one lane, one layer per batch and room for one "
            "request; set lanes, max_batch_layers and queue_capacity above 0");
    }
}

// A device of the service.
struct Site {
    Site(std::uint32_t i, const Device& of) : number(i), device(of) {}

    [[nodiscard]] Error named(const Error& failure) const {
        return {failure.code(), name + failure.what(), failure.vk_result()};
    }

    std::uint32_t number;
    Device device;
    std::string name;  // "device 0 (llvmpipe): " if there are several, else empty
    std::atomic<bool> lost = false;
    std::atomic<std::uint64_t> runs = 0;
    std::atomic<std::uint64_t> succeeded = 0;
};

// A lane: one run at a time, by a thread of its own.
struct Lane {
    Lane(std::uint32_t index, Site& of, const ServiceOptions& options)
        : site(of),
          name(of.name + "lane " + std::to_string(index)),
          account(std::make_shared<MemoryAccount>(options.memory_limit_bytes != 0
                                                      ? options.memory_limit_bytes / options.lanes
                                                      : UINT64_MAX)),
          engine(new TileEngine(of.device,
                                {.strategy = options.strategy,
                                 .subtree_levels = options.subtree_levels,
                                 .gpu_timeout = options.gpu_timeout},
                                account)) {}

    Site& site;
    std::string name;  // "lane 0"
    std::shared_ptr<MemoryAccount> account;
    detail::TileEnginePointer engine;
    std::thread thread;
};

}  // namespace

struct Service::Impl : detail::EndsWithProcess {
    Impl(const std::vector<Device>& devices, const ServiceOptions& service_options)
        : options(service_options),
          queue(std::make_shared<RequestQueue>(options.queue_capacity, devices.size())) {
        check(devices, options);
        for (const Device& device : devices) {
            Site& site = sites.emplace_back(static_cast<std::uint32_t>(sites.size()), device);
            if (devices.size() > 1) {
                site.name =
                    "device " + std::to_string(site.number) + " (" + device.info().name + "): ";
            }
            try {
                for (std::uint32_t i = 0; i < options.lanes; ++i) {
                    lanes.push_back(std::make_unique<Lane>(i, site, options));
                }
            } catch (const Error& failure) {
                throw site.named(failure);
            }
        }
        // After this only the start of a thread may throw.
        try {
            for (const auto& lane : lanes) {
                lane->thread = std::thread([this, &used = *lane] {
                    working_for = this;
                    work(used);
                });
            }
            deadline_watch = std::thread([this] {
                working_for = this;
                queue->watch_deadlines();
            });
        } catch (...) {
            shutdown(Shutdown::cancel);
            throw;
        }
    }

    void shutdown(Shutdown how);
    void end() noexcept override;
    [[nodiscard]] WaitingRequest admit(SubdivisionRequest&& request) const;
    std::optional<Ticket> push(SubdivisionRequest&& request, RequestQueue::WhenFull when_full);
    void work(Lane& lane);
    void run(Lane& lane, std::vector<WaitingRequest>& batch);
    [[nodiscard]] std::vector<TileList> run_together(Lane& lane,
                                                     const std::vector<WaitingRequest>& batch);
    void run_alone(Lane& lane, WaitingRequest& waiting);
    void fail(WaitingRequest& waiting, const std::exception_ptr& failure);
    void fail_on(Site& site, WaitingRequest& waiting, const Error& failure);

    detail::MadeIn made_in;
    ServiceOptions options;
    std::shared_ptr<RequestQueue> queue;
    std::deque<Site> sites;
    std::vector<std::unique_ptr<Lane>> lanes;
    std::thread deadline_watch;
    std::mutex join_mutex;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> largest_batch = 0;

    // Service that the current thread belongs to.
    static thread_local const Impl* working_for;
};

thread_local const Service::Impl* Service::Impl::working_for = nullptr;

void Service::Impl::shutdown(Shutdown how) {
    if (made_in.is_forked()) {
        return;
    }
    const std::exception_ptr reason = std::make_exception_ptr(
        Error(ErrorCode::cancelled, "the service has been shut down; make a new one"));
    queue->close(reason);
    if (how == Shutdown::cancel) {
        queue->cancel_waiting(reason);
    }
    if (working_for == this) {  // a thread cannot wait for itself
        return;
    }
    const std::lock_guard lock(join_mutex);
    for (const auto& lane : lanes) {
        if (lane->thread.joinable()) {
            lane->thread.join();
        }
    }
    if (deadline_watch.joinable()) {
        deadline_watch.join();
    }
}

void Service::Impl::end() noexcept {
    try {
        shutdown(Shutdown::cancel);
    } catch (...) {  // NOLINT(bugprone-empty-catch): nothing can be reported here
    }
}

// Checks a request as far as possible without the device.
WaitingRequest Service::Impl::admit(SubdivisionRequest&& request) const {
    made_in.check();
    const MapShape& shape = request.map.shape;
    check_shape(shape);
    check_texels(request.map);
    if (request.device && *request.device >= sites.size()) {
        detail::refuse("the request is for device ", *request.device, ", but the service has ",
                       sites.size(), ", numbered from 0");
    }
    request.threshold.check_fits(shape);
    detail::check_balance(request.options);
    const bool batches = !request.options.max_tiles && !request.threshold.is_by_node() &&
                         request.threshold.is_monotone(top_level(shape.width, shape.height));
    return {
        .request = std::move(request), .batches = batches, .promise = {}, .arrival = Clock::now()};
}

// Returns no ticket if the queue is full and does not wait.
std::optional<Ticket> Service::Impl::push(SubdivisionRequest&& request,
                                          RequestQueue::WhenFull when_full) {
    WaitingRequest waiting = admit(std::move(request));
    Ticket ticket;
    ticket.result = waiting.promise.get_future();
    ticket.queue_ = queue;
    const std::optional<std::uint64_t> number = queue->push(std::move(waiting), when_full);
    if (!number) {
        return std::nullopt;
    }
    ticket.number_ = *number;
    return ticket;
}

void Service::Impl::work(Lane& lane) {
    const DeviceInfo& info = lane.site.device.info();
    const RequestQueue::Taker taker{
        .device = lane.site.number,
        .max_layers = std::min(options.max_batch_layers, info.max_layers),
        .batches = options.strategy == Strategy::fused ||
                   (options.strategy == Strategy::automatic && info.type != "CPU")};
    while (true) {
        std::vector<WaitingRequest> batch = queue->take(taker);
        if (batch.empty()) {
            return;
        }
        ++lane.site.runs;
        std::uint64_t largest = largest_batch;
        while (largest < batch.size() &&
               !largest_batch.compare_exchange_weak(largest, batch.size())) {
        }
        run(lane, batch);
        queue->done(batch.size());
    }
}

namespace {

void note_wait(TileList& list, const WaitingRequest& waiting, Clock::time_point start) {
    const std::chrono::duration<double, std::milli> wait = start - waiting.arrival;
    list.report.stages.insert(list.report.stages.begin(),
                              {"wait", wait.count(), false, waiting.arrival});
}

}  // namespace

void Service::Impl::run(Lane& lane, std::vector<WaitingRequest>& batch) {
    std::vector<TileList> lists;
    if (batch.size() > 1) {
        try {
            lists = run_together(lane, batch);
        } catch (const Error& failure) {
            if (failure.code() == ErrorCode::device_lost) {
                for (WaitingRequest& waiting : batch) {
                    fail_on(lane.site, waiting, failure);
                }
                return;
            }
        } catch (...) {  // each request is run again alone
        }
        if (lists.empty()) {
            lane.site.device.context()->say(
                Severity::info,
                "a run of " + std::to_string(batch.size()) + " maps failed: each is tried alone");
            lane.engine->forget_resources();
        }
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (lists.empty()) {
            run_alone(lane, batch[i]);
            continue;
        }
        ++lane.site.succeeded;
        batch[i].answer(std::move(lists[i]));
    }
}

std::vector<TileList> Service::Impl::run_together(Lane& lane,
                                                  const std::vector<WaitingRequest>& batch) {
    const Clock::time_point start = Clock::now();
    std::vector<MapView> maps;
    std::vector<Threshold> thresholds;
    for (const WaitingRequest& waiting : batch) {
        const SubdivisionRequest& request = waiting.request;
        maps.push_back(request.map);
        thresholds.insert(thresholds.end(), request.map.shape.layers, request.threshold);
    }
    std::vector<TileList> lists = lane.engine->subdivide(
        maps, thresholds,
        {.order = Order::canonical, .balance = batch.front().request.options.balance});
    for (std::size_t i = 0; i < batch.size(); ++i) {
        note_wait(lists[i], batch[i], start);
    }
    return lists;
}

void Service::Impl::run_alone(Lane& lane, WaitingRequest& waiting) {
    const Clock::time_point start = Clock::now();
    const SubdivisionRequest& request = waiting.request;
    for (bool again = true;; again = false) {
        try {
            std::vector<TileList> lists =
                lane.engine->subdivide({&request.map, 1}, {&request.threshold, 1}, request.options);
            note_wait(lists.front(), waiting, start);
            ++lane.site.succeeded;
            waiting.answer(std::move(lists.front()));
            return;
        } catch (const Error& failure) {
            // Resources kept for other shapes may take the missing memory.
            if (failure.code() == ErrorCode::out_of_memory && again) {
                lane.engine->forget_resources();
                continue;
            }
            fail_on(lane.site, waiting, failure);
            return;
        } catch (...) {
            fail(waiting, std::current_exception());
            return;
        }
    }
}

void Service::Impl::fail(WaitingRequest& waiting, const std::exception_ptr& failure) {
    ++failed;
    waiting.answer(failure);
}

// Handles a device's failure. Another device may answer, unless the request itself is at fault.
void Service::Impl::fail_on(Site& site, WaitingRequest& waiting, const Error& failure) {
    if (failure.code() == ErrorCode::invalid_argument) {
        fail(waiting, std::make_exception_ptr(failure));
        return;
    }
    const Error named = site.named(failure);
    waiting.refusals.emplace(site.number, named);
    bool may_repeat = true;
    if (failure.code() == ErrorCode::device_lost) {
        site.lost = true;
        queue->lose(site.number, named);
        const auto is_loss = [](const auto& refusal) {
            return refusal.second.code() == ErrorCode::device_lost;
        };
        may_repeat = options.repeat_lost && std::ranges::count_if(waiting.refusals, is_loss) == 1;
    }
    if (!may_repeat || !queue->put_back(waiting)) {
        fail(waiting, std::make_exception_ptr(waiting.why_refused()));
    }
}

bool Ticket::cancel() const {
    const std::shared_ptr<detail::RequestQueue> queue = queue_.lock();
    return queue && queue->cancel(number_);
}

Service::Service(const Device& device, const ServiceOptions& options)
    : Service(std::vector{device}, options) {}

Service::Service(const std::vector<Device>& devices, const ServiceOptions& options)
    : impl_(std::make_shared<Impl>(devices, options)) {
    detail::end_with_process(impl_);
}

Service::~Service() {
    if (impl_->made_in.is_forked()) {
        // Its threads are the parent's.
        auto* const kept = new std::shared_ptr<Impl>(std::move(impl_));
        detail::abandon(reinterpret_cast<std::uint64_t>(kept));
    } else if (Impl::working_for == impl_.get()) {
        std::thread([impl = std::move(impl_)] { impl->shutdown(Shutdown::finish); }).detach();
    } else {
        impl_->shutdown(Shutdown::finish);
    }
}

// An owner of texels may destroy the service during the following calls.

Ticket Service::submit(SubdivisionRequest request) {
    const std::shared_ptr<Impl> impl = impl_;
    return impl->push(std::move(request), RequestQueue::WhenFull::wait).value();
}

std::optional<Ticket> Service::try_submit(SubdivisionRequest request) {
    const std::shared_ptr<Impl> impl = impl_;
    return impl->push(std::move(request), RequestQueue::WhenFull::refuse);
}

void Service::shutdown(Shutdown how) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->shutdown(how);
}

ServiceStatistics Service::statistics() const {
    impl_->made_in.check();
    const RequestQueue::Counts counts = impl_->queue->counts();
    ServiceStatistics statistics{.submitted = counts.pushed,
                                 .failed = impl_->failed + counts.failed,
                                 .cancelled = counts.cancelled,
                                 .expired = counts.expired,
                                 .largest_batch = impl_->largest_batch};
    for (const Site& site : impl_->sites) {
        statistics.devices.push_back(
            {.lost = site.lost, .runs = site.runs, .succeeded = site.succeeded});
        statistics.runs += site.runs;
        statistics.succeeded += site.succeeded;
    }
    for (const auto& lane : impl_->lanes) {
        statistics.memory_bytes += lane->account->used_bytes();
        statistics.most_memory_bytes += lane->account->most_used_bytes();
    }
    return statistics;
}

}  // namespace quadtile
