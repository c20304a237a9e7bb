#include <quadtile/error.hpp>
#include <quadtile/service.hpp>
#include <quadtile/trace.hpp>

#include "running/request_queue.hpp"
#include "running/tile_engine.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace quadtile {

namespace {

using detail::BatchedMap;
using detail::MemoryAccount;
using detail::RequestQueue;
using detail::TileEngine;
using detail::WaitingRequest;

using Clock = std::chrono::steady_clock;

std::exception_ptr error(ErrorCode code, const std::string& message) {
    return std::make_exception_ptr(Error(code, message));
}

void check(const ServiceOptions& options) {
    if (options.lanes == 0 || options.max_batch_layers == 0 || options.queue_capacity == 0) {
        throw Error(ErrorCode::invalid_argument,
                    "a service needs at least one lane, one layer a batch and room for one "
                    "request; lanes, max_batch_layers and queue_capacity must not be 0");
    }
}

// One run at a time, by a thread of its own.
struct Lane {
    Lane(std::uint32_t index, const Device& device, const ServiceOptions& options)
        : name("lane " + std::to_string(index)),
          account(std::make_shared<MemoryAccount>(options.memory_limit_bytes != 0
                                                      ? options.memory_limit_bytes / options.lanes
                                                      : UINT64_MAX)),
          engine(new TileEngine(device,
                                {.strategy = options.strategy,
                                 .subtree_levels = options.subtree_levels,
                                 .gpu_timeout = options.gpu_timeout},
                                account)) {}

    std::string name;  // "lane 0"
    std::shared_ptr<MemoryAccount> account;
    detail::TileEnginePointer engine;
    std::thread thread;
};

}  // namespace

