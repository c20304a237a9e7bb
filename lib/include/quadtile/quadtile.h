/// \file
/// The service and its tile lists in C99, for programs in any language.
///
///     quadtile_service_options options;
///     quadtile_service_options_init(&options, sizeof options);
///     quadtile_service* service = NULL;
///     if (quadtile_service_create(&options, &service) < 0) {
///         fprintf(stderr, "%s\n", quadtile_last_error());
///     }
///
/// No C++ exception leaves these functions. Those that return a quadtile_status and get NULL where
/// they need something else return QUADTILE_ERROR_INVALID_ARGUMENT, and quadtile_last_error() names
/// the argument. What they make they write to their last argument; it is NULL where they fail.
///
/// Services are thread-safe. Tickets are for one thread at a time, but may be cancelled from any.
/// Lists are never changed, so any number of threads may read them.
///
/// Structures that the caller fills in begin with their size, and those that the library fills in
/// are only ever pointed to, so that later versions can append to both. quadtile/service.hpp says
/// more of what the options and requests mean.

#ifndef QUADTILE_QUADTILE_H
#define QUADTILE_QUADTILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
/// Marks what a shared library exports.
#define QUADTILE_C_API __attribute__((visibility("default")))
#else
#define QUADTILE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status

/// Below 0: an error, explained by quadtile_last_error(). Above 0: no error, but not done either.
typedef int32_t quadtile_status;
/// The values of quadtile_status.
enum {
    QUADTILE_SUCCESS = 0,  ///< done

    QUADTILE_NOT_READY = 1,   ///< the request is not answered yet
    QUADTILE_QUEUE_FULL = 2,  ///< the request was not taken; submit it later
    QUADTILE_TOO_LATE = 3,    ///< the request runs, or is answered: it cannot be cancelled

    QUADTILE_ERROR_INVALID_ARGUMENT = -1,   ///< the caller's mistake; nothing was done
    QUADTILE_ERROR_UNSUPPORTED = -2,        ///< the device or this build cannot do it
    QUADTILE_ERROR_NO_DEVICE = -3,          ///< no Vulkan loader, driver or suitable device
    QUADTILE_ERROR_OUT_OF_MEMORY = -4,      ///< host or device memory, or the service's limit
    QUADTILE_ERROR_DEVICE_LOST = -5,        ///< the device stopped; where no other is left, make a
                                            ///< new service
    QUADTILE_ERROR_CANCELLED = -6,          ///< by the caller
    QUADTILE_ERROR_DEADLINE_EXCEEDED = -7,  ///< the request waited for too long
    QUADTILE_ERROR_VULKAN = -8,             ///< any other failure of a Vulkan call
    QUADTILE_ERROR_UNKNOWN = -9             ///< any other failure
};

/// What went wrong in the last call of this thread that returned an error, and what to do about it:
/// one sentence. Valid until the next such call of this thread. Empty where there was none.
QUADTILE_C_API const char* quadtile_last_error(void);

// ---- Devices

/// What one Vulkan device of this machine can do. Owned by the list or the service that it is from.
typedef struct quadtile_device_info {
    uint32_t index;           ///< what quadtile_service_options.device may name, as text
    const char* name;         ///< or part of this
    const char* type;         ///< "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
    const char* driver;       ///< name and version as the driver gives them
    uint32_t api_version;     ///< of Vulkan, as VK_MAKE_API_VERSION packs it
    uint32_t max_map_extent;  ///< texels on a side
    uint32_t max_layers;      ///< of a map
    uint64_t max_tiles;       ///< of a list
    uint64_t local_memory_bytes;  ///< largest device-local heap
    const char* rejections;       ///< why quadtile cannot use it; empty: it can
} quadtile_device_info;

/// The devices of this machine, in the loader's order.
typedef struct quadtile_device_list {
    const quadtile_device_info* const* devices;  ///< pointers to them
    uint32_t device_count;                       ///< how many
} quadtile_device_list;

/// All Vulkan devices of this machine. Free the list with quadtile_device_list_free.
QUADTILE_C_API quadtile_status quadtile_enumerate_devices(const quadtile_device_list** list);

