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

/// How level 0 is read.
enum class TexelRead {
    automatic,  ///< texels, but where filtered gives the same: extremes of unorm and sRGB formats
    texels,     ///< each texel by itself (gathers, or fetches of four channels)
    /// A quad in one go: a bilinear sampler for mean and sum, MIN and MAX reduction for extremes.
    /// The mean of four texels is then rounded as the texture unit does: off by up to 2^-8 of the
    /// largest of them (measured on NVIDIA). Extremes are exact but for NaN.
    filtered,
};

/// How threads exchange what they hold.
enum class Exchange {
    automatic,      ///< subgroup where the device has it
    subgroup,       ///< shuffles, at the device's subgroup size (4 to 128)
    shared_memory,  ///< barriers and shared memory; every device has it
};

/// What is made of an image, and how. What does not go together is refused by Downsampler's
/// constructor.
struct DownsamplerOptions {
    Reduction reduction = Reduction::mean;                ///< of four texels to one
    TexelFormat source_format = TexelFormat::rgba8_srgb;  ///< of level 0; any
    /// Of the levels that are made; no depth format. As many channels as the source has (min_max:
    /// two, of a source of one or two). Extremes: the source's encoding, or 32-bit floats. Sums:
    /// floats.
    TexelFormat format = TexelFormat::rgba8_srgb;
    EdgeRule edge_rule = EdgeRule::fold;  ///< sizes of the levels, and what odd edges become
    /// Writes level 0 of the destination too: a copy of the source. Not with TexelRead::filtered.
    bool copy_source = false;
    /// For Reduction::custom, GLSL that defines
    ///
    ///     TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d)
    ///
    /// of the texels a b above c d. TEXEL is float, vec2 or vec4 after the number of channels;
    /// unorm values in [0, 1], sRGB colours in linear light. At odd edges a texel that does not
    /// exist is replaced by the nearest one beside it; of three texels in a row or column
    /// (EdgeRule::fold) the 2 x 2 windows are reduced, and their results again. It has no resources
    /// of its own; all else that ThresholdFunction refuses is refused here, too.
    std::string custom_glsl;
    /// Or what compile_reduction (quadtile/glsl.hpp) made of it, for as many channels.
    std::vector<std::byte> custom_compiled;
    MipMethod method = MipMethod::automatic;  ///< how many dispatches, and what rounds when

    TexelRead read = TexelRead::automatic;    ///< an override, for tests and measurements
    Exchange exchange = Exchange::automatic;  ///< another one
};

/// Makes the mip levels of all layers of an image (cubes: their faces). Owns pipelines and a table
/// only. After AMD's FidelityFX Single Pass Downsampler; docs/downsampler.md has the definitions.
///
/// Each level is reduced from the exact values of the level below and rounded to the format when it
/// is stored. Where a method stores a level and reads it again (per_level: every one, subgroup:
/// every sixth) the rounded values are taken; so does spd at level 6 under EdgeRule::drop,
/// as FidelityFX SPD does.
///
/// A shader that can use 17 storage images stores all levels. With fewer the same levels take more
/// dispatches, each of which starts from the level that is read.
///
/// Thread-safe. Recordings that share a state buffer must not execute at the same time; others may.
class QUADTILE_API Downsampler {
 public:
    /// Compiles a pipeline; `bind`, and `record` with rectangles, compile others when they are
    /// first needed. Throws Error: invalid_argument for options that contradict each other or GLSL
    /// that does not compile (with its line numbers), unsupported for what the device cannot do;
    /// the message names it.
    Downsampler(const Device& device, DownsamplerOptions options);

    /// The options, with what `automatic` stands for.
    [[nodiscard]] const DownsamplerOptions& options() const noexcept;

    /// An image and how many of its mip levels are wanted, level 0 included.
    struct Shape {
        std::uint32_t width = 0;   ///< of level 0, texels
        std::uint32_t height = 0;  ///< of level 0, texels
        std::uint32_t layers = 1;  ///< a cube has six
        std::uint32_t levels = 0;  ///< 1 to full_mip_levels
    };

    /// What the caller must bring: sizes, usages and flags.
    struct Requirements {
        /// Fill it with zeros once; every run leaves it ready for the next one, of the same shape.
        VkDeviceSize state_size_bytes;
        /// For record_indirect: filled with zeros once, as the state.
        VkDeviceSize dirty_blocks_size_bytes;
        VkDeviceSize alignment_bytes;           ///< of the offsets of buffers
        VkBufferUsageFlags state_usage;         ///< STORAGE_BUFFER; add to it freely
        VkBufferUsageFlags dirty_blocks_usage;  ///< STORAGE_BUFFER | INDIRECT_BUFFER

