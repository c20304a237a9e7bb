#include "flatten.hpp"

#include "scene.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

namespace quadtile::baker {

namespace {

// Returns a triangle's corners in its own plane, the first edge along x.
FlatTriangle in_its_plane(const std::array<glm::dvec3, 3>& corners) {
    const glm::dvec3 a = corners[1] - corners[0];
    const glm::dvec3 b = corners[2] - corners[0];
    const double length = std::max(glm::length(a), std::numeric_limits<double>::min());
    return {glm::dvec2(0.0), glm::dvec2(length, 0.0),
            glm::dvec2(glm::dot(a, b), glm::length(glm::cross(a, b))) / length};
}

}  // namespace

std::optional<std::vector<glm::dvec2>> conformal_map(
    const std::vector<glm::dvec3>& points,
    const std::vector<std::array<std::uint32_t, 3>>& triangles) {
    constexpr double LEAST_HEIGHT = 1e-4;  // of a triangle, relative to its longest edge
    // Two points that are far apart are fixed; the others are the unknowns.
    const auto farthest_from = [&](const glm::dvec3& point) {
        const auto distance = [&](const glm::dvec3& other) { return glm::distance(point, other); };
        return static_cast<std::size_t>(std::ranges::max_element(points, {}, distance) -
                                        points.begin());
    };
    const std::size_t origin = farthest_from(points.front());
    const std::size_t other = farthest_from(points[origin]);
    // Places as complex numbers.
    using Number = std::complex<double>;
    std::vector<int> unknowns(points.size(), -1);
    int count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i != origin && i != other) {
            unknowns[i] = count++;
        }
    }
    const double distance = glm::distance(points[origin], points[other]);
    std::vector<Eigen::Triplet<Number>> entries;
    entries.reserve(triangles.size() * 6);
    Eigen::VectorXcd right = Eigen::VectorXcd::Zero(count);
    for (const auto& triangle : triangles) {
        const FlatTriangle flat =
            in_its_plane({points[triangle[0]], points[triangle[1]], points[triangle[2]]});
        const double longest = longest_edge(flat);
        const double area = std::max(flat[1].x * flat[2].y, LEAST_HEIGHT * longest * longest);
        std::array<Number, 3> edges;
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec2 edge = flat[(i + 2) % 3] - flat[(i + 1) % 3];
            edges[i] = {edge.x, edge.y};
        }
        for (std::size_t i = 0; i < 3; ++i) {
            const int row = unknowns[triangle[i]];
            for (std::size_t j = 0; row >= 0 && j < 3; ++j) {
                const Number weight = std::conj(edges[i]) * edges[j] / area;
                if (triangle[j] == other) {
                    right[row] -= weight * distance;
                } else if (triangle[j] != origin && unknowns[triangle[j]] <= row) {
                    entries.emplace_back(row, unknowns[triangle[j]], weight);  // lower half
                }
            }
        }
    }
    Eigen::SparseMatrix<Number> matrix(count, count);
    matrix.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<Number>, Eigen::Lower> solver(matrix);
    if (solver.info() != Eigen::Success) {
        return std::nullopt;
    }
    const Eigen::VectorXcd solution = solver.solve(right);
    std::vector<glm::dvec2> places(points.size(), glm::dvec2(0.0));
    places[other].x = distance;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (unknowns[i] >= 0) {
            places[i] = {solution[unknowns[i]].real(), solution[unknowns[i]].imag()};
        }
    }
    return places;
}

Stretch stretch_of(const std::array<glm::dvec3, 3>& corners, const FlatTriangle& flat) {
    const FlatTriangle own = in_its_plane(corners);
    const glm::dvec2 by_x = (flat[1] - flat[0]) / own[1].x;
    const glm::dvec2 by_y = (flat[2] - flat[0] - by_x * own[2].x) / own[2].y;
    // Singular values of the map.
    const double xx = glm::dot(by_x, by_x);
    const double yy = glm::dot(by_y, by_y);
    const double middle = 0.5 * (xx + yy);
    const double radius = std::hypot(0.5 * (xx - yy), glm::dot(by_x, by_y));
    return {std::sqrt(std::max(0.0, middle - radius)), std::sqrt(middle + radius)};
}

