#include "device/memory.hpp"

#include <quadtile/device.hpp>
#include "values/refuse.hpp"

#include <array>
#include <vector>

namespace quadtile {

VkFormat vk_format(TexelFormat format) noexcept {
    constexpr VkFormat FORMATS[] = {
        VK_FORMAT_R32_SFLOAT,          VK_FORMAT_R16_SFLOAT,     VK_FORMAT_D32_SFLOAT,
        VK_FORMAT_R16_UNORM,           VK_FORMAT_R8_UNORM,       VK_FORMAT_D16_UNORM,
        VK_FORMAT_R32G32_SFLOAT,       VK_FORMAT_R16G16_SFLOAT,  VK_FORMAT_R32G32B32A32_SFLOAT,
        VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB};
    return FORMATS[static_cast<std::size_t>(format)];
}

}  // namespace quadtile

namespace quadtile::detail {

namespace {

using Property = vk::MemoryPropertyFlagBits;

// Returns properties in order of preference. Host-visible memory is always coherent: Vulkan
// guarantees such a type.
std::array<vk::MemoryPropertyFlags, 2> preferences(MemoryKind kind) {
    const vk::MemoryPropertyFlags host = Property::eHostVisible | Property::eHostCoherent;
    switch (kind) {
        case MemoryKind::device:
            return {Property::eDeviceLocal, {}};
        case MemoryKind::upload:
            return {Property::eDeviceLocal | host, host};
        case MemoryKind::readback:
            break;
    }
    return {Property::eHostCached | host, host};
}

// Returns the memory types for a resource in order of preference. The host writes directly to the
// GPU's memory if it sees all of it (resizable BAR). A smaller window is left to others.
std::vector<std::uint32_t> memory_types(const DeviceContext& context, std::uint32_t allowed,
                                        MemoryKind kind) {
    const auto memory = context.physical_device.getMemoryProperties(context.dispatch);
    std::vector<std::uint32_t> types;
    for (const vk::MemoryPropertyFlags wanted : preferences(kind)) {
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            const vk::MemoryType& type = memory.memoryTypes[i];
            const bool is_window =
                kind == MemoryKind::upload && (wanted & Property::eDeviceLocal) &&
                memory.memoryHeaps[type.heapIndex].size < context.info.local_memory_bytes;
            if ((allowed >> i & 1U) != 0 && (type.propertyFlags & wanted) == wanted && !is_window) {
                types.push_back(i);
                break;
            }
        }
    }
    return types;
}

Unique<vk::DeviceMemory> allocate(const DeviceContext& context, const std::string& name,
                                  const vk::MemoryRequirements& needed, MemoryKind kind) {
    const std::vector<std::uint32_t> types = memory_types(context, needed.memoryTypeBits, kind);
    if (types.empty()) {
        cannot(context.info.name, " has no memory type for ", name);
    }
    const auto allocate_from = [&](std::uint32_t type) {
        return context.calls("allocating " + std::to_string(needed.size) + " bytes for " + name,
                             [&] {
                                 return context.device.allocateMemoryUnique(
                                     {needed.size, type}, nullptr, context.dispatch);
                             });
    };
    try {
        return allocate_from(types.front());
    } catch (const Error& failure) {
        // The GPU also reads uploads from the host's memory.
        const bool has_other = kind == MemoryKind::upload && types.back() != types.front();
        if (failure.code() != ErrorCode::out_of_memory || !has_other) {
            throw;
        }
    }
    return allocate_from(types.back());
}

}  // namespace

void MemoryAccount::take(std::uint64_t size_bytes, const std::string& name) {
    std::uint64_t used = used_bytes_;
    do {
        if (size_bytes > limit_bytes_ || used > limit_bytes_ - size_bytes) {
            throw Error(ErrorCode::out_of_memory,
                        name + " needs " + std::to_string(size_bytes) + " bytes, but " +
                            std::to_string(used) + " of the allowed " +
                            std::to_string(limit_bytes_) +
                            " bytes are in use; raise the memory limit or use a smaller map");
        }
    } while (!used_bytes_.compare_exchange_weak(used, used + size_bytes));
    std::uint64_t most = most_used_bytes_;
    while (most < used + size_bytes &&
           !most_used_bytes_.compare_exchange_weak(most, used + size_bytes)) {
    }
}