/// Frees a list and all that it points to. NULL is allowed.
QUADTILE_C_API void quadtile_device_list_free(const quadtile_device_list* list);

// ---- Service

/// How the tiles are found; all give the same set. quadtile::Strategy says more.
enum {
    QUADTILE_STRATEGY_AUTOMATIC = 0,  ///< the fastest for the device, the map and its threshold
    QUADTILE_STRATEGY_SUBTREE = 2,    ///< one dispatch for one or more levels
    QUADTILE_STRATEGY_FUSED = 3       ///< one dispatch; for thresholds that are monotone
};

/// How bad what a log message tells of is.
enum {
    QUADTILE_SEVERITY_INFO = 0,     ///< for the curious
    QUADTILE_SEVERITY_WARNING = 1,  ///< worth a look
    QUADTILE_SEVERITY_ERROR = 2     ///< something is wrong
};

/// Called from any thread that makes Vulkan calls, also from several at the same time.
typedef void (*quadtile_log_callback)(void* user_data, int32_t severity, const char* message);

/// How a service works; quadtile_service_options_init sets the defaults.
typedef struct quadtile_service_options {
    size_t struct_size;  ///< by quadtile_service_options_init
    /// Number or part of the name of a device. NULL or empty: the environment variable
    /// QUADTILE_DEVICE; where that is empty too, the best usable device.
    const char* device;
    /// Not 0: with the Khronos validation layer, whose messages go to `log`.
    int32_t validation;
    quadtile_log_callback log;    ///< may be NULL
    void* log_user_data;          ///< given to `log` as it is
    int32_t strategy;             ///< QUADTILE_STRATEGY_*
    uint32_t subtree_levels;      ///< 1 to 8, for QUADTILE_STRATEGY_SUBTREE
    uint32_t lanes;               ///< runs on each device at the same time
    uint32_t max_batch_layers;    ///< that go into one run
    size_t queue_capacity;        ///< requests that may wait
    uint64_t memory_limit_bytes;  ///< of device and staging memory for each device; 0: no limit
    uint64_t gpu_timeout_ms;      ///< more than 0; a longer run counts as hung: the device is lost
    /// A folder in which compiled pipelines and GLSL are kept from one run of the program to the
    /// next. NULL or empty: the environment variable QUADTILE_CACHE_DIRECTORY; where that is empty
    /// too, nothing is kept.
    const char* cache_directory;
    /// Several devices, each as `device`, which is NULL then. Requests go to whichever is free.
    const char* const* devices;
    uint32_t device_count;  ///< how many; 0: the one that `device` names
    /// Not 0: what ran on a device when it was lost is run on another one, once.
    int32_t repeat_lost;
} quadtile_service_options;

/// Sets all options to their defaults. `struct_size` is sizeof(quadtile_service_options).
QUADTILE_C_API quadtile_status quadtile_service_options_init(quadtile_service_options* options,
                                                             size_t struct_size);

/// Devices and the threads that subdivide maps on them.
typedef struct quadtile_service quadtile_service;

/// Makes the devices and starts the service on them. NULL for `options`: the defaults.
QUADTILE_C_API quadtile_status quadtile_service_create(const quadtile_service_options* options,
                                                       quadtile_service** service);

/// Answers what waits, then ends the service. Tickets and lists stay as they are. NULL is allowed.
QUADTILE_C_API void quadtile_service_destroy(quadtile_service* service);

/// A device in use, valid until the service is destroyed, and whether it is lost (not 0). `number`
/// is its place in `devices`, from 0 on.
QUADTILE_C_API quadtile_status quadtile_service_device(const quadtile_service* service,
                                                       uint32_t number, int32_t* is_lost,
                                                       const quadtile_device_info** device);

// ---- Requests

/// Texels of one channel, in rows from the top, layer after layer, without padding.
enum {
    QUADTILE_FORMAT_R32_FLOAT = 0,  ///< 32-bit floats
    QUADTILE_FORMAT_R16_FLOAT = 1,  ///< 16-bit floats
    QUADTILE_FORMAT_D32_FLOAT = 2,  ///< 32-bit floats in [0, 1]
    QUADTILE_FORMAT_R16_UNORM = 3,  ///< 16-bit integers: value / 65535
    QUADTILE_FORMAT_R8_UNORM = 4,   ///< 8-bit integers: value / 255
    QUADTILE_FORMAT_D16_UNORM = 5   ///< 16-bit integers: value / 65535
};

