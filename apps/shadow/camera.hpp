// Where the picture is seen from, and flights through scenes.

#pragma once

#include <quadtile/shadow.hpp>

#include <glm/glm.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::shadow {

struct Camera {
    glm::vec3 position{0.0F};
    float yaw_degrees = 0.0F;    // 0: along -z; 90: along -x
    float pitch_degrees = 0.0F;  // upwards
    float vertical_field_degrees = 60.0F;

    [[nodiscard]] glm::vec3 forward() const;
    // Reversed depths, 1 at `nearest` to 0 at infinity; row 0 at the top.
    [[nodiscard]] glm::mat4 clip_from_world(float aspect, float nearest) const;
};

// A way through a scene: smooth through its poses (Catmull-Rom), one a second.
struct Flight {
    std::string name;
    std::vector<Camera> poses;

    [[nodiscard]] float seconds() const;
    [[nodiscard]] Camera at(float second) const;  // clamped to the flight
};

// Around a scene and through its middle: for any scene.
[[nodiscard]] Flight tour(const ShadowBox& bounds);
// Through zdm2 of the shared data, at the height of eyes, seeing rooms, corners and open places.
[[nodiscard]] Flight zdm2_flight();
// Through streets and above roofs of baker::city_scene, of these bounds.
[[nodiscard]] Flight city_flight(const ShadowBox& bounds);

// From above a corner of a scene, all of it in the picture.
[[nodiscard]] Camera aerial_view(const ShadowBox& bounds);

// Through a scene from a file: zdm2 by its name, any other as a tour.
[[nodiscard]] Flight flight_for(const std::filesystem::path& scene, const ShadowBox& bounds);

}  // namespace quadtile::shadow
