#include "device/device_context.hpp"

#include <quadtile/limits.h>
#include <quadtile/tile_list.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace quadtile::detail {

std::shared_ptr<std::mutex> mutex_of(vk::Device device, vk::Queue queue) {
    using Key = std::pair<VkDevice, VkQueue>;
    static auto& all_mutex = *new std::mutex;  // never destroyed
    static auto& all = *new std::map<Key, std::weak_ptr<std::mutex>>;
    const std::lock_guard lock(all_mutex);
    std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<std::mutex>& known = all[Key(device, queue)];
    std::shared_ptr<std::mutex> mutex = known.lock();
    if (!mutex) {
        mutex = std::make_shared<std::mutex>();
        known = mutex;
    }
    return mutex;
}

DeviceContext::~DeviceContext() {
    if (!made_in.has_device()) {
        return;
    }
    pipeline_cache.close();
    if (!owned) {
        return;
    }
    if (device) {
        device.destroy(nullptr, dispatch);
    }
    if (messenger) {
        instance.destroyDebugUtilsMessengerEXT(messenger, nullptr, dispatch);
    }
    if (instance) {
        instance.destroy(nullptr, dispatch);
    }
}

void DeviceContext::submit(const vk::SubmitInfo& work, vk::Fence fence) const {
    if (host_submit) {
        const auto result = static_cast<vk::Result>(host_submit(work, fence));
        vk::resultCheck(result, "the host's submit function");
        return;
    }
    const std::lock_guard lock(*queue_mutex);
    queue.submit(work, fence, dispatch);
}

void DeviceContext::set_limits(const LimitOverrides& overrides) {
    const vk::PhysicalDeviceLimits limits = physical_device.getProperties(dispatch).limits;
    max_workgroup_count =
        std::min(limits.maxComputeWorkGroupCount[0], limits.maxComputeWorkGroupCount[1]);
    if (overrides.max_workgroup_count != 0) {
        max_workgroup_count = std::min(max_workgroup_count, overrides.max_workgroup_count);
    }
    max_storage_buffer_range_bytes = limits.maxStorageBufferRange;
    if (overrides.max_storage_buffer_range_bytes != 0) {
        max_storage_buffer_range_bytes = std::min<std::uint64_t>(
            max_storage_buffer_range_bytes, overrides.max_storage_buffer_range_bytes);
    }
    max_storage_images =
        std::min(limits.maxPerStageDescriptorStorageImages, limits.maxDescriptorSetStorageImages);
    if (overrides.max_storage_images != 0) {
        max_storage_images = std::min(max_storage_images, overrides.max_storage_images);
    }
    // Indices have 32 bits, so chunks of 2^30 elements reach all of them.
    const auto chunk_shift = [](std::uint64_t elements) {
        return std::min(static_cast<std::uint32_t>(std::bit_width(elements)) - 1, 30U);
    };
    tile_chunk_shift =
        chunk_shift((max_storage_buffer_range_bytes - sizeof(TileListHeader)) / sizeof(Tile));
    float_chunk_shift = chunk_shift(max_storage_buffer_range_bytes / sizeof(float));
    info.max_tiles = std::uint64_t{BUFFER_CHUNKS} << tile_chunk_shift;
}

}  // namespace quadtile::detail
