#include "ray_caster.hpp"

#include "quadtile_shadow_rays_shaders.hpp"

#include "bvh.hpp"
#include "ray_frame.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

namespace quadtile::shadow {

namespace {

constexpr std::uint32_t GROUP_EXTENT = 8;  // of both shaders
constexpr std::size_t RECORDINGS = 3;      // that may be on their way at the same time

using Access = vk::AccessFlagBits;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;

constexpr app::Scope SHADER_READ{Stage::eComputeShader, Access::eShaderRead};
constexpr app::Scope SHADER_WRITE{Stage::eComputeShader, Access::eShaderWrite};
constexpr app::Scope TRANSFER_WRITE{Stage::eTransfer, Access::eTransferWrite};

// A shader, and descriptors for each recording that may be on its way.
struct Pass {
    std::array<app::Descriptors, RECORDINGS> descriptors;
    vk::UniquePipelineLayout layout;
    vk::UniquePipeline pipeline;
    std::size_t next = 0;

    Pass(const app::Gpu& gpu, std::span<const Type> types, app::SpirV shader) {
        std::vector<vk::DescriptorSetLayoutBinding> bindings;
        for (const Type type : types) {
            bindings.push_back({.binding = static_cast<std::uint32_t>(bindings.size()),
                                .descriptorType = type,
                                .descriptorCount = 1,
                                .stageFlags = vk::ShaderStageFlagBits::eCompute});
        }
        for (app::Descriptors& one : descriptors) {
            one = gpu.make_descriptors(bindings);
        }
        layout = gpu.device().createPipelineLayoutUnique(
            vk::PipelineLayoutCreateInfo{}.setSetLayouts(*descriptors.front().layout));
        pipeline = gpu.make_compute_pipeline(*layout, shader);
    }

    // The set for this recording.
    vk::DescriptorSet take() {
        next = (next + 1) % RECORDINGS;
        return descriptors[next].set;
    }

    void dispatch(vk::CommandBuffer commands, vk::DescriptorSet set, vk::Extent2D extent) const {
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, *layout, 0, set, {});
        commands.dispatch((extent.width + GROUP_EXTENT - 1) / GROUP_EXTENT,
                          (extent.height + GROUP_EXTENT - 1) / GROUP_EXTENT, 1);
    }
};

// A buffer on the device with these elements.
template <typename Element>
app::Buffer make_filled_buffer(app::Gpu& gpu, const std::vector<Element>& elements) {
    const vk::DeviceSize size_bytes = elements.size() * sizeof(Element);
    const std::uint32_t most = gpu.physical_device().getProperties().limits.maxStorageBufferRange;
    if (size_bytes > most) {
        throw std::runtime_error("rays through this scene need a buffer of " +
                                 std::to_string(size_bytes) + " bytes, and the device has " +
                                 std::to_string(most) + " at most; use a smaller scene");
    }
    return gpu.upload(std::as_bytes(std::span(elements)), vk::BufferUsageFlagBits::eStorageBuffer);
}

}  // namespace

struct RayCaster::Impl {
    app::Gpu& gpu;
    float largest_coordinate = 0.0F;
    app::Buffer nodes;
    app::Buffer triangles;
    app::Buffer frame;
    app::Buffer counts;
    app::Buffer read_counts;
    Pass cast;
    Pass compare;
    app::Image mask;

    Impl(app::Gpu& gpu_, const Geometry& geometry)
        : gpu(gpu_),
          cast(gpu_,
               std::array{Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
                          Type::eSampledImage, Type::eSampledImage, Type::eStorageImage},
               app::CAST_RAYS_COMP),
          compare(gpu_, std::array{Type::eStorageImage, Type::eStorageImage, Type::eStorageBuffer},
                  app::COMPARE_MASKS_COMP) {
        const Bvh bvh = build_bvh(ray_triangles(geometry));
        largest_coordinate = bvh.largest_coordinate;
        nodes = make_filled_buffer(gpu, bvh.nodes);
        triangles = make_filled_buffer(gpu, bvh.triangles);
        using Usage = vk::BufferUsageFlagBits;
        frame = gpu.make_buffer(sizeof(RayFrame), Usage::eStorageBuffer | Usage::eTransferDst);
        counts = gpu.make_buffer(sizeof(MaskCounts),
                                 Usage::eStorageBuffer | Usage::eTransferDst | Usage::eTransferSrc);
        read_counts =
            gpu.make_buffer(sizeof(MaskCounts), Usage::eTransferDst, app::MemoryUse::readback);
        std::memset(read_counts.mapped, 0, sizeof(MaskCounts));
    }

