/// \file
/// Subdivision of a map into tiles, and the maximum pyramid for it, recorded into the caller's
/// command buffer.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <vulkan/vulkan_core.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quadtile {

/// Builds the maximum pyramid of every layer of a map in one dispatch. The method is AMD's
/// single-pass downsampling with cascading counters, so maps may exceed 4096 x 4096 texels. Owns
/// pipelines only.
///
/// Thread-safe. Recordings that share a state buffer must not execute at the same time.
class QUADTILE_API Pyramid {
 public:
    /// Compiles a pipeline; `bind` compiles others for the first use of a shape or format. Throws
    /// Error: out_of_memory, device_lost, vulkan.
    explicit Pyramid(const Device& device);

    /// Sizes, alignment and usage of the caller's two buffers, or of ranges of one buffer.
    struct Requirements {
        /// The pyramid: level 1 to the root's, 32-bit floats, placed by pyramid_index (quadtree.h).
        VkDeviceSize pyramid_size_bytes;
        /// Counters. Fill the range with zeros once; every run leaves it ready for the next one.
        /// After a run the first `layers` words hold the number of NaN texels of each layer, or
        /// LOST_RUN: then the root is NaN, and all runs fail until the range is filled again.
        VkDeviceSize state_size_bytes;
        VkDeviceSize alignment_bytes;  ///< of the offsets of both ranges in their buffers
        VkBufferUsageFlags usage;      ///< STORAGE_BUFFER; others may be added
    };

    /// Returns the requirements of maps of this shape. Throws Error(invalid_argument, unsupported)
    /// for a shape that the device cannot hold.
    [[nodiscard]] Requirements requirements(const MapShape& shape) const;

    /// Resources, which the caller owns.
    struct Resources {
        MapImage map;         ///< only read
        BufferRange pyramid;  ///< pyramid_size_bytes; earlier contents do not matter
        BufferRange state;    ///< state_size_bytes, zeros at first
    };

    /// Descriptors of one set of resources; copies share them. Keep a binding until the commands
    /// recorded with it have executed. It may be destroyed before or after the resources.
    class Binding {
        friend class Pyramid;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Writes the descriptors. The resources must exist; their contents do not matter yet. Throws
    /// Error as requirements does, out_of_memory.
    [[nodiscard]] Binding bind(const MapShape& shape, const Resources& resources) const;

    /// Records one dispatch (without Features::hand_over: up to three) into a command buffer of a
    /// queue with compute, outside a render pass.
    /// Leaves its own pipeline, descriptor set 0 and push constants bound. Does not allocate,
    /// submit or wait.
    ///
    /// Before: writes to the map available and visible to COMPUTE_SHADER / SHADER_READ; earlier
    /// uses of the pyramid and the state finished, or ordered before COMPUTE_SHADER / SHADER_WRITE
    /// (state: SHADER_READ too).
    ///
    /// After: COMPUTE_SHADER / SHADER_WRITE has written pyramid and state; the map's layout stays.
    void record(VkCommandBuffer commands, const Binding& binding) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

/// Options of a Subdivider.
struct SubdividerOptions {
    /// subtree, fused or automatic. `automatic` is subtree, for every threshold; on CPU drivers
    /// with one level per dispatch. choose_strategy considers the map and the threshold too.
    Strategy strategy = Strategy::automatic;
    /// Levels per dispatch of `subtree`: 1 to 8.
    std::uint32_t subtree_levels = 6;
    /// Text of Threshold::function, recordable beside all other thresholds; by subtree only. Empty:
    /// none.
    std::string threshold_function;
};

/// Makes a tile list from a map and its pyramid, or with `fused` from a map alone. Owns pipelines
/// only. The method is Tokuyoshi's ("An Implementation of Adaptive Tile Subdivision on the GPU");
/// `fused` is quadtile's own.
///
/// Thread-safe. Recordings that share a scratch buffer or a tile list must not execute at the same
/// time.
class QUADTILE_API Subdivider {
 public:
    /// Compiles the pipelines. Throws Error: invalid_argument for options outside their range, for
    /// Strategy::reference, and for a threshold function that does not compile (with its line
    /// numbers) or does not fit; unsupported for GLSL without the compiler; out_of_memory,
    /// device_lost, vulkan.
    explicit Subdivider(const Device& device, const SubdividerOptions& options = {});

    /// Returns the strategy in use: the one of the options, or the choice of `automatic`.
    [[nodiscard]] Strategy strategy() const noexcept;

    /// Sizes, alignment and usage of the caller's buffers, or of ranges of one buffer.
    struct Requirements {
        /// Counters and node lists. Fill the range with zeros once; every run leaves it ready for
        /// the next one. `fused` leaves the number of NaN texels of each layer in it
        /// (nan_texels_offset_bytes).
        /// Maps of one layer and any extents may share one if all its runs are of `fused` in any
        /// order without a budget.
        VkDeviceSize scratch_size_bytes;
        /// The tile list: a TileListHeader and `tile_capacity` tiles.
        VkDeviceSize tile_list_size_bytes;
        /// Thresholds per layer; see Resources::layer_thresholds.
        VkDeviceSize layer_thresholds_size_bytes;
        /// Buffer of balanced lists; see Resources::balance.
        VkDeviceSize balance_size_bytes;
        VkDeviceSize alignment_bytes;  ///< of the offsets of all ranges in their buffers
        VkBufferUsageFlags usage;      ///< STORAGE_BUFFER | INDIRECT_BUFFER; others may be added
    };

    /// Returns the requirements of maps of this shape and lists of up to `tile_capacity` tiles.
    /// Throws Error(invalid_argument) for a capacity of 0, Error(unsupported) for buffers that the
    /// device cannot address.
    [[nodiscard]] Requirements requirements(const MapShape& shape,
                                            std::uint64_t tile_capacity) const;

