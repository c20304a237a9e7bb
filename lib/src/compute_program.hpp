// A set of compute pipelines that share one layout, and the descriptor sets that fit it.

#pragma once

#include "device_context.hpp"
#include "kernels.hpp"

#include <map>
#include <memory>
#include <vector>

namespace quadtile::detail {

// One descriptor: an image or a range of a buffer.
struct Descriptor {
    vk::DescriptorType type;
    vk::DescriptorImageInfo image;
    vk::DescriptorBufferInfo buffer;

    static Descriptor sampled(vk::Sampler sampler, VkImageView view, VkImageLayout layout);
    static Descriptor storage_buffer(VkBuffer buffer, vk::DeviceSize offset, vk::DeviceSize range);
};

// Values of specialization constants by their constant_id.
using Specialization = std::map<std::uint32_t, std::uint32_t>;

// The descriptors of set 0 in a pool of their own.
struct DescriptorSet {
    std::shared_ptr<DeviceContext> context;
    Unique<vk::DescriptorPool> pool;
    vk::DescriptorSet set;
};

class ComputeProgram {
 public:
    // Bindings 0, 1, … of set 0 with these types, and push constants of this size.
    ComputeProgram(std::shared_ptr<DeviceContext> context, std::vector<vk::DescriptorType> bindings,
                   std::uint32_t push_constant_bytes);

    // Compiles a kernel, in the variant that suits the device. `name` is for error messages and
    // debuggers.
    [[nodiscard]] Unique<vk::Pipeline> make_pipeline(Kernel kernel, const char* name,
                                                     const Specialization& constants) const;

    [[nodiscard]] Unique<vk::Sampler> make_sampler(vk::Filter filter,
                                                   vk::SamplerReductionMode reduction) const;

    [[nodiscard]] DescriptorSet make_descriptors(const std::vector<Descriptor>& descriptors) const;

    [[nodiscard]] DeviceContext& context() const noexcept { return *context_; }
    [[nodiscard]] const Dispatch& dispatch() const noexcept { return context_->dispatch; }
    [[nodiscard]] vk::PipelineLayout layout() const noexcept { return *layout_; }

 private:
    std::shared_ptr<DeviceContext> context_;
    std::vector<vk::DescriptorType> bindings_;
    Unique<vk::DescriptorSetLayout> set_layout_;
    Unique<vk::PipelineLayout> layout_;
};

[[nodiscard]] vk::DeviceSize storage_alignment_bytes(const DeviceContext& context);

}  // namespace quadtile::detail
