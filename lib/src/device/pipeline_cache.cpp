#include "device/pipeline_cache.hpp"

#include "device/framed_data.hpp"
#include "device/kernels.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace quadtile::detail {

namespace {

// "pipelines-10de-2335-<the cache's UUID>.bin"
std::string file_name_of(const vk::PhysicalDeviceProperties& device) {
    char text[64];
    (void)std::snprintf(text, sizeof(text), "pipelines-%04x-%04x-", device.vendorID,
                        device.deviceID);
    std::string name = text;
    for (const std::uint8_t byte : device.pipelineCacheUUID) {
        (void)std::snprintf(text, sizeof(text), "%02x", byte);
        name += text;
    }
    return name + ".bin";
}

// Drivers must refuse foreign data themselves, but not all do.
bool is_of_device(std::span<const std::byte> data, const vk::PhysicalDeviceProperties& device) {
    vk::PipelineCacheHeaderVersionOne header;
    if (data.size() < sizeof(header)) {
        return false;
    }
    std::memcpy(&header, data.data(), sizeof(header));
    return header.headerSize >= sizeof(header) && header.headerSize <= data.size() &&
           header.headerVersion == vk::PipelineCacheHeaderVersion::eOne &&
           header.vendorID == device.vendorID && header.deviceID == device.deviceID &&
           header.pipelineCacheUUID == device.pipelineCacheUUID;
}

}  // namespace

void PipelineCache::open(vk::PhysicalDevice physical_device, vk::Device device,
                         const Dispatch& dispatch, CacheDirectory directory) {
    const vk::PhysicalDeviceProperties properties = physical_device.getProperties(dispatch);
    directory_ = std::move(directory);
    file_name_ = file_name_of(properties);
    std::span<const std::byte> data;
    const std::optional<std::vector<std::byte>> bytes = directory_.read(file_name_);
    if (bytes) {
        const auto [state, payload] =
            unframe(Content::pipeline_cache, kernel_fingerprint(), *bytes);
        if (state == FrameState::whole && is_of_device(payload, properties)) {
            data = payload;
            saved_checksum_ = checksum(payload);
        } else if (state != FrameState::other_version) {
            directory_.warn("the pipeline cache " + file_name_ +
                            " is damaged or another device's: pipelines are compiled again");
        }
    }
    handle_ = device.createPipelineCache({{}, data.size(), data.data()}, nullptr, dispatch);
    device_ = device;
    dispatch_ = &dispatch;
}

void PipelineCache::save() noexcept {
    if (!device_ || !directory_) {
        return;
    }
    try {
        const std::lock_guard lock(save_mutex_);
        const std::vector<std::uint8_t> data = device_.getPipelineCacheData(handle_, *dispatch_);
        const std::span bytes = std::as_bytes(std::span(data));
        if (checksum(bytes) == saved_checksum_) {
            return;
        }
        directory_.write(file_name_, frame(Content::pipeline_cache, kernel_fingerprint(), bytes));
        saved_checksum_ = checksum(bytes);
    } catch (const std::exception& failure) {
        try {
            directory_.warn(std::string("the pipeline cache was not saved: ") + failure.what());
        } catch (...) {  // NOLINT(bugprone-empty-catch): nothing can be reported here
        }
    }
}

void PipelineCache::close() noexcept {
    if (!device_) {
        return;
    }
    save();
    device_.destroyPipelineCache(handle_, nullptr, *dispatch_);
    device_ = vk::Device();
}

}  // namespace quadtile::detail
