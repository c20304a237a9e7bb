#include "topology.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace quadtile::baker {

namespace {

// Largest difference of nearby positions, in diagonals of the scene, because transforms round.
constexpr double POSITION_TOLERANCE = 1e-6;

}  // namespace

std::vector<std::uint32_t> weld_equal(const std::vector<glm::vec3>& positions) {
    std::vector<std::uint32_t> order(positions.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](std::uint32_t i) {
        const glm::vec3 p = positions[i];
        return std::array{p.x, p.y, p.z};
    };
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<std::uint32_t> points(positions.size());
    std::uint32_t point = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        point += i > 0 && key(order[i - 1]) != key(order[i]) ? 1 : 0;
        points[order[i]] = point;
    }
    return points;
}

std::vector<std::uint32_t> weld_nearby(const std::vector<glm::vec3>& positions) {
    const Box<glm::dvec3> box = box_around(positions);
    const double tolerance = POSITION_TOLERANCE * glm::length(box.size());
    // Cells are wide, so that most positions are far from their borders and search one cell.
    const double cell_size = std::max(16.0 * tolerance, std::numeric_limits<double>::min());

    constexpr std::uint32_t END = 0xFFFFFFFF;
    std::size_t buckets = 1;
    while (buckets < positions.size()) {
        buckets *= 2;
    }
    std::vector<std::uint32_t> heads(buckets, END);
    std::vector<std::uint32_t> next(positions.size(), END);
    std::vector<std::uint32_t> numbers(positions.size());
    const auto head_of = [&](std::int64_t x, std::int64_t y, std::int64_t z) -> std::uint32_t& {
        std::uint64_t hash = static_cast<std::uint64_t>(x) * 0x9E3779B97F4A7C15U;
        hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint64_t>(y)) * 0xC2B2AE3D27D4EB4FU;
        hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint64_t>(z)) * 0x165667B19E3779F9U;
        return heads[(hash ^ (hash >> 32U)) & (buckets - 1)];
    };
    for (std::uint32_t i = 0; i < positions.size(); ++i) {
        const glm::dvec3 position = positions[i];
        const auto cell = [&](double offset, int axis) {
            return static_cast<std::int64_t>(
                std::floor((position[axis] - box.low[axis] + offset) / cell_size));
        };
        std::uint32_t found = i;
        for (std::int64_t z = cell(-tolerance, 2); z <= cell(tolerance, 2); ++z) {
            for (std::int64_t y = cell(-tolerance, 1); y <= cell(tolerance, 1); ++y) {
                for (std::int64_t x = cell(-tolerance, 0); x <= cell(tolerance, 0); ++x) {
                    for (std::uint32_t other = head_of(x, y, z); other != END;
                         other = next[other]) {
                        if (glm::distance(glm::dvec3(positions[other]), position) <= tolerance) {
                            found = std::min(found, other);
                        }
                    }
                }
            }
        }
        numbers[i] = found;
        if (found == i) {
            std::uint32_t& head = head_of(cell(0.0, 0), cell(0.0, 1), cell(0.0, 2));
            next[i] = head;
            head = i;
        }
    }
    return numbers;
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
    std::ranges::sort(edges, {},
                      [](const Edge& edge) { return std::tuple(edge.low, edge.high, edge.side); });
    return edges;
}

}  // namespace quadtile::baker
