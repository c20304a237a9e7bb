#include "ray_caster.hpp"

#include "quadtile_shadow_rays_shaders.hpp"

#include "bvh.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

constexpr app::Scope SHADER_READ{Stage::eComputeShader, Access::eShaderRead};
constexpr app::Scope SHADER_WRITE{Stage::eComputeShader, Access::eShaderWrite};
constexpr app::Scope TRANSFER_WRITE{Stage::eTransfer, Access::eTransferWrite};

void dispatch(vk::CommandBuffer commands, vk::Extent2D extent) {
    constexpr std::uint32_t GROUP_EXTENT = 8;  // of both shaders
    commands.dispatch((extent.width + GROUP_EXTENT - 1) / GROUP_EXTENT,
                      (extent.height + GROUP_EXTENT - 1) / GROUP_EXTENT, 1);
}

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

glm::dmat4 clip_from_pixel(vk::Extent2D extent) {
    glm::dmat4 matrix(1.0);
    matrix[0][0] = 2.0 / extent.width;
    matrix[1][1] = 2.0 / extent.height;
    matrix[3][0] = -1.0;
    matrix[3][1] = -1.0;
    return matrix;
}

RayCamera make_camera(const Camera& camera, vk::Extent2D extent, float largest_coordinate) {
    const float aspect = static_cast<float>(extent.width) / static_cast<float>(extent.height);
    const glm::dmat4 world_from_pixel =
        glm::inverse(glm::dmat4(camera.clip_from_world(aspect, CAMERA_NEAREST))) *
        clip_from_pixel(extent);
    RayCamera result{.background_depth = 0.0F, .width = extent.width, .height = extent.height};
    for (int i = 0; i < 16; ++i) {
        result.world_from_pixel[i] = static_cast<float>(world_from_pixel[i / 4][i % 4]);
    }
    for (int i = 0; i < 3; ++i) {
        result.eye[i] = camera.position[i];
    }
    const float pixel = 2.0F * std::tan(glm::radians(camera.vertical_field_degrees) / 2.0F) /
                        static_cast<float>(extent.height);  // at distance 1
    result.offset = std::ldexp(largest_coordinate, -18);
    result.offset_share = pixel / 128.0F + std::ldexp(1.0F, -18);
    return result;
}

MaskLight make_light(const Light& light, const ShadowProjection& projection) {
    MaskLight result{.is_spot = static_cast<std::uint32_t>(light.kind)};
    static_assert(static_cast<int>(Light::Kind::sun) == 0 &&
                  static_cast<int>(Light::Kind::spot) == 1 &&
                  static_cast<int>(Light::Kind::point) == 2);
    std::ranges::copy(projection.clip_from_world, result.clip_from_world);
    const glm::vec3 towards =
        result.is_spot != 0 ? light.position : -glm::normalize(light.direction);
    for (int i = 0; i < 3; ++i) {
        result.towards[i] = towards[i];
    }
    return result;
}

}  // namespace

RayFrame make_ray_frame(const FrameSettings& settings, vk::Extent2D extent,
                        std::span<const ShadowProjection> projections, float largest_coordinate) {
    const std::size_t lights = settings.lights.size();
    if (lights > SHADOW_MAX_LIGHTS || projections.size() != layers_of(settings.lights)) {
        throw std::invalid_argument("rays are cast to " + std::to_string(SHADOW_MAX_LIGHTS) +
                                    " lights at most, and each needs its clip space; there are " +
                                    std::to_string(lights) + " lights and " +
                                    std::to_string(projections.size()) + " clip spaces");
    }
    RayFrame frame{.camera = make_camera(settings.camera, extent, largest_coordinate),
                   .light_count = static_cast<std::uint32_t>(lights)};
    std::size_t layer = 0;
    for (std::size_t i = 0; i < lights; ++i) {
        frame.lights[i] = make_light(settings.lights[i], projections[layer]);
        layer += settings.lights[i].layers();
    }
    return frame;
}

