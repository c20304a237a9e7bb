// Flights through scenes.

#pragma once

#include "camera.hpp"

#include <filesystem>
#include <vector>

namespace quadtile::shadow {

// Path through a scene: a smooth curve (Catmull-Rom) through one pose per second.
struct Flight {
    std::vector<Camera> poses;

    [[nodiscard]] float seconds() const;
    [[nodiscard]] Camera at(float second) const;  // clamped to the flight
};

// Flight through streets and above roofs of baker::city_scene with these bounds.
[[nodiscard]] Flight city_flight(const ShadowBox& bounds);

// Flight through a scene from a file: at eye height through zdm2 of the shared data, past rooms,
// corners and open places; else around the scene and through its middle.
[[nodiscard]] Flight flight_for(const std::filesystem::path& scene, const ShadowBox& bounds);

}  // namespace quadtile::shadow
