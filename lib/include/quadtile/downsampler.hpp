/// \file
/// Mip levels of an image, recorded into the caller's command buffer.

#pragma once

#include <quadtile/dirty_blocks.h>
#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/mip_chain.hpp>
#include <quadtile/resources.hpp>

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quadtile {

/// Ways to read level 0.
enum class TexelRead {
    automatic,  ///< `filtered` for extremes of unorm and sRGB formats, where it is exact; else
                ///< `texels`
    texels,     ///< each texel by itself (gathers, or fetches of four channels)
    /// Four texels at once: by a bilinear sampler for mean and sum, by MIN and MAX reduction for
    /// extremes. The texture unit rounds the mean: it is off by up to 2^-8 of the largest texel
    /// (measured on NVIDIA). Extremes are exact except for NaN.
    filtered,
};

/// Ways to exchange values between threads.
enum class Exchange {
    automatic,      ///< `subgroup` if the device has it
    subgroup,       ///< shuffles at the device's subgroup size (4 to 128)
    shared_memory,  ///< barriers and shared memory, which every device has
};

/// Options of a Downsampler. Its constructor refuses options that contradict each other.
struct DownsamplerOptions {
    Reduction reduction = Reduction::mean;                ///< of four texels to one
    TexelFormat source_format = TexelFormat::rgba8_srgb;  ///< of level 0; any format
    /// Format of the levels that are made; no depth format. It has as many channels as the source
    /// (min_max: two, from a source of one or two). Extremes need the source's encoding or 32-bit
    /// floats, sums need floats.
    TexelFormat format = TexelFormat::rgba8_srgb;
    EdgeRule edge_rule = EdgeRule::fold;  ///< sizes of the levels and treatment of odd edges
    /// Whether level 0 of the source is copied to the destination. Not with TexelRead::filtered.
    bool copy_source = false;
    /// GLSL for Reduction::custom, which defines
    ///
    ///     TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d)
    ///
    /// for the texels a b above c d. TEXEL is float, vec2 or vec4 by the number of channels. Unorm
    /// values are in [0, 1], sRGB colours in linear light. At odd edges the nearest texel stands
    /// for a missing one. Three texels in a row or column (EdgeRule::fold) are reduced in 2 x 2
    /// windows, and the results again. The text has no resources of its own, and is refused for the
    /// same reasons as that of a ThresholdFunction.
    std::string custom_glsl;
    /// Code that compile_reduction (quadtile/glsl.hpp) made of custom_glsl, for the same number of
    /// channels; instead of custom_glsl.
    std::vector<std::byte> custom_compiled;
    MipMethod method = MipMethod::automatic;  ///< number of dispatches and of roundings

    TexelRead read = TexelRead::automatic;    ///< override for tests and measurements
    Exchange exchange = Exchange::automatic;  ///< override for tests and measurements
};

/// Makes the mip levels of all layers of an image (of a cube: of its faces). Owns pipelines and a
/// table only. The method is AMD's FidelityFX Single Pass Downsampler; docs/downsampler.md has the
/// definitions.
///
/// Each level is reduced from the exact values of the level below, and rounded to the format when
/// it is stored. A method that stores a level and reads it again goes on from the rounded values:
/// per_level at every level, subgroup at every sixth, and spd at level 6 under EdgeRule::drop, as
/// FidelityFX SPD does.
///
/// With 17 storage images per shader one dispatch stores all levels. With fewer the same levels
/// take more dispatches, each of which starts from the level that is read.
///
/// Thread-safe. Recordings that share a state buffer must not execute at the same time; others may.
class QUADTILE_API Downsampler {
 public:
    /// Compiles a pipeline; `bind`, and `record` with rectangles, compile others when they are
    /// first needed. Throws Error: invalid_argument for options that contradict each other or GLSL
    /// that does not compile (with its line numbers), unsupported for options that the device
    /// cannot support.
    Downsampler(const Device& device, DownsamplerOptions options);

    /// Returns the options, with the choices that `automatic` made.
    [[nodiscard]] const DownsamplerOptions& options() const noexcept;

    /// Size of an image and the number of its mip levels, level 0 included.
    struct Shape {
        std::uint32_t width = 0;   ///< of level 0, texels
        std::uint32_t height = 0;  ///< of level 0, texels
        std::uint32_t layers = 1;  ///< a cube has six
        std::uint32_t levels = 0;  ///< 1 to full_mip_levels()
    };

    /// Sizes, usages and flags of the caller's resources.
    struct Requirements {
        /// Counters. Fill it with zeros once; every run leaves it ready for the next, of the same
        /// shape.
        VkDeviceSize state_size_bytes;
        /// Buffer of record_indirect. Fill it with zeros once.
        VkDeviceSize dirty_blocks_size_bytes;
        VkDeviceSize alignment_bytes;           ///< of the offsets of all ranges in their buffers
        VkBufferUsageFlags state_usage;         ///< STORAGE_BUFFER; others may be added
        VkBufferUsageFlags dirty_blocks_usage;  ///< STORAGE_BUFFER | INDIRECT_BUFFER

        /// Usage of the source, an image of exactly width x height in options().source_format.
        VkImageUsageFlags source_usage;
        VkImageCreateFlags source_flags;  ///< MUTABLE_FORMAT for sRGB that is read as codes
        /// Usage of the destination. If the formats are equal, source and destination may be one
        /// image with the usages and flags of both.
        VkImageUsageFlags destination_usage;
        VkImageCreateFlags destination_flags;  ///< MUTABLE_FORMAT and EXTENDED_USAGE for sRGB
        /// Extents that are large enough for an image whose mip levels hold all levels. Only
        /// EdgeRule::round_up needs more than a Vulkan mip chain of the source's extents may have.
        VkExtent2D destination_extent;
    };

    /// Returns the requirements of a shape. Throws Error(invalid_argument) for extents or layers of
    /// 0, and for levels of 0 or more than the full chain has; Error(unsupported) for a shape that
    /// the device cannot hold.
    [[nodiscard]] Requirements requirements(const Shape& shape) const;

    /// The caller's resources. The caller owns all of them.
    struct Resources {
        ImageResource source;       ///< mip level 0 is read
        ImageResource destination;  ///< levels from 1 on are written, level 0 with copy_source
        BufferRange state;          ///< state_size_bytes, zeros at first
        BufferRange dirty_blocks;   ///< for record_indirect; null: not used
        /// Rectangles of record_indirect, with usage STORAGE_BUFFER and the alignment of the other
        /// ranges. The range holds a word with the number of rectangles, three unused words, and
        /// DirtyRectangles; it has room for `dirty_rectangle_capacity`.
        BufferRange dirty_rectangles;
        std::uint32_t dirty_rectangle_capacity = 0;  ///< rectangles
    };

    /// Views and descriptors of one set of resources; copies share them. Keep a binding until the
    /// commands recorded with it have executed, and destroy it before the resources.
    class Binding {
        friend class Downsampler;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Makes the views and writes the descriptors. The resources must exist; their contents do not
    /// matter yet. Compiles the pipelines that the shape is the first to need. Throws Error:
    /// invalid_argument for images without the needed usage, format, size or layers, and as
    /// requirements does; out_of_memory.
    [[nodiscard]] Binding bind(const Shape& shape, const Resources& resources) const;

    /// Records all levels into a command buffer of a queue with compute (`blit`: with graphics),
    /// outside a render pass. Leaves its own pipeline, descriptor set 0 and push constants bound.
    /// Does not allocate, submit or wait.
    ///
    /// Before: writes to the source available and visible to COMPUTE_SHADER / SHADER_READ; earlier
    /// uses of the destination and the state finished, or ordered before COMPUTE_SHADER /
    /// SHADER_WRITE (state: SHADER_READ too); the destination in layout GENERAL, also if it is the
    /// source.
    ///
    /// After: COMPUTE_SHADER / SHADER_WRITE has written the levels and the state; layouts are
    /// unchanged.
    ///
    /// MipMethod::blit: the same with TRANSFER, TRANSFER_READ and TRANSFER_WRITE.
    void record(VkCommandBuffer commands, const Binding& binding) const;

    /// Records an incremental update after texels inside the rectangles have changed: exactly the
    /// 64 x 64 blocks that they touch are reduced again, and the levels above them. Everything else
    /// must be as left by a run with the same binding and state. MipMethod::spd only; barriers as
    /// for `record`. Throws Error(invalid_argument) for another method, and for a rectangle that is
    /// empty or not inside the image; then nothing is recorded.
    void record(VkCommandBuffer commands, const Binding& binding,
                std::span<const DirtyRectangle> rectangles) const;

    /// Records an incremental update for rectangles in GPU memory. They are cut at the image's
    /// edges; those beyond the capacity are ignored. It takes two dispatches, the second of them
    /// indirect, and several such pairs if a shader can use few storage images.
    ///
    /// Before, in addition: the rectangles available and visible to COMPUTE_SHADER / SHADER_READ;
    /// dirty_blocks like the state, and also ordered before DRAW_INDIRECT / INDIRECT_COMMAND_READ.
    /// Throws Error(invalid_argument) for another method than MipMethod::spd, and if the two
    /// buffers were not bound.
    void record_indirect(VkCommandBuffer commands, const Binding& binding) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace quadtile
