// The pipelines that a device has compiled, kept in the cache directory from run to run.

#pragma once

#include "device/cache_directory.hpp"
#include "device/vulkan.hpp"

#include <cstdint>
#include <mutex>
#include <string>

namespace quadtile::detail {

// For one device. Empty until opened. Thread-safe, but for open and close.
class PipelineCache {
 public:
    // With what the directory holds for this device, driver and version of the library; what does
    // not fit is passed over with a warning. Throws what Vulkan-Hpp throws.
    void open(vk::PhysicalDevice physical_device, vk::Device device, const Dispatch& dispatch,
              CacheDirectory directory);
    // The host's, which is neither saved nor destroyed.
    void open(vk::PipelineCache of_the_host) { handle_ = of_the_host; }

    // Writes it to the directory, where it has changed.
    void save() noexcept;
    void close() noexcept;

    [[nodiscard]] vk::PipelineCache handle() const noexcept { return handle_; }

 private:
    vk::PipelineCache handle_;
    vk::Device device_;  // empty: the cache is not ours
    const Dispatch* dispatch_ = nullptr;
    CacheDirectory directory_;
    std::string file_name_;
    std::mutex save_mutex_;
    std::uint64_t saved_checksum_ = 0;
};

}  // namespace quadtile::detail
