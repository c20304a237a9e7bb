/// \file
/// The service and its tile lists as a C99 interface, for programs in any language.
///
///     quadtile_service_options options;
///     quadtile_service_options_init(&options, sizeof options);
///     quadtile_service* service = NULL;
///     if (quadtile_service_create(&options, &service) < 0) {
///         fprintf(stderr, "%s\n", quadtile_last_error());
///     }
///
/// No C++ exception leaves these functions. Functions that return a quadtile_status return
/// QUADTILE_ERROR_INVALID_ARGUMENT for a NULL argument that must not be NULL; quadtile_last_error()
/// then names the argument. Results go to the last argument, which is NULL after a failure.
///
/// Services are thread-safe. One thread at a time may use a ticket, except that any thread may
/// cancel it. Lists never change, so any number of threads may read them.
///
/// Structures that the caller fills in begin with their size. Structures that the library fills in
/// are only accessed through pointers. So later versions can append members to both.
/// quadtile/service.hpp has more on options and requests.

#ifndef QUADTILE_QUADTILE_H
#define QUADTILE_QUADTILE_H

#include <stddef.h>
#include <stdint.h>

/// Marks the functions that a shared library exports. On Windows that is quadtile_c.dll.
#if defined(_WIN32) && defined(QUADTILE_C_EXPORTS)
#define QUADTILE_C_API __declspec(dllexport)
#elif defined(_WIN32) && !defined(QUADTILE_STATIC)
#define QUADTILE_C_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define QUADTILE_C_API __attribute__((visibility("default")))
#else
#define QUADTILE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status

/// Result of a call. Below 0: an error, see quadtile_last_error(). Above 0: not done, but no error.
typedef int32_t quadtile_status;
/// Values of quadtile_status.
enum {
    QUADTILE_SUCCESS = 0,  ///< done

    QUADTILE_NOT_READY = 1,   ///< the request is not answered yet
    QUADTILE_QUEUE_FULL = 2,  ///< the queue is full; submit the request later
    QUADTILE_TOO_LATE = 3,    ///< the request runs or is answered, so it cannot be cancelled

    QUADTILE_ERROR_INVALID_ARGUMENT = -1,   ///< a mistake of the caller; nothing was done
    QUADTILE_ERROR_UNSUPPORTED = -2,        ///< the device or this build cannot do it
    QUADTILE_ERROR_NO_DEVICE = -3,          ///< no Vulkan loader, driver or suitable device
    QUADTILE_ERROR_OUT_OF_MEMORY = -4,      ///< host or device memory, or the service's limit
    QUADTILE_ERROR_DEVICE_LOST = -5,        ///< the device stopped; if no other is left, make a
                                            ///< new service
    QUADTILE_ERROR_CANCELLED = -6,          ///< by the caller
    QUADTILE_ERROR_DEADLINE_EXCEEDED = -7,  ///< the request waited longer than its deadline allows
    QUADTILE_ERROR_VULKAN = -8,             ///< any other failure of a Vulkan call
    QUADTILE_ERROR_UNKNOWN = -9             ///< any other failure
};

/// Returns one sentence with the fault and the remedy of the last call of this thread that returned
/// an error. Empty: there was none. Valid until the next such call of this thread.
QUADTILE_C_API const char* quadtile_last_error(void);

// ---- Devices

/// Properties of one Vulkan device of this machine, owned by the list or service that returns it.
typedef struct quadtile_device_info {
    uint32_t index;           ///< number for quadtile_service_options.device, as text
    const char* name;         ///< name as the driver gives it; a part of it also selects the device
    const char* type;         ///< "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
    const char* driver;       ///< name and version as the driver gives them
    uint32_t api_version;     ///< Vulkan version, packed as by VK_MAKE_API_VERSION
    uint32_t max_map_extent;  ///< largest side of a map, texels
    uint32_t max_layers;      ///< most layers of a map
    uint64_t max_tiles;       ///< longest tile list
    uint64_t local_memory_bytes;  ///< size of the largest device-local heap
    const char* rejections;       ///< reasons why quadtile cannot use it; empty: usable
} quadtile_device_info;

/// Devices of this machine, in the loader's order.
typedef struct quadtile_device_list {
    const quadtile_device_info* const* devices;  ///< device_count pointers
    uint32_t device_count;                       ///< number of devices
} quadtile_device_list;

/// Lists all Vulkan devices of this machine. Free the list with quadtile_device_list_free.
QUADTILE_C_API quadtile_status quadtile_enumerate_devices(const quadtile_device_list** list);

