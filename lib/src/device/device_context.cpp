#include "device/device_context.hpp"

#include <quadtile/limits.h>
#include <quadtile/tile_list.h>

#include "values/refuse.hpp"

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
    pipeline_cache.reset();  // before the device
    if (!made_in.has_device()) {
        abandon(messenger);
        abandon(device);
        abandon(instance);
        return;
    }
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

void DeviceContext::note_lost_run(const std::string& what) const {
    if (!hands_over()) {
        cannot("messages between workgroups do not arrive on ", info.name, " (", info.driver,
               "), so ", what, " could not be made; use another device or driver");
    }
    has_lost_a_run_ = true;
    say(Severity::warning, "messages between workgroups do not arrive on " + info.name + " (" +
                               info.driver +
                               "): the run is repeated, and from now on each hand-over is a "
                               "dispatch of its own, as without Features::hand_over");
}

void DeviceContext::set_limits(const LowerLimits& lower) {
    const vk::PhysicalDeviceLimits limits = physical_device.getProperties(dispatch).limits;
    const auto lower_of = [](auto of_device, auto of_test) {
        return of_test == 0 ? of_device : std::min(of_device, of_test);
    };
    max_workgroup_count =
        lower_of(std::min(limits.maxComputeWorkGroupCount[0], limits.maxComputeWorkGroupCount[1]),
                 lower.max_workgroup_count);
    max_storage_buffer_range_bytes =
        lower_of(std::uint64_t{limits.maxStorageBufferRange}, lower.max_storage_buffer_range_bytes);
    max_storage_images = lower_of(
        std::min(limits.maxPerStageDescriptorStorageImages, limits.maxDescriptorSetStorageImages),
        lower.max_storage_images);
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
