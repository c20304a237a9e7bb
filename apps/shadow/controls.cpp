#include "panels.hpp"

#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include <algorithm>
#include <cmath>

namespace quadtile::shadow {

namespace {

// Through the scene in about 20 seconds.
float speed_for(const ShadowBox& bounds) {
    constexpr float SECONDS = 20.0F;
    return std::max({bounds.high[0] - bounds.low[0], bounds.high[1] - bounds.low[1],
                     bounds.high[2] - bounds.low[2]}) /
           SECONDS;
}

}  // namespace

Controls::Controls(const Options& options, const Show& show)
    : settings{.technique = options.technique,
               .filtered = options.filtered,
               .camera = first_camera(options, show),
               .lights = show.lights},
      display(options.display),
      shadows(options.shadows),
      follows_flight(options.flies),
      flight_second(options.flight_second),
      units_per_second(speed_for(show.geometry.bounds)) {}

void Controls::advance(float seconds, const Flight& flight) {
    if (!follows_flight) {
        return;
    }
    if (!is_paused) {
        flight_second += seconds;
    }
    settings.camera = flight.at(flight_second);
}

float Controls::sun_azimuth_degrees() const {
    const glm::vec3 to_sun = -settings.lights.front().direction;
    return glm::degrees(std::atan2(to_sun.x, to_sun.z));
}

float Controls::sun_elevation_degrees() const {
    const glm::vec3 to_sun = -settings.lights.front().direction;
    return glm::degrees(std::atan2(to_sun.y, std::hypot(to_sun.x, to_sun.z)));
}

void Controls::set_sun(float azimuth_degrees, float elevation_degrees) {
    const float azimuth = glm::radians(azimuth_degrees);
    const float elevation = glm::radians(elevation_degrees);
    settings.lights.front().direction =
        -glm::vec3(std::sin(azimuth) * std::cos(elevation), std::sin(elevation),
                   std::cos(azimuth) * std::cos(elevation));
}

}  // namespace quadtile::shadow
