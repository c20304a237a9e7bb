// Cameras, and flights through scenes.

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
    // Projection with reversed-Z: depth 1 at `nearest`, 0 at infinity; row 0 at the top.
    [[nodiscard]] glm::mat4 clip_from_world(float aspect, float nearest) const;
};

// Path through a scene: a smooth curve (Catmull-Rom) through one pose per second.
struct Flight {
    std::string name;
    std::vector<Camera> poses;

    [[nodiscard]] float seconds() const;
    [[nodiscard]] Camera at(float second) const;  // clamped to the flight
};

// Flight around a scene and through its middle, for any scene.
[[nodiscard]] Flight tour(const ShadowBox& bounds);
// Flight through zdm2 of the shared data, at eye height, past rooms, corners and open places.
[[nodiscard]] Flight zdm2_flight();
// Flight through streets and above roofs of baker::city_scene with these bounds.
[[nodiscard]] Flight city_flight(const ShadowBox& bounds);

// Camera above a corner of a scene, with all of it in view.
[[nodiscard]] Camera aerial_view(const ShadowBox& bounds);

// Flight through a scene from a file: zdm2_flight for that name, else a tour.
[[nodiscard]] Flight flight_for(const std::filesystem::path& scene, const ShadowBox& bounds);

}  // namespace quadtile::shadow
