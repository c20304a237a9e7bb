#include "flatten.hpp"

#include "scene.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>

namespace quadtile::baker {

namespace {

// A triangle's corners in its own plane, the first edge along x.
FlatTriangle in_its_plane(const std::array<glm::dvec3, 3>& corners) {
    const glm::dvec3 a = corners[1] - corners[0];
    const glm::dvec3 b = corners[2] - corners[0];
    const double length = std::max(glm::length(a), std::numeric_limits<double>::min());
    return {glm::dvec2(0.0), glm::dvec2(length, 0.0),
            glm::dvec2(glm::dot(a, b), glm::length(glm::cross(a, b))) / length};
}

double longest_edge(const FlatTriangle& triangle) {
    return std::max({glm::distance(triangle[0], triangle[1]),
                     glm::distance(triangle[1], triangle[2]),
                     glm::distance(triangle[2], triangle[0])});
}

// Two points that are far from each other.
std::array<std::size_t, 2> pins_of(const std::vector<glm::dvec3>& points) {
    Box<glm::dvec3> box;
    for (const glm::dvec3& point : points) {
        box.include(point);
    }
    const glm::dvec3 size = box.size();
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const auto [low, high] = std::ranges::minmax_element(
        points, {}, [axis](const glm::dvec3& point) { return point[axis]; });
    return {static_cast<std::size_t>(low - points.begin()),
            static_cast<std::size_t>(high - points.begin())};
}

}  // namespace

std::optional<std::vector<glm::dvec2>> conformal_map(
    const std::vector<glm::dvec3>& points,
    const std::vector<std::array<std::uint32_t, 3>>& triangles) {
    constexpr double LEAST_HEIGHT = 1e-4;  // of a triangle, by its longest edge
    const std::array<std::size_t, 2> pins = pins_of(points);
    if (pins[0] == pins[1]) {
        return std::nullopt;
    }
    // Places are complex numbers. Unknown are all but the pins, one at 0 and one on the real axis.
    using Number = std::complex<double>;
    std::vector<int> unknowns(points.size(), -1);
    int count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i != pins[0] && i != pins[1]) {
            unknowns[i] = count++;
        }
    }
    const double distance = glm::distance(points[pins[0]], points[pins[1]]);
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
                if (triangle[j] == pins[1]) {
                    right[row] -= weight * distance;
                } else if (triangle[j] != pins[0] && unknowns[triangle[j]] <= row) {
                    entries.emplace_back(row, unknowns[triangle[j]], weight);  // the lower half
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
    places[pins[1]].x = distance;
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
    FlatTriangle corners{};
    Box<glm::dvec2> box;
    double tolerance = 0.0;  // that others may reach into it: slivers and rounding do not count
};

// By the axes across the edges (Gottschalk, Lin, Manocha 1996).
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
    constexpr double TOLERANCE = 1e-3;      // by the triangle's size
    constexpr double MAX_CELLS = 16.0;      // that triangles lie in, on average
    constexpr std::size_t MAX_TESTS = 512;  // of pairs, on average; what is left is not tested
    std::vector<Compared> all(triangles.size());
    Box<glm::dvec2> box;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].corners = triangles[i];
        const glm::dvec2 a = triangles[i][1] - triangles[i][0];
        const glm::dvec2 b = triangles[i][2] - triangles[i][0];
        if (a.x * b.y < a.y * b.x) {
            std::swap(all[i].corners[1], all[i].corners[2]);
        }
        for (const glm::dvec2& corner : triangles[i]) {
            all[i].box.include(corner);
        }
        box.include(all[i].box);
        all[i].tolerance = TOLERANCE * longest_edge(triangles[i]);
    }

    // Squares of a grid, as many as there are triangles, or fewer where these are long.
    const glm::dvec2 size = box.size();
    const auto count = static_cast<double>(all.size());
    double cell = std::max({std::sqrt(size.x * size.y / count), std::max(size.x, size.y) / count,
                            std::numeric_limits<double>::min()});
    const auto cells_of = [&](const Compared& triangle) {
        return std::pair(glm::floor((triangle.box.low - box.low) / cell),
                         glm::floor((triangle.box.high - box.low) / cell));
    };
    for (double sum = 2.0 * MAX_CELLS * count; sum > MAX_CELLS * count;) {
        sum = 0.0;
        for (const Compared& triangle : all) {
            const auto [from, to] = cells_of(triangle);
            sum += (to.x - from.x + 1.0) * (to.y - from.y + 1.0);
        }
        cell *= sum > MAX_CELLS * count ? 2.0 : 1.0;
    }
    const auto columns = static_cast<std::size_t>(size.x / cell) + 1;
    const auto rows = static_cast<std::size_t>(size.y / cell) + 1;
    std::vector<std::vector<std::uint32_t>> grid(columns * rows);
    std::size_t tests = 0;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto [from, to] = cells_of(all[i]);
        for (auto y = static_cast<std::size_t>(from.y); y <= static_cast<std::size_t>(to.y); ++y) {
            for (auto x = static_cast<std::size_t>(from.x); x <= static_cast<std::size_t>(to.x);
                 ++x) {
                std::vector<std::uint32_t>& others = grid[y * columns + x];
                for (std::size_t k = 0; k < others.size() && tests < MAX_TESTS * all.size(); ++k) {
                    if (overlap(all[i], all[others[k]])) {
                        return true;
                    }
                    ++tests;
                }
                others.push_back(i);
            }
        }
    }
    return false;
}