/// A node of the quadtree is fine enough where its importance, the maximum of its texels, is below
/// its threshold; quadtile/threshold.hpp has the definitions.
enum {
    QUADTILE_THRESHOLD_CONSTANT = 1,        ///< threshold_value at every level
    QUADTILE_THRESHOLD_PER_LEVEL = 2,       ///< threshold_levels[l] at level l
    QUADTILE_THRESHOLD_MAX_RESOLUTION = 3,  ///< threshold_value / 2^l at level l
    QUADTILE_THRESHOLD_MEMORY = 4,          ///< that, and at most `nodes` list nodes in a tile
    QUADTILE_THRESHOLD_GLSL = 5             ///< what the GLSL function threshold_glsl says
};

/// Order of the tiles in a list.
enum {
    QUADTILE_ORDER_ANY = 0,       ///< as fast as possible; differs from run to run
    QUADTILE_ORDER_CANONICAL = 1  ///< by layer and Morton code; always the same
};

/// By how much the levels of tiles that touch may differ.
enum {
    QUADTILE_BALANCE_NONE = 0,    ///< by anything
    QUADTILE_BALANCE_EDGES = 1,   ///< by one at most, where tiles share an edge
    QUADTILE_BALANCE_CORNERS = 2  ///< by one at most, where tiles share an edge or a corner
};

/// A map, and what is wanted of it; quadtile_request_init sets what has a default.
typedef struct quadtile_request {
    size_t struct_size;  ///< by quadtile_request_init

    /// The map. Unless copy_texels is not 0, the texels must stay as they are until the request is
    /// answered (quadtile_ticket_wait) or its ticket is freed.
    const void* texels;
    uint32_t width;       ///< texels
    uint32_t height;      ///< texels
    uint32_t layers;      ///< of that size
    int32_t format;       ///< QUADTILE_FORMAT_*
    int32_t copy_texels;  ///< not 0: quadtile_service_submit copies them

    /// QUADTILE_THRESHOLD_*; there is no default. This and all of the threshold is read before
    /// quadtile_service_submit returns.
    int32_t threshold_kind;
    float threshold_value;           ///< of all kinds but PER_LEVEL
    const float* threshold_levels;   ///< of PER_LEVEL: from level 0 to the root's
    uint32_t threshold_level_count;  ///< ceil(log2(max(width, height))) + 1
    float nodes;                     ///< of MEMORY: list nodes in a tile, at most
    /// How many fragments lie in a pixel of each texel: a map of the same size and layers.
    const void* fragments;
    int32_t fragments_format;  ///< QUADTILE_FORMAT_*
    /// GLSL that defines float threshold(uint level, uvec2 position, uint layer)
    /// (quadtile/threshold_function.hpp).
    const char* threshold_glsl;
    const float* threshold_parameters;   ///< what threshold_parameter(i) is there
    uint32_t threshold_parameter_count;  ///< 0 to 16

    int32_t order;         ///< QUADTILE_ORDER_*
    uint64_t max_tiles;    ///< a budget, kept by scaling all thresholds; 0: none
    int32_t priority;      ///< higher ones first
    uint64_t deadline_ms;  ///< a request that still waits after so long fails; 0: none
    int32_t balance;       ///< QUADTILE_BALANCE_*; other than NONE it excludes max_tiles
} quadtile_request;

/// Sets a request to: one layer, canonical order, 0 and NULL for everything else. `struct_size` is
/// sizeof(quadtile_request).
QUADTILE_C_API quadtile_status quadtile_request_init(quadtile_request* request, size_t struct_size);

/// A request that was taken. Free it with quadtile_ticket_free.
typedef struct quadtile_ticket quadtile_ticket;

/// Puts a request into the queue; waits while that is full.
QUADTILE_C_API quadtile_status quadtile_service_submit(quadtile_service* service,
                                                       const quadtile_request* request,
                                                       quadtile_ticket** ticket);

