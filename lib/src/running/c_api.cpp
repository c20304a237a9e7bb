#include <quadtile/quadtile.h>
#include <quadtile/error.hpp>
#include <quadtile/service.hpp>

#include "device/process.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace quadtile;
using detail::refuse;

// A list of Tiles is returned as a list of quadtile_tiles. The bits are the same: x and y, level,
// flags and layer lie as little-endian machines read them.
static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(quadtile_tile) == sizeof(Tile) && alignof(quadtile_tile) <= alignof(Tile));
constexpr auto SAMPLE_TILE = std::bit_cast<quadtile_tile>(
    Tile{tile_position(0x1234, 0x5678), tile_node(9, 0xab, 0xcdef), 1.5F, 2.5F});
static_assert(SAMPLE_TILE.x == 0x1234 && SAMPLE_TILE.y == 0x5678);
static_assert(SAMPLE_TILE.level == 9 && SAMPLE_TILE.flags == 0xab && SAMPLE_TILE.layer == 0xcdef);
static_assert(SAMPLE_TILE.importance == 1.5F && SAMPLE_TILE.threshold == 2.5F);
static_assert(QUADTILE_TILE_CLAMPED == TILE_CLAMPED);
static_assert(QUADTILE_TILE_COARSER_LEFT == TILE_COARSER_LEFT &&
              QUADTILE_TILE_COARSER_RIGHT == TILE_COARSER_RIGHT &&
              QUADTILE_TILE_COARSER_TOP == TILE_COARSER_TOP &&
              QUADTILE_TILE_COARSER_BOTTOM == TILE_COARSER_BOTTOM);

