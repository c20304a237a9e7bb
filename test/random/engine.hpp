// Objects of a device that record tile lists, and their buffers, kept from case to case.

#pragma once

#include "choices.hpp"
#include "support/gpu.hpp"
#include "support/variants.hpp"

#include <quadtile/subdivider.hpp>

#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::test {

// A part of a buffer that is kept from case to case: allocating takes GPUs longer than most cases.
struct Part {
    const Buffer* buffer = nullptr;
    VkDeviceSize offset_bytes = 0;
    VkDeviceSize size_bytes = 0;

    [[nodiscard]] BufferRange range() const { return {buffer->handle(), offset_bytes}; }
    // From some byte on, so many values of a type.
    template <typename T>
    [[nodiscard]] Part of(VkDeviceSize first_byte, VkDeviceSize count) const {
        return {buffer, offset_bytes + first_byte, count * sizeof(T)};
    }
};

// Bytes that were read of a Part.
using Bytes = std::span<const std::byte>;
template <typename T>
std::vector<T> values_of(Bytes bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

// Resources of a variant of the device, kept from case to case.
class Engine {
 public:
    explicit Engine(const Device& device) : gpu(device, submit_to(device)), pyramid(device) {}

    const Subdivider& subdivider(Strategy strategy, std::uint32_t subtree_levels) {
        return subdividers_
            .try_emplace({strategy, subtree_levels}, gpu.device(),
                         SubdividerOptions{.strategy = strategy, .subtree_levels = subtree_levels})
            .first->second;
    }

    // An image with the texels of a map; that of the map before where it has its shape.
    const Image& upload(const MapView& map) {
        if (!image_ || !(image_shape_ == map.shape)) {
            image_.reset();
            image_ = gpu.make_image(map.shape);
            image_shape_ = map.shape;
        }
        gpu.upload(*image_, map.texels);
        return *image_;
    }

    // A part of the buffer of that name, behind some bytes that are not its own; its contents are
    // what they are.
    Part part(const std::string& name, VkDeviceSize size_bytes, VkDeviceSize alignment_bytes,
              Memory memory = Memory::device_local) {
        const VkDeviceSize offset_bytes = 3 * alignment_bytes;
        auto found = buffers_.find(name);
        if (found == buffers_.end() || found->second.size_bytes() < offset_bytes + size_bytes) {
            constexpr VkBufferUsageFlags USAGE =
                VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
            found = buffers_
                        .insert_or_assign(
                            name, gpu.make_buffer(offset_bytes + 2 * size_bytes, USAGE, memory))
                        .first;
        }
        return {&found->second, offset_bytes, size_bytes};
    }
    // The same that the host fills.
    template <typename T>
    Part part(const std::string& name, const std::vector<T>& contents,
              VkDeviceSize alignment_bytes) {
        const Part made =
            part(name, contents.size() * sizeof(T), alignment_bytes, Memory::host_visible);
        std::memcpy(made.buffer->mapped() + made.offset_bytes, contents.data(), made.size_bytes);
        return made;
    }

    void fill(VkCommandBuffer commands, const Part& part, std::uint32_t word = 0) const {
        vkCmdFillBuffer(commands, part.buffer->handle(), part.offset_bytes, part.size_bytes, word);
    }
    // Runs what `record` records and reads parts behind it, all in one submission: those take
    // longer than most kernels. The bytes stay until the next call.
    std::vector<Bytes> run(const Recorder& record, const std::vector<Part>& parts) {
        VkDeviceSize size_bytes = 0;
        for (const Part& part : parts) {
            size_bytes += part.size_bytes;
        }
        const Part host = part("read back", size_bytes, 16, Memory::host_visible);
        std::vector<Bytes> read;
        gpu.run([&](VkCommandBuffer commands) {
            record(commands);
            gpu.barrier(commands);
            VkDeviceSize place = host.offset_bytes;
            for (const Part& part : parts) {
                const VkBufferCopy region = {part.offset_bytes, place, part.size_bytes};
                vkCmdCopyBuffer(commands, part.buffer->handle(), host.buffer->handle(), 1, &region);
                read.emplace_back(host.buffer->mapped() + place, part.size_bytes);
                place += part.size_bytes;
            }
        });
        return read;
    }

    Gpu gpu;
    Pyramid pyramid;

 private:
    std::map<std::pair<Strategy, std::uint32_t>, Subdivider> subdividers_;
    std::map<std::string, Buffer> buffers_;
    std::optional<Image> image_;
    MapShape image_shape_;
};

}  // namespace quadtile::test
