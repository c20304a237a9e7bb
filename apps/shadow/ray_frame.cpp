#include "ray_frame.hpp"

#include <glm/ext/matrix_double4x4.hpp>
#include <glm/ext/vector_double3.hpp>
#include <glm/geometric.hpp>
#include <glm/matrix.hpp>
#include <glm/trigonometric.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace quadtile::shadow {

namespace {

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
    MaskLight result{.is_spot = light.kind == Light::Kind::spot ? 1U : 0U};
    std::ranges::copy(projection.clip_from_world, result.clip_from_world);
    const glm::vec3 towards =
        result.is_spot == 1 ? light.position : -glm::normalize(light.direction);
    for (int i = 0; i < 3; ++i) {
        result.towards[i] = towards[i];
    }
    return result;
}

}  // namespace

RayFrame make_ray_frame(const FrameSettings& settings, vk::Extent2D extent,
                        std::span<const ShadowProjection> projections, float largest_coordinate) {
    const std::size_t lights = settings.lights.size();
    if (lights > SHADOW_MAX_LIGHTS || projections.size() != lights) {
        throw std::invalid_argument("rays are cast to " + std::to_string(SHADOW_MAX_LIGHTS) +
                                    " lights at most, and each needs its clip space; there are " +
                                    std::to_string(lights) + " lights and " +
                                    std::to_string(projections.size()) + " clip spaces");
    }
    RayFrame frame{.camera = make_camera(settings.camera, extent, largest_coordinate),
                   .light_count = static_cast<std::uint32_t>(lights)};
    for (std::size_t i = 0; i < lights; ++i) {
        frame.lights[i] = make_light(settings.lights[i], projections[i]);
    }
    return frame;
}

}  // namespace quadtile::shadow
