/// \file
/// From an image in host memory to its mip levels in host memory, in one call.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/downsampler.hpp>
#include <quadtile/mip_chain.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace quadtile {

/// Uploads an image, makes its levels with a Downsampler, and reads them back; waits for each.
///
/// Keeps pipelines, images and buffers between calls: images of one shape again allocate nothing.
/// One thread at a time; Mipmappers of several threads may share a device.
class QUADTILE_API Mipmapper {
 public:
    /// Compiles the pipelines. A run on the device that takes longer than `gpu_timeout` counts as
    /// hung, as with GLSL that loops for ever: Error(device_lost), also from all later calls. What
    /// it works with is never destroyed while it works, the Device neither.
    /// Throws Error as Downsampler does; invalid_argument for an adopted device that was given
    /// without a queue.
    explicit Mipmapper(const Device& device, const DownsamplerOptions& options = {},
                       std::chrono::milliseconds gpu_timeout = std::chrono::minutes(1));
    Mipmapper(Mipmapper&&) noexcept;  ///< leaves one that can only be destroyed or assigned to
    Mipmapper& operator=(Mipmapper&&) noexcept;  ///< leaves one as the constructor does
    ~Mipmapper();                                ///< frees what it keeps; nothing runs any more

    /// The options, with what `automatic` stands for.
    [[nodiscard]] const DownsamplerOptions& options() const noexcept;

    /// The levels of all layers of an image of options().source_format; `levels` includes level 0,
    /// and 0 asks for the full chain. Levels from 1 on have options().format. Level 0 is the
    /// source, or with copy_source what was written in its place. Throws Error: invalid_argument
    /// (shape, format, levels), unsupported (more than the device's images can hold),
    /// out_of_memory, device_lost.
    [[nodiscard]] MipChain make(const ImageView& image, std::uint32_t levels = 0);

    /// Makes the levels of the last image again, `runs` times (at least 1) after one to warm up.
    /// Returns the median of the microseconds from the time when everything before has finished to
    /// the time when the levels have; none where the queue has no timestamps.
    /// Throws Error: invalid_argument where `make` has not succeeded last, device_lost.
    [[nodiscard]] std::optional<double> measure_us(std::uint32_t runs);

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
