// Mip levels by blits, with the driver's rounding.

#pragma once

#include <quadtile/downsampler.hpp>

#include "device/device_context.hpp"

namespace quadtile::detail {

// Records each level from the one below; with `copy_source` level 0 too. Barriers: those of
// Downsampler::record.
void record_blits(vk::CommandBuffer commands, const Dispatch& dispatch,
                  const Downsampler::Shape& shape, const ImageResource& source,
                  const ImageResource& destination, bool copy_source);

}  // namespace quadtile::detail
