// Compute pipelines of one layout on a device of the host's or quadtile's own, by public handles
// alone.

#pragma once

#include "../src/device/vulkan.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>
#include <quadtile/pyramid.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::detail {

// Vulkan-Hpp on a Device, for what is not part of the core library.
struct VulkanDevice {
    explicit VulkanDevice(Device made);

    // Gives an object a name for frame debuggers, where they listen.
    template <typename Handle>
    void name(Handle handle, const std::string& text) const {
        if (device.debug_utils()) {
            const std::string full = "quadtile: " + text;
            const auto value =
                reinterpret_cast<std::uint64_t>(static_cast<typename Handle::CType>(handle));
            this->handle.setDebugUtilsObjectNameEXT({Handle::objectType, value, full.c_str()},
                                                    dispatch);
        }
    }

    Device device;
    vk::Device handle;
    Dispatch dispatch;
};

// Runs Vulkan-Hpp calls; what they throw becomes an Error that says what was being done.
[[noreturn]] void throw_error(const vk::SystemError& error, const std::string& doing);
template <typename Calls>
auto calling_vulkan(const std::string& doing, Calls&& calls) {
    try {
        return std::forward<Calls>(calls)();
    } catch (const vk::SystemError& error) {
        throw_error(error, doing);
    }
}

// One descriptor, of type storage buffer, storage image or combined image sampler.
struct ShadowDescriptor {
    std::uint32_t binding;
    vk::DescriptorType type;
    vk::DescriptorImageInfo image;
    vk::DescriptorBufferInfo buffer;

    static ShadowDescriptor storage_buffer(std::uint32_t binding, const BufferRange& range,
                                           vk::DeviceSize size_bytes);
    static ShadowDescriptor storage_image(std::uint32_t binding, vk::ImageView view);
    static ShadowDescriptor sampled(std::uint32_t binding, vk::Sampler sampler, VkImageView view,
                                    VkImageLayout layout);
};

// A set of descriptors with a pool of its own.
struct ShadowDescriptorSet {
    std::shared_ptr<const VulkanDevice> device;
    Unique<vk::DescriptorPool> pool;
    vk::DescriptorSet set;
};

[[nodiscard]] Unique<vk::DescriptorSetLayout> make_set_layout(
    const VulkanDevice& device, std::span<const vk::DescriptorSetLayoutBinding> bindings);
// Constant 0 is `group_size`, for kernels whose workgroups have as many threads as there can be.
// `by_subgroups`: they need full subgroups of the device's size.
[[nodiscard]] Unique<vk::Pipeline> make_compute_pipeline(
    const VulkanDevice& device, vk::PipelineLayout layout, std::span<const std::uint32_t> spirv,
    const std::string& name, std::uint32_t group_size, bool by_subgroups);
[[nodiscard]] ShadowDescriptorSet make_descriptor_set(
    const std::shared_ptr<const VulkanDevice>& device, vk::DescriptorSetLayout layout,
    std::span<const ShadowDescriptor> descriptors, const std::string& name);
void write_descriptors(const VulkanDevice& device, vk::DescriptorSet set,
                       std::span<const ShadowDescriptor> descriptors);

}  // namespace quadtile::detail
