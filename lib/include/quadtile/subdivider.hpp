/// \file
/// The subdivision of a map into tiles by its pyramid, recorded into the caller's command buffer.

#pragma once

#include <quadtile/dirty_blocks.h>
#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace quadtile {

/// How a Subdivider finds the tiles.
struct SubdividerOptions {
    /// subtree or fused; or automatic: what takes every threshold, subtree, on CPU drivers with one
    /// level. choose_strategy knows more.
    Strategy strategy = Strategy::automatic;
    /// Levels that one dispatch of `subtree` descends: 1 to 8.
    std::uint32_t subtree_levels = 6;
    /// The function whose thresholds (Threshold::function) can be recorded, beside all others. By
    /// subtree.
    std::optional<ThresholdFunction> threshold_function = std::nullopt;
    /// The layout of its set 1, for the stage COMPUTE; null where it has no resources. The
    /// caller's; it must exist until the Subdivider is made.
    VkDescriptorSetLayout threshold_resources = VK_NULL_HANDLE;
};

/// Turns a map and its pyramid (`fused`: a map alone) into a tile list. Owns pipelines only. The
/// method is Tokuyoshi's ("An Implementation of Adaptive Tile Subdivision on the GPU"); `fused` is
/// our own.
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

    /// The strategy that automatic stands for, or the one that was asked for.
    [[nodiscard]] Strategy strategy() const noexcept;

    /// What the caller must bring: buffers, or ranges of one.
    struct Requirements {
        /// Counters and node lists. Fill it with zeros once; every run leaves it ready for the
        /// next, and `fused` leaves the number of NaN texels of each layer (see
        /// nan_texels_offset_bytes). If all its runs are of `fused` in any order without a budget,
        /// balanced or not, they leave zeros besides: then maps of one layer may share a scratch
        /// buffer, whatever their extents.
        VkDeviceSize scratch_size_bytes;
        /// The tile list: a TileListHeader and room for `tile_capacity` tiles.
        VkDeviceSize tile_list_size_bytes;
        /// For layers with thresholds of their own; see Resources.
        VkDeviceSize layer_thresholds_size_bytes;
        /// For layers with lists of their own; see Resources.
        VkDeviceSize layer_headers_size_bytes;
        /// For balanced lists; see Resources.
        VkDeviceSize balance_size_bytes;
        VkDeviceSize alignment_bytes;  ///< of the offsets of all in their buffers
        VkBufferUsageFlags usage;      ///< STORAGE_BUFFER | INDIRECT_BUFFER; add to it freely
    };

    /// What the caller must bring for maps of this shape and lists of up to `tile_capacity` tiles.
    /// Throws Error(invalid_argument) for a capacity of 0, Error(unsupported) for what the device
    /// cannot address.
    [[nodiscard]] Requirements requirements(const MapShape& shape,
                                            std::uint64_t tile_capacity) const;

    /// Where `fused` leaves the number of NaN texels of each layer in the scratch buffer: 32-bit
    /// words.
    static constexpr VkDeviceSize nan_texels_offset_bytes = 16;

    /// What the caller brings; all of it stays the caller's.
    struct Resources {
        MapImage map;           ///< only read
        BufferRange pyramid;    ///< as given to Pyramid, only read; `fused` takes none
        BufferRange scratch;    ///< scratch_size_bytes, zeros at first
        BufferRange tile_list;  ///< tile_list_size_bytes; what it holds before does not matter
        std::uint64_t tile_capacity = 0;  ///< tiles that it has room for, 1 or more
        /// For thresholds by node, otherwise none: threshold_map_size_bytes(shape) bytes as
        /// threshold_map_contents makes them, with the usage and the alignment of the others. Only
        /// read.
        BufferRange node_thresholds;
        /// For a threshold function with resources: a set of
        /// SubdividerOptions::threshold_resources, which nobody changes until the recording has
        /// executed. What it refers to is available and visible to COMPUTE_SHADER / SHADER_READ.
        VkDescriptorSet threshold_resources = VK_NULL_HANDLE;

        /// For batches: many maps of one shape, as layers, in one run of `fused`. Both optional.
        ///
        /// Thresholds of each layer, from level 0 to the root's, layer after layer: the words that
        /// layer_thresholds() gives. Then record() takes no threshold.
        BufferRange layer_thresholds;
        /// A TileListHeader for each layer's part of the list, which begins at its `first_tile`. In
        /// canonical order the parts lie one behind the other. In any order each has room for
        /// tile_capacity / layers tiles, and overflows by itself; the list's own header then counts
        /// all tiles, and has no arguments for dispatch and draw.
        BufferRange layer_headers;

        /// For balanced lists (SubdivideOptions::balance), otherwise none: balance_size_bytes. What
        /// it holds before does not matter, and nothing in it is of use behind a run: recordings
        /// that do not execute at the same time may share it, whatever their maps.
        BufferRange balance;
    };

    /// The descriptors of one set of resources; see Pyramid::Binding.
    class Binding {
        friend class Subdivider;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Writes the descriptors; the resources must exist, their contents do not matter yet. With
    /// thresholds by node it compiles another pipeline when they first come.
    /// Throws Error: invalid_argument and unsupported as requirements does, and for layers with
    /// thresholds or lists of their own by another strategy than `fused`; unsupported where the
    /// buffer of thresholds is longer than the device can address; out_of_memory.
    [[nodiscard]] Binding bind(const MapShape& shape, const Resources& resources) const;

    /// Puts another map of the same shape into a binding, at less cost than a new one. Recordings
    /// of the binding must have executed, and are not to be submitted again.
    void rebind_map(Binding& binding, const MapImage& map) const;

    /// Throws Error where `record` refuses the threshold for maps of this shape: invalid_argument
    /// where it does not fit the shape or, for `fused`, is not monotone, and where it is a function
    /// but not that of the options; unsupported where it is by node and its buffer longer than the
    /// device can address.
    void check_threshold(const MapShape& shape, const Threshold& threshold) const;

    /// Records the dispatches of one subdivision and the barriers between them into a command
    /// buffer of a queue with compute, outside a render pass. Leaves its own pipeline, descriptor
    /// set 0 (and 1, where threshold_resources are bound) and push constants bound.
    ///
    /// The default is any order. Options that name no order ask for the canonical one, which only
    /// `fused` writes, and balanced lists have: the same list to the bit on every device, for a second dispatch that reads
    /// the map once more where there are small tiles. Where the tiles do not all find room, the
    /// header's `required` is exact all the same, `written` equals the capacity, and
    /// TILE_LIST_OVERFLOW is set.
    ///
    /// `fused` is one dispatch and needs a monotone threshold (Threshold::check_monotone). It also
    /// keeps a budget of tiles, by a dispatch before; the header has the factor. Where even the
    /// largest leaves more than `max_tiles`, it is taken, and the header's flags have
    /// TILE_LIST_OVER_BUDGET.
    ///
    /// A balanced list takes two dispatches, three in canonical order, which every strategy writes
    /// for it, and one more for each level by a threshold function. By `subtree` it is made from
    /// the map and its pyramid, by any threshold. The header has TILE_LIST_BALANCED.
    ///
    /// `fused` writes no pyramid. Where it is wanted too, record Pyramid beside it: both only read
    /// the map, so no barrier belongs between them and a GPU runs them at the same time.
    ///
    /// A threshold by node is read from the buffer that was bound, which the caller fills: with
    /// threshold_map_contents of this threshold, or on the GPU for Threshold::bound_map.
    ///
    /// Before: the pyramid available and visible to COMPUTE_SHADER / SHADER_READ (after
    /// Pyramid::record: a memory barrier from COMPUTE_SHADER / SHADER_WRITE), the map and the
    /// buffer of thresholds too; earlier uses of scratch and tile list ordered before
    /// COMPUTE_SHADER / SHADER_READ | SHADER_WRITE and, for scratch, DRAW_INDIRECT /
    /// INDIRECT_COMMAND_READ. After: the tile list was written by COMPUTE_SHADER / SHADER_WRITE;
    /// the map's layout is unchanged. To consume the list make that visible to DRAW_INDIRECT /
    /// INDIRECT_COMMAND_READ for the arguments in its header, and to SHADER_READ in the stages that
    /// read its tiles.
    ///
    /// Throws Error as check_threshold does, and Error(invalid_argument) where the order or the
    /// budget does not fit the strategy, the threshold is by node and no buffer of thresholds was
    /// bound, or the list is to be balanced and no buffer for that was bound or there is a budget
    /// too; then nothing was recorded. Does not allocate device memory, submit or wait; `fused`
    /// compiles a pipeline when an order, a budget or a format comes up first.
    void record(VkCommandBuffer commands, const Binding& binding, const Threshold& threshold,
                const SubdivideOptions& options = {.order = Order::any}) const;

    /// The same with the thresholds that Resources::layer_thresholds holds, made available and
    /// visible to COMPUTE_SHADER / SHADER_READ before. Throws Error(invalid_argument) where none
    /// were bound.
    void record(VkCommandBuffer commands, const Binding& binding,
                const SubdivideOptions& options = {.order = Order::any}) const;

    /// Brings a list up to date after texels inside the rectangles have changed (`fused` only): the
    /// 64 x 64 blocks that they touch are counted again, then the whole list is written, in
    /// canonical order, the same that `record` would give. That reads once more the blocks that
    /// hold smaller tiles, no others. No rectangle, no change.
    ///
    /// The scratch must be as the last `record` in canonical order without a budget has left it, or
    /// an update since, with the same threshold and map shape; with other thresholds the list is
    /// wrong. Where the scratch was used otherwise since, or never, the header says
    /// TILE_LIST_NOT_COUNTED and the list is empty. The tile list may be another, or a longer one
    /// after an overflow.
    ///
    /// Barriers as for `record`. Throws Error(invalid_argument) as `record` does, and for a
    /// rectangle that is empty or not inside the map; then nothing was recorded. One dispatch for
    /// each region of touched blocks without gaps, and one more.
    void record_update(VkCommandBuffer commands, const Binding& binding, const Threshold& threshold,
                       std::span<const DirtyRectangle> rectangles) const;

    /// The same with the thresholds that Resources::layer_thresholds holds, unchanged.
    void record_update(VkCommandBuffer commands, const Binding& binding,
                       std::span<const DirtyRectangle> rectangles) const;

    /// What Resources::layer_thresholds must hold, for one threshold for each layer.
    /// Throws Error(invalid_argument) where one of them does not fit the shape or is not monotone,
    /// or there are more or fewer than layers.
    [[nodiscard]] static std::vector<float> layer_thresholds(const MapShape& shape,
                                                             std::span<const Threshold> thresholds);

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace quadtile