namespace {

// ---- Errors

// Fixed size, because reporting a failure must not fail. Longer messages are cut.
thread_local std::array<char, 4096> last_error{};

quadtile_status fail(quadtile_status status, const char* message) noexcept {
    std::snprintf(last_error.data(), last_error.size(), "%s", message);
    return status;
}

// Constants of the C interface are the numbers of the C++ enumerators; statuses count down from -1.
template <typename Enum>
constexpr bool is(std::int32_t constant, Enum value) {
    return constant == static_cast<std::int32_t>(value);
}
static_assert(is(-1 - QUADTILE_ERROR_INVALID_ARGUMENT, ErrorCode::invalid_argument) &&
              is(-1 - QUADTILE_ERROR_UNSUPPORTED, ErrorCode::unsupported) &&
              is(-1 - QUADTILE_ERROR_NO_DEVICE, ErrorCode::no_device) &&
              is(-1 - QUADTILE_ERROR_OUT_OF_MEMORY, ErrorCode::out_of_memory) &&
              is(-1 - QUADTILE_ERROR_DEVICE_LOST, ErrorCode::device_lost) &&
              is(-1 - QUADTILE_ERROR_CANCELLED, ErrorCode::cancelled) &&
              is(-1 - QUADTILE_ERROR_DEADLINE_EXCEEDED, ErrorCode::deadline_exceeded) &&
              is(-1 - QUADTILE_ERROR_VULKAN, ErrorCode::vulkan));
static_assert(is(QUADTILE_SEVERITY_INFO, Severity::info) &&
              is(QUADTILE_SEVERITY_WARNING, Severity::warning) &&
              is(QUADTILE_SEVERITY_ERROR, Severity::error));
static_assert(is(QUADTILE_STRATEGY_AUTOMATIC, Strategy::automatic) &&
              is(QUADTILE_STRATEGY_SUBTREE, Strategy::subtree) &&
              is(QUADTILE_STRATEGY_FUSED, Strategy::fused));
static_assert(is(QUADTILE_FORMAT_R32_FLOAT, TexelFormat::r32_float) &&
              is(QUADTILE_FORMAT_R16_FLOAT, TexelFormat::r16_float) &&
              is(QUADTILE_FORMAT_D32_FLOAT, TexelFormat::d32_float) &&
              is(QUADTILE_FORMAT_R16_UNORM, TexelFormat::r16_unorm) &&
              is(QUADTILE_FORMAT_R8_UNORM, TexelFormat::r8_unorm) &&
              is(QUADTILE_FORMAT_D16_UNORM, TexelFormat::d16_unorm));
static_assert(is(QUADTILE_ORDER_ANY, Order::any) && is(QUADTILE_ORDER_CANONICAL, Order::canonical));
static_assert(is(QUADTILE_BALANCE_NONE, Balance::none) &&
              is(QUADTILE_BALANCE_EDGES, Balance::edges) &&
              is(QUADTILE_BALANCE_CORNERS, Balance::corners));

[[noreturn]] void refuse_constant(const char* name, std::int32_t value, const char* constants) {
    refuse(name, " is ", value, ", which is none of ", constants);
}

// Throws Error(invalid_argument): the argument `name` is none of the `constants`, 0 to `last`.
template <typename Enum>
Enum value_of(std::int32_t constant, Enum last, const char* name, const char* constants) {
    if (constant < 0 || constant > static_cast<std::int32_t>(last)) {
        refuse_constant(name, constant, constants);
    }
    return static_cast<Enum>(constant);
}

TexelFormat format_of(std::int32_t constant, const char* name) {
    return value_of(constant, TexelFormat::d16_unorm, name, "QUADTILE_FORMAT_*");
}

// Calls body(), which returns a status, and converts exceptions to statuses.
template <typename Body>
quadtile_status guarded(const Body& body) noexcept {
    try {
        return body();
    } catch (const Error& error) {
        return fail(-1 - static_cast<quadtile_status>(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return fail(QUADTILE_ERROR_OUT_OF_MEMORY, "there is not enough host memory");
    } catch (const std::exception& error) {
        return fail(QUADTILE_ERROR_UNKNOWN, error.what());
    } catch (...) {
        return fail(QUADTILE_ERROR_UNKNOWN, "a call threw an exception of an unknown type");
    }
}

template <typename T>
T* required(T* pointer, const char* name) {
    if (pointer == nullptr) {
        refuse(name, " is NULL");
    }
    return pointer;
}

// Result argument of a function: NULL until the result exists.
template <typename T>
T*& output(T** pointer, const char* name) {
    *required(pointer, name) = nullptr;
    return *pointer;
}

void check_struct_size(std::size_t size, std::size_t expected, const char* type) {
    if (size != expected) {
        refuse("struct_size is ", size, ", but ", type, " has ", expected,
               " bytes in this library; initialise it with ", type,
               "_init, and use the header that came with the library");
    }
}

// ---- Devices

// A description with everything that it points to.
class DescribedDevice {
 public:
    explicit DescribedDevice(DeviceInfo device) : device_(std::move(device)) {
        for (const std::string& rejection : device_.rejections) {
            rejections_ += (rejections_.empty() ? "" : "; ") + rejection;
        }
        info_ = {.index = device_.index,
                 .name = device_.name.c_str(),
                 .type = device_.type.c_str(),
                 .driver = device_.driver.c_str(),
                 .api_version = device_.api_version,
                 .max_map_extent = device_.max_map_extent,
                 .max_layers = device_.max_layers,
                 .max_tiles = device_.max_tiles,
                 .local_memory_bytes = device_.local_memory_bytes,
                 .rejections = rejections_.c_str()};
    }
    DescribedDevice(const DescribedDevice&) = delete;
    DescribedDevice& operator=(const DescribedDevice&) = delete;

    [[nodiscard]] const quadtile_device_info& info() const noexcept { return info_; }

 private:
    DeviceInfo device_;
    std::string rejections_;
    quadtile_device_info info_;
};

struct OwningDeviceList : quadtile_device_list {
    std::vector<std::unique_ptr<DescribedDevice>> described;
    std::vector<const quadtile_device_info*> pointers;
};

// ---- Options and requests

LogCallback log_callback_of(const quadtile_service_options& options) {
    if (options.log == nullptr) {
        return {};
    }
    return [log = options.log, user_data = options.log_user_data](Severity severity,
                                                                  std::string_view message) {
        log(user_data, static_cast<std::int32_t>(severity), std::string(message).c_str());
    };
}

quadtile_service_options default_options() {
    const ServiceOptions defaults;
    return {.struct_size = sizeof(quadtile_service_options),
            .strategy = QUADTILE_STRATEGY_AUTOMATIC,
            .subtree_levels = defaults.subtree_levels,
            .lanes = defaults.lanes,
            .max_batch_layers = defaults.max_batch_layers,
            .queue_capacity = defaults.queue_capacity,
            .memory_limit_bytes = defaults.memory_limit_bytes,
            .gpu_timeout_ms = static_cast<std::uint64_t>(defaults.gpu_timeout.count()),
            .repeat_lost = defaults.repeat_lost ? 1 : 0};
}

// Creates the devices that the options name.
std::vector<Device> make_devices(const quadtile_service_options& options) {
    if (options.device_count != 0 && options.device != nullptr) {
        refuse("device and devices are both given; give one of them");
    }
    const std::span<const char* const> names =
        options.device_count == 0
            ? std::span(&options.device, 1)
            : std::span(required(options.devices, "devices"), options.device_count);
    DeviceOptions device_options;
    device_options.validation = options.validation != 0;
    if (options.pipeline_cache_size != 0) {
        device_options.pipeline_cache = {
            static_cast<const std::byte*>(required(options.pipeline_cache, "pipeline_cache")),
            options.pipeline_cache_size};
    }
    device_options.log = log_callback_of(options);
    std::vector<Device> devices;
    for (const char* name : names) {
        device_options.select = name != nullptr ? name : "";
        devices.push_back(Device::create(device_options));
    }
    return devices;
}

Threshold threshold_of(const quadtile_request& request, const MapShape& shape) {
    switch (request.threshold_kind) {
        case QUADTILE_THRESHOLD_CONSTANT:
            return Threshold::constant(request.threshold_value);
        case QUADTILE_THRESHOLD_MAX_RESOLUTION:
            return Threshold::max_resolution(request.threshold_value);
        case QUADTILE_THRESHOLD_PER_LEVEL: {
            const float* levels = required(request.threshold_levels, "threshold_levels");
            const std::uint32_t needed = top_level(shape.width, shape.height) + 1;
            if (request.threshold_level_count != needed) {
                refuse("threshold_level_count is ", request.threshold_level_count,
                       ", but a map of this size has ", needed,
                       (needed == 1 ? " level" : " levels"), "; give a threshold per level");
            }
            return Threshold::per_level({levels, levels + needed});
        }
        case QUADTILE_THRESHOLD_MEMORY: {
            MapView fragments{required(request.fragments, "fragments"), shape};
            fragments.shape.format = format_of(request.fragments_format, "fragments_format");
            return Threshold::memory(request.threshold_value, request.nodes, fragments);
        }
        case QUADTILE_THRESHOLD_GLSL: {
            const char* glsl = required(request.threshold_glsl, "threshold_glsl");
            std::vector<float> parameters;
            // Checked before they are read: there may be fewer than announced.
            if (request.threshold_parameter_count > Threshold::max_function_parameters) {
                refuse("threshold_parameter_count is ", request.threshold_parameter_count,
                       ", but a threshold function has at most ",
                       Threshold::max_function_parameters, " parameters");
            }
            if (request.threshold_parameter_count != 0) {
                const float* first = required(request.threshold_parameters, "threshold_parameters");
                parameters.assign(first, first + request.threshold_parameter_count);
            }
            return Threshold::function(glsl, std::move(parameters));
        }
        default:
            refuse_constant("threshold_kind", request.threshold_kind, "QUADTILE_THRESHOLD_*");
    }
}

// Longer than any wait, and far below the overflow of the clock.
constexpr std::uint64_t LONGEST_WAIT_MS = 100ULL * 365 * 24 * 3600 * 1000;

std::chrono::milliseconds milliseconds_of(std::uint64_t milliseconds) {
    return std::chrono::milliseconds(std::min(milliseconds, LONGEST_WAIT_MS));
}

SubdivisionRequest request_of(const quadtile_request& request) {
    check_struct_size(request.struct_size, sizeof request, "quadtile_request");
    const MapShape shape{request.width, request.height, request.layers,
                         format_of(request.format, "format")};
    check_shape(shape);
    SubdivisionRequest result{
        .map = {required(request.texels, "texels"), shape},
        .threshold = threshold_of(request, shape),
        .options = {.order = value_of(request.order, Order::canonical, "order", "QUADTILE_ORDER_*"),
                    .balance = value_of(request.balance, Balance::corners, "balance",
                                        "QUADTILE_BALANCE_*")},
        .priority = request.priority};
    if (request.copy_texels != 0) {
        const auto* bytes = static_cast<const std::byte*>(request.texels);
        const std::size_t size =
            std::size_t{shape.width} * shape.height * shape.layers * texel_size_bytes(shape.format);
        const auto copy = std::make_shared<const std::vector<std::byte>>(bytes, bytes + size);
        result.map.texels = copy->data();
        result.texels_owner = copy;
    }
    if (request.max_tiles != 0) {
        result.options.max_tiles = request.max_tiles;
    }
    if (request.deadline_ms != 0) {
        result.deadline = std::chrono::steady_clock::now() + milliseconds_of(request.deadline_ms);
    }
    return result;
}

// ---- Lists

struct OwningTileList : quadtile_tile_list {
    TileList list;
    std::vector<quadtile_stage> owned_stages;
};

void publish(OwningTileList& owner) {
    const TileList& list = owner.list;
    for (const StageTime& stage : list.report.stages) {
        owner.owned_stages.push_back(
            {stage.stage.c_str(), stage.milliseconds, stage.on_gpu ? 1 : 0});
    }
    static_cast<quadtile_tile_list&>(owner) = {
        .tiles = reinterpret_cast<const quadtile_tile*>(list.tiles.data()),
        .tile_count = list.tiles.size(),
        .width = list.shape.width,
        .height = list.shape.height,
        .layers = list.shape.layers,
        .levels = list.levels(),
        .order = static_cast<std::int32_t>(list.order),
        .threshold_factor = list.threshold_factor,
        .nan_texels = list.nan_texels,
        .strategy = list.report.strategy == Strategy::fused ? "fused" : "subtree",
        .strategy_reason = list.report.strategy_reason.c_str(),
        .device = list.report.device.c_str(),
        .buffer_repeats = list.report.buffer_repeats,
        .stages = owner.owned_stages.data(),
        .stage_count = static_cast<std::uint32_t>(owner.owned_stages.size())};
}

}  // namespace

struct quadtile_service {
    quadtile_service(std::vector<Device> made, const ServiceOptions& options)
        : devices(std::move(made)), service(devices, options) {
        for (const Device& device : devices) {
            described.emplace_back(device.info());
        }
    }

    // Throws Error(invalid_argument) for a number that no device has.
    void check_number(std::uint32_t number) const {
        if (number >= devices.size()) {
            refuse("number is ", number, ", but the service has ", devices.size(),
                   " devices, numbered from 0");
        }
    }

    std::vector<Device> devices;
    std::deque<DescribedDevice> described;
    Service service;
};

struct quadtile_ticket {
    [[nodiscard]] bool is_answered(std::uint64_t timeout_ms = 0) const {
        // Without a future the answer has been taken.
        return !ticket.result.valid() ||
               ticket.result.wait_for(milliseconds_of(timeout_ms)) == std::future_status::ready;
    }
    // Throws Error(unsupported) if the answer would come to the process that this one was forked
    // from.
    void check_process() const {
        if (!is_answered()) {
            made_in.check();
        }
    }

    Ticket ticket;
    detail::MadeIn made_in;
};

const char* quadtile_last_error() {
    return last_error.data();
}

quadtile_status quadtile_enumerate_devices(const quadtile_device_list** list) {
    return guarded([&] {
        const quadtile_device_list*& result = output(list, "list");
        auto owner = std::make_unique<OwningDeviceList>();
        for (DeviceInfo& device : Device::enumerate()) {
            owner->described.push_back(std::make_unique<DescribedDevice>(std::move(device)));
            owner->pointers.push_back(&owner->described.back()->info());
        }
        owner->devices = owner->pointers.data();
        owner->device_count = static_cast<std::uint32_t>(owner->pointers.size());
        result = owner.release();
        return QUADTILE_SUCCESS;
    });
}

void quadtile_device_list_free(const quadtile_device_list* list) {
    delete static_cast<const OwningDeviceList*>(list);
}

quadtile_status quadtile_service_options_init(quadtile_service_options* options,
                                              size_t struct_size) {
    return guarded([&] {
        check_struct_size(struct_size, sizeof *options, "quadtile_service_options");
        *required(options, "options") = default_options();
        return QUADTILE_SUCCESS;
    });
}

quadtile_status quadtile_service_create(const quadtile_service_options* options,
                                        quadtile_service** service) {
    return guarded([&] {
        quadtile_service*& result = output(service, "service");
        const quadtile_service_options defaults = default_options();
        const quadtile_service_options& given = options != nullptr ? *options : defaults;
        check_struct_size(given.struct_size, sizeof given, "quadtile_service_options");
        const Strategy strategy =
            value_of(given.strategy, Strategy::fused, "strategy", "QUADTILE_STRATEGY_*");
        if (strategy == Strategy::reference) {
            refuse_constant("strategy", given.strategy, "QUADTILE_STRATEGY_*");
        }
        const ServiceOptions service_options{.strategy = strategy,
                                             .subtree_levels = given.subtree_levels,
                                             .lanes = given.lanes,
                                             .max_batch_layers = given.max_batch_layers,
                                             .queue_capacity = given.queue_capacity,
                                             .memory_limit_bytes = given.memory_limit_bytes,
                                             .gpu_timeout = milliseconds_of(given.gpu_timeout_ms),
                                             .repeat_lost = given.repeat_lost != 0};
        result = new quadtile_service(make_devices(given), service_options);
        return QUADTILE_SUCCESS;
    });
}

void quadtile_service_destroy(quadtile_service* service) {
    delete service;
}

quadtile_status quadtile_service_device(const quadtile_service* service, uint32_t number,
                                        int32_t* is_lost, const quadtile_device_info** device) {
    return guarded([&] {
        const quadtile_device_info*& result = output(device, "device");
        required(service, "service")->check_number(number);
        *required(is_lost, "is_lost") = service->service.statistics().devices[number].lost ? 1 : 0;
        result = &service->described[number].info();
        return QUADTILE_SUCCESS;
    });
}

quadtile_status quadtile_service_pipeline_cache(const quadtile_service* service, uint32_t number,
                                                void* bytes, size_t* size) {
    return guarded([&] {
        const std::size_t room = *required(size, "size");
        *size = 0;
        required(service, "service")->check_number(number);
        const std::vector<std::byte> cache = service->devices[number].pipeline_cache();
        *size = cache.size();
        if (bytes == nullptr) {
            return QUADTILE_SUCCESS;
        }
        if (room < cache.size()) {
            refuse("size is ", room, ", but the pipeline cache has ", cache.size(),
                   " bytes; give it more room");
        }
        std::memcpy(bytes, cache.data(), cache.size());
        return QUADTILE_SUCCESS;
    });
}

quadtile_status quadtile_request_init(quadtile_request* request, size_t struct_size) {
    return guarded([&] {
        check_struct_size(struct_size, sizeof *request, "quadtile_request");
        *required(request, "request") = {
            .struct_size = struct_size, .layers = 1, .order = QUADTILE_ORDER_CANONICAL};
        return QUADTILE_SUCCESS;
    });
}

namespace {

// Submits by Service::submit, or by try_submit, which returns no ticket if the queue is full.
template <typename Taken>
quadtile_status submit_with(Taken (Service::*submit)(SubdivisionRequest), quadtile_service* service,
                            const quadtile_request* request, quadtile_ticket** ticket) {
    return guarded([&] {
        quadtile_ticket*& result = output(ticket, "ticket");
        Service& used = required(service, "service")->service;
        SubdivisionRequest submitted = request_of(*required(request, "request"));
        // Allocated before the request is taken, because nothing may fail afterwards.
        auto made = std::make_unique<quadtile_ticket>();
        std::optional<quadtile::Ticket> taken = (used.*submit)(std::move(submitted));
        if (!taken) {
            return QUADTILE_QUEUE_FULL;
        }
        made->ticket = std::move(*taken);
        result = made.release();
        return QUADTILE_SUCCESS;
    });
}

}  // namespace

quadtile_status quadtile_service_submit(quadtile_service* service, const quadtile_request* request,
                                        quadtile_ticket** ticket) {
    return submit_with(&Service::submit, service, request, ticket);
}

quadtile_status quadtile_service_try_submit(quadtile_service* service,
                                            const quadtile_request* request,
                                            quadtile_ticket** ticket) {
    return submit_with(&Service::try_submit, service, request, ticket);
}

quadtile_status quadtile_ticket_wait(quadtile_ticket* ticket, uint64_t timeout_ms) {
    return guarded([&] {
        required(ticket, "ticket")->check_process();
        return ticket->is_answered(timeout_ms) ? QUADTILE_SUCCESS : QUADTILE_NOT_READY;
    });
}

quadtile_status quadtile_ticket_cancel(const quadtile_ticket* ticket) {
    return guarded([&] {
        const bool cancelled = required(ticket, "ticket")->ticket.cancel();
        return cancelled ? QUADTILE_SUCCESS : QUADTILE_TOO_LATE;
    });
}

quadtile_status quadtile_ticket_take(quadtile_ticket* ticket, const quadtile_tile_list** list) {
    return guarded([&] {
        const quadtile_tile_list*& result = output(list, "list");
        std::future<TileList>& answer = required(ticket, "ticket")->ticket.result;
        if (!answer.valid()) {
            refuse(
                "the answer of this ticket was already taken; keep the list that the first "
                "call returned");
        }
        ticket->check_process();
        auto owner = std::make_unique<OwningTileList>();
        owner->list = answer.get();
        publish(*owner);
        result = owner.release();
        return QUADTILE_SUCCESS;
    });
}

void quadtile_ticket_free(quadtile_ticket* ticket) {
    if (ticket == nullptr) {
        return;
    }
    // If cancelling fails for lack of memory, the request is waited for.
    (void)guarded([&] {
        (void)ticket->ticket.cancel();
        return QUADTILE_SUCCESS;
    });
    if (ticket->ticket.result.valid() && !ticket->made_in.is_forked()) {
        ticket->ticket.result.wait();
    }
    delete ticket;
}

void quadtile_tile_list_free(const quadtile_tile_list* list) {
    delete static_cast<const OwningTileList*>(list);
}
