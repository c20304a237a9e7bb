#include "topology.hpp"

#include "parallel.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace quadtile::baker {

namespace {

// Returns by vertex a vertex that stands for all at one point.
std::vector<std::uint32_t> weld(const std::vector<glm::vec3>& positions, double tolerance) {
    // In the order along a direction across which hardly a surface lies, so that few points are
    // side by side.
    const glm::dvec3 way(0.6131, 0.5273, 0.5883);
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const glm::vec3& position : positions) {
        order.emplace_back(glm::dot(way, glm::dvec3(position)),
                           static_cast<std::uint32_t>(order.size()));
    }
    parallel_sort(order, std::less<>());
    std::vector<std::uint32_t> points(positions.size());
    std::vector<std::pair<double, std::uint32_t>> found;
    for (const auto& [place, vertex] : order) {
        const glm::dvec3 position(positions[vertex]);
        auto other = found.rbegin();
        while (other != found.rend() && place - other->first <= tolerance &&
               glm::distance(glm::dvec3(positions[other->second]), position) > tolerance) {
            ++other;
        }
        if (other == found.rend() || place - other->first > tolerance) {
            found.emplace_back(place, vertex);
            other = found.rbegin();
        }
        points[vertex] = other->second;
    }
    return points;
}

}  // namespace

std::vector<std::uint32_t> weld_equal(const std::vector<glm::vec3>& positions) {
    return weld(positions, 0.0);
}

std::vector<std::uint32_t> weld_nearby(const std::vector<glm::vec3>& positions) {
    constexpr double TOLERANCE = 1e-6;  // in diagonals of the scene, because transforms round
    return weld(positions, TOLERANCE * glm::length(box_around(positions).size()));
}

std::vector<Edge> sorted_edges(const Scene& scene, const std::vector<std::uint32_t>& points) {
    std::vector<Edge> edges;
    edges.reserve(3 * scene.triangles.size());
    for (std::uint32_t i = 0; i < scene.triangles.size(); ++i) {
        for (std::uint32_t k = 0; k < 3; ++k) {
            const std::uint32_t from = points[scene.triangles[i].vertices[k]];
            const std::uint32_t to = points[scene.triangles[i].vertices[(k + 1) % 3]];
            if (from != to) {
                edges.push_back({std::min(from, to), std::max(from, to), 3 * i + k, from < to});
            }
        }
    }
    parallel_sort(edges, [](const Edge& a, const Edge& b) {
        return std::tie(a.low, a.high, a.side) < std::tie(b.low, b.high, b.side);
    });
    return edges;
}

}  // namespace quadtile::baker
