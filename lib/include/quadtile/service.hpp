/// \file
/// Maps from any thread, tile lists in futures.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/image.hpp>
#include <quadtile/pyramid.hpp>
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

class TraceFile;  ///< quadtile/trace.hpp

namespace detail {
class RequestQueue;
}

/// How a Service works.
struct ServiceOptions {
    /// As for Tiler. `automatic` puts maps together into batches on GPUs only: CPU drivers are
    /// faster map by map. `fused` does it on every device.
    Strategy strategy = Strategy::automatic;
    std::uint32_t subtree_levels = 6;  ///< 1 to 8, for `subtree`
    /// Runs on each device at the same time: each lane has a thread and buffers of its own, and
    /// fills its staging memory while others compute.
    std::uint32_t lanes = 2;
    /// Layers that go into one run, where so many of one shape wait; of several devices each takes
    /// its part of them.
    std::uint32_t max_batch_layers = 64;
    /// Requests that may wait. Then submit() waits, too, and try_submit() refuses.
    std::size_t queue_capacity = 256;
    /// Of device and staging memory for each device, pipelines not counted; each of its lanes has
    /// an equal part. A request that needs more than that fails with out_of_memory. 0: no limit.
    std::uint64_t memory_limit_bytes = 0;
    /// As for Tiler: a run that takes longer counts as a lost device.
    std::chrono::milliseconds gpu_timeout{60'000};
    /// Whether requests that ran on a device when it was lost are run on another one, once: one
    /// with which a second device is lost fails. Off by default: a request may be what has hung the
    /// device, by GLSL of the caller's for one, and would take the second with it.
    bool repeat_lost = false;
    /// Where the lanes' runs with their stages go, and how long requests wait. Null: nowhere.
    std::shared_ptr<TraceFile> trace = nullptr;
};

/// A map, and what is wanted of it.
struct SubdivisionRequest {
    /// The texels must stay as they are until the request is answered: by their owner, or by the
    /// caller's care.
    MapView map;
    /// Of the texels; null: the caller cares. The service lets go of it right before it answers,
    /// whatever the answer is: a list, an error, a passed deadline, a cancellation or a shutdown. A
    /// request that try_submit() or submit() does not take lets go of it before they return. The
    /// thread that answers does it, a thread of the service's or one that calls cancel() or
    /// shutdown(), and holds no lock then. So the owner's destructor may call everything here, and
    /// may destroy the service; but on a thread of the service's submit() may wait for room for
    /// ever: call try_submit().
    std::shared_ptr<const void> texels_owner = nullptr;
    /// Instead of texels (then null) an image of the service's device, of `map.shape`: a view of
    /// type 2D_ARRAY of all its layers, in this layout. What writes it was submitted before to the
    /// same queue and makes it available and visible to COMPUTE_SHADER / SHADER_READ at its end. It
    /// must stay as it is until the request is answered. Never part of a batch.
    std::optional<MapImage> image = std::nullopt;
    /// Instead of both a buffer of the service's device (TRANSFER_SRC) that holds the texels as
    /// host memory would: rows from the top, layer after layer, without padding; depth formats at
    /// multiples of 4 bytes. What writes it was submitted before to the same queue and makes it
    /// available and visible to TRANSFER / TRANSFER_READ at its end. It must stay as it is until
    /// the request is answered.
    std::optional<BufferRange> buffer = std::nullopt;
    /// The only device that may answer, by its number in the service's list. Needed where a service
    /// of several devices gets an image or a buffer: it is one of that device. Null: any.
    std::optional<std::uint32_t> device = std::nullopt;
    Threshold threshold;            ///< there is no default
    SubdivideOptions options = {};  ///< a batch's lists are canonical in any case
    /// Higher ones first; equal ones in the order in which they came. One that fits into a batch is
    /// taken along before its turn.
    int priority = 0;
    /// If it still waits then, it fails with deadline_exceeded.
    std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
};

/// A request that was taken. Letting go of it does not cancel the request.
class QUADTILE_API Ticket {
 public:
    /// The tile list, or an Error: of Tiler::subdivide, or cancelled, deadline_exceeded. Where
    /// several devices failed, the Error has the reason of each. The list's first
    /// stage is "wait", its others are those of the batch that it was in.
    std::future<TileList> result;

