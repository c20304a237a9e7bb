// Memory that the host and the device both see, and images that go through it.

#pragma once

#include "device/memory.hpp"
#include "device/submission.hpp"

#include <quadtile/image.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quadtile::detail {

// Most bytes that go through host memory to or from the device at a time.
inline constexpr vk::DeviceSize STAGING_BYTES = vk::DeviceSize{64} << 20U;
inline constexpr vk::DeviceSize SMALLEST_STAGING_BYTES = vk::DeviceSize{64} << 10U;

// A buffer that the host writes or reads, and that grows. It has no memory before its first use.
class Staging {
 public:
    // `kind` is upload or readback; `name` is for error messages.
    Staging(MemorySource source, std::string name, MemoryKind kind)
        : source_(std::move(source)), name_(std::move(name)), kind_(kind) {}

    // Makes room for exactly so many bytes, at most STAGING_BYTES. What was in it may be lost.
    void reserve(vk::DeviceSize size_bytes);
    void forget();

    // Returns bytes of the room. Throws Error if they do not lie in it, also if the buffer is
    // longer. All that the host writes or reads goes through this function, so a mistake in a size
    // is found in each run, and reaches no other memory.
    [[nodiscard]] std::span<std::byte> bytes(vk::DeviceSize first, vk::DeviceSize count) const;

    [[nodiscard]] vk::Buffer handle() const noexcept { return buffer_.handle(); }
    [[nodiscard]] vk::DeviceSize size_bytes() const noexcept { return size_bytes_; }

 private:
    MemorySource source_;
    std::string name_;
    MemoryKind kind_;
    Buffer buffer_;
    vk::DeviceSize size_bytes_ = 0;  // of the room; the buffer may be longer
};

[[nodiscard]] vk::ImageAspectFlags aspect_of(TexelFormat format) noexcept;

// Destination of an upload.
struct UploadTarget {
    vk::Image image;
    vk::ImageLayout layout;
    vk::PipelineStageFlags stages;
    vk::AccessFlags access;
};

// Returns the beginning of each layer of an image in host memory.
[[nodiscard]] std::vector<const std::byte*> layers_of(const ImageView& image);

// Commands around the last part of an upload, in its submission; may be empty.
struct AroundUpload {
    std::function<void(vk::CommandBuffer)> before_last;
    std::function<void(vk::CommandBuffer)> after_last;
};

// Replaces mip level 0 of an image by layers of texels.
void upload_image(const std::string& doing, Commands& commands, const Dispatch& dispatch,
                  Staging& staging, const UploadTarget& target, const ImageShape& shape,
                  std::span<const std::byte* const> layers, const AroundUpload& around = {});

// A mip level that is read back; its texels are in host memory.
struct ReadLevel {
    ImageShape shape;
    std::byte* texels;
};

// Reads mip levels of an image, from `first_level` on. The image is in the layout GENERAL before
// and after; all other work on it is ordered before and behind.
void read_image(const std::string& doing, Commands& commands, const Dispatch& dispatch,
                Staging& staging, vk::Image image, std::span<const ReadLevel> levels,
                std::uint32_t first_level);

}  // namespace quadtile::detail
