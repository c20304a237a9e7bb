// Checks of Downsampler: its options and the caller's images.

#pragma once

#include <quadtile/downsampler.hpp>

#include "device/device_context.hpp"
#include "values/texel_codec.hpp"

#include <cstdint>
#include <string>

namespace quadtile::detail {

[[nodiscard]] bool is_multi_dispatch(MipMethod method);

// Returns the format for writing texels of an image, and for reading them one by one: the kernel
// converts sRGB codes.
[[nodiscard]] vk::Format plain_format(TexelFormat format);

// Checks the options and replaces `automatic`.
[[nodiscard]] DownsamplerOptions settled(const DeviceContext& context, DownsamplerOptions options);

// Returns usages, flags and extents of the images; the other members are 0.
[[nodiscard]] Downsampler::Requirements image_requirements(const DownsamplerOptions& options,
                                                           const Downsampler::Shape& shape);

// Throws Error(invalid_argument) for images that do not satisfy `needed`.
void check_images(const DownsamplerOptions& options, const Downsampler::Requirements& needed,
                  const Downsampler::Shape& shape, const Downsampler::Resources& resources);

}  // namespace quadtile::detail