    /// Offset in the scratch of the NaN texels per layer that `fused` leaves: 32-bit words.
    static constexpr VkDeviceSize nan_texels_offset_bytes = 16;

    /// Resources, which the caller owns.
    struct Resources {
        MapImage map;                     ///< only read
        BufferRange pyramid;              ///< the one of Pyramid, only read; none for `fused`
        BufferRange scratch;              ///< scratch_size_bytes, zeros at first
        BufferRange tile_list;            ///< tile_list_size_bytes; earlier contents do not matter
        std::uint64_t tile_capacity = 0;  ///< tiles that it has room for, 1 or more
        /// Thresholds per node, only read; none for other thresholds:
        /// threshold_map_size_bytes(shape) bytes in the layout of threshold_map_contents, with the
        /// usage and the alignment of the other ranges.
        BufferRange node_thresholds;
        /// Thresholds per layer, for batches of maps by `fused`; optional. The range holds the
        /// words of layer_thresholds(), for the overload of record() without a threshold.
        BufferRange layer_thresholds;
        /// Buffer of balanced lists (SubdivideOptions::balance) of `fused`, otherwise none:
        /// balance_size_bytes. Its contents do not matter, so recordings that do not execute at the
        /// same time may share it.
        BufferRange balance;
    };

    /// Descriptors of one set of resources; see Pyramid::Binding.
    class Binding {
        friend class Subdivider;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Writes the descriptors. The resources must exist; their contents do not matter yet. The
    /// first thresholds per node compile another pipeline. Throws Error: as requirements does;
    /// invalid_argument for layer_thresholds with another strategy than `fused`; unsupported for
    /// more thresholds than the device can address; out_of_memory.
    [[nodiscard]] Binding bind(const MapShape& shape, const Resources& resources) const;

    /// Checks that `record` takes the threshold for maps of this shape. Throws Error:
    /// invalid_argument if it does not fit the shape, if it is not monotone with `fused`, and if it
    /// is another function than that of the options; unsupported for a threshold per node whose
    /// buffer is longer than the device can address.
    void check_threshold(const MapShape& shape, const Threshold& threshold) const;

    /// Records the dispatches of one subdivision, and the barriers between them, into a command
    /// buffer of a queue with compute, outside a render pass. Leaves its own pipeline, descriptor
    /// set 0 and push constants bound. Does not allocate device memory, submit or wait; `fused`
    /// compiles a pipeline for the first use of an order, a budget or a format.
    ///
    /// Order: any, if the call has no options; canonical, if its options name no order. Only
    /// `fused` writes canonical order. It is bit-identical on every device, and takes a second
    /// dispatch that reads parts of the map with small tiles again.
    ///
    /// Overflow: if there are more tiles than the capacity, `required` in the header is exact,
    /// `written` equals the capacity, and TILE_LIST_OVERFLOW is set.
    ///
    /// Failure: if messages between workgroups do not arrive, `written` and `required` are 0 and
    /// TILE_LIST_INCOMPLETE is set, in all runs until scratch and Pyramid's state are filled with
    /// zeros. A device without Features::hand_over needs no messages.
    ///
    /// Strategy `fused` needs a monotone threshold (Threshold::check_monotone) and writes no
    /// pyramid. If you need one too, record Pyramid without a barrier between them: both only read
    /// the map.
    ///
    /// Budget: `fused` keeps it with one more dispatch, and writes the factor into the header. If
    /// even the largest factor leaves more than `max_tiles`, it is used and TILE_LIST_OVER_BUDGET
    /// is set.
    ///
    /// Balance: `fused` makes a balanced list in two dispatches, three in canonical order.
    /// TILE_LIST_BALANCED is set.
    ///
    /// Before: map, pyramid and the buffer of thresholds available and visible to COMPUTE_SHADER /
    /// SHADER_READ (after Pyramid::record: a memory barrier from COMPUTE_SHADER / SHADER_WRITE);
    /// earlier uses of scratch and tile list ordered before COMPUTE_SHADER / SHADER_READ |
    /// SHADER_WRITE, and for scratch also before DRAW_INDIRECT / INDIRECT_COMMAND_READ.
    ///
    /// After: COMPUTE_SHADER / SHADER_WRITE has written the tile list; the map's layout is
    /// unchanged. To consume the list, make it visible to DRAW_INDIRECT / INDIRECT_COMMAND_READ for
    /// the arguments in its header, and to SHADER_READ in the stages that read its tiles.
    ///
    /// Throws Error as check_threshold does. Throws Error(invalid_argument) if the order, the
    /// budget or the balance does not fit the strategy, if a threshold per node has no bound
    /// buffer, and if a balanced list has no bound buffer or a budget too. Then nothing is
    /// recorded.
    void record(VkCommandBuffer commands, const Binding& binding, const Threshold& threshold,
                const SubdivideOptions& options = {.order = Order::any}) const;

    /// Does the same with Resources::layer_thresholds, which are available and visible to
    /// COMPUTE_SHADER / SHADER_READ before. Throws Error(invalid_argument) if none were bound.
    void record(VkCommandBuffer commands, const Binding& binding,
                const SubdivideOptions& options = {.order = Order::any}) const;

    /// Returns the contents of Resources::layer_thresholds for one threshold per layer. Throws
    /// Error(invalid_argument) if a threshold does not fit the shape or is not monotone, or if the
    /// numbers of thresholds and layers differ.
    [[nodiscard]] static std::vector<float> layer_thresholds(const MapShape& shape,
                                                             std::span<const Threshold> thresholds);

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace quadtile
