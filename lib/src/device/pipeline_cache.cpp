#include "device/pipeline_cache.hpp"

#include <cstdint>
#include <cstring>

namespace quadtile::detail {

namespace {

// FNV-1a, 64 bits; against accidents, not against attackers.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const std::byte byte : bytes) {
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
    return hash;
}

// Returns the driver's data; empty if it is damaged or another device's. Drivers must refuse such
// data themselves, but not all do.
std::span<const std::byte> data_of(std::span<const std::byte> bytes,
                                   const vk::PhysicalDeviceProperties& device) {
    vk::PipelineCacheHeaderVersionOne header;
    std::uint64_t sum = 0;
    if (bytes.size() < sizeof(header) + sizeof(sum)) {
        return {};
    }
    const std::span data = bytes.first(bytes.size() - sizeof(sum));
    std::memcpy(&header, data.data(), sizeof(header));
    std::memcpy(&sum, data.data() + data.size(), sizeof(sum));
    const bool fits = sum == checksum(data) && header.headerSize >= sizeof(header) &&
                      header.headerSize <= data.size() &&
                      header.headerVersion == vk::PipelineCacheHeaderVersion::eOne &&
                      header.vendorID == device.vendorID && header.deviceID == device.deviceID &&
                      header.pipelineCacheUUID == device.pipelineCacheUUID;
    return fits ? data : std::span<const std::byte>();
}

}  // namespace

void open_pipeline_cache(DeviceContext& context, std::span<const std::byte> bytes) {
    context.pipeline_cache = vulkan_calls("creating a pipeline cache", [&] {
        const auto data = data_of(bytes, context.physical_device.getProperties(context.dispatch));
        if (data.empty() && !bytes.empty()) {
            context.say(Severity::info,
                        "the pipeline cache is damaged or another device's: pipelines are compiled "
                        "again");
        }
        auto cache = context.device.createPipelineCacheUnique({{}, data.size(), data.data()},
                                                              nullptr, context.dispatch);
        context.name(*cache, "the pipeline cache");
        return cache;
    });
}

std::vector<std::byte> pipeline_cache_bytes(const DeviceContext& context) {
    const std::vector<std::uint8_t> data = context.calls("reading the pipeline cache", [&] {
        return context.device.getPipelineCacheData(*context.pipeline_cache, context.dispatch);
    });
    const std::span bytes = std::as_bytes(std::span(data));
    const std::uint64_t sum = checksum(bytes);
    const std::span sum_bytes = std::as_bytes(std::span(&sum, 1));
    std::vector<std::byte> result(bytes.begin(), bytes.end());
    result.insert(result.end(), sum_bytes.begin(), sum_bytes.end());
    return result;
}

}  // namespace quadtile::detail
