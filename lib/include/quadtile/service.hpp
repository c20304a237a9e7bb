/// \file
/// Asynchronous subdivision: requests from any thread, tile lists in futures.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/image.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <vector>

namespace quadtile {

namespace detail {
class RequestQueue;
}

/// Options of a Service.
struct ServiceOptions {
    /// Strategy of the lanes, as for Tiler. `automatic` makes batches on GPUs only, because CPU
    /// drivers are faster map by map; `fused` makes batches on every device.
    Strategy strategy = Strategy::automatic;
    std::uint32_t subtree_levels = 6;  ///< 1 to 8, for `subtree`
    /// Number of runs on each device at the same time. Each lane has a thread and buffers of its
    /// own, and fills its staging memory while other lanes compute.
    std::uint32_t lanes = 2;
    /// Most layers in one run, if that many of one shape wait. Each of several devices takes its
    /// share of the waiting layers.
    std::uint32_t max_batch_layers = 64;
    /// Most requests that may wait. If the queue is full, submit() waits and try_submit() refuses.
    std::size_t queue_capacity = 256;
    /// Limit of device and staging memory for each device, pipelines not counted; 0: no limit. Each
    /// lane of the device has an equal part. A request that needs more fails with out_of_memory.
    std::uint64_t memory_limit_bytes = 0;
    /// Longest run on a device, as for Tiler. A longer run counts as a lost device.
    std::chrono::milliseconds gpu_timeout{60'000};
    /// Whether the service runs requests again, on another device, if their device is lost while
    /// they run; default: false. A request is repeated once, since it may itself hang devices.
    bool repeat_lost = false;
};

/// A map and the options of its subdivision.
struct SubdivisionRequest {
    /// The map in host memory. The texels must stay unchanged until the request is answered:
    /// `texels_owner` or the caller keeps them alive.
    MapView map;
    /// Keeps the texels alive. Null: the caller does.
    ///
    /// The service releases the owner right before it answers, with a list, an error, a passed
    /// deadline, a cancellation or a shutdown. A request that submit() or try_submit() does not
    /// take releases it before they return.
    ///
    /// The answering thread runs the owner's destructor and holds no lock meanwhile. It is a thread
    /// of the service, or one that calls cancel() or shutdown(). So the destructor may call any
    /// function of the service, and may destroy the service. On a thread of the service submit()
    /// may wait for room for ever: call try_submit() there.
    std::shared_ptr<const void> texels_owner = nullptr;
    /// Number, in the service's list, of the only device that may answer. Null: any device.
    std::optional<std::uint32_t> device = std::nullopt;
    Threshold threshold;            ///< required, no default
    SubdivideOptions options = {};  ///< the lists of a batch are in canonical order in any case
    /// Requests of higher priority run first, equal ones in order of arrival. A request that fits
    /// into a batch joins it before its turn.
    int priority = 0;
    /// Latest time at which the request may still wait. Then it fails with deadline_exceeded.
    std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
};

/// Handle of a request that the service has taken. Destroying it does not cancel the request.
class QUADTILE_API Ticket {
 public:
    /// The tile list, or an Error: one of Tiler::subdivide, cancelled or deadline_exceeded. If
    /// several devices failed, the Error has the reason of each. The first stage of the list is
    /// "wait"; the others are those of its batch.
    std::future<TileList> result;

    /// Cancels the request if it still waits, and returns whether it did. The result of a cancelled
    /// request is Error(cancelled). Thread-safe.
    bool cancel() const;

 private:
    friend class Service;
    std::weak_ptr<detail::RequestQueue> queue_;
    std::uint64_t number_ = 0;
};

/// Counts of one device since the Service was made.
struct DeviceStatistics {
    bool lost = false;            ///< whether it is lost and takes no more requests
    std::uint64_t runs = 0;       ///< each of one request or of a batch
    std::uint64_t succeeded = 0;  ///< requests answered with a tile list
};

/// Counts of a Service since it was made. Requests that are submitted and not counted elsewhere
/// wait or run.
struct ServiceStatistics {
    std::uint64_t submitted = 0;  ///< requests taken
    std::uint64_t succeeded = 0;  ///< requests answered with a tile list
    std::uint64_t failed = 0;  ///< answered with an Error of the device, the memory or the request
    std::uint64_t cancelled = 0;  ///< by Ticket::cancel or a shutdown
    std::uint64_t expired = 0;    ///< not run before their deadline

    std::uint64_t runs = 0;               ///< each of one request or of a batch
    std::uint64_t largest_batch = 0;      ///< requests in it
    std::uint64_t memory_bytes = 0;       ///< device and staging memory in use now
    std::uint64_t most_memory_bytes = 0;  ///< sum of the largest amounts that each lane has used

    std::vector<DeviceStatistics> devices;  ///< in the order of the service's list
};

/// Treatment of waiting requests when a Service ends.
enum class Shutdown {
    finish,  ///< waiting requests are answered
    cancel,  ///< waiting requests get Error(cancelled); running ones are finished
};

/// Subdivides maps for any number of threads, and answers each request exactly once.
///
/// Requests with maps of one width, height and format go into one run as layers, each with its own
/// threshold, if their thresholds are per level and monotone and they have no budget. If a batch
/// fails, each of its requests is run again alone, so that one request cannot spoil the others.
///
/// With several devices the first free lane of any device takes a request. A request that one
/// device cannot answer (the map is too large, memory is short) goes to the other devices. If a
/// device is lost, its running requests get Error(device_lost), or are repeated
/// (ServiceOptions::repeat_lost). If the last device is lost, so do all waiting and later requests;
/// then make new Devices and a new Service.
///
/// Thread-safe.
class QUADTILE_API Service {
 public:
    /// Starts the lanes. Throws Error as Tiler's constructor does, and Error(invalid_argument) if
    /// lanes, max_batch_layers or queue_capacity is 0.
    explicit Service(const Device& device, const ServiceOptions& options = {});
    /// Starts the lanes of several devices, which may be of different kinds. Their numbers are
    /// their places in this list, from 0. Throws Error as above, and Error(invalid_argument) if the
    /// list is empty.
    explicit Service(const std::vector<Device>& devices, const ServiceOptions& options = {});
    /// Ends the service by shutdown(Shutdown::finish). If an owner of texels
    /// (SubdivisionRequest::texels_owner) destroys the service on one of its own threads, a
    /// background thread waits for the answers instead, and then frees the service's device
    /// objects. Keep an adopted device and the program alive until then.
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// Puts a request into the queue; waits while the queue is full. Throws Error: invalid_argument
    /// for a shape, texels or a threshold that cannot be subdivided; cancelled after shutdown();
    /// device_lost if no device is left that may answer.
    [[nodiscard]] Ticket submit(SubdivisionRequest request);

    /// Does the same without waiting. Returns no ticket if the queue is full.
    [[nodiscard]] std::optional<Ticket> try_submit(SubdivisionRequest request);

    /// Stops taking requests, and returns when all requests that were taken are answered. It may be
    /// called several times, also concurrently. On a thread of the service (see
    /// SubdivisionRequest::texels_owner) it returns at once.
    void shutdown(Shutdown how = Shutdown::finish);

    /// Returns the current counts. A request that ends meanwhile may be in some of them only.
    [[nodiscard]] ServiceStatistics statistics() const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace quadtile
