// The code that docs/shadows.md prints. What the page leaves to the reader is here: buffers,
// images, a depth buffer. Its draws are compiled; those of quadtile-shadow, which are the same, are
// run.

#include "../kernel/gpu_test.hpp"
#include "../shadow/spheres.hpp"
#include "support/gpu.hpp"

#include <quadtile/shadow.hpp>

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
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

    template <typename T>
    std::vector<T> read(VkBuffer buffer, VkDeviceSize offset_bytes, std::size_t count) {
        return gpu.read<T>(*std::ranges::find(buffers, buffer, &Buffer::handle), offset_bytes,
                           count);
    }

    const Device device = device_for();
    Gpu gpu{device};
    std::deque<Buffer> buffers;
    std::deque<Image> images;
};

// Two triangles of the ground, and a ball.
std::vector<ShadowObject> two_objects() {
    return {{.low = {-60.0F, 0.0F, -60.0F},
             .index_count = 6,
             .high = {60.0F, 0.0F, 60.0F},
             .first_index = 0,
             .vertex_offset = 0,
             .light_mask = 3,
             .reserved0 = 0,
             .reserved1 = 0},
            {.low = {2.0F, 0.0F, 2.0F},
             .index_count = 60,
             .high = {3.0F, 1.0F, 3.0F},
             .first_index = 6,
             .vertex_offset = 4,
             .light_mask = 1,
             .reserved0 = 0,
             .reserved1 = 0}};
}

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
    // The ball has moved: where it was, and where it is.
    const std::vector<ShadowChange> moved{
        {.low = {2.0F, 0.0F, 2.0F}, .light_mask = 1, .high = {3.0F, 1.0F, 3.0F}, .reserved = 0},
        {.low = {2.5F, 0.0F, 2.0F}, .light_mask = 1, .high = {3.5F, 1.0F, 3.0F}, .reserved = 0}};
    const auto change_capacity = static_cast<std::uint32_t>(moved.size());
    const VkBuffer changes =
        make_buffer(moved.size() * sizeof(ShadowChange), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    std::memcpy(buffers.back().mapped(), moved.data(), moved.size() * sizeof(ShadowChange));
    const VkBuffer change_count =
        make_buffer(sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    std::memcpy(buffers.back().mapped(), &change_capacity, sizeof(change_capacity));
    const std::vector<ShadowObject> casting = two_objects();
    const auto object_count = static_cast<std::uint32_t>(casting.size());
    const VkBuffer objects =
        make_buffer(casting.size() * sizeof(ShadowObject), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    std::memcpy(buffers.back().mapped(), casting.data(), casting.size() * sizeof(ShadowObject));

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

    reference::ShadowFitter twin(options);
    ShadowHeader expected = twin.next(frame, depth, far, moved).header;
    const auto drawn = twin.cull(casting);
    const auto commands = read<VkDrawIndexedIndirectCommand>(draws, 0, casting.size());
    for (std::size_t object = 0; object < casting.size(); ++object) {
        EXPECT_EQ(commands[object].instanceCount, drawn[object].size());
        expected.instances += static_cast<std::uint32_t>(drawn[object].size());
    }
    const auto header = read<ShadowHeader>(memory, needed.header_offset_bytes, 1);
    EXPECT_EQ(std::memcmp(&header[0], &expected, sizeof(expected)), 0);
    EXPECT_GT(expected.tiles, 20U);
    EXPECT_GT(expected.instances, 20U);
}

}  // namespace
}  // namespace quadtile::test
