// Work on a quadtile::Device with handles of C: the programs' app::Gpu for tests and benchmarks.
//
// Makes callers short: each call waits for the GPU, barriers are wider than necessary. Not
// thread-safe.

#pragma once

#include <quadtile/device.hpp>
#include <quadtile/downsampler.hpp>
#include <quadtile/image.hpp>
#include <quadtile/subdivider.hpp>

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace quadtile::app {
class Gpu;
}

namespace quadtile::test {

// A shared handle. Its last owner destroys it.
template <typename Handle>
using Owned = std::shared_ptr<std::remove_pointer_t<Handle>>;

// Returns whether the Khronos validation layer is installed.
[[nodiscard]] bool has_validation_layer();

enum class Memory { device_local, host_visible };

class Buffer {
 public:
    [[nodiscard]] VkBuffer handle() const noexcept { return buffer_; }
    [[nodiscard]] BufferRange range() const noexcept { return {buffer_, 0}; }
    [[nodiscard]] VkDeviceSize size_bytes() const noexcept { return size_bytes_; }
    // Returns the mapped bytes; null unless host_visible.
    [[nodiscard]] std::byte* mapped() const noexcept { return mapped_; }

 private:
    friend class Gpu;
    std::shared_ptr<const void> owner_;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceSize size_bytes_ = 0;
    std::byte* mapped_ = nullptr;
};

// A 2D image, all in one layout. If it can be sampled, also the 2D_ARRAY view of its level 0.
class Image {
 public:
    [[nodiscard]] VkImage handle() const noexcept { return image_; }
    [[nodiscard]] VkImageView view() const noexcept { return view_.get(); }
    [[nodiscard]] ImageResource resource() const noexcept { return {handle(), created_, layout_}; }
    [[nodiscard]] VkExtent3D extent() const noexcept { return created_.extent; }
    [[nodiscard]] std::uint32_t layers() const noexcept { return created_.arrayLayers; }
    // Returns all levels and layers.
    [[nodiscard]] VkImageSubresourceRange range() const noexcept;
    [[nodiscard]] VkImageLayout layout() const noexcept { return layout_; }
    [[nodiscard]] MapImage map_image() const noexcept { return {view_.get(), layout_}; }

 private:
    friend class Gpu;
    std::shared_ptr<const void> owner_;
    VkImage image_ = VK_NULL_HANDLE;
    Owned<VkImageView> view_;
    VkImageCreateInfo created_ = {};
    VkImageLayout layout_ = VK_IMAGE_LAYOUT_UNDEFINED;
};

// Returns the usual parameters of a 2D image.
[[nodiscard]] VkImageCreateInfo image_info(const ImageShape& shape, std::uint32_t levels,
                                           VkImageUsageFlags usage, VkImageCreateFlags flags = 0);

using Recorder = std::function<void(VkCommandBuffer)>;

// Objects that a Gpu makes must be destroyed before it.
class Gpu {
 public:
    // `submit` submits work to the device's queue; empty: vkQueueSubmit does, for one thread at a
    // time.
    explicit Gpu(const Device& device, SubmitFunction submit = {});
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    [[nodiscard]] const Device& device() const noexcept { return device_; }

    // Adds TRANSFER_SRC and TRANSFER_DST to `usage`. Device-local contents are undefined.
    [[nodiscard]] Buffer make_buffer(VkDeviceSize size_bytes, VkBufferUsageFlags usage,
                                     Memory memory = Memory::device_local) const;
    // Makes a storage buffer of the host's with these values.
    template <typename T>
    [[nodiscard]] Buffer make_buffer(const std::vector<T>& values) const {
        Buffer buffer = make_buffer(values.size() * sizeof(T), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                    Memory::host_visible);
        std::memcpy(buffer.mapped(), values.data(), values.size() * sizeof(T));
        return buffer;
    }
    // Makes an image in `layout` with undefined contents. Adds TRANSFER_SRC and TRANSFER_DST.
    [[nodiscard]] Image make_image(VkImageCreateInfo info,
                                   VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL);
    // Makes an image for maps of that shape, in `layout`, with SAMPLED.
    [[nodiscard]] Image make_image(const MapShape& shape,
                                   VkImageLayout layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);

    // Makes a view of a level: a 2D_ARRAY of all layers, or layer 0. `usage` 0: the image's.
    [[nodiscard]] Owned<VkImageView> make_view(const Image& image, std::uint32_t level = 0,
                                               VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D,
                                               VkImageUsageFlags usage = 0) const;

    // Records, submits and waits.
    void run(const Recorder& record);

    void fill(const Buffer& buffer, std::uint32_t word);

    // Writes all of level 0. `texels` holds the layers one after the other, rows from the top,
    // without padding.
    void upload(const Image& image, const void* texels);
    [[nodiscard]] Image upload(const MapView& map);

    // Reads a whole mip level, in the layout that `upload` takes.
    [[nodiscard]] std::vector<std::byte> download(const Image& image, std::uint32_t level);
    void download(const Buffer& buffer, VkDeviceSize offset_bytes, std::span<std::byte> bytes);

    template <typename T>
    [[nodiscard]] std::vector<T> read(const Buffer& buffer, VkDeviceSize offset_bytes,
                                      std::size_t count) {
        std::vector<T> values(count);
        download(buffer, offset_bytes, std::as_writable_bytes(std::span(values)));
        return values;
    }
    // Records a full barrier for `run`: makes all earlier writes visible to all later commands.
    void barrier(VkCommandBuffer commands) const;
    // Records a barrier from compute shader writes to compute shaders and indirect commands.
    void compute_barrier(VkCommandBuffer commands) const;

 private:
    friend class ComputePipeline;
    Device device_;
    std::shared_ptr<app::Gpu> gpu_;
};

// A compute pipeline with one descriptor set: storage buffers at bindings 0, 1, ..., then a
// combined image sampler (nearest, clamped to the edge) and an array of storage images (in layout
// GENERAL), if there are any.
class ComputePipeline {
 public:
    // `push_constants_bytes`: size of the push constant block; 0: none.
    ComputePipeline(const Gpu& gpu, std::span<const std::uint32_t> spirv,
                    std::span<const BufferRange> storage_buffers, const MapImage* image = nullptr,
                    std::uint32_t push_constants_bytes = 0,
                    std::span<const VkImageView> stored = {});

    void record(VkCommandBuffer commands, VkExtent3D workgroups,
                std::span<const std::byte> push_constants = {}) const;

 private:
    struct Parts;
    std::shared_ptr<const Parts> parts_;
};

}  // namespace quadtile::test