struct Service::Impl {
    Impl(const Device& given_device, const ServiceOptions& service_options)
        : device(given_device),
          options(service_options),
          queue(std::make_shared<RequestQueue>(options.queue_capacity)) {
        check(options);
        for (std::uint32_t i = 0; i < options.lanes; ++i) {
            lanes.push_back(std::make_unique<Lane>(i, device, options));
        }
        // From here on nothing throws but the start of a thread.
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
    [[nodiscard]] WaitingRequest admit(SubdivisionRequest&& request) const;
    [[nodiscard]] Ticket ticket_of(std::uint64_t number, std::future<TileList> result) const;
    void work(Lane& lane);
    void run(Lane& lane, std::vector<WaitingRequest>& batch);
    [[nodiscard]] std::vector<TileList> run_together(Lane& lane,
                                                     const std::vector<WaitingRequest>& batch);
    void run_alone(Lane& lane, WaitingRequest& waiting);
    void fail(WaitingRequest& waiting, const std::exception_ptr& failure);
    [[nodiscard]] bool note_loss(const std::exception_ptr& failure);
    void trace_run(const Lane& lane, Clock::time_point start, std::span<const TileList> lists);

    Device device;
    ServiceOptions options;
    std::shared_ptr<RequestQueue> queue;
    std::vector<std::unique_ptr<Lane>> lanes;
    std::thread deadline_watch;
    std::mutex join_mutex;
    std::atomic<std::uint64_t> succeeded = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> runs = 0;
    std::atomic<std::uint64_t> largest_batch = 0;
    std::atomic<std::uint64_t> traced_waits = 0;

    // The service whose thread this is.
    static thread_local const Impl* working_for;
};

thread_local const Service::Impl* Service::Impl::working_for = nullptr;

void Service::Impl::shutdown(Shutdown how) {
    const std::exception_ptr reason =
        error(ErrorCode::cancelled, "the service has been shut down; make a new one");
    queue->close(reason);
    if (how == Shutdown::cancel) {
        queue->fail_waiting(reason);
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

namespace {

// Copies of depth formats begin at multiples of 4 bytes (vkCmdCopyBufferToImage); all others where
// their texels may.
void check_alignment(const BufferRange& buffer, const MapShape& shape) {
    const VkDeviceSize layer_bytes =
        VkDeviceSize{shape.width} * shape.height * texel_size_bytes(shape.format);
    const VkDeviceSize alignment =
        shape.format == TexelFormat::d16_unorm ? 4 : texel_size_bytes(shape.format);
    if (buffer.offset_bytes % alignment != 0 ||
        (shape.layers > 1 && layer_bytes % alignment != 0)) {
        throw Error(ErrorCode::invalid_argument,
                    "each layer of this map in a buffer must begin at a multiple of " +
                        std::to_string(alignment) + " bytes, but the first begins at byte " +
                        std::to_string(buffer.offset_bytes) + " and each takes " +
                        std::to_string(layer_bytes));
    }
}

}  // namespace

// Checks what can be checked without the device.
WaitingRequest Service::Impl::admit(SubdivisionRequest&& request) const {
    const MapShape& shape = request.map.shape;
    check_shape(shape);
    const int sources = (request.map.texels != nullptr ? 1 : 0) + (request.image ? 1 : 0) +
                        (request.buffer ? 1 : 0);
    if (sources != 1 || (request.image && request.image->view == VK_NULL_HANDLE) ||
        (request.buffer && request.buffer->buffer == VK_NULL_HANDLE)) {
        throw Error(ErrorCode::invalid_argument,
                    "a request needs texels, the view of an image or a buffer, and one of them "
                    "only");
    }
    if (request.buffer) {
        check_alignment(*request.buffer, shape);
    }
    request.threshold.check_fits(shape);
    const bool by_level = !request.threshold.is_by_node();
    const bool strategy_batches =
        options.strategy == Strategy::fused ||
        (options.strategy == Strategy::automatic && device.info().type != "CPU");
    const bool batches = strategy_batches && !request.image && !request.options.max_tiles &&
                         by_level &&
                         request.threshold.is_monotone(top_level(shape.width, shape.height));
    return {
        .request = std::move(request), .batches = batches, .promise = {}, .arrival = Clock::now()};
}

Ticket Service::Impl::ticket_of(std::uint64_t number, std::future<TileList> result) const {
    Ticket ticket;
    ticket.result = std::move(result);
    ticket.queue_ = queue;
    ticket.number_ = number;
    return ticket;
}

void Service::Impl::work(Lane& lane) {
    const std::uint32_t max_layers = std::min(options.max_batch_layers, device.info().max_layers);
    while (true) {
        std::vector<WaitingRequest> batch = queue->take(max_layers);
        if (batch.empty()) {
            return;
        }
        ++runs;
        std::uint64_t largest = largest_batch;
        while (largest < batch.size() &&
               !largest_batch.compare_exchange_weak(largest, batch.size())) {
        }
        run(lane, batch);
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
        } catch (...) {
            const std::exception_ptr failure = std::current_exception();
            if (note_loss(failure)) {
                for (WaitingRequest& waiting : batch) {
                    fail(waiting, failure);
                }
                return;
            }
            device.context()->say(Severity::info, "a run of " + std::to_string(batch.size()) +
                                                      " maps failed: each is tried alone");
            lane.engine->forget_resources();
        }
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (lists.empty()) {
            run_alone(lane, batch[i]);
            continue;
        }
        ++succeeded;
        batch[i].answer(std::move(lists[i]));
    }
}

std::vector<TileList> Service::Impl::run_together(Lane& lane,
                                                  const std::vector<WaitingRequest>& batch) {
    const Clock::time_point start = Clock::now();
    std::vector<BatchedMap> maps;
    for (const WaitingRequest& waiting : batch) {
        maps.push_back({waiting.request.map, waiting.request.buffer.value_or(BufferRange{}),
                        &waiting.request.threshold});
    }
    std::vector<TileList> lists = lane.engine->subdivide(maps);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        note_wait(lists[i], batch[i], start);
    }
    trace_run(lane, start, lists);
    return lists;
}

void Service::Impl::run_alone(Lane& lane, WaitingRequest& waiting) {
    const Clock::time_point start = Clock::now();
    const SubdivisionRequest& request = waiting.request;
    for (bool again = true;; again = false) {
        try {
            TileList list =
                request.image ? lane.engine->subdivide(*request.image, request.map.shape,
                                                       request.threshold, request.options)
                : request.buffer
                    ? lane.engine->subdivide(*request.buffer, request.map.shape, request.threshold,
                                             request.options)
                    : lane.engine->subdivide(request.map, request.threshold, request.options);
            note_wait(list, waiting, start);
            trace_run(lane, start, {&list, 1});
            ++succeeded;
            waiting.answer(std::move(list));
            return;
        } catch (const Error& failure) {
            // What is kept for other shapes may be what is missing.
            if (failure.code() == ErrorCode::out_of_memory && again) {
                lane.engine->forget_resources();
                continue;
            }
            (void)note_loss(std::current_exception());
            fail(waiting, std::current_exception());
            return;
        } catch (...) {
            fail(waiting, std::current_exception());
            return;
        }
    }
}

// The lists of one run: its stages once, and how long each of its requests has waited.
void Service::Impl::trace_run(const Lane& lane, Clock::time_point start,
                              std::span<const TileList> lists) {
    if (!options.trace) {
        return;
    }
    std::uint64_t tiles = 0;
    std::uint64_t layers = 0;
    for (const TileList& list : lists) {
        tiles += list.tiles.size();
        layers += list.shape.layers;
        options.trace->add({.name = "wait",
                            .track = "requests",
                            .start = list.report.stages.front().start,
                            .duration = start - list.report.stages.front().start,
                            .id = ++traced_waits});
    }
    const TileList& first = lists.front();
    const std::string count = std::to_string(lists.size());
    options.trace->add({.name = "run of " + count + (lists.size() == 1 ? " map" : " maps"),
                        .track = lane.name,
                        .start = start,
                        .duration = Clock::now() - start,
                        .details = {{"width", std::to_string(first.shape.width)},
                                    {"height", std::to_string(first.shape.height)},
                                    {"layers", std::to_string(layers)},
                                    {"tiles", std::to_string(tiles)},
                                    {"repeats", std::to_string(first.report.buffer_repeats)}}});
    options.trace->add(std::span(first.report.stages).subspan(1), lane.name);
}

void Service::Impl::fail(WaitingRequest& waiting, const std::exception_ptr& failure) {
    ++failed;
    waiting.answer(failure);
}

// Whether a failure is the loss of the device, after which nothing can be answered any more.
bool Service::Impl::note_loss(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::device_lost) {
            return false;
        }
    } catch (...) {
        return false;
    }
    queue->close(failure);
    queue->fail_waiting(failure);
    return true;
}

