// Compute pipelines that share one layout, and the descriptor sets that fit it.

#pragma once

#include "device/device_context.hpp"
#include "device/kernels.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quadtile::detail {

// Content of one binding of set 0: a range of a buffer, or an array of images.
struct Descriptor {
    vk::DescriptorType type;
    std::vector<vk::DescriptorImageInfo> images;
    vk::DescriptorBufferInfo buffer;

    static Descriptor sampled(vk::Sampler sampler, VkImageView view, VkImageLayout layout);
    static Descriptor storage_images(const std::vector<vk::ImageView>& views);
    static Descriptor storage_buffer(VkBuffer buffer, vk::DeviceSize offset, vk::DeviceSize range);
};

// A binding of set 0.
struct BindingType {
    std::uint32_t binding;
    vk::DescriptorType type;
    std::uint32_t count = 1;
};

// Values of specialization constants by their constant_id.
using Specialization = std::map<std::uint32_t, std::uint32_t>;

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

    // Compiles a kernel. `name` is for error messages and debuggers.
    [[nodiscard]] Unique<vk::Pipeline> make_pipeline(const KernelCode& code,
                                                     const std::string& name,
                                                     const Specialization& constants) const;

    // `border`: texels outside the image are 0; otherwise its edge is repeated.
    [[nodiscard]] Unique<vk::Sampler> make_sampler(vk::Filter filter,
                                                   vk::SamplerReductionMode reduction,
                                                   bool border = false) const;

    // Writes one descriptor per binding, in their order.
    [[nodiscard]] DescriptorSet make_descriptors(const std::vector<Descriptor>& descriptors) const;

    // Both throw the Errors of MadeIn::check.
    [[nodiscard]] DeviceContext& context() const {
        context_->made_in.check();
        return *context_;
    }
    [[nodiscard]] const Dispatch& dispatch() const { return context().dispatch; }
    [[nodiscard]] vk::DescriptorSetLayout set_layout() const noexcept { return *set_layout_; }
    [[nodiscard]] vk::PipelineLayout layout() const noexcept { return *layout_; }

 private:
    std::shared_ptr<DeviceContext> context_;
    std::string name_;
    std::vector<BindingType> bindings_;
    Unique<vk::DescriptorSetLayout> set_layout_;
    Unique<vk::PipelineLayout> layout_;
};

[[nodiscard]] vk::DeviceSize storage_alignment_bytes(const DeviceContext& context);

}  // namespace quadtile::detail
