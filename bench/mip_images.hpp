// Images to downsample, and checks of what becomes of them.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/downsampler.hpp>
#include <quadtile/image.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace quadtile::bench {

// "4096" for a square, "1920x1080", "512x512x64" for several layers.
[[nodiscard]] std::string text_of_extents(const ImageShape& shape);

// Throws Error(unsupported) where the device's images are not as large, or the host could not
// number the texels.
void require_images(const DeviceInfo& device, const ImageShape& shape);

// Texels of an image: any codes; floats that are normal numbers below 1, so that nothing depends on
// how a device treats NaN and denormals.
[[nodiscard]] std::vector<std::byte> bench_texels(const ImageShape& shape);

// Fills level 0 with some random rows, again and again. On the device: bringing an image of 32768 x
// 32768 texels there takes longer than all that is measured on it.
void fill_with_random_rows(test::Gpu& gpu, const test::Image& image, TexelFormat format);

// Shapes small enough for the reference that stand for a shape: itself if it is; otherwise one of
// about 1024 x 1024 texels, as odd as it is, and beyond 4096, where results are handed over twice,
// a strip of its width.
[[nodiscard]] std::vector<ImageShape> shapes_to_check(const ImageShape& shape);

// Compares levels with the reference: bit for bit where options say that they are the same, else
// with what the options' documentation allows. Throws WrongResult.
void check_levels(const MipChain& levels, const ImageView& source,
                  const DownsamplerOptions& options);

}  // namespace quadtile::bench
