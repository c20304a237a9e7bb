// What a user's program does, without a window: the tiles of a sun's shadow map for two frames, on
// the device and by the reference. Both must be the same.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#include <vulkan/vulkan.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

VULKAN_HPP_DEFAULT_DISPATCH_LOADER_DYNAMIC_STORAGE

namespace {

constexpr VkExtent2D PICTURE{64, 36};

quadtile::ShadowOptions small_options() {
    quadtile::ShadowOptions options;
    options.map_extent = 64;
    options.atlas_extent = 1024;
    options.max_tiles = 100;
    options.resolution_scale = 8.0F;
    options.importance_decay = 0.0F;  // the second frame at once
    return options;
}

// A plane seen from above, as far as `columns`; behind them is nothing.
std::vector<float> plane(std::uint32_t columns) {
    std::vector<float> depth;
    for (std::uint32_t i = 0; i < PICTURE.width * PICTURE.height; ++i) {
        depth.push_back(i % PICTURE.width < columns ? 0.5F : 0.0F);
    }
    return depth;
}

quadtile::ShadowFrame make_frame() {
    quadtile::ShadowView view;
    view.background_depth = 0.0F;
    view.clip_from_world = {0.1F, 0.0F, 0.0F,  0.0F,  // x of the world to the right
                            0.0F, 0.0F, 0.05F, 0.0F,  // y towards the camera: reversed depths
                            0.0F, 0.1F, 0.0F,  0.0F,  // z downwards
                            0.0F, 0.0F, 0.5F,  1.0F};
    const quadtile::ShadowProjection sun = quadtile::directional_shadow_projection(
        {0.3F, -1.0F, 0.2F}, {{-10.0F, 0.0F, -10.0F}, {10.0F, 3.0F, 10.0F}});
    return quadtile::make_shadow_frame(small_options(), view, PICTURE, {&sun, 1});
}

// Memory, images and commands on the library's own device.
class Gpu {
 public:
    explicit Gpu(const quadtile::Device& device)
        : device_(device.handle()), physical_(device.physical_device()), queue_(device.queue()) {
        VULKAN_HPP_DEFAULT_DISPATCHER.init(device.get_instance_proc_addr());
        VULKAN_HPP_DEFAULT_DISPATCHER.init(vk::Instance(device.instance()));
        VULKAN_HPP_DEFAULT_DISPATCHER.init(device_);
        pool_ = device_.createCommandPoolUnique({{}, device.queue_family()});
    }

    struct Buffer {
        vk::UniqueDeviceMemory memory;
        vk::UniqueBuffer handle;
        std::byte* mapped;
    };
    [[nodiscard]] Buffer make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage) const {
        auto handle = device_.createBufferUnique({{}, size_bytes, vk::BufferUsageFlags(usage)});
        auto memory = allocate(
            device_.getBufferMemoryRequirements(*handle),
            vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent);
        device_.bindBufferMemory(*handle, *memory, 0);
        auto* const mapped = static_cast<std::byte*>(device_.mapMemory(*memory, 0, VK_WHOLE_SIZE));
        return {std::move(memory), std::move(handle), mapped};
    }

    struct Image {
        vk::UniqueDeviceMemory memory;
        vk::UniqueImage handle;
    };
    // In layout GENERAL.
    [[nodiscard]] Image make_image(const vk::ImageCreateInfo& info) const {
        auto handle = device_.createImageUnique(info);
        auto memory = allocate(device_.getImageMemoryRequirements(*handle),
                               vk::MemoryPropertyFlagBits::eDeviceLocal);
        device_.bindImageMemory(*handle, *memory, 0);
        run([&](vk::CommandBuffer commands) {
            const vk::ImageMemoryBarrier barrier(
                {}, vk::AccessFlagBits::eMemoryWrite, vk::ImageLayout::eUndefined,
                vk::ImageLayout::eGeneral, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED,
                *handle, {vk::ImageAspectFlagBits::eColor, 0, 1, 0, info.arrayLayers});
            commands.pipelineBarrier(vk::PipelineStageFlagBits::eTopOfPipe,
                                     vk::PipelineStageFlagBits::eAllCommands, {}, {}, {}, barrier);
        });
        return {std::move(memory), std::move(handle)};
    }

    [[nodiscard]] vk::UniqueImageView make_view(vk::Image image, vk::Format format) const {
        return device_.createImageViewUnique({{},
                                              image,
                                              vk::ImageViewType::e2D,
                                              format,
                                              {},
                                              {vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1}});
    }

    template <typename Record>
    void run(Record&& record) const {
        const auto commands = std::move(
            device_.allocateCommandBuffersUnique({*pool_, vk::CommandBufferLevel::ePrimary, 1})[0]);
        commands->begin(vk::CommandBufferBeginInfo());
        record(*commands);
        commands->end();
        queue_.submit(vk::SubmitInfo({}, {}, *commands));
        queue_.waitIdle();
    }