/// The same, but QUADTILE_QUEUE_FULL and no ticket where the queue is full.
QUADTILE_C_API quadtile_status quadtile_service_try_submit(quadtile_service* service,
                                                           const quadtile_request* request,
                                                           quadtile_ticket** ticket);

// ---- Answers

/// For quadtile_ticket_wait: as long as it takes.
#define QUADTILE_NO_TIMEOUT UINT64_MAX

/// QUADTILE_SUCCESS when the request is answered, by a list or an error; QUADTILE_NOT_READY where
/// it is not after so long. 0 asks without waiting.
QUADTILE_C_API quadtile_status quadtile_ticket_wait(quadtile_ticket* ticket, uint64_t timeout_ms);

/// Takes the request back where it still waits; quadtile_ticket_take then returns
/// QUADTILE_ERROR_CANCELLED. QUADTILE_TOO_LATE where it does not wait any more.
QUADTILE_C_API quadtile_status quadtile_ticket_cancel(const quadtile_ticket* ticket);

/// Bits of a tile's flags.
enum {
    QUADTILE_TILE_CLAMPED = 1,  ///< a texel whose importance is not below the threshold
    // In balanced lists alone: the neighbour across that edge is one level coarser.
    QUADTILE_TILE_COARSER_LEFT = 2,    ///< at column x - 1
    QUADTILE_TILE_COARSER_RIGHT = 4,   ///< at column x + 1
    QUADTILE_TILE_COARSER_TOP = 8,     ///< at row y - 1
    QUADTILE_TILE_COARSER_BOTTOM = 16  ///< at row y + 1
};

/// A tile covers the texels [x << level, (x + 1) << level) x [y << level, (y + 1) << level) that
/// lie inside the map. This structure will never change.
typedef struct quadtile_tile {
    uint16_t x;        ///< its column, in units of 2^level texels
    uint16_t y;        ///< its row; row 0 is at the top
    uint8_t level;     ///< 0 for a texel
    uint8_t flags;     ///< QUADTILE_TILE_*
    uint16_t layer;    ///< the one that it lies in
    float importance;  ///< the maximum of its texels; never NaN, which counts as +infinity
    float threshold;   ///< what the importance was compared with
} quadtile_tile;

/// One timed stage of a run. This structure will never change.
typedef struct quadtile_stage {
    const char* name;     ///< what was done
    double milliseconds;  ///< that it took
    int32_t on_gpu;       ///< not 0: measured by GPU timestamps, else by the host's clock
} quadtile_stage;

/// The tiles of a map and how they came about. Owns all that it points to; never changed.
typedef struct quadtile_tile_list {
    const quadtile_tile* tiles;    ///< of all layers
    uint64_t tile_count;           ///< how many
    uint32_t width;                ///< of the map, texels
    uint32_t height;               ///< of the map, texels
    uint32_t layers;               ///< of the map
    uint32_t levels;               ///< the root's + 1
    int32_t order;                 ///< QUADTILE_ORDER_*
    float threshold_factor;        ///< by which a budget scaled the threshold; else 1
    uint64_t nan_texels;           ///< that counted as +infinity
    const char* strategy;          ///< the one that ran: "subtree" or "fused"
    const char* strategy_reason;   ///< why QUADTILE_STRATEGY_AUTOMATIC has taken it; else empty
    const char* device;            ///< its name
    uint32_t buffer_repeats;       ///< runs repeated because the tile buffer was full
    const quadtile_stage* stages;  ///< in the order of execution; the first is "wait"
    uint32_t stage_count;          ///< how many
} quadtile_tile_list;

/// The answer, once: waits for it, and returns its list, or the error that it is. Free the list
/// with quadtile_tile_list_free; it does not need the ticket or the service any more.
QUADTILE_C_API quadtile_status quadtile_ticket_take(quadtile_ticket* ticket,
                                                    const quadtile_tile_list** list);

/// Cancels a request that still waits, and waits for one that runs: nobody reads its texels
/// afterwards. NULL is allowed.
QUADTILE_C_API void quadtile_ticket_free(quadtile_ticket* ticket);

/// Frees a list and all that it points to. NULL is allowed.
QUADTILE_C_API void quadtile_tile_list_free(const quadtile_tile_list* list);

#ifdef __cplusplus
}
#endif

#endif