/// Frees a list and everything that it points to. NULL is allowed.
QUADTILE_C_API void quadtile_device_list_free(const quadtile_device_list* list);

// ---- Service

/// Ways to find the tiles; all give the same set. quadtile::Strategy has more.
enum {
    QUADTILE_STRATEGY_AUTOMATIC = 0,  ///< the fastest one for the device, the map and its threshold
    QUADTILE_STRATEGY_SUBTREE = 2,    ///< one dispatch per 1 to 8 levels
    QUADTILE_STRATEGY_FUSED = 3       ///< one dispatch; for monotone thresholds
};

/// Severity of a log message.
enum {
    QUADTILE_SEVERITY_INFO = 0,     ///< information
    QUADTILE_SEVERITY_WARNING = 1,  ///< unexpected, but work goes on
    QUADTILE_SEVERITY_ERROR = 2     ///< a failure, or a fault in the use of Vulkan
};

/// Receives log messages from all threads that make Vulkan calls, also concurrently.
typedef void (*quadtile_log_callback)(void* user_data, int32_t severity, const char* message);

/// Options of a service; quadtile_service_options_init sets the defaults.
typedef struct quadtile_service_options {
    size_t struct_size;  ///< set by quadtile_service_options_init
    /// Number of a device, or a part of its name. NULL or empty: the environment variable
    /// QUADTILE_DEVICE; if that is empty too, the best usable device.
    const char* device;
    /// Not 0: turns on the Khronos validation layer, whose messages go to `log`.
    int32_t validation;
    quadtile_log_callback log;    ///< may be NULL
    void* log_user_data;          ///< passed to `log` unchanged
    int32_t strategy;             ///< QUADTILE_STRATEGY_*
    uint32_t subtree_levels;      ///< 1 to 8, for QUADTILE_STRATEGY_SUBTREE
    uint32_t lanes;               ///< number of runs on each device at the same time
    uint32_t max_batch_layers;    ///< most layers in one run
    size_t queue_capacity;        ///< most requests that may wait
    uint64_t memory_limit_bytes;  ///< of device and staging memory per device; 0: no limit
    uint64_t gpu_timeout_ms;  ///< longest run, more than 0; a longer run counts as a lost device
    /// Compiled pipelines of an earlier run, from quadtile_service_pipeline_cache. Devices ignore
    /// bytes that are damaged, or of another device or driver. They are read during the call only.
    const void* pipeline_cache;
    size_t pipeline_cache_size;  ///< bytes; 0: none
    /// Several devices, each as in `device`, which is NULL then. A request goes to any free device.
    const char* const* devices;
    uint32_t device_count;  ///< number of `devices`; 0: the one of `device`
    /// Not 0: requests that ran on a device when it was lost are run again on another one, once.
    int32_t repeat_lost;
} quadtile_service_options;

/// Sets all options to their defaults. `struct_size` is sizeof(quadtile_service_options).
QUADTILE_C_API quadtile_status quadtile_service_options_init(quadtile_service_options* options,
                                                             size_t struct_size);

/// A service: devices and the threads that subdivide maps on them.
typedef struct quadtile_service quadtile_service;

/// Creates the devices and starts a service on them. NULL for `options`: the defaults.
QUADTILE_C_API quadtile_status quadtile_service_create(const quadtile_service_options* options,
                                                       quadtile_service** service);

/// Answers waiting requests, then ends the service. Tickets and lists stay valid. NULL is allowed.
QUADTILE_C_API void quadtile_service_destroy(quadtile_service* service);

/// Returns a device of the service, valid until the service is destroyed, and whether it is lost
/// (not 0). `number` is its place in `devices`, from 0.
QUADTILE_C_API quadtile_status quadtile_service_device(const quadtile_service* service,
                                                       uint32_t number, int32_t* is_lost,
                                                       const quadtile_device_info** device);

/// Copies the pipelines that a device of the service has compiled so far, for
/// quadtile_service_options.pipeline_cache of a later run. `*size` is the room in `bytes`, and then
/// their number. NULL for `bytes`: only `*size` is set. Too little room is an invalid argument.
QUADTILE_C_API quadtile_status quadtile_service_pipeline_cache(const quadtile_service* service,
                                                               uint32_t number, void* bytes,
                                                               size_t* size);

// ---- Requests

