#include "device/compute_program.hpp"

#include <chrono>

namespace quadtile::detail {

Descriptor Descriptor::sampled(vk::Sampler sampler, VkImageView view, VkImageLayout layout) {
    return {vk::DescriptorType::eCombinedImageSampler,
            {{sampler, view, static_cast<vk::ImageLayout>(layout)}},
            {}};
}

Descriptor Descriptor::storage_images(const std::vector<vk::ImageView>& views) {
    Descriptor descriptor{vk::DescriptorType::eStorageImage, {}, {}};
    for (const vk::ImageView view : views) {
        descriptor.images.emplace_back(nullptr, view, vk::ImageLayout::eGeneral);
    }
    return descriptor;
}

Descriptor Descriptor::storage_buffer(const BufferRange& range, vk::DeviceSize size_bytes) {
    return {vk::DescriptorType::eStorageBuffer, {}, {range.buffer, range.offset_bytes, size_bytes}};
}

ComputeProgram::ComputeProgram(std::shared_ptr<DeviceContext> context, std::string name,
                               std::vector<BindingType> bindings, std::uint32_t push_constant_bytes,
                               vk::DescriptorSetLayout second_set)
    : context_(std::move(context)), name_(std::move(name)), bindings_(std::move(bindings)) {
    const auto compute = vk::ShaderStageFlagBits::eCompute;
    std::vector<vk::DescriptorSetLayoutBinding> layout_bindings;
    for (const BindingType& binding : bindings_) {
        layout_bindings.emplace_back(binding.binding, binding.type, binding.count, compute);
    }
    context_->calls("creating a pipeline layout", [&] {
        set_layout_ = context_->device.createDescriptorSetLayoutUnique({{}, layout_bindings},
                                                                       nullptr, dispatch());
        const vk::PushConstantRange push_constants(compute, 0, push_constant_bytes);
        std::vector<vk::DescriptorSetLayout> sets{set_layout_.get()};
        if (second_set) {
            sets.push_back(second_set);
        }
        vk::PipelineLayoutCreateInfo info({}, sets);
        if (push_constant_bytes > 0) {
            info.setPushConstantRanges(push_constants);
        }
        layout_ = context_->device.createPipelineLayoutUnique(info, nullptr, dispatch());
        context_->name(*set_layout_, name_);
        context_->name(*layout_, name_);
    });
}

vk::Pipeline ComputeProgram::pipeline(const KernelCode& code,
                                      const Specialization& constants) const {
    const std::lock_guard lock(mutex_);
    Unique<vk::Pipeline>& made = pipelines_[{code.spirv.data(), constants}];
    if (!made) {
        made = make_pipeline(code, constants);
    }
    return made.get();
}

Unique<vk::Pipeline> ComputeProgram::make_pipeline(const KernelCode& code,
                                                   const Specialization& constants) const {
    const std::string name(code.name);
    std::vector<vk::SpecializationMapEntry> entries;
    std::vector<std::uint32_t> values;
    for (const auto& [id, value] : constants) {
        entries.emplace_back(id, static_cast<std::uint32_t>(values.size() * sizeof(value)),
                             sizeof(value));
        values.push_back(value);
    }
    const vk::SpecializationInfo specialization(
        static_cast<std::uint32_t>(entries.size()), entries.data(),
        values.size() * sizeof(std::uint32_t), values.data());

    const auto start = std::chrono::steady_clock::now();
    auto made = context_->calls("compiling the kernel " + name, [&] {
        const auto module = context_->device.createShaderModuleUnique(
            {{}, code.spirv.size_bytes(), code.spirv.data()}, nullptr, dispatch());
        vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, module.get(),
                                                "main", &specialization);
        const vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo size(
            context_->info.subgroup_size);
        if (code.uses_subgroups) {
            stage.setFlags(vk::PipelineShaderStageCreateFlagBits::eRequireFullSubgroups);
            stage.setPNext(&size);
        }
        context_->name(*module, name);
        auto pipeline = context_->device.createComputePipelineUnique(
            *context_->pipeline_cache, {{}, stage, layout()}, nullptr, dispatch());
        context_->name(*pipeline.value, name);
        return std::move(pipeline.value);
    });
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    context_->say(Severity::info,
                  "compiled the kernel " + name + " in " + std::to_string(elapsed.count()) + " ms");
    return made;
}

Unique<vk::Sampler> ComputeProgram::make_sampler(vk::Filter filter,
                                                 vk::SamplerReductionMode reduction,
                                                 bool border) const {
    const vk::SamplerReductionModeCreateInfo reduction_info(reduction);
    const auto address =
        border ? vk::SamplerAddressMode::eClampToBorder : vk::SamplerAddressMode::eClampToEdge;
    vk::SamplerCreateInfo info;
    info.setMagFilter(filter).setMinFilter(filter);
    info.setAddressModeU(address).setAddressModeV(address);
    info.setBorderColor(vk::BorderColor::eFloatTransparentBlack);
    if (reduction != vk::SamplerReductionMode::eWeightedAverage) {
        info.setPNext(&reduction_info);
    }
    return context_->calls("creating a sampler", [&] {
        auto sampler = context_->device.createSamplerUnique(info, nullptr, dispatch());
        context_->name(*sampler, name_);
        return sampler;
    });
}

DescriptorSet ComputeProgram::make_descriptors(const std::vector<Descriptor>& descriptors) const {
    std::vector<vk::DescriptorPoolSize> sizes;
    for (const BindingType& binding : bindings_) {
        sizes.emplace_back(binding.type, binding.count);
    }
    return context_->calls("writing descriptors", [&] {
        DescriptorSet result{context_, {}, {}};
        result.pool =
            context_->device.createDescriptorPoolUnique({{}, 1, sizes}, nullptr, dispatch());
        result.set = context_->device
                         .allocateDescriptorSets({result.pool.get(), set_layout_.get()}, dispatch())
                         .front();
        context_->name(*result.pool, name_);
        context_->name(result.set, name_);
        std::vector<vk::WriteDescriptorSet> writes;
        for (const Descriptor& descriptor : descriptors) {
            const BindingType& binding = bindings_[writes.size()];
            writes.emplace_back(result.set, binding.binding, 0, binding.count, binding.type)
                .setPImageInfo(descriptor.images.data())
                .setPBufferInfo(&descriptor.buffer);
        }
        context_->device.updateDescriptorSets(writes, nullptr, dispatch());
        return result;
    });
}

void ComputeProgram::barrier(vk::CommandBuffer commands, bool indirect) const {
    using Stage = vk::PipelineStageFlagBits;
    using Access = vk::AccessFlagBits;
    vk::PipelineStageFlags stages = Stage::eComputeShader;
    vk::AccessFlags accesses = Access::eShaderRead | Access::eShaderWrite;
    if (indirect) {
        stages |= Stage::eDrawIndirect;
        accesses |= Access::eIndirectCommandRead;
    }
    const vk::MemoryBarrier barrier(Access::eShaderWrite | Access::eShaderRead, accesses);
    commands.pipelineBarrier(Stage::eComputeShader, stages, {}, barrier, {}, {}, dispatch());
}

vk::DeviceSize storage_alignment_bytes(const DeviceContext& context) {
    return context.physical_device.getProperties(context.dispatch)
        .limits.minStorageBufferOffsetAlignment;
}

}  // namespace quadtile::detail