 private:
    [[nodiscard]] vk::UniqueDeviceMemory allocate(const vk::MemoryRequirements& needed,
                                                  vk::MemoryPropertyFlags wanted) const {
        const vk::PhysicalDeviceMemoryProperties all = physical_.getMemoryProperties();
        for (std::uint32_t type = 0; type < all.memoryTypeCount; ++type) {
            const bool fits = ((needed.memoryTypeBits >> type) & 1U) != 0;
            if (fits && (all.memoryTypes[type].propertyFlags & wanted) == wanted) {
                return device_.allocateMemoryUnique({needed.size, type});
            }
        }
        throw std::runtime_error("there is no memory of the kind that is needed");
    }

    vk::Device device_;
    vk::PhysicalDevice physical_;
    vk::Queue queue_;
    vk::UniqueCommandPool pool_;
};

void barrier(vk::CommandBuffer commands) {
    constexpr auto ALL = vk::AccessFlagBits::eMemoryRead | vk::AccessFlagBits::eMemoryWrite;
    commands.pipelineBarrier(
        vk::PipelineStageFlagBits::eAllCommands,
        vk::PipelineStageFlagBits::eAllCommands | vk::PipelineStageFlagBits::eHost, {},
        vk::MemoryBarrier(ALL, ALL | vk::AccessFlagBits::eHostRead), {}, {});
}

bool frames_are_the_references(const quadtile::Device& device) {
    const Gpu gpu(device);
    const quadtile::ShadowFitter fitter(device, small_options());
    const auto needed = fitter.requirements();
    const auto memory = gpu.make_buffer(needed.memory_size_bytes, needed.usage);
    std::memset(memory.mapped, 0, needed.memory_size_bytes);
    const auto importance = gpu.make_image(vk::ImageCreateInfo(needed.importance));
    const auto page_table = gpu.make_image(vk::ImageCreateInfo(needed.page_table));
    const auto depth =
        gpu.make_image({{},
                        vk::ImageType::e2D,
                        vk::Format::eR32Sfloat,
                        {PICTURE.width, PICTURE.height, 1},
                        1,
                        1,
                        vk::SampleCountFlagBits::e1,
                        vk::ImageTiling::eOptimal,
                        vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst});
    const auto view = gpu.make_view(*depth.handle, vk::Format::eR32Sfloat);
    const auto staging = gpu.make_buffer(sizeof(float) * PICTURE.width * PICTURE.height,
                                         VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    const auto binding = fitter.bind({.memory = {.buffer = *memory.handle},
                                      .importance = *importance.handle,
                                      .page_table = *page_table.handle,
                                      .depth = *view,
                                      .depth_layout = VK_IMAGE_LAYOUT_GENERAL});

    quadtile::reference::ShadowFitter twin(small_options());
    const quadtile::ShadowFrame frame = make_frame();
    for (const std::uint32_t columns : {PICTURE.width, PICTURE.width / 2}) {
        const std::vector<float> depths = plane(columns);
        std::memcpy(staging.mapped, depths.data(), depths.size() * sizeof(float));
        gpu.run([&](vk::CommandBuffer commands) {
            if (columns == PICTURE.width) {  // the first frame
                commands.clearColorImage(
                    *importance.handle, vk::ImageLayout::eGeneral, vk::ClearColorValue{},
                    vk::ImageSubresourceRange(vk::ImageAspectFlagBits::eColor, 0, 1, 0,
                                              VK_REMAINING_ARRAY_LAYERS));
            }
            commands.copyBufferToImage(
                *staging.handle, *depth.handle, vk::ImageLayout::eGeneral,
                vk::BufferImageCopy(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1}, {},
                                    {PICTURE.width, PICTURE.height, 1}));
            barrier(commands);
            fitter.record(commands, binding, frame);
            barrier(commands);
        });
        const quadtile::reference::ShadowFitter::Result& expected = twin.next(frame, depths);
        if (expected.tiles.size() < 2 ||
            std::memcmp(memory.mapped + needed.header_offset_bytes, &expected.header,
                        sizeof(expected.header)) != 0 ||
            std::memcmp(memory.mapped + needed.tiles_offset_bytes, expected.tiles.data(),
                        expected.tiles.size() * sizeof(quadtile::ShadowTile)) != 0) {
            return false;
        }
        std::printf("%u tiles, %u kept\n", expected.header.tiles, expected.header.kept);
    }
    return true;
}

// An error of the library's is caught by its type, whichever library throws it.
bool catches_errors() {
    quadtile::ShadowOptions options;
    options.map_extent = 1000;
    try {
        quadtile::check_shadow_options(options);
    } catch (const quadtile::Error& error) {
        return error.code() == quadtile::ErrorCode::invalid_argument;
    }
    return false;
}

}  // namespace

int main() {
    if (!catches_errors()) {
        std::fprintf(stderr, "a map of 1000 texels on a side is no quadtile::Error\n");
        return 1;
    }
    const quadtile::Device device = quadtile::Device::create();
    if (!frames_are_the_references(device)) {
        std::fprintf(stderr, "the device's shadow tiles differ from the reference's\n");
        return 1;
    }
    std::printf("on %s\n", device.info().name.c_str());
    return 0;
}
