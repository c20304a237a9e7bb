// Buffers and images with memory of their own, for the part of the library that owns any.

#pragma once

#include "device_context.hpp"

#include <memory>
#include <string>

namespace quadtile::detail {

enum class MemoryKind {
    device,    // fast for the GPU
    upload,    // written by the host, mapped
    readback,  // read by the host, mapped, cached where possible
};

class Buffer {
 public:
    Buffer() = default;
    // `name` is for error messages: "the tile list".
    Buffer(const std::shared_ptr<DeviceContext>& context, const std::string& name,
           vk::DeviceSize size_bytes, vk::BufferUsageFlags usage, MemoryKind kind);

    [[nodiscard]] vk::Buffer handle() const noexcept { return *buffer_; }
    [[nodiscard]] vk::DeviceSize size_bytes() const noexcept { return size_bytes_; }
    [[nodiscard]] void* mapped() const noexcept { return mapped_; }

 private:
    std::shared_ptr<DeviceContext> context_;
    vk::DeviceSize size_bytes_ = 0;
    Unique<vk::DeviceMemory> memory_;
    Unique<vk::Buffer> buffer_;
    void* mapped_ = nullptr;
};

class Image {
 public:
    Image() = default;
    // With a view of all layers, type 2D_ARRAY.
    Image(const std::shared_ptr<DeviceContext>& context, const std::string& name,
          const vk::ImageCreateInfo& info, vk::ImageAspectFlags aspect);

    [[nodiscard]] vk::Image handle() const noexcept { return *image_; }
    [[nodiscard]] vk::ImageView view() const noexcept { return *view_; }

 private:
    std::shared_ptr<DeviceContext> context_;
    Unique<vk::DeviceMemory> memory_;
    Unique<vk::Image> image_;
    Unique<vk::ImageView> view_;
};

}  // namespace quadtile::detail
