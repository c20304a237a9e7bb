// The camera.

#pragma once

#include <quadtile/shadow.hpp>

#include <glm/glm.hpp>

namespace quadtile::shadow {

struct Camera {
    glm::vec3 position{0.0F};
    float yaw_degrees = 0.0F;    // 0: along -z; 90: along -x
    float pitch_degrees = 0.0F;  // upwards
    float vertical_field_degrees = 60.0F;
    float nearest = 0.05F;  // least distance that it sees

    [[nodiscard]] glm::vec3 forward() const;
    // Projection with reversed-Z: depth 1 at `nearest`, 0 at infinity; row 0 at the top.
    [[nodiscard]] glm::mat4 clip_from_world(float aspect) const;
};

// Returns a camera at `eye` that looks at `target`.
[[nodiscard]] Camera look(const glm::vec3& eye, const glm::vec3& target);

// Returns the least distance that cameras see in a scene, less in one of a few centimetres.
[[nodiscard]] float nearest_in(const ShadowBox& bounds);

// Returns a camera above a corner of a scene, with all of it in view.
[[nodiscard]] Camera aerial_view(const ShadowBox& bounds);

}  // namespace quadtile::shadow