namespace {

struct Compared {
    FlatTriangle corners;
    Box<glm::dvec2> box{};
    double tolerance = 0.0;  // depth of overlap that does not count, for slivers and rounding
};

// Tests the axes across the edges (Gottschalk, Lin, Manocha 1996).
bool overlap(const Compared& a, const Compared& b) {
    const double tolerance = std::min(a.tolerance, b.tolerance);
    if (glm::any(
            glm::lessThanEqual(glm::min(a.box.high, b.box.high) - glm::max(a.box.low, b.box.low),
                               glm::dvec2(tolerance)))) {
        return false;
    }
    const auto apart = [tolerance](const Compared& one, const Compared& other) {
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec2 edge = one.corners[(i + 1) % 3] - one.corners[i];
            const glm::dvec2 inward = glm::dvec2(-edge.y, edge.x);
            double depth = -std::numeric_limits<double>::infinity();
            for (const glm::dvec2& corner : other.corners) {
                depth = std::max(depth, glm::dot(inward, corner - one.corners[i]));
            }
            if (depth <= tolerance * glm::length(edge)) {
                return true;
            }
        }
        return false;
    };
    return !apart(a, b) && !apart(b, a);
}

}  // namespace

bool overlap(const std::vector<FlatTriangle>& triangles) {
    constexpr double TOLERANCE = 1e-3;       // relative to the triangle's size
    constexpr std::size_t MAX_TESTS = 4096;  // of pairs, on average; further pairs are not tested
    std::vector<Compared> all;
    for (const FlatTriangle& triangle : triangles) {
        Compared& added = all.emplace_back(Compared{triangle});
        if (doubled_area(triangle) < 0.0) {
            std::swap(added.corners[1], added.corners[2]);
        }
        for (const glm::dvec2& corner : triangle) {
            added.box.include(corner);
        }
        added.tolerance = TOLERANCE * longest_edge(triangle);
    }
    std::ranges::sort(all, {}, [](const Compared& triangle) { return triangle.box.low.x; });
    std::size_t tests = MAX_TESTS * all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = i + 1;
             k < all.size() && all[k].box.low.x < all[i].box.high.x && tests > 0; ++k, --tests) {
            if (overlap(all[i], all[k])) {
                return true;
            }
        }
    }
    return false;
}

glm::dvec2 fit_rectangle(std::vector<FlatTriangle>& triangles) {
    constexpr std::size_t MAX_TRIED = 32;  // edges and angles of the rectangle's sides
    std::vector<glm::dvec2> edges;
    for (const FlatTriangle& triangle : triangles) {
        for (std::size_t i = 0; i < 3; ++i) {
            edges.push_back(triangle[(i + 1) % 3] - triangle[i]);
        }
    }
    std::ranges::stable_sort(edges, std::greater(), [](const glm::dvec2& e) {
        return static_cast<float>(
            glm::dot(e, e));  // 32 bits, so that rounding does not decide the order
    });
    edges.resize(std::min(edges.size(), MAX_TRIED));
    for (std::size_t i = 1; i < MAX_TRIED && triangles.size() > MAX_TRIED; ++i) {
        const double angle = 0.5 * 3.14159265358979323846 * static_cast<double>(i) / MAX_TRIED;
        edges.emplace_back(std::cos(angle), std::sin(angle));
    }
    const auto turned = [](const glm::dvec2& p, const glm::dvec2& along) {
        return glm::dvec2(glm::dot(p, along), along.x * p.y - along.y * p.x);
    };
    double least = std::numeric_limits<double>::infinity();
    glm::dvec2 best(1.0, 0.0);
    Box<glm::dvec2> box;
    for (const glm::dvec2& edge : edges) {
        const glm::dvec2 along = glm::length(edge) > 0.0 ? glm::normalize(edge) : best;
        Box<glm::dvec2> bounds;
        for (const FlatTriangle& triangle : triangles) {
            for (const glm::dvec2& corner : triangle) {
                bounds.include(turned(corner, along));
            }
        }
        const glm::dvec2 size = bounds.size();
        // with a tolerance, so that rounding does not decide which edge is taken
        if (size.x * size.y < least * (1.0 - 1e-9)) {
            least = size.x * size.y;
            best = along;
            box = bounds;
        }
    }
    if (box.size().x < box.size().y) {
        best = {-best.y, best.x};
        box = {{box.low.y, -box.high.x}, {box.high.y, -box.low.x}};
    }
    for (FlatTriangle& triangle : triangles) {
        for (glm::dvec2& corner : triangle) {
            corner = turned(corner, best) - box.low;
        }
    }
    return box.size();
}

}  // namespace quadtile::baker