RayCaster::RayCaster(app::Gpu& gpu, const Geometry& geometry)
    : gpu_(gpu),
      frame_(gpu.make_buffer(sizeof(RayFrame), Usage::eStorageBuffer | Usage::eTransferDst)),
      counts_(gpu.make_buffer(sizeof(MaskCounts),
                              Usage::eStorageBuffer | Usage::eTransferDst | Usage::eTransferSrc)),
      read_counts_(
          gpu.make_buffer(sizeof(MaskCounts), Usage::eTransferDst, app::MemoryUse::readback)),
      cast_interface_(
          gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                             {Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
                              Type::eSampledImage, Type::eSampledImage, Type::eStorageImage})),
      compare_interface_(
          gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                             {Type::eStorageImage, Type::eStorageImage, Type::eStorageBuffer})),
      cast_(gpu.make_compute_pipeline(*cast_interface_.layout, app::CAST_RAYS_COMP)),
      compare_(gpu.make_compute_pipeline(*compare_interface_.layout, app::COMPARE_MASKS_COMP)) {
    set_geometry(geometry);
    std::memset(read_counts_.mapped, 0, sizeof(MaskCounts));
    compare_interface_.write(2, std::array{*counts_.handle});
}

void RayCaster::set_geometry(const Geometry& geometry) {
    const Bvh bvh = build_bvh(ray_triangles(geometry));
    largest_coordinate_ = bvh.largest_coordinate;
    nodes_ = make_filled_buffer(gpu_, bvh.nodes);
    triangles_ = make_filled_buffer(gpu_, bvh.triangles);
    cast_interface_.write(0, std::array{*frame_.handle, *nodes_.handle, *triangles_.handle});
}

// In layout GENERAL, for the shader to write.
void RayCaster::prepare_mask(vk::CommandBuffer commands, vk::Extent2D extent) {
    const app::Scope before{Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer, {}};
    if (mask_.handle && mask_.extent == extent) {
        app::memory_barrier(commands, before, SHADER_WRITE);
        return;
    }
    gpu_.device().waitIdle();  // a window may still show the one before
    mask_ = gpu_.make_image(extent, vk::Format::eR32Uint,
                            vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc,
                            vk::ImageViewType::e2D);
    app::change_layout(commands, *mask_.handle, Layout::eUndefined, Layout::eGeneral, before,
                       SHADER_WRITE);
}

void RayCaster::record(vk::CommandBuffer commands, const Targets& targets,
                       const FrameSettings& settings,
                       std::span<const ShadowProjection> projections) {
    app::memory_barrier(commands, {Stage::eComputeShader, {}}, TRANSFER_WRITE);
    commands.updateBuffer<RayFrame>(
        *frame_.handle, 0,
        make_ray_frame(settings, targets.extent, projections, largest_coordinate_));
    app::memory_barrier(commands, TRANSFER_WRITE, SHADER_READ);
    prepare_mask(commands, targets.extent);
    cast_interface_.write(3, *targets.depth.view, Layout::eDepthStencilReadOnlyOptimal);
    cast_interface_.write(4, *targets.normals.view, Layout::eGeneral);
    cast_interface_.write(5, *mask_.view, Layout::eGeneral);
    cast_interface_.bind(commands, *cast_, vk::PipelineBindPoint::eCompute);
    dispatch(commands, targets.extent);
    app::memory_barrier(commands, SHADER_WRITE,
                        {Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                         Access::eShaderRead | Access::eTransferRead});
}

void RayCaster::record_comparison(vk::CommandBuffer commands, const Targets& targets) {
    app::memory_barrier(commands, {Stage::eComputeShader | Stage::eTransfer, {}}, TRANSFER_WRITE);
    commands.fillBuffer(*counts_.handle, 0, VK_WHOLE_SIZE, 0);
    app::memory_barrier(commands, TRANSFER_WRITE,
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    compare_interface_.write(0, *targets.mask.view, Layout::eGeneral);
    compare_interface_.write(1, *mask_.view, Layout::eGeneral);
    compare_interface_.bind(commands, *compare_, vk::PipelineBindPoint::eCompute);
    dispatch(commands, targets.extent);
    app::memory_barrier(commands, SHADER_WRITE,
                        {Stage::eTransfer, Access::eTransferRead | Access::eTransferWrite});
    commands.copyBuffer(*counts_.handle, *read_counts_.handle,
                        vk::BufferCopy{.size = sizeof(MaskCounts)});
    app::memory_barrier(commands, TRANSFER_WRITE, app::HOST_READS);
}

MaskDifference RayCaster::difference() const {
    MaskCounts counts;
    std::memcpy(&counts, read_counts_.mapped, sizeof(counts));
    return {.surface_pixels = counts.surface_pixels,
            .wrong = counts.wrong,
            .wrongly_lit = counts.wrongly_lit,
            .wrongly_shadowed = counts.wrongly_shadowed};
}

}  // namespace quadtile::shadow
