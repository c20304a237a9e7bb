// The code that docs/shadows.md prints. What the page leaves to the reader is here: buffers,
// images, a depth buffer. Its draws are compiled; those of quadtile-shadow, which are the same, are
// run. Random cases (test/random) compare what fitters write.

#include "../kernel/gpu_test.hpp"
#include "../shadow/scene.hpp"
#include "support/gpu.hpp"

#include <quadtile/shadow.hpp>

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace quadtile::test {
namespace {

class ShadowGuide : public GpuTest {
 protected:
    VkBuffer make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage) {
        buffers.push_back(gpu.make_buffer(size_bytes, usage, Memory::host_visible));
        return buffers.back().handle();
    }

    VkBuffer make_zeros(VkDeviceSize size_bytes, VkBufferUsageFlags usage) {
        const VkBuffer buffer = make_buffer(size_bytes, usage);
        gpu.fill(buffers.back(), 0);
        return buffer;
    }

    VkImage make_zeros(const VkImageCreateInfo& info) {
        const VkImage image = make_image(info);
        const std::vector<float> zeros(std::size_t{info.extent.width} * info.extent.height *
                                       info.arrayLayers);
        gpu.upload(images.back(), zeros.data());
        return image;
    }

    VkImage make_image(const VkImageCreateInfo& info) {
        images.push_back(gpu.make_image(info));
        return images.back().handle();
    }

    static constexpr VkBufferUsageFlags STORAGE = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    const Device device = device_for();
    Gpu gpu{device};
    std::deque<Buffer> buffers;
    std::deque<Image> images;
};

TEST_F(ShadowGuide, AFrame) {
    const Pinhole pinhole = camera_of_frame(0);
    const std::vector<float> depth = depth_buffer(pinhole);
    const ShadowMatrix camera = pinhole.view().clip_from_world;
    const VkExtent2D depth_extent{pinhole.width, pinhole.height};
    const Image depth_image = gpu.make_image(MapShape{depth_extent.width, depth_extent.height});
    gpu.upload(depth_image, depth.data());
    const Owned<VkImageView> made_depth_view = gpu.make_view(depth_image);
    const std::vector<float> far = empty_atlas({});
    const Image atlas =
        gpu.make_image(MapShape{ShadowOptions().atlas_extent, ShadowOptions().atlas_extent});
    gpu.upload(atlas, far.data());
    const Owned<VkImageView> made_atlas_view = gpu.make_view(atlas);
    const VkImageView depth_view = made_depth_view.get();
    const VkImageView atlas_view = made_atlas_view.get();

    const ShadowBox scene_box = spheres_box();
    constexpr std::uint32_t change_capacity = 2;
    constexpr std::uint32_t object_count = 2;
    const VkBuffer changes = make_zeros(change_capacity * sizeof(ShadowChange), STORAGE);
    const VkBuffer change_count = make_zeros(sizeof(std::uint32_t), STORAGE);
    const VkBuffer objects = make_zeros(object_count * sizeof(ShadowObject), STORAGE);

#include "snippets/shadow_once"
    ASSERT_EQ(needed.importance.arrayLayers, options.lights);
#include "snippets/shadow_frame"
    gpu.run([&](VkCommandBuffer commands) {
#include "snippets/shadow_record"
    });
    const auto draw = [&](VkCommandBuffer commands, VkPipeline clear_slots, VkPipeline draw_slots) {
#include "snippets/shadow_draw"
    };
    (void)draw;  // that would need a render pass

    const auto header = gpu.read<ShadowHeader>(*std::ranges::find(buffers, memory, &Buffer::handle),
                                               needed.header_offset_bytes, 1);
    EXPECT_GT(header[0].tiles, 20U);
}

}  // namespace
}  // namespace quadtile::test
