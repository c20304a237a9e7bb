// Compute pipelines that share one layout, and the descriptor sets that fit it.

#pragma once

#include "device/device_context.hpp"
#include "device/kernels.hpp"

#include <quadtile/device.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::detail {

// Content of one binding of set 0: a range of a buffer, or an array of images.
struct Descriptor {
    vk::DescriptorType type;
    std::vector<vk::DescriptorImageInfo> images;
    vk::DescriptorBufferInfo buffer;

    static Descriptor sampled(vk::Sampler sampler, VkImageView view, VkImageLayout layout);
    static Descriptor storage_images(const std::vector<vk::ImageView>& views);
    static Descriptor storage_buffer(const BufferRange& range, vk::DeviceSize size_bytes);
};

// A binding of set 0.
struct BindingType {
    std::uint32_t binding;
    vk::DescriptorType type;
    std::uint32_t count = 1;
};

// Specialization constants: pairs of a constant_id and a value.
using Specialization = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Descriptors of set 0 in a pool of their own.
struct DescriptorSet {
    std::shared_ptr<DeviceContext> context;
    Unique<vk::DescriptorPool> pool;
    vk::DescriptorSet set;
};

class ComputeProgram {
 public:
    // Makes the layout from the bindings of set 0 and the size of the push constants. `second_set`
    // is the layout of set 1; null: none. `name` is for debuggers: "the pyramid".
    ComputeProgram(std::shared_ptr<DeviceContext> context, std::string name,
                   std::vector<BindingType> bindings, std::uint32_t push_constant_bytes,
                   vk::DescriptorSetLayout second_set = {});

    // Returns the pipeline of a kernel with these constants, compiled at its first use and kept.
    // The words of the kernel must outlive this object: their place identifies them. Thread-safe.
    [[nodiscard]] vk::Pipeline pipeline(const KernelCode& code,
                                        const Specialization& constants) const;

    // `border`: texels outside the image are 0; otherwise its edge is repeated.
    [[nodiscard]] Unique<vk::Sampler> make_sampler(vk::Filter filter,
                                                   vk::SamplerReductionMode reduction,
                                                   bool border = false) const;

    // Writes one descriptor per binding, in their order.
    [[nodiscard]] DescriptorSet make_descriptors(const std::vector<Descriptor>& descriptors) const;

    // Binds a pipeline and descriptors, and pushes parameters.
    template <typename Parameters>
    void bind(vk::CommandBuffer commands, vk::Pipeline pipeline, vk::DescriptorSet set,
              const Parameters& parameters) const {
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline, dispatch());
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, layout(), 0, set, {},
                                    dispatch());
        push(commands, parameters);
    }
    template <typename Parameters>
    void push(vk::CommandBuffer commands, const Parameters& parameters) const {
        static_assert(sizeof(Parameters) <= 128, "more than every device has for push constants");
        commands.pushConstants<Parameters>(layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                           parameters, dispatch());
    }
    // Orders later dispatches behind earlier ones. `indirect`: the arguments of later ones, too.
    void barrier(vk::CommandBuffer commands, bool indirect = false) const;

    // Both throw the Errors of MadeIn::check.
    [[nodiscard]] DeviceContext& context() const {
        context_->made_in.check();
        return *context_;
    }
    [[nodiscard]] const Dispatch& dispatch() const { return context().dispatch; }
    [[nodiscard]] vk::DescriptorSetLayout set_layout() const noexcept { return *set_layout_; }
    [[nodiscard]] vk::PipelineLayout layout() const noexcept { return *layout_; }

 private:
    [[nodiscard]] Unique<vk::Pipeline> make_pipeline(const KernelCode& code,
                                                     const Specialization& constants) const;

    std::shared_ptr<DeviceContext> context_;
    std::string name_;
    std::vector<BindingType> bindings_;
    Unique<vk::DescriptorSetLayout> set_layout_;
    Unique<vk::PipelineLayout> layout_;
    using PipelineKey = std::pair<const std::uint32_t*, Specialization>;
    mutable std::mutex mutex_;  // of the pipelines
    mutable std::map<PipelineKey, Unique<vk::Pipeline>> pipelines_;
};

[[nodiscard]] vk::DeviceSize storage_alignment_bytes(const DeviceContext& context);

}  // namespace quadtile::detail