namespace {

// The convex hull (Andrew 1979).
std::vector<glm::dvec2> hull_of(std::vector<glm::dvec2> points) {
    std::ranges::sort(points, [](const glm::dvec2& a, const glm::dvec2& b) {
        return a.x < b.x || (a.x == b.x && a.y < b.y);
    });
    std::vector<glm::dvec2> hull;
    const auto add = [&](const glm::dvec2& p, std::size_t start) {
        while (hull.size() >= start + 2) {
            const glm::dvec2 a = hull[hull.size() - 2];
            const glm::dvec2 b = hull.back();
            if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0.0) {
                break;
            }
            hull.pop_back();
        }
        hull.push_back(p);
    };
    for (const glm::dvec2& p : points) {
        add(p, 0);
    }
    const std::size_t upper = hull.size() - 1;
    for (auto p = points.rbegin() + 1; p != points.rend(); ++p) {
        add(*p, upper);
    }
    if (hull.size() > 1) {
        hull.pop_back();  // the first point again
    }
    return hull;
}

glm::dvec2 turned(const glm::dvec2& p, const glm::dvec2& along) {
    return {glm::dot(p, along), along.x * p.y - along.y * p.x};
}

}  // namespace

glm::dvec2 fit_rectangle(std::vector<FlatTriangle>& triangles) {
    constexpr std::size_t MAX_TRIED = 256;  // edges of the hull; one of them is along the rectangle
    std::vector<glm::dvec2> points;
    for (const FlatTriangle& triangle : triangles) {
        points.insert(points.end(), triangle.begin(), triangle.end());
    }
    const std::vector<glm::dvec2> hull = hull_of(std::move(points));
    const auto bounds = [&](const glm::dvec2& along) {
        Box<glm::dvec2> box;
        for (const glm::dvec2& p : hull) {
            box.include(turned(p, along));
        }
        return box;
    };
    double least = std::numeric_limits<double>::infinity();
    glm::dvec2 best(1.0, 0.0);
    const std::size_t step = hull.size() / MAX_TRIED + 1;
    for (std::size_t i = 0; i < hull.size(); i += step) {
        const glm::dvec2 edge = hull[(i + 1) % hull.size()] - hull[i];
        const double length = glm::length(edge);
        if (!(length > 0.0)) {
            continue;
        }
        const glm::dvec2 size = bounds(edge / length).size();
        const double area = size.x * size.y;
        // Not for the last bit: which edge is taken should not depend on rounding.
        if (area < least * (1.0 - 1e-9)) {
            least = area;
            best = edge / length;
        }
    }
    Box<glm::dvec2> box = bounds(best);
    if (box.size().x < box.size().y) {
        best = {-best.y, best.x};
        box = bounds(best);
    }
    for (FlatTriangle& triangle : triangles) {
        for (glm::dvec2& corner : triangle) {
            corner = turned(corner, best) - box.low;
        }
    }
    return box.size();
}

}  // namespace quadtile::baker
