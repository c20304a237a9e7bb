#include "ray_caster.hpp"

#include "quadtile_shadow_rays_shaders.hpp"

#include "bvh.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
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

// Copies the elements to a buffer on the device.
template <typename Element>
app::Buffer make_filled_buffer(app::Gpu& gpu, const std::vector<Element>& elements) {
    const vk::DeviceSize size_bytes = elements.size() * sizeof(Element);
    const std::uint32_t most = gpu.physical_device().getProperties().limits.maxStorageBufferRange;
    if (size_bytes > most) {
        throw std::runtime_error("rays through this scene need a buffer of " +
                                 std::to_string(size_bytes) + " bytes, but the device allows " +
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
        throw std::invalid_argument("rays reach at most " + std::to_string(SHADOW_MAX_LIGHTS) +
                                    " lights, and each needs its clip space; there are " +
                                    std::to_string(lights) + " lights and " +
                                    std::to_string(projections.size()) + " clip spaces");
    }
    RayFrame frame{.camera = make_camera(settings.camera, extent, largest_coordinate),
                   .light_count = static_cast<std::uint32_t>(lights),
                   .samples = 1};
    std::size_t layer = 0;
    for (std::size_t i = 0; i < lights; ++i) {
        frame.lights[i] = make_light(settings.lights[i], projections[layer]);
        frame.radii[i] = disc_radius(settings.lights[i]);
        layer += settings.lights[i].layers();
    }
    return frame;
}

RayCaster::RayCaster(app::Gpu& gpu, const Geometry& geometry)
    : gpu_(gpu),
      frame_(gpu.make_buffer(sizeof(RayFrame), Usage::eStorageBuffer | Usage::eTransferDst)),
      interface_(gpu.make_interface(
          vk::ShaderStageFlagBits::eCompute,
          {Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer, Type::eSampledImage,
           Type::eSampledImage, Type::eStorageImage, Type::eStorageImage})),
      cast_(gpu.make_compute_pipeline(*interface_.layout, app::CAST_RAYS_COMP)) {
    set_geometry(geometry);
}

void RayCaster::set_geometry(const Geometry& geometry) {
    const Bvh bvh = build_bvh(ray_triangles(geometry));
    largest_coordinate_ = bvh.largest_coordinate;
    nodes_ = make_filled_buffer(gpu_, bvh.nodes);
    triangles_ = make_filled_buffer(gpu_, bvh.triangles);
    interface_.write(0, std::array{*frame_.handle, *nodes_.handle, *triangles_.handle});
}

// Prepares the images for the shader, in layout GENERAL.
void RayCaster::prepare_images(vk::CommandBuffer commands, vk::Extent2D extent) {
    const app::Scope before{Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer, {}};
    if (mask_.handle && mask_.extent == extent) {
        app::memory_barrier(commands, before, SHADER_WRITE);
        return;
    }
    gpu_.device().waitIdle();  // a window may still show the old images
    for (app::Image* const image : {&mask_, &light_}) {
        *image =
            gpu_.make_image(extent, vk::Format::eR32Uint,
                            vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc,
                            vk::ImageViewType::e2D);
        app::change_layout(commands, *image->handle, Layout::eUndefined, Layout::eGeneral, before,
                           SHADER_WRITE);
    }
}

void RayCaster::record(vk::CommandBuffer commands, const Targets& targets,
                       const FrameSettings& settings, std::span<const ShadowProjection> projections,
                       std::uint32_t samples) {
    RayFrame frame = make_ray_frame(settings, targets.extent, projections, largest_coordinate_);
    if (settings.filter == Filter::soft) {
        frame.samples = std::clamp(samples, 1U, MOST_SAMPLES);
    }
    app::memory_barrier(commands, {Stage::eComputeShader, {}}, TRANSFER_WRITE);
    commands.updateBuffer<RayFrame>(*frame_.handle, 0, frame);
    app::memory_barrier(commands, TRANSFER_WRITE, SHADER_READ);
    prepare_images(commands, targets.extent);
    interface_.write(3, *targets.depth.view, Layout::eDepthStencilReadOnlyOptimal);
    interface_.write(4, *targets.normals.view, Layout::eGeneral);
    interface_.write(5, *mask_.view, Layout::eGeneral);
    interface_.write(6, *light_.view, Layout::eGeneral);
    interface_.bind(commands, *cast_, vk::PipelineBindPoint::eCompute);
    constexpr std::uint32_t GROUP_EXTENT = 8;  // as in the shader
    commands.dispatch((targets.extent.width + GROUP_EXTENT - 1) / GROUP_EXTENT,
                      (targets.extent.height + GROUP_EXTENT - 1) / GROUP_EXTENT, 1);
    app::memory_barrier(commands, SHADER_WRITE,
                        {Stage::eComputeShader | Stage::eFragmentShader | Stage::eTransfer,
                         Access::eShaderRead | Access::eTransferRead});
}

}  // namespace quadtile::shadow
