/// \file
/// Mip levels of an image in host memory in one call, with the levels in host memory.

#pragma once

#include <quadtile/export.h>
#include <quadtile/device.hpp>
#include <quadtile/downsampler.hpp>
#include <quadtile/mip_chain.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace quadtile {

/// Uploads an image, makes its levels with a Downsampler, and reads them back.
///
/// Keeps pipelines, images and buffers between calls, so images of the same shape allocate nothing
/// again. One thread at a time; Mipmappers of several threads may share a device.
class QUADTILE_API Mipmapper {
 public:
    /// Compiles the pipelines. A run on the device that takes longer than `gpu_timeout` counts as
    /// hung, for example with GLSL that loops for ever: this call and all later ones throw
    /// Error(device_lost). The objects of the hung run and the Device are then never destroyed.
    /// Throws Error as Downsampler does; invalid_argument for an adopted device without a queue.
    explicit Mipmapper(const Device& device, const DownsamplerOptions& options = {},
                       std::chrono::milliseconds gpu_timeout = std::chrono::minutes(1));
    Mipmapper(Mipmapper&&) noexcept;  ///< the old object can only be destroyed or assigned to
    Mipmapper& operator=(Mipmapper&&) noexcept;  ///< as the constructor
    ~Mipmapper();                                ///< frees all resources, unless a run hangs

    /// Returns the options, with the choices that `automatic` made.
    [[nodiscard]] const DownsamplerOptions& options() const noexcept;

    /// Returns the levels of all layers of an image of options().source_format. `levels` includes
    /// level 0; 0: the full chain. Levels from 1 on have options().format. Level 0 is the source,
    /// or with copy_source its copy in the destination. Throws Error: invalid_argument (shape,
    /// format, levels), unsupported (more than the device's images can hold), out_of_memory,
    /// device_lost.
    [[nodiscard]] MipChain make(const ImageView& image, std::uint32_t levels = 0);

 private:
    struct QUADTILE_LOCAL Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadtile
