// The roof for everything that makes mip levels.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/image.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::bench {

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
    test::Owned<VkSampler> sampler_;
    test::Owned<VkDescriptorSetLayout> set_layout_;
    test::Owned<VkDescriptorPool> descriptor_pool_;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    test::Owned<VkPipelineLayout> layout_;
    test::Owned<VkPipeline> pipeline_;
};

}  // namespace quadtile::bench
