#include "scene.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace quadtile::baker {

std::string Scene::name_of(std::size_t triangle) const {
    const auto next = std::ranges::upper_bound(parts, triangle, {}, &ScenePart::first_triangle);
    if (next == parts.begin()) {
        return "triangle " + std::to_string(triangle);
    }
    const ScenePart& part = *std::prev(next);
    return "triangle " + std::to_string(triangle - part.first_triangle) + " of " + part.name;
}

std::string Scene::place_of(std::size_t triangle, const glm::dvec3& middle) const {
    const auto distance = [&](std::uint32_t vertex) {
        return glm::distance(glm::dvec3(positions[vertex]), middle);
    };
    const glm::vec3 corner =
        positions[*std::ranges::max_element(triangles[triangle].vertices, {}, distance)];
    char text[64];
    std::snprintf(text, sizeof(text), " at (%g, %g, %g)", double{corner.x}, double{corner.y},
                  double{corner.z});
    return name_of(triangle) + text;
}

}  // namespace quadtile::baker
