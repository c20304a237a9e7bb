// Compiled pipelines of a device, kept in the cache directory between runs.

#pragma once

#include "device/cache_directory.hpp"
#include "device/vulkan.hpp"

#include <cstdint>
#include <mutex>
#include <string>

namespace quadtile::detail {

// The pipeline cache of one device; empty until opened. Thread-safe, except open and close.
class PipelineCache {
 public:
    // Opens the cache with the directory's content for this device, driver and version of the
    // library. Other content is ignored with a warning. Throws the exceptions of Vulkan-Hpp.
    void open(vk::PhysicalDevice physical_device, vk::Device device, const Dispatch& dispatch,
              CacheDirectory directory);
    // Uses the host's cache, which is neither saved nor destroyed.
    void open(vk::PipelineCache of_the_host) { handle_ = of_the_host; }

    // Writes the cache to the directory if it has changed.
    void save() noexcept;
    void close() noexcept;

    [[nodiscard]] vk::PipelineCache handle() const noexcept { return handle_; }

 private:
    vk::PipelineCache handle_;
    vk::Device device_;  // empty: the cache is the host's
    const Dispatch* dispatch_ = nullptr;
    CacheDirectory directory_;
    std::string file_name_;
    std::mutex save_mutex_;
    std::uint64_t saved_checksum_ = 0;
};

}  // namespace quadtile::detail