void MemoryAccount::give_back(std::uint64_t size_bytes) noexcept {
    used_bytes_ -= size_bytes;
}

Memory::Memory(const MemorySource& source, const std::string& name,
               const vk::MemoryRequirements& needed, MemoryKind kind) {
    if (source.account) {
        source.account->take(needed.size, name);
        account_ = source.account;
        size_bytes_ = needed.size;
    }
    try {
        memory_ = allocate(*source.context, name, needed, kind);
    } catch (...) {
        if (account_) {
            account_->give_back(size_bytes_);
        }
        throw;
    }
}

Memory& Memory::operator=(Memory&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(memory_, other.memory_);
    return *this;
}

Memory::~Memory() {
    if (account_) {
        memory_.reset();
        account_->give_back(size_bytes_);
    }
}

Buffer::Buffer(const MemorySource& source, const std::string& name, vk::DeviceSize size_bytes,
               vk::BufferUsageFlags usage, MemoryKind kind)
    : context_(source.context), size_bytes_(size_bytes) {
    const auto& context = context_;
    buffer_ = context->calls("creating the buffer of " + name, [&] {
        return context->device.createBufferUnique({{}, size_bytes, usage}, nullptr,
                                                  context->dispatch);
    });
    const auto needed = context->device.getBufferMemoryRequirements(*buffer_, context->dispatch);
    memory_ = Memory(source, name, needed, kind);
    context->calls("binding the memory of " + name, [&] {
        context->name(*buffer_, name);
        context->name(memory_.handle(), name);
        context->device.bindBufferMemory(*buffer_, memory_.handle(), 0, context->dispatch);
        if (kind != MemoryKind::device) {
            mapped_ = context->device.mapMemory(memory_.handle(), 0, VK_WHOLE_SIZE, {},
                                                context->dispatch);
        }
    });
}

vk::FormatFeatureFlags features_of(const DeviceContext& context, vk::Format format) {
    return context.calls("asking for the features of a format", [&] {
        return context.physical_device.getFormatProperties(format, context.dispatch)
            .optimalTilingFeatures;
    });
}

void check_extents(const DeviceContext& context, const char* what, const ImageShape& shape) {
    const DeviceInfo& info = context.info;
    if (shape.width > info.max_map_extent || shape.height > info.max_map_extent ||
        shape.layers > info.max_layers) {
        cannot(what, " of ", size_of(shape.width, shape.height, shape.layers), " is too large for ",
               info.name, ": its images have at most ", info.max_map_extent,
               " texels on a side and ", info.max_layers,
               " layers; cut it into several or use the reference");
    }
}

vk::ImageCreateInfo image_info(const ImageShape& shape, std::uint32_t levels,
                               vk::ImageUsageFlags usage, vk::ImageCreateFlags flags) {
    vk::ImageCreateInfo info(flags, vk::ImageType::e2D, vulkan_format(shape.format),
                             {shape.width, shape.height, 1}, levels, shape.layers);
    info.setSamples(vk::SampleCountFlagBits::e1).setTiling(vk::ImageTiling::eOptimal);
    info.setUsage(usage);
    return info;
}

Image::Image(const MemorySource& source, const std::string& name, const vk::ImageCreateInfo& info,
             vk::ImageAspectFlags aspect)
    : context_(source.context), created_(info) {
    const auto& context = context_;
    image_ = context->calls("creating " + name, [&] {
        return context->device.createImageUnique(info, nullptr, context->dispatch);
    });
    const auto needed = context->device.getImageMemoryRequirements(*image_, context->dispatch);
    memory_ = Memory(source, name, needed, MemoryKind::device);
    context->calls("binding the memory of " + name, [&] {
        context->name(*image_, name);
        context->name(memory_.handle(), name);
        context->device.bindImageMemory(*image_, memory_.handle(), 0, context->dispatch);
        if (!aspect) {
            return;
        }
        const vk::ImageViewCreateInfo view({}, *image_, vk::ImageViewType::e2DArray, info.format,
                                           {}, {aspect, 0, 1, 0, info.arrayLayers});
        view_ = context->device.createImageViewUnique(view, nullptr, context->dispatch);
        context->name(*view_, name);
    });
}

}  // namespace quadtile::detail
