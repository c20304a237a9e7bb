// What Downsampler refuses: options, and images of the caller's.

#pragma once

#include <quadtile/downsampler.hpp>

#include "device/device_context.hpp"

#include <cstdint>
#include <string>

namespace quadtile::detail {

// Throws Error(invalid_argument).
[[noreturn]] void refuse(const std::string& why);
// Throws Error(unsupported).
[[noreturn]] void cannot(const std::string& why);

[[nodiscard]] bool is_extreme(Reduction reduction);
[[nodiscard]] bool is_sum(Reduction reduction);  // means are, too
[[nodiscard]] bool is_depth(TexelFormat format);
[[nodiscard]] bool is_multi_dispatch(MipMethod method);

[[nodiscard]] vk::Format vulkan_format(TexelFormat format);
// The format that texels of an image are written through, and read through one by one: sRGB codes
// are converted by the kernel.
[[nodiscard]] vk::Format plain_format(TexelFormat format);

// "640 x 480"
[[nodiscard]] std::string size_of(std::uint32_t width, std::uint32_t height);

// Checks the options and replaces `automatic`.
[[nodiscard]] DownsamplerOptions settled(const DeviceContext& context, DownsamplerOptions options);

// Usages, flags and extents of the images; all else is 0.
[[nodiscard]] Downsampler::Requirements image_requirements(const DownsamplerOptions& options,
                                                           const Downsampler::Shape& shape);

// Throws Error(invalid_argument) for images that are not as `needed` says.
void check_images(const DownsamplerOptions& options, const Downsampler::Requirements& needed,
                  const Downsampler::Shape& shape, const Downsampler::Resources& resources);

}  // namespace quadtile::detail
