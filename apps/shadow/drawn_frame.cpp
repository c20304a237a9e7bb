#include "drawn_frame.hpp"

#include <glm/geometric.hpp>
#include <glm/mat3x3.hpp>
#include <glm/matrix.hpp>
#include <glm/trigonometric.hpp>

#include <cmath>
#include <cstring>

namespace quadtile::shadow {

namespace {

static_assert(static_cast<std::uint32_t>(Technique::fitted) == TECHNIQUE_FITTED &&
              static_cast<std::uint32_t>(Picture::tiles) == PICTURE_TILES &&
              static_cast<std::uint32_t>(Picture::error) == PICTURE_ERROR);

constexpr float REACH = 0.25F;  // of spots, for each unit of the scene's diagonal

void copy(const glm::vec3& from, float (&to)[3]) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

// The camera's rays: the inverse of what makes x, y and w of a direction.
void set_rays(DrawnFrame& frame, const glm::mat4& clip_from_world) {
    glm::dmat3 clip_from_direction;
    for (int column = 0; column < 3; ++column) {
        clip_from_direction[column] = {clip_from_world[column][0], clip_from_world[column][1],
                                       clip_from_world[column][3]};
    }
    const glm::dmat3 direction_from_clip = glm::inverse(clip_from_direction);
    copy(direction_from_clip[0], frame.ray_by_x);
    copy(direction_from_clip[1], frame.ray_by_y);
    copy(direction_from_clip[2], frame.ray);
}

DrawnLight drawn_light(const Light& light, float reach) {
    DrawnLight drawn{};
    copy(glm::normalize(light.direction), drawn.direction);
    drawn.is_spot = light.kind == Light::Kind::spot ? 1 : 0;
    copy(light.position, drawn.position);
    drawn.cone_cosine = std::cos(glm::radians(0.5F * light.angle_degrees));
    copy(light.colour, drawn.colour);
    drawn.reach = reach;
    return drawn;
}

DrawnView drawn_view(const FixedView& view) {
    DrawnView drawn{};
    std::memcpy(drawn.clip_from_world, &view.clip_from_world, sizeof(drawn.clip_from_world));
    drawn.x = static_cast<float>(view.x);
    drawn.y = static_cast<float>(view.y);
    drawn.width = static_cast<float>(view.width);
    drawn.height = static_cast<float>(view.height);
    drawn.farthest = view.farthest;
    drawn.texel_extent = view.texel_extent;
    return drawn;
}

}  // namespace

DrawnFrame make_drawn_frame(const FrameSettings& settings, const ShadowOptions& options,
                            vk::Extent2D extent, const ShadowBox& bounds,
                            std::span<const FixedView> views, bool has_reference) {
    DrawnFrame frame{};
    const float aspect = static_cast<float>(extent.width) / static_cast<float>(extent.height);
    copy(settings.camera.position, frame.camera);
    frame.nearest = CAMERA_NEAREST;
    set_rays(frame, settings.camera.clip_from_world(aspect, CAMERA_NEAREST));
    frame.width = extent.width;
    frame.height = extent.height;
    frame.technique = static_cast<QUADTILE_UINT>(settings.technique);
    frame.picture = static_cast<QUADTILE_UINT>(settings.picture);
    frame.is_filtered = settings.filtered ? 1 : 0;
    frame.has_reference = has_reference ? 1 : 0;
    frame.light_count = static_cast<QUADTILE_UINT>(settings.lights.size());
    frame.shadow = shadow_parameters(options);

    const glm::vec3 size(bounds.high[0] - bounds.low[0], bounds.high[1] - bounds.low[1],
                         bounds.high[2] - bounds.low[2]);
    for (std::size_t i = 0; i < settings.lights.size(); ++i) {
        frame.lights[i] = drawn_light(settings.lights[i], REACH * glm::length(size));
    }
    for (std::size_t i = 0; i < views.size(); ++i) {
        DrawnLight& light = frame.lights[views[i].light];
        if (light.view_count++ == 0) {
            light.first_view = static_cast<QUADTILE_UINT>(i);
        }
        frame.views[i] = drawn_view(views[i]);
    }
    return frame;
}

}  // namespace quadtile::shadow