/// Formats of texels of one channel, in rows from the top, layer after layer, without padding.
enum {
    QUADTILE_FORMAT_R32_FLOAT = 0,  ///< 32-bit floats
    QUADTILE_FORMAT_R16_FLOAT = 1,  ///< 16-bit floats
    QUADTILE_FORMAT_D32_FLOAT = 2,  ///< 32-bit floats in [0, 1]
    QUADTILE_FORMAT_R16_UNORM = 3,  ///< 16-bit integers: value / 65535
    QUADTILE_FORMAT_R8_UNORM = 4,   ///< 8-bit integers: value / 255
    QUADTILE_FORMAT_D16_UNORM = 5   ///< 16-bit integers: value / 65535
};

/// Kinds of thresholds. A node of the quadtree becomes a tile if its importance, the maximum of its
/// texels, is below its threshold; quadtile/threshold.hpp has the definitions.
enum {
    QUADTILE_THRESHOLD_CONSTANT = 1,        ///< threshold_value at every level
    QUADTILE_THRESHOLD_PER_LEVEL = 2,       ///< threshold_levels[l] at level l
    QUADTILE_THRESHOLD_MAX_RESOLUTION = 3,  ///< threshold_value / 2^l at level l
    QUADTILE_THRESHOLD_MEMORY = 4,          ///< and fewer than `nodes` list nodes in a tile
    QUADTILE_THRESHOLD_GLSL = 5             ///< the result of the GLSL function threshold_glsl
};

/// Order of the tiles in a list.
enum {
    QUADTILE_ORDER_ANY = 0,       ///< as workgroups finish; faster, and differs from run to run
    QUADTILE_ORDER_CANONICAL = 1  ///< by layer, then along the Z-order curve; always the same
};

/// Largest difference in level between tiles that touch.
enum {
    QUADTILE_BALANCE_NONE = 0,    ///< unbounded
    QUADTILE_BALANCE_EDGES = 1,   ///< one level between tiles that share an edge
    QUADTILE_BALANCE_CORNERS = 2  ///< one level between tiles that share an edge or a corner
};

/// A map and the options of its subdivision; quadtile_request_init sets the defaults.
typedef struct quadtile_request {
    size_t struct_size;  ///< set by quadtile_request_init

    /// The map. If copy_texels is 0, the texels must stay unchanged until the request is answered
    /// (quadtile_ticket_wait) or its ticket is freed.
    const void* texels;
    uint32_t width;       ///< texels
    uint32_t height;      ///< texels
    uint32_t layers;      ///< images of that size
    int32_t format;       ///< QUADTILE_FORMAT_*
    int32_t copy_texels;  ///< not 0: quadtile_service_submit copies them

    /// QUADTILE_THRESHOLD_*; required, no default. quadtile_service_submit reads all members of the
    /// threshold before it returns.
    int32_t threshold_kind;
    float threshold_value;           ///< for all kinds except PER_LEVEL and GLSL
    const float* threshold_levels;   ///< for PER_LEVEL, from level 0 to the root's
    uint32_t threshold_level_count;  ///< ceil(log2(max(width, height))) + 1
    float nodes;                     ///< for MEMORY: a tile has fewer list nodes
    /// For MEMORY: a map of the same size and layers, with the fragments in a pixel of each texel.
    /// Texels of UNORM formats are counts too: 3 is 3 fragments.
    const void* fragments;
    int32_t fragments_format;  ///< QUADTILE_FORMAT_*
    /// For GLSL: a text that defines float threshold(uint level, uvec2 position, uint layer)
    /// (Threshold::function of quadtile/threshold.hpp).
    const char* threshold_glsl;
    const float* threshold_parameters;   ///< values of threshold_parameter(i)
    uint32_t threshold_parameter_count;  ///< 0 to 16

    int32_t order;         ///< QUADTILE_ORDER_*
    uint64_t max_tiles;    ///< budget, kept by scaling all thresholds; 0: none
    int32_t priority;      ///< higher ones run first
    uint64_t deadline_ms;  ///< a request that waits longer fails; 0: no deadline
    int32_t balance;       ///< QUADTILE_BALANCE_*; except NONE without max_tiles, monotone
} quadtile_request;

/// Sets a request to its defaults: one layer, canonical order, 0 and NULL for everything else.
/// `struct_size` is sizeof(quadtile_request).
QUADTILE_C_API quadtile_status quadtile_request_init(quadtile_request* request, size_t struct_size);

/// Handle of a request that the service has taken. Free it with quadtile_ticket_free.
typedef struct quadtile_ticket quadtile_ticket;

/// Puts a request into the queue; waits while the queue is full.
QUADTILE_C_API quadtile_status quadtile_service_submit(quadtile_service* service,
                                                       const quadtile_request* request,
                                                       quadtile_ticket** ticket);