        /// The source: an image of exactly width x height and options().source_format.
        VkImageUsageFlags source_usage;
        VkImageCreateFlags source_flags;  ///< MUTABLE_FORMAT for sRGB that is read as codes
        /// The destination: may be the same image where the formats are the same, with the usages
        /// and flags of both.
        VkImageUsageFlags destination_usage;
        VkImageCreateFlags destination_flags;  ///< MUTABLE_FORMAT and EXTENDED_USAGE for sRGB
        /// The destination's mip levels must be at least as large as the levels are; under
        /// EdgeRule::round_up, where a Vulkan mip chain may be too small, an image of these extents
        /// is large enough.
        VkExtent2D destination_extent;
    };

    /// What the caller must bring. Throws Error(invalid_argument) for extents or layers of 0,
    /// levels of 0 or more than the full chain has; Error(unsupported) for what the device cannot
    /// hold.
    [[nodiscard]] Requirements requirements(const Shape& shape) const;

    /// What the caller brings; all of it stays the caller's.
    struct Resources {
        ImageResource source;       ///< mip level 0 is read
        ImageResource destination;  ///< levels 1 and up are written, level 0 with copy_source
        BufferRange state;          ///< state_size_bytes, zeros at first
        BufferRange dirty_blocks;   ///< for record_indirect; null where it is not used
        /// For record_indirect, usage STORAGE_BUFFER, aligned as the others: a word with their
        /// number, three unused words, then so many DirtyRectangles; `dirty_rectangle_capacity`
        /// fit.
        BufferRange dirty_rectangles;
        std::uint32_t dirty_rectangle_capacity = 0;  ///< rectangles
    };

    /// The views and descriptors of one set of resources; copies share them. Keep one until the
    /// commands recorded with it have executed, and destroy it before the resources.
    class Binding {
        friend class Downsampler;
        struct QUADTILE_LOCAL Impl;
        explicit Binding(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
        std::shared_ptr<Impl> impl_;
    };

    /// Makes the views and writes the descriptors; the resources must exist, their contents do not
    /// matter yet. Compiles pipelines that the shape needs first.
    /// Throws Error: invalid_argument for images without the usage, format, size or layers that are
    /// needed, and as requirements does; out_of_memory.
    [[nodiscard]] Binding bind(const Shape& shape, const Resources& resources) const;

    /// Records all levels into a command buffer of a queue with compute (blit: with graphics),
    /// outside a render pass. Leaves its own pipeline, descriptor set 0 and push constants bound.
    ///
    /// Before: writes to the source available and visible to COMPUTE_SHADER / SHADER_READ; earlier
    /// uses of the destination and the state finished or ordered before COMPUTE_SHADER /
    /// SHADER_WRITE (state: SHADER_READ too). The destination in layout GENERAL, also where it is
    /// the source. After: the levels and the state were written by COMPUTE_SHADER / SHADER_WRITE;
    /// layouts are unchanged. MipMethod::blit: all of this with TRANSFER, TRANSFER_READ and
    /// TRANSFER_WRITE.
    ///
    /// Does not allocate, submit or wait.
    void record(VkCommandBuffer commands, const Binding& binding) const;

    /// Brings the levels up to date after texels inside the rectangles have changed: exactly the
    /// 64 x 64 blocks that they touch run, and everything above them. Everything else must be as a
    /// run with the same binding and state has left it. MipMethod::spd only; barriers as for
    /// `record`. Throws Error(invalid_argument) for another method, and for a rectangle that is
    /// empty or not inside the image, before anything is recorded.
    void record(VkCommandBuffer commands, const Binding& binding,
                std::span<const DirtyRectangle> rectangles) const;

    /// The same with rectangles on the GPU; they are cut off at the image's edges, and those beyond
    /// the capacity are not looked at. Two dispatches, the second indirect; several times both
    /// where a shader can use few storage images.
    /// Before, in addition: the rectangles available and visible to COMPUTE_SHADER / SHADER_READ;
    /// dirty_blocks like the state, and to DRAW_INDIRECT / INDIRECT_COMMAND_READ.
    /// Throws Error(invalid_argument) for another method than MipMethod::spd, and where the two
    /// buffers were not bound.
    void record_indirect(VkCommandBuffer commands, const Binding& binding) const;

 private:
    struct QUADTILE_LOCAL Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace quadtile
