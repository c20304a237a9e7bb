#include "scene.hpp"

#include "parallel.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

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

struct Place {
    glm::vec3 middle;  // of the corners
    std::uint32_t triangle;
};

struct Run {
    std::size_t first;
    std::size_t end;
};

// Returns where to split a run: at the multiple of the greatest length that is nearest to its
// middle; its end: nowhere.
std::size_t split_of(const Run& run) {
    for (const std::size_t length : {4096U, 64U, 8U}) {
        const std::size_t first = run.first / length + 1;
        const std::size_t last = (run.end - 1) / length;
        if (first <= last) {
            return std::clamp((run.first + run.end + length) / (2 * length), first, last) * length;
        }
    }
    return run.end;
}

auto at(std::vector<Place>& places, std::size_t i) {
    return places.begin() + static_cast<std::ptrdiff_t>(i);
}

// Divides places along the longest axis of their box.
void divide(std::vector<Place>& places, const Run& run, std::size_t split) {
    Box<glm::vec3> box;
    std::for_each(at(places, run.first), at(places, run.end),
                  [&](const Place& place) { box.include(place.middle); });
    const glm::vec3 size = box.size();
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    std::nth_element(at(places, run.first), at(places, split), at(places, run.end),
                     [&](const Place& a, const Place& b) {
                         return std::pair(a.middle[axis], a.triangle) <
                                std::pair(b.middle[axis], b.triangle);
                     });
}

}  // namespace

std::vector<std::uint32_t> order_by_boxes(const Scene& scene,
                                          const std::function<bool(std::uint32_t)>& comes_first) {
    std::vector<Place> places(scene.triangles.size());
    const auto place = [&](std::size_t i) {
        glm::dvec3 middle(0.0);
        for (const std::uint32_t vertex : scene.triangles[i].vertices) {
            middle += glm::dvec3(scene.positions[vertex]) / 3.0;
        }
        places[i] = {glm::vec3(middle), static_cast<std::uint32_t>(i)};
    };
    parallel_for(places.size(), 0, place, SHORT_CALLS);
    const auto others = std::partition(places.begin(), places.end(),
                                       [&](const Place& of) { return comes_first(of.triangle); });
    const auto count = static_cast<std::size_t>(others - places.begin());
    std::vector<Run> runs{{0, count}, {count, places.size()}};
    while (!runs.empty()) {
        std::vector<std::array<Run, 2>> halves(runs.size());
        parallel_for(runs.size(), 0, [&](std::size_t i) {
            const Run run = runs[i];
            const std::size_t split = run.first < run.end ? split_of(run) : run.end;
            if (split < run.end) {
                divide(places, run, split);
                halves[i] = {Run{run.first, split}, Run{split, run.end}};
            } else {
                std::sort(at(places, run.first), at(places, run.end),
                          [](const Place& one, const Place& other) {
                              return one.triangle < other.triangle;
                          });
            }
        });
        runs.clear();
        for (const std::array<Run, 2>& half : halves) {
            std::ranges::copy_if(half, std::back_inserter(runs),
                                 [](const Run& run) { return run.end > run.first + 1; });
        }
    }
    std::vector<std::uint32_t> order(places.size());
    std::ranges::transform(places, order.begin(), &Place::triangle);
    return order;
}

}  // namespace quadtile::baker
