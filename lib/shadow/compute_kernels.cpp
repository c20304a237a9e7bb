#include "compute_kernels.hpp"

namespace quadtile::detail {

VulkanDevice::VulkanDevice(Device made) : device(std::move(made)), handle(device.handle()) {
    dispatch.init(vk::Instance(device.instance()), device.get_instance_proc_addr());
    dispatch.init(handle);
}

void throw_error(const vk::SystemError& error, const std::string& doing) {
    const auto result = static_cast<vk::Result>(error.code().value());
    const auto code = [&] {
        switch (result) {
            case vk::Result::eErrorOutOfHostMemory:
            case vk::Result::eErrorOutOfDeviceMemory:
            case vk::Result::eErrorOutOfPoolMemory:
                return ErrorCode::out_of_memory;
            case vk::Result::eErrorDeviceLost:
                return ErrorCode::device_lost;
            default:
                return ErrorCode::vulkan;
        }
    }();
    throw Error(code, doing + " failed: " + vk::to_string(result), static_cast<VkResult>(result));
}

ShadowDescriptor ShadowDescriptor::storage_buffer(std::uint32_t binding, const BufferRange& range,
                                                  vk::DeviceSize size_bytes) {
    return {binding,
            vk::DescriptorType::eStorageBuffer,
            {},
            {range.buffer, range.offset_bytes, size_bytes}};
}

ShadowDescriptor ShadowDescriptor::storage_image(std::uint32_t binding, vk::ImageView view) {
    return {
        binding, vk::DescriptorType::eStorageImage, {nullptr, view, vk::ImageLayout::eGeneral}, {}};
}

ShadowDescriptor ShadowDescriptor::sampled(std::uint32_t binding, vk::Sampler sampler,
                                           VkImageView view, VkImageLayout layout) {
    return {binding,
            vk::DescriptorType::eCombinedImageSampler,
            {sampler, view, static_cast<vk::ImageLayout>(layout)},
            {}};
}

Unique<vk::DescriptorSetLayout> make_set_layout(
    const VulkanDevice& device, std::span<const vk::DescriptorSetLayoutBinding> bindings) {
    vk::DescriptorSetLayoutCreateInfo info;
    info.setBindingCount(static_cast<std::uint32_t>(bindings.size()));
    info.setPBindings(bindings.data());
    return calling_vulkan("creating a descriptor set layout for shadow maps", [&] {
        return device.handle.createDescriptorSetLayoutUnique(info, nullptr, device.dispatch);
    });
}

Unique<vk::Pipeline> make_compute_pipeline(const VulkanDevice& device, vk::PipelineLayout layout,
                                           std::span<const std::uint32_t> spirv,
                                           const std::string& name, std::uint32_t group_size,
                                           bool by_subgroups) {
    return calling_vulkan("compiling the kernel " + name, [&] {
        const auto module = device.handle.createShaderModuleUnique(
            {{}, spirv.size_bytes(), spirv.data()}, nullptr, device.dispatch);
        const vk::SpecializationMapEntry entry(0, 0, sizeof(group_size));
        const vk::SpecializationInfo constants(1, &entry, sizeof(group_size), &group_size);
        vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *module,
                                                "main", &constants);
        const vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo size(
            device.device.info().subgroup_size);
        if (by_subgroups) {
            stage.setFlags(vk::PipelineShaderStageCreateFlagBits::eRequireFullSubgroups);
            stage.setPNext(&size);
        }
        auto pipeline = device.handle.createComputePipelineUnique(nullptr, {{}, stage, layout},
                                                                  nullptr, device.dispatch);
        device.name(*module, name);
        device.name(*pipeline.value, name);
        return std::move(pipeline.value);
    });
}

ShadowDescriptorSet make_descriptor_set(const std::shared_ptr<const VulkanDevice>& device,
                                        vk::DescriptorSetLayout layout,
                                        std::span<const ShadowDescriptor> descriptors,
                                        const std::string& name) {
    std::vector<vk::DescriptorPoolSize> sizes;
    for (const ShadowDescriptor& descriptor : descriptors) {
        sizes.emplace_back(descriptor.type, 1);
    }
    return calling_vulkan("writing descriptors for shadow maps", [&] {
        ShadowDescriptorSet result{device, {}, {}};
        result.pool =
            device->handle.createDescriptorPoolUnique({{}, 1, sizes}, nullptr, device->dispatch);
        result.set =
            device->handle.allocateDescriptorSets({*result.pool, layout}, device->dispatch).front();
        device->name(*result.pool, name);
        device->name(result.set, name);
        write_descriptors(*device, result.set, descriptors);
        return result;
    });
}

void write_descriptors(const VulkanDevice& device, vk::DescriptorSet set,
                       std::span<const ShadowDescriptor> descriptors) {
    std::vector<vk::WriteDescriptorSet> writes;
    for (const ShadowDescriptor& descriptor : descriptors) {
        vk::WriteDescriptorSet write(set, descriptor.binding, 0, 1, descriptor.type);
        write.setPImageInfo(&descriptor.image).setPBufferInfo(&descriptor.buffer);
        writes.push_back(write);
    }
    device.handle.updateDescriptorSets(writes, nullptr, device.dispatch);
}

}  // namespace quadtile::detail
