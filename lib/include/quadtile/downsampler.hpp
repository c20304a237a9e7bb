/// \file
/// Mip levels of an image: recorded into the caller's command buffer, or from and to host memory
/// in one call.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/image.hpp>

#include <vulkan/vulkan_core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quadtile {

/// Options of a Downsampler. Its constructor refuses options that contradict each other.
struct DownsamplerOptions {
    Reduction reduction = Reduction::mean;                ///< of four texels to one
    TexelFormat source_format = TexelFormat::rgba8_srgb;  ///< of level 0; any format
    /// Format of the levels that are made; no depth format. It has as many channels as the source
    /// (min_max: two, from a source of one or two). Extremes need the source's encoding or 32-bit
    /// floats, sums need floats.
    TexelFormat format = TexelFormat::rgba8_srgb;
    EdgeRule edge_rule = EdgeRule::fold;  ///< sizes of the levels and treatment of odd edges
    /// Whether level 0 of the source is copied to the destination. Not with `filtered`.
    bool copy_source = false;
    /// GLSL for Reduction::custom, which defines
    ///
    ///     TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d)
    ///
    /// for the texels a b above c d. TEXEL is float, vec2 or vec4 by the number of channels. Unorm
    /// values are in [0, 1], sRGB colours in linear light. At odd edges the nearest texel stands
    /// for a missing one. Three texels in a row or column (EdgeRule::fold) are reduced in 2 x 2
    /// windows, and the results again. The text has no resources of its own, and is refused for the
    /// same reasons as that of Threshold::function.
    std::string custom_glsl;
    MipMethod method = MipMethod::automatic;  ///< number of dispatches and of roundings
    /// Whether a sampler reads four texels at once: a bilinear one for mean and sum, one of MIN or
    /// MAX reduction for extremes. The texture unit rounds the mean: it is off by up to 2^-8 of the
    /// largest texel (measured on NVIDIA). Extremes are exact except for NaN. Extremes of unorm and
    /// sRGB formats, which have no NaN, are always read so if the device can.
    bool filtered = false;
};

/// A rectangle of texels in one layer of the source that have changed.
struct DirtyRectangle {
    std::uint32_t x = 0;       ///< left column, texels
    std::uint32_t y = 0;       ///< top row
    std::uint32_t width = 0;   ///< texels
    std::uint32_t height = 0;  ///< texels
    std::uint32_t layer = 0;   ///< layer of the source
};

/// Makes the mip levels of all layers of an image (of a cube: of its faces). Owns pipelines and a
/// table only. The method is AMD's FidelityFX Single Pass Downsampler; docs/downsampler.md has the
/// definitions.
///
/// Each level is reduced from the exact values of the level below, and rounded to the format when
/// it is stored. A method that stores a level and reads it again goes on from the rounded values:
/// per_level at every level, subgroup at every sixth, and spd at level 6 under EdgeRule::drop, as
/// FidelityFX SPD does. With fewer than 17 storage images per shader the same levels take more
/// dispatches.
///
/// Thread-safe. Recordings that share a state buffer must not execute at the same time; others may.
class QUADTILE_API Downsampler {
 public:
    /// Compiles a pipeline; `bind`, and `record` with a rectangle, compile others when they are
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

        /// Compares member by member.
        friend bool operator==(const Shape&, const Shape&) = default;
    };

    /// Sizes, usages and flags of the caller's resources.
    struct Requirements {
        /// Counters. Fill it with zeros once; every run leaves it ready for the next, of the same
        /// shape. If the first word of a layer (of `layers` words) is LOST_RUN after a run, its
        /// messages between workgroups did not arrive, and its levels are wrong: fill it again.
        VkDeviceSize state_size_bytes;
        VkDeviceSize alignment_bytes;    ///< of the state's offset in its buffer
        VkBufferUsageFlags state_usage;  ///< STORAGE_BUFFER; others may be added

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

    /// Resources, which the caller owns.
    struct Resources {
        ImageResource source;       ///< mip level 0 is read
        ImageResource destination;  ///< levels from 1 on are written, level 0 with copy_source
        BufferRange state;          ///< state_size_bytes, zeros at first
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

    /// Records an update after texels inside the rectangle have changed: the 64 x 64 blocks that it
    /// touches are reduced again, and all levels above them. Everything else must be as left by a
    /// run with the same binding and state. Barriers as above. Throws Error(invalid_argument) for
    /// other methods than MipMethod::spd, and for a rectangle that is empty or not inside the
    /// image; then nothing is recorded.
    void record(VkCommandBuffer commands, const Binding& binding,
                const DirtyRectangle& rectangle) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

/// Uploads an image, makes its levels with a Downsampler, and reads them back.
///
/// Keeps pipelines, images and buffers between calls. One thread at a time; Mipmappers of several
/// threads may share a device.
class QUADTILE_API Mipmapper {
 public:
    /// Compiles the pipelines. `gpu_timeout`: as TilerOptions::gpu_timeout. Throws Error as
    /// Downsampler does; invalid_argument for an adopted device without a queue.
    explicit Mipmapper(const Device& device, const DownsamplerOptions& options = {},
                       std::chrono::milliseconds gpu_timeout = std::chrono::minutes(1));
    Mipmapper(Mipmapper&&) noexcept;  ///< the old object can only be destroyed or assigned to
    Mipmapper& operator=(Mipmapper&&) noexcept;  ///< as the constructor
    ~Mipmapper();                                ///< frees all resources, unless a run hangs

    /// Returns the options, with the choices that `automatic` made.
    [[nodiscard]] const DownsamplerOptions& options() const noexcept;

    /// Returns the levels of all layers of an image of options().source_format; `levels` includes
    /// level 0; 0: the full chain. Levels from 1 on have options().format, level 0 with copy_source
    /// too. Throws Error: invalid_argument (shape, format, levels), unsupported (more than the
    /// device's images can hold), out_of_memory, device_lost.
    [[nodiscard]] MipChain make(const ImageView& image, std::uint32_t levels = 0);

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
