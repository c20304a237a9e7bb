// Buffers and images with memory of their own, for the parts of the library that own resources.

#pragma once

#include "device/device_context.hpp"

#include <quadtile/device.hpp>
#include <quadtile/image.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace quadtile::detail {

enum class MemoryKind {
    device,    // fast for the GPU
    upload,    // written by the host, mapped
    readback,  // read by the host, mapped, cached if possible
};

// Bytes that Buffers and Images use, within a limit. Thread-safe.
class MemoryAccount {
 public:
    explicit MemoryAccount(std::uint64_t limit_bytes = UINT64_MAX) : limit_bytes_(limit_bytes) {}

    // Adds bytes. Throws Error(out_of_memory) with the purpose `name` beyond the limit.
    void take(std::uint64_t size_bytes, const std::string& name);
    void give_back(std::uint64_t size_bytes) noexcept;

    [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }
    [[nodiscard]] std::uint64_t most_used_bytes() const noexcept { return most_used_bytes_; }

 private:
    std::uint64_t limit_bytes_;
    std::atomic<std::uint64_t> used_bytes_ = 0;
    std::atomic<std::uint64_t> most_used_bytes_ = 0;
};

// A device, and the account of its memory; null: no account.
struct MemorySource {
    std::shared_ptr<DeviceContext> context;
    std::shared_ptr<MemoryAccount> account = nullptr;
};

// Device memory, which is returned to its account.
class Memory {
 public:
    Memory() = default;
    Memory(const MemorySource& source, const std::string& name,
           const vk::MemoryRequirements& needed, MemoryKind kind);
    Memory(Memory&& other) noexcept { *this = std::move(other); }
    Memory& operator=(Memory&& other) noexcept;
    ~Memory();

    [[nodiscard]] vk::DeviceMemory handle() const noexcept { return *memory_; }

 private:
    std::shared_ptr<MemoryAccount> account_;
    std::uint64_t size_bytes_ = 0;
    Unique<vk::DeviceMemory> memory_;
};

class Buffer {
 public:
    Buffer() = default;
    // `name` is for error messages: "the tile list".
    Buffer(const MemorySource& source, const std::string& name, vk::DeviceSize size_bytes,
           vk::BufferUsageFlags usage, MemoryKind kind);

    [[nodiscard]] vk::Buffer handle() const noexcept { return *buffer_; }
    [[nodiscard]] vk::DeviceSize size_bytes() const noexcept { return size_bytes_; }
    [[nodiscard]] void* mapped() const noexcept { return mapped_; }

 private:
    std::shared_ptr<DeviceContext> context_;
    vk::DeviceSize size_bytes_ = 0;
    Memory memory_;
    Unique<vk::Buffer> buffer_;
    void* mapped_ = nullptr;
};

[[nodiscard]] inline vk::Format vulkan_format(TexelFormat format) {
    return static_cast<vk::Format>(vk_format(format));
}

// Returns the features of optimally tiled images of a format.
[[nodiscard]] vk::FormatFeatureFlags features_of(const DeviceContext& context, vk::Format format);

// Throws Error(unsupported) for an image larger than the device's. `what` is "a map".
void check_extents(const DeviceContext& context, const char* what, const ImageShape& shape);

// Returns the parameters of an optimally tiled image with all layers of the shape.
vk::ImageCreateInfo image_info(const ImageShape& shape, std::uint32_t levels,
                               vk::ImageUsageFlags usage, vk::ImageCreateFlags flags = {});

class Image {
 public:
    Image() = default;
    // Makes an image with a view of all layers, type 2D_ARRAY. Without an aspect there is no view.
    Image(const MemorySource& source, const std::string& name, const vk::ImageCreateInfo& info,
          vk::ImageAspectFlags aspect = {});

    [[nodiscard]] vk::Image handle() const noexcept { return *image_; }
    [[nodiscard]] vk::ImageView view() const noexcept { return *view_; }
    [[nodiscard]] ImageResource resource(vk::ImageLayout layout) const {
        return {handle(), static_cast<VkImageCreateInfo>(created_),
                static_cast<VkImageLayout>(layout)};
    }

 private:
    std::shared_ptr<DeviceContext> context_;
    vk::ImageCreateInfo created_;
    Memory memory_;
    Unique<vk::Image> image_;
    Unique<vk::ImageView> view_;
};

}  // namespace quadtile::detail
