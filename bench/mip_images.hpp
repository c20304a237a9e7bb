// Images to downsample, and checks of their mip levels.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/downsampler.hpp>
#include <quadtile/image.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace quadtile::bench {

// Returns "4096" for a square, else "8192x64".
[[nodiscard]] std::string text_of_extents(const ImageShape& shape);

// Throws Error(unsupported) if the image is larger than the device allows, or has more texels than
// the host can count.
void require_images(const DeviceInfo& device, const ImageShape& shape);

// Returns texels with any codes. Floats are normal numbers below 1, so that nothing depends on how
// a device treats NaN and denormals.
[[nodiscard]] std::vector<std::byte> bench_texels(const ImageShape& shape);

// Fills level 0 with copies of random rows, on the device: an upload of 32768 x 32768 texels takes
// longer than all measurements on them.
void fill_with_random_rows(test::Gpu& gpu, const test::Image& image, TexelFormat format);

// Returns shapes small enough for the reference that stand for a square: one of at most 1024 x 1024
// texels, as odd as it is; above 4096, where results are handed over twice, a strip of its width,
// too.
[[nodiscard]] std::vector<ImageShape> shapes_to_check(const ImageShape& shape);

// Compares levels with the reference in every bit, if the options promise that; tests bound the
// differences of others. Throws WrongResult.
void check_levels(const MipChain& levels, const ImageView& source,
                  const DownsamplerOptions& options);

}  // namespace quadtile::bench