    // The mask in layout GENERAL, for the shader to write.
    void prepare_mask(vk::CommandBuffer commands, vk::Extent2D extent) {
        const app::Scope before{Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                                {}};
        if (mask.handle && mask.extent == extent) {
            app::memory_barrier(commands, before, SHADER_WRITE);
            return;
        }
        gpu.device().waitIdle();
        using Usage = vk::ImageUsageFlagBits;
        mask = gpu.make_image(extent, vk::Format::eR32Uint, Usage::eStorage | Usage::eTransferSrc,
                              vk::ImageViewType::e2D);
        app::change_layout(commands, *mask.handle, vk::ImageLayout::eUndefined,
                           vk::ImageLayout::eGeneral, before, SHADER_WRITE);
    }

    void copy_frame(vk::CommandBuffer commands, const RayFrame& value) {
        app::memory_barrier(commands, {Stage::eComputeShader, {}}, TRANSFER_WRITE);
        commands.updateBuffer<RayFrame>(*frame.handle, 0, value);
        app::memory_barrier(commands, TRANSFER_WRITE, SHADER_READ);
    }

    vk::DescriptorSet describe_cast(const Pictures& pictures) {
        const vk::DescriptorSet set = cast.take();
        const vk::Device device = gpu.device();
        for (std::uint32_t binding = 0;
             const app::Buffer* const buffer : {&frame, &nodes, &triangles}) {
            app::write_buffer(device, set, binding++, {*buffer->handle, 0, VK_WHOLE_SIZE});
        }
        app::write_image(device, set, 3, Type::eSampledImage, pictures.depth,
                         vk::ImageLayout::eDepthStencilReadOnlyOptimal);
        app::write_image(device, set, 4, Type::eSampledImage, pictures.normals);
        app::write_image(device, set, 5, Type::eStorageImage, *mask.view);
        return set;
    }

    vk::DescriptorSet describe_comparison(const Pictures& pictures) {
        const vk::DescriptorSet set = compare.take();
        app::write_image(gpu.device(), set, 0, Type::eStorageImage, pictures.mask);
        app::write_image(gpu.device(), set, 1, Type::eStorageImage, *mask.view);
        app::write_buffer(gpu.device(), set, 2, {*counts.handle, 0, VK_WHOLE_SIZE});
        return set;
    }
};

RayCaster::RayCaster(app::Gpu& gpu, const Geometry& geometry)
    : impl_(std::make_unique<Impl>(gpu, geometry)) {}

RayCaster::~RayCaster() = default;

void RayCaster::record(vk::CommandBuffer commands, const Pictures& pictures,
                       const FrameSettings& settings,
                       std::span<const ShadowProjection> projections) {
    Impl& impl = *impl_;
    impl.copy_frame(
        commands, make_ray_frame(settings, pictures.extent, projections, impl.largest_coordinate));
    impl.prepare_mask(commands, pictures.extent);
    impl.cast.dispatch(commands, impl.describe_cast(pictures), pictures.extent);
    app::memory_barrier(commands, SHADER_WRITE,
                        {Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                         Access::eShaderRead | Access::eTransferRead});
}

vk::ImageView RayCaster::mask() const {
    return *impl_->mask.view;
}

vk::Image RayCaster::mask_image() const {
    return *impl_->mask.handle;
}

void RayCaster::record_comparison(vk::CommandBuffer commands, const Pictures& pictures) {
    Impl& impl = *impl_;
    app::memory_barrier(commands, {Stage::eComputeShader | Stage::eTransfer, {}}, TRANSFER_WRITE);
    commands.fillBuffer(*impl.counts.handle, 0, VK_WHOLE_SIZE, 0);
    app::memory_barrier(commands, TRANSFER_WRITE,
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    impl.compare.dispatch(commands, impl.describe_comparison(pictures), pictures.extent);
    app::memory_barrier(commands, SHADER_WRITE,
                        {Stage::eTransfer, Access::eTransferRead | Access::eTransferWrite});
    commands.copyBuffer(*impl.counts.handle, *impl.read_counts.handle,
                        vk::BufferCopy{.size = sizeof(MaskCounts)});
    app::memory_barrier(commands, TRANSFER_WRITE, {Stage::eHost, Access::eHostRead});
}

MaskDifference RayCaster::difference() const {
    MaskCounts counts;
    std::memcpy(&counts, impl_->read_counts.mapped, sizeof(counts));
    return {.surface_pixels = counts.surface_pixels,
            .wrong = counts.wrong,
            .wrongly_lit = counts.wrongly_lit,
            .wrongly_shadowed = counts.wrongly_shadowed};
}

}  // namespace quadtile::shadow
