// What nothing can be faster than.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/image.hpp>
#include <quadtile/pyramid.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile::bench {

// One workgroup that does nothing.
[[nodiscard]] test::ComputePipeline make_empty_dispatch(const test::Gpu& gpu);

// Reads each texel of the first layer of an image once; of the channels, the first.
class ReadTexels {
 public:
    ReadTexels(const test::Gpu& gpu, const MapImage& image, const ImageShape& shape);

    // Commands to time: the sum of what was read is not kept.
    void record(VkCommandBuffer commands) const;

    // Throws WrongResult where the kernel does not read each texel of the map, which the image
    // holds, once.
    void check(test::Gpu& gpu, const MapView& map) const;

 private:
    void record(VkCommandBuffer commands, std::uint32_t limit) const;

    ImageShape shape_;
    test::Buffer result_;
    MapImage image_;
    test::ComputePipeline pipeline_;
};

// Which texels the threads of a workgroup take.
enum class TexelOrder { z_order, rows };

// Reads each texel of an image once and writes each texel of its mip levels once (traffic.comp).
class Traffic {
 public:
    // Fills the image with random texels. Throws Error(unsupported) where the device cannot store
    // so many levels.
    Traffic(test::Gpu& gpu, const ImageShape& shape, TexelOrder order);

    void record(VkCommandBuffer commands) const;

    // Throws WrongResult where a texel is not read or not written. For images that the host can
    // hold.
    void check(test::Gpu& gpu) const;

 private:
    ImageShape shape_;
    std::uint32_t levels_;
    test::Image image_;
    std::vector<test::Owned<VkImageView>> level_views_;
    std::optional<test::ComputePipeline> pipeline_;
};

}  // namespace quadtile::bench