    /// Takes the request back: true where it still waited; its result is then Error(cancelled).
    /// Thread-safe.
    bool cancel() const;

 private:
    friend class Service;
    std::weak_ptr<detail::RequestQueue> queue_;
    std::uint64_t number_ = 0;
};

/// What one device of a Service has done since that was made.
struct DeviceStatistics {
    bool lost = false;            ///< takes no more requests
    std::uint64_t runs = 0;       ///< of one request or a batch
    std::uint64_t succeeded = 0;  ///< requests answered by a tile list
};

/// What a Service has done since it was made. Of what was submitted, what is in none of the next
/// four still waits or runs.
struct ServiceStatistics {
    std::uint64_t submitted = 0;  ///< requests that were taken
    std::uint64_t succeeded = 0;  ///< answered by a tile list
    std::uint64_t failed = 0;     ///< by an Error of the device, the memory or the request
    std::uint64_t cancelled = 0;  ///< by Ticket::cancel or a shutdown
    std::uint64_t expired = 0;    ///< past their deadline

    std::uint64_t runs = 0;               ///< of one request or a batch
    std::uint64_t largest_batch = 0;      ///< requests
    std::uint64_t memory_bytes = 0;       ///< taken now
    std::uint64_t most_memory_bytes = 0;  ///< the sum of the most that each lane has taken

    std::vector<DeviceStatistics> devices;  ///< in the order of the service's list
};

/// What becomes of requests that wait when a Service ends.
enum class Shutdown {
    finish,  ///< answer what waits
    cancel,  ///< what waits gets Error(cancelled); what runs is finished
};

/// Subdivides maps for any number of threads. Each request is answered exactly once.
///
/// Requests whose maps have one width, height and format go into one run as layers, each with its
/// own threshold, where their thresholds are by level and monotone and they have no budget. What
/// fails in a batch is tried again alone, so that one request cannot spoil the others.
///
/// With several devices each request goes to the first lane that is free, of whatever device: all
/// give the same tiles. What one device cannot take (the map is too large, it is out of memory, it
/// lacks what GLSL of the caller's needs) goes to the others. When a device is lost, what runs
/// there gets Error(device_lost), or is repeated (ServiceOptions::repeat_lost); the other devices
/// go on. When the last is lost, everything that waits and everything that comes later gets
/// Error(device_lost); make new Devices and a new Service then.
///
/// Thread-safe.
class QUADTILE_API Service {
 public:
    /// Starts the lanes. Throws Error as Tiler's constructor does; invalid_argument for options of
    /// 0.
    explicit Service(const Device& device, const ServiceOptions& options = {});
    /// The same on several devices, which may be of different kinds. Their numbers are those of
    /// this list, from 0 on. Throws Error(invalid_argument) where it is empty.
    explicit Service(const std::vector<Device>& devices, const ServiceOptions& options = {});
    /// shutdown(Shutdown::finish). Where an owner of texels (SubdivisionRequest::texels_owner)
    /// destroys it on one of its own threads, a thread in the background waits instead, and frees
    /// what the service has of the device when all requests are answered: an adopted device must
    /// live until then, and the program should.
    ~Service();
    Service(const Service&) = delete;             ///< threads work on it
    Service& operator=(const Service&) = delete;  ///< threads work on it

    /// Waits while the queue is full.
    /// Throws Error: invalid_argument for a shape, texels or a threshold that cannot be subdivided,
    /// cancelled after shutdown(), device_lost where no device is left that may answer.
    [[nodiscard]] Ticket submit(SubdivisionRequest request);

    /// The same, but none where the queue is full.
    [[nodiscard]] std::optional<Ticket> try_submit(SubdivisionRequest request);

    /// Takes no more requests, and returns when all that were taken are answered. submit() then
    /// throws Error(cancelled). May be called more than once, also at the same time: one
    /// Shutdown::cancel cancels what the others wait for. On a thread of the service's (see
    /// SubdivisionRequest::texels_owner) it returns at once.
    void shutdown(Shutdown how = Shutdown::finish);

    /// The counts of this moment; requests that end meanwhile may be in some and not in others.
    [[nodiscard]] ServiceStatistics statistics() const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace quadtile
