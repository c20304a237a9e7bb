#include "scene.hpp"

#include "parallel.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

namespace quadtile::baker {

glm::vec3 linear(const std::array<std::uint8_t, 4>& texel) {
    static const std::array<float, 256> VALUES = [] {
        std::array<float, 256> values{};
        for (std::size_t code = 0; code < values.size(); ++code) {
            const double value = static_cast<double>(code) / 255.0;
            values[code] = static_cast<float>(
                value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
        }
        return values;
    }();
    return {VALUES[texel[0]], VALUES[texel[1]], VALUES[texel[2]]};
}

std::uint8_t srgb_code(float value) {
    const float curved =
        value <= 0.0031308F ? 12.92F * value : 1.055F * std::pow(value, 1.0F / 2.4F) - 0.055F;
    return static_cast<std::uint8_t>(std::lround(255.0F * std::clamp(curved, 0.0F, 1.0F)));
}

const ScenePart& part_of(const Scene& scene, std::size_t triangle) {
    static const ScenePart OF_NO_PART;
    const auto next =
        std::ranges::upper_bound(scene.parts, triangle, {}, &ScenePart::first_triangle);
    return next == scene.parts.begin() ? OF_NO_PART : *std::prev(next);
}

std::uint8_t Material::coverage(std::uint8_t texture_alpha, float vertex_alpha) const {
    const float of_surface = alpha * vertex_alpha * static_cast<float>(texture_alpha);
    if (alpha_mode == AlphaMode::mask) {
        return of_surface >= alpha_cutoff * 255.0F ? 255 : 0;
    }
    return alpha_mode == AlphaMode::opaque
               ? 255
               : static_cast<std::uint8_t>(std::clamp(of_surface, 0.0F, 255.0F) + 0.5F);
}

glm::dvec3 Scene::plane_normal(const Triangle& triangle) const {
    const auto [first, second, third] = corners(triangle);
    const glm::dvec3 normal = glm::cross(second - first, third - first);
    const double length = glm::length(normal);
    return length > 0.0 && std::isfinite(length) ? normal / length : glm::dvec3(0.0);
}

std::array<glm::dvec3, 3> Scene::vertex_normals(const Triangle& triangle) const {
    constexpr double LEAST_COSINE = 0.3;
    const glm::dvec3 plane = plane_normal(triangle);
    std::array<glm::dvec3, 3> result{plane, plane, plane};
    for (std::size_t i = 0; i < 3 && !normals.empty(); ++i) {
        const glm::dvec3 normal(normals[triangle.vertices[i]]);
        const double length = glm::length(normal);
        if (glm::dot(normal, plane) > LEAST_COSINE * length && std::isfinite(length)) {
            result[i] = normal / length;
        }
    }
    return result;
}

bool Scene::is_smooth(const Triangle& triangle) const {
    constexpr double SAME_COSINE = 0.99999;
    const glm::dvec3 plane = plane_normal(triangle);
    return std::ranges::any_of(vertex_normals(triangle), [&](const glm::dvec3& normal) {
        return glm::dot(normal, plane) < SAME_COSINE;
    });
}

std::string Scene::name_of(std::size_t triangle) const {
    const ScenePart& part = part_of(*this, triangle);
    return "triangle " + std::to_string(triangle - part.first_triangle) +
           (part.name.empty() ? "" : " of " + part.name);
}

std::string Scene::place_of(std::size_t triangle, const glm::dvec3& middle) const {
    const auto distance = [&](std::uint32_t vertex) {
        return glm::distance(glm::dvec3(positions[vertex]), middle);
    };
    const glm::dvec3 corner =
        origin +
        glm::dvec3(
            positions[*std::ranges::max_element(triangles[triangle].vertices, {}, distance)]);
    char text[64];
    std::snprintf(text, sizeof(text), " at (%g, %g, %g)", corner.x, corner.y, corner.z);
    return name_of(triangle) + text;
}

std::string names_of(const Scene& scene, const std::vector<std::uint32_t>& triangles) {
    std::set<std::string> names;
    for (const std::uint32_t triangle : triangles) {
        const ScenePart& part = part_of(scene, triangle);
        names.insert(part.object.empty() ? part.name : "'" + part.object + "'");
    }
    names.erase("");
    constexpr std::size_t LONGEST_LIST = 200;
    std::string list;
    for (const std::string& name : names) {
        if (list.size() > LONGEST_LIST) {
            return list + " and more";
        }
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

namespace {

// Returns the bits with two zeros after each.
std::uint64_t spread(std::uint64_t bits) {
    bits &= 0x1fffffU;
    bits = (bits | bits << 32U) & 0x1f00000000ffffU;
    bits = (bits | bits << 16U) & 0x1f0000ff0000ffU;
    bits = (bits | bits << 8U) & 0x100f00f00f00f00fU;
    bits = (bits | bits << 4U) & 0x10c30c30c30c30c3U;
    bits = (bits | bits << 2U) & 0x1249249249249249U;
    return bits;
}

}  // namespace

std::vector<PlaceOnCurve> sort_along_curve(const Scene& scene, const glm::dvec3& lower,
                                           const glm::dvec3& extent) {
    constexpr double CELLS = 2097151.0;  // 21 bits
    std::vector<PlaceOnCurve> places(scene.triangles.size());
    const auto place = [&](std::size_t i) {
        glm::dvec3 middle(0.0);
        for (const std::uint32_t vertex : scene.triangles[i].vertices) {
            middle += glm::dvec3(scene.positions[vertex]) / 3.0;
        }
        const glm::dvec3 cell =
            glm::clamp((middle - lower) / glm::max(extent, glm::dvec3(1e-300)), 0.0, 1.0) * CELLS;
        places[i] = {spread(static_cast<std::uint64_t>(cell.x)) |
                         spread(static_cast<std::uint64_t>(cell.y)) << 1U |
                         spread(static_cast<std::uint64_t>(cell.z)) << 2U,
                     static_cast<std::uint32_t>(i)};
    };
    parallel_for(places.size(), 0, place, SHORT_CALLS);
    parallel_sort(places, [](const PlaceOnCurve& a, const PlaceOnCurve& b) {
        return std::tie(a.code, a.triangle) < std::tie(b.code, b.triangle);
    });
    return places;
}

}  // namespace quadtile::baker
