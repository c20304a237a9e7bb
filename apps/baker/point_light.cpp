#include "point_light.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quadtile::baker {

namespace {

// Points of a patch along each side, enough for a mean that is right to a thousandth.
constexpr double POINTS_AT_ITS_SIZE = 16.0;
constexpr double MOST_POINTS = 16.0;
constexpr double POINTS_AT_EDGES = 4.0;  // for a cone's light, which may end within a texel

// Returns the irradiance of a sphere with the radiance 1 / pi, whose middle lies in the direction
// of `cosine`; `square` is the squared sine of its angular radius. Source: Lagarde and de Rousiers,
// "Moving Frostbite to Physically Based Rendering" (2014), 4.7.2.
double sphere_irradiance(double cosine, double square) {
    if (cosine * cosine >= square) {
        return square * std::max(cosine, 0.0);
    }
    // The horizon cuts the sphere.
    const double sine = std::sqrt(1.0 - cosine * cosine);
    const double x = std::sqrt(1.0 / square - 1.0);
    const double y = -x * cosine / sine;
    const double z = sine * std::sqrt(std::max(1.0 - y * y, 0.0));
    const double angle = std::acos(std::clamp(y, -1.0, 1.0));
    return std::max(((cosine * angle - x * z) * square + std::atan(z / x)) / std::numbers::pi, 0.0);
}

// Returns the attenuation that KHR_lights_punctual recommends for cone and range.
double attenuation(const PointLight& light, const glm::dvec3& to_light, double distance) {
    const double part = distance / light.range;
    double share = std::clamp(1.0 - part * part * part * part, 0.0, 1.0);
    if (light.is_spot) {
        const double inner = std::cos(double{light.inner_angle});
        const double outer = std::cos(double{light.outer_angle});
        const double cosine = -glm::dot(to_light, glm::dvec3(light.direction));
        const double within =
            std::clamp((cosine - outer) / std::max(0.001, inner - outer), 0.0, 1.0);
        share *= within * within;
    }
    return share;
}

}  // namespace

LightReceived received(const PointLight& light, const Patch& patch, const glm::vec3& normal) {
    const glm::dvec3 centre(patch.centre);
    const glm::dvec3 across(patch.across);
    const glm::dvec3 down(patch.down);
    const glm::dvec3 position(light.position);
    const double radius = light.radius;
    const double size = std::max({glm::length(across), glm::length(down), 1e-30});
    const double points = std::clamp(
        std::ceil(POINTS_AT_ITS_SIZE * size / std::max(glm::length(position - centre), 1e-30)),
        light.is_spot ? POINTS_AT_EDGES : 1.0, MOST_POINTS);
    const double nearest = std::max(radius, 0.5 * size / MOST_POINTS);
    LightReceived result;
    for (double y = 0.5; y < points; ++y) {
        for (double x = 0.5; x < points; ++x) {
            const glm::dvec3 point =
                centre + (x / points - 0.5) * across + (y / points - 0.5) * down;
            const double true_distance = std::max(glm::length(position - point), 1e-30);
            const glm::dvec3 to_light = (position - point) / true_distance;
            const double distance = std::max(true_distance, nearest);
            const double cosine = std::clamp(glm::dot(to_light, glm::dvec3(normal)), -1.0, 1.0);
            const double square = std::min(radius * radius / (distance * distance), 1.0 - 1e-9);
            const double shape =
                radius > 0.0 ? sphere_irradiance(cosine, square) / square : std::max(cosine, 0.0);
            const double irradiance =
                shape * attenuation(light, to_light, distance) / (distance * distance);
            result.irradiance += irradiance;
            result.direction += irradiance * to_light;
        }
    }
    result.irradiance /= points * points;
    result.direction /= points * points;
    return result;
}

}  // namespace quadtile::baker
