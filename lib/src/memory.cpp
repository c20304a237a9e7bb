#include "memory.hpp"

#include <initializer_list>

namespace quadtile::detail {

namespace {

using Property = vk::MemoryPropertyFlagBits;

// Kinds of memory in the order of preference. Host-visible memory is always coherent: Vulkan
// guarantees such a type.
std::initializer_list<vk::MemoryPropertyFlags> preferences(MemoryKind kind) {
    static const std::initializer_list<vk::MemoryPropertyFlags> device{Property::eDeviceLocal,
                                                                       vk::MemoryPropertyFlags{}};
    static const std::initializer_list<vk::MemoryPropertyFlags> upload{Property::eHostVisible |
                                                                       Property::eHostCoherent};
    static const std::initializer_list<vk::MemoryPropertyFlags> readback{
        Property::eHostVisible | Property::eHostCoherent | Property::eHostCached,
        Property::eHostVisible | Property::eHostCoherent};
    switch (kind) {
        case MemoryKind::device:
            return device;
        case MemoryKind::upload:
            return upload;
        case MemoryKind::readback:
            break;
    }
    return readback;
}

Unique<vk::DeviceMemory> allocate(const DeviceContext& context, const std::string& name,
                                  const vk::MemoryRequirements& needed, MemoryKind kind) {
    const auto types = context.physical_device.getMemoryProperties(context.dispatch);
    for (const vk::MemoryPropertyFlags wanted : preferences(kind)) {
        for (std::uint32_t i = 0; i < types.memoryTypeCount; ++i) {
            const bool allowed = (needed.memoryTypeBits & (1U << i)) != 0;
            if (!allowed || (types.memoryTypes[i].propertyFlags & wanted) != wanted) {
                continue;
            }
            return vulkan_calls("allocating " + std::to_string(needed.size) + " bytes for " + name,
                                [&] {
                                    return context.device.allocateMemoryUnique(
                                        {needed.size, i}, nullptr, context.dispatch);
                                });
        }
    }
    throw Error(ErrorCode::unsupported,
                context.info.name + " has no memory type that suits " + name);
}

}  // namespace

Buffer::Buffer(const std::shared_ptr<DeviceContext>& context, const std::string& name,
               vk::DeviceSize size_bytes, vk::BufferUsageFlags usage, MemoryKind kind)
    : context_(context), size_bytes_(size_bytes) {
    buffer_ = vulkan_calls("creating the buffer of " + name, [&] {
        return context->device.createBufferUnique({{}, size_bytes, usage}, nullptr,
                                                  context->dispatch);
    });
    const auto needed = context->device.getBufferMemoryRequirements(*buffer_, context->dispatch);
    memory_ = allocate(*context, name, needed, kind);
    vulkan_calls("binding the memory of " + name, [&] {
        context->device.bindBufferMemory(*buffer_, *memory_, 0, context->dispatch);
        if (kind != MemoryKind::device) {
            mapped_ = context->device.mapMemory(*memory_, 0, VK_WHOLE_SIZE, {}, context->dispatch);
        }
    });
}

Image::Image(const std::shared_ptr<DeviceContext>& context, const std::string& name,
             const vk::ImageCreateInfo& info, vk::ImageAspectFlags aspect)
    : context_(context) {
    image_ = vulkan_calls("creating the image of " + name, [&] {
        return context->device.createImageUnique(info, nullptr, context->dispatch);
    });
    const auto needed = context->device.getImageMemoryRequirements(*image_, context->dispatch);
    memory_ = allocate(*context, name, needed, MemoryKind::device);
    vulkan_calls("binding the memory of " + name, [&] {
        context->device.bindImageMemory(*image_, *memory_, 0, context->dispatch);
        const vk::ImageViewCreateInfo view({}, *image_, vk::ImageViewType::e2DArray, info.format,
                                           {}, {aspect, 0, 1, 0, info.arrayLayers});
        view_ = context->device.createImageViewUnique(view, nullptr, context->dispatch);
    });
}

}  // namespace quadtile::detail
