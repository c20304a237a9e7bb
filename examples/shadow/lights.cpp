#include "lights.hpp"

#include "geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace quadtile::shadow {

namespace {

// Farthest distance of a spot / nearest one. Casters before the nearest are clamped to it.
constexpr float SPOT_DEPTH_RATIO = 200.0F;
constexpr float SUNLIGHT = 2.2F;            // irradiance of the brightest light in the picture
constexpr float POINT_LIGHT_WEIGHT = 0.5F;  // point lights are lamps, whose shadows are less sharp
constexpr float LAMP_RADIUS = 0.05F;        // if the scene gives none
constexpr float WIDEST_SPOT_DEGREES = 170.0F;

std::array<float, 3> array_of(const glm::vec3& v) {
    return {v.x, v.y, v.z};
}

Light sun_of(const baker::Sun& sun) {
    return {.direction = sun.direction,
            .colour = sun.irradiance,
            .radius = 0.5F * sun.angular_diameter_degrees};
}

Light lamp_of(const baker::PointLight& lamp) {
    Light light{.kind = lamp.is_spot ? Light::Kind::spot : Light::Kind::point,
                .direction = lamp.direction,
                .position = lamp.position,
                .colour = lamp.intensity,
                .radius = lamp.radius > 0.0F ? lamp.radius : LAMP_RADIUS,
                .weight = lamp.is_spot ? 1.0F : POINT_LIGHT_WEIGHT,
                .range = lamp.range};
    light.angle_degrees =
        std::clamp(2.0F * glm::degrees(lamp.outer_angle), 1.0F, WIDEST_SPOT_DEGREES);
    return light;
}

// Scales all lights alike: the brightest sun, else the brightest lamp a tenth of the scene away.
void expose(std::vector<Light>& lights, float diagonal) {
    float brightest = 0.0F;
    for (const Light& light : lights) {
        if (light.kind == lights.front().kind) {
            const float squared =
                light.kind == Light::Kind::sun ? 1.0F : 0.01F * diagonal * diagonal;
            brightest = std::max(brightest, baker::greatest_of(light.colour) / squared);
        }
    }
    for (Light& light : lights) {
        light.colour *= brightest > 0.0F ? SUNLIGHT / brightest : 1.0F;
    }
}

}  // namespace

std::uint32_t Light::layers() const {
    return kind == Kind::point ? SHADOW_FACES : kind == Kind::sun ? levels : 1;
}

std::uint32_t layers_of(std::span<const Light> lights) {
    std::uint32_t layers = 0;
    for (const Light& light : lights) {
        layers += light.layers();
    }
    return layers;
}

float disc_radius(const Light& light) {
    return light.kind == Light::Kind::sun ? std::tan(glm::radians(light.radius)) : light.radius;
}

std::vector<Light> lights_of(const baker::Scene& scene, const ShadowBox& bounds,
                             float sun_levels_extent, std::vector<std::string>& warnings) {
    std::vector<Light> all;
    std::ranges::transform(scene.suns, std::back_inserter(all), sun_of);
    for (const bool is_spot : {true, false}) {
        for (const baker::PointLight& lamp : scene.point_lights) {
            if (lamp.is_spot == is_spot) {
                all.push_back(lamp_of(lamp));
            }
        }
    }
    if (all.empty()) {
        all.emplace_back();
    }
    const float diagonal = glm::distance(low_of(bounds), high_of(bounds));
    expose(all, diagonal);
    std::vector<Light> lights;
    for (Light& light : all) {
        if (light.kind == Light::Kind::sun && sun_levels_extent > 0.0F) {
            light.nearest_extent = sun_levels_extent;
            light.levels = 1;
            for (float extent = sun_levels_extent;
                 extent < diagonal && light.levels < SHADOW_MAX_LEVELS; extent *= 2.0F) {
                ++light.levels;
            }
        }
        if (layers_of(lights) + light.layers() <= SHADOW_MAX_LIGHTS) {
            lights.push_back(light);
        }
    }
    if (lights.size() < all.size()) {
        warnings.push_back(
            "the first " + std::to_string(lights.size()) + " of " + std::to_string(all.size()) +
            " lights are drawn; there is no room for the shadow maps of more. Leave lights out, "
            "or take spot lights: they have one map, point lights have six");
    }
    return lights;
}

std::vector<ShadowProjection> projections_of(std::span<const Light> lights, const ShadowBox& bounds,
                                             const glm::vec3& eye) {
    std::vector<ShadowProjection> all;
    for (const Light& light : lights) {
        if (!light.is_on) {
            all.resize(all.size() + light.layers());
            continue;
        }
        const std::array<float, 3> direction = array_of(light.direction);
        const std::array<float, 3> position = array_of(light.position);
        const float farthest =
            std::min(light.range, 1.01F * glm::length(glm::max(light.position - low_of(bounds),
                                                               high_of(bounds) - light.position)));
        const float nearest = farthest / SPOT_DEPTH_RATIO;
        const std::size_t first = all.size();
        if (light.kind == Light::Kind::sun && light.nearest_extent > 0.0F) {
            std::ranges::copy(directional_shadow_levels(direction, bounds, array_of(eye),
                                                        light.nearest_extent, light.levels),
                              std::back_inserter(all));
        } else if (light.kind == Light::Kind::sun) {
            all.push_back(directional_shadow_projection(direction, bounds));
        } else if (light.kind == Light::Kind::spot) {
            all.push_back(spot_shadow_projection(position, direction, light.angle_degrees, nearest,
                                                 farthest));
        } else {
            std::ranges::copy(point_shadow_projections(position, nearest, farthest),
                              std::back_inserter(all));
        }
        for (std::size_t i = first; i < all.size(); ++i) {
            all[i].weight = light.weight;
        }
    }
    return all;
}

}  // namespace quadtile::shadow
