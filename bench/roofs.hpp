// Least possible times (roofs).

#pragma once

#include "support/gpu.hpp"

#include <quadtile/image.hpp>
#include <quadtile/subdivider.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile::bench {

// Reads each texel of the first layer of an image once, the first channel only.
class ReadTexels {
 public:
    ReadTexels(const test::Gpu& gpu, const MapImage& image, const ImageShape& shape);

    // Records the commands to time. They drop the sum of the texels.
    void record(VkCommandBuffer commands) const;

    // Throws WrongResult if the kernel does not read each texel of the map in the image once.
    void check(test::Gpu& gpu, const MapView& map) const;

 private:
    void record(VkCommandBuffer commands, std::uint32_t limit) const;

    ImageShape shape_;
    test::Buffer result_;
    MapImage image_;
    test::ComputePipeline pipeline_;
};

// Reads each texel of an image once and writes each texel of its mip levels once (traffic.comp).
class Traffic {
 public:
    // Fills the image with random texels. Throws Error(unsupported) if the device cannot store so
    // many levels.
    Traffic(test::Gpu& gpu, const ImageShape& shape);

    void record(VkCommandBuffer commands) const;

    // Throws WrongResult if a texel is not read or not written. The host must have room for the
    // image.
    void check(test::Gpu& gpu) const;

 private:
    ImageShape shape_;
    std::uint32_t levels_;
    test::Image image_;
    std::vector<test::Owned<VkImageView>> level_views_;
    std::optional<test::ComputePipeline> pipeline_;
};

}  // namespace quadtile::bench