bool Ticket::cancel() const {
    const std::shared_ptr<detail::RequestQueue> queue = queue_.lock();
    return queue && queue->cancel(number_);
}

Service::Service(const Device& device, const ServiceOptions& options)
    : impl_(std::make_shared<Impl>(device, options)) {}

Service::~Service() {
    if (Impl::working_for == impl_.get()) {
        std::thread([impl = std::move(impl_)] { impl->shutdown(Shutdown::finish); }).detach();
    } else {
        impl_->shutdown(Shutdown::finish);
    }
}

// An owner of texels may destroy the service during the calls below.

Ticket Service::submit(SubdivisionRequest request) {
    const std::shared_ptr<Impl> impl = impl_;
    WaitingRequest waiting = impl->admit(std::move(request));
    std::future<TileList> result = waiting.promise.get_future();
    const auto number = impl->queue->push(std::move(waiting), RequestQueue::WhenFull::wait);
    return impl->ticket_of(number.value(), std::move(result));
}

std::optional<Ticket> Service::try_submit(SubdivisionRequest request) {
    const std::shared_ptr<Impl> impl = impl_;
    WaitingRequest waiting = impl->admit(std::move(request));
    std::future<TileList> result = waiting.promise.get_future();
    const auto number = impl->queue->push(std::move(waiting), RequestQueue::WhenFull::refuse);
    if (!number) {
        return std::nullopt;
    }
    return impl->ticket_of(*number, std::move(result));
}

void Service::shutdown(Shutdown how) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->shutdown(how);
}

ServiceStatistics Service::statistics() const {
    const RequestQueue::Counts counts = impl_->queue->counts();
    ServiceStatistics statistics{.submitted = counts.pushed,
                                 .succeeded = impl_->succeeded,
                                 .failed = impl_->failed + counts.failed,
                                 .cancelled = counts.cancelled,
                                 .expired = counts.expired,
                                 .runs = impl_->runs,
                                 .largest_batch = impl_->largest_batch};
    for (const auto& lane : impl_->lanes) {
        statistics.memory_bytes += lane->account->used_bytes();
        statistics.most_memory_bytes += lane->account->most_used_bytes();
    }
    return statistics;
}

}  // namespace quadtile