/// Does the same without waiting. A full queue gives QUADTILE_QUEUE_FULL and no ticket.
QUADTILE_C_API quadtile_status quadtile_service_try_submit(quadtile_service* service,
                                                           const quadtile_request* request,
                                                           quadtile_ticket** ticket);

// ---- Answers

/// Timeout of quadtile_ticket_wait that never ends.
#define QUADTILE_NO_TIMEOUT UINT64_MAX

/// Waits for the answer of a request. Returns QUADTILE_SUCCESS if it is answered, with a list or an
/// error; QUADTILE_NOT_READY after the timeout. With 0 it returns at once.
QUADTILE_C_API quadtile_status quadtile_ticket_wait(quadtile_ticket* ticket, uint64_t timeout_ms);

/// Cancels a request if it still waits; quadtile_ticket_take then returns QUADTILE_ERROR_CANCELLED.
/// Returns QUADTILE_TOO_LATE if it does not wait any more.
QUADTILE_C_API quadtile_status quadtile_ticket_cancel(const quadtile_ticket* ticket);

/// Bits of a tile's flags.
enum {
    QUADTILE_TILE_CLAMPED = 1,  ///< a texel whose importance is not below the threshold
    // Only in balanced lists: the neighbour across that edge is one level coarser.
    QUADTILE_TILE_COARSER_LEFT = 2,    ///< at column x - 1
    QUADTILE_TILE_COARSER_RIGHT = 4,   ///< at column x + 1
    QUADTILE_TILE_COARSER_TOP = 8,     ///< at row y - 1
    QUADTILE_TILE_COARSER_BOTTOM = 16  ///< at row y + 1
};

/// A tile covers the texels [x << level, (x + 1) << level) x [y << level, (y + 1) << level) that
/// lie inside the map. This structure will never change.
typedef struct quadtile_tile {
    uint16_t x;        ///< column in units of 2^level texels
    uint16_t y;        ///< row in units of 2^level texels; row 0 is at the top
    uint8_t level;     ///< 0 for a texel
    uint8_t flags;     ///< QUADTILE_TILE_*
    uint16_t layer;    ///< layer of the map
    float importance;  ///< maximum of its texels; never NaN, which counts as +infinity
    float threshold;   ///< value that the importance was compared with
} quadtile_tile;

/// Time of one stage of a run. This structure will never change.
typedef struct quadtile_stage {
    const char* name;     ///< name of the stage
    double milliseconds;  ///< duration
    int32_t on_gpu;       ///< not 0: measured by GPU timestamps, else by the host's clock
} quadtile_stage;

/// Tiles of a map and the report of their run. Owns everything that it points to; never changes.
typedef struct quadtile_tile_list {
    const quadtile_tile* tiles;    ///< of all layers
    uint64_t tile_count;           ///< number of tiles
    uint32_t width;                ///< of the map, texels
    uint32_t height;               ///< of the map, texels
    uint32_t layers;               ///< of the map
    uint32_t levels;               ///< level of the root + 1
    int32_t order;                 ///< QUADTILE_ORDER_*
    float threshold_factor;        ///< factor by which a budget scaled the threshold; else 1
    uint64_t nan_texels;           ///< NaN texels, which counted as +infinity
    const char* strategy;          ///< strategy that ran: "subtree" or "fused"
    const char* strategy_reason;   ///< why QUADTILE_STRATEGY_AUTOMATIC chose it; else empty
    const char* device;            ///< name of the device
    uint32_t buffer_repeats;       ///< repetitions of the run because the tile buffer was full
    const quadtile_stage* stages;  ///< in the order of execution; the first is "wait"
    uint32_t stage_count;          ///< number of stages
} quadtile_tile_list;

/// Waits for the answer, and returns its list or its error; possible once per ticket. Free the list
/// with quadtile_tile_list_free; it does not need the ticket or the service any more.
QUADTILE_C_API quadtile_status quadtile_ticket_take(quadtile_ticket* ticket,
                                                    const quadtile_tile_list** list);

/// Frees a ticket. A waiting request is cancelled; a running one is waited for, so its texels are
/// not read afterwards. NULL is allowed.
QUADTILE_C_API void quadtile_ticket_free(quadtile_ticket* ticket);

/// Frees a list and everything that it points to. NULL is allowed.
QUADTILE_C_API void quadtile_tile_list_free(const quadtile_tile_list* list);

#ifdef __cplusplus
}
#endif

#endif
