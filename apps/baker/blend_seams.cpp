#include "light_map.hpp"
#include "parallel.hpp"
#include "sampling.hpp"
#include "topology.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace quadtile::baker {

namespace {

// Largest difference of equal lightmap coordinates, in texels.
constexpr double COORDINATE_TOLERANCE = 1e-2;
const double MIN_COSINE = std::cos(30.0 * 3.14159265358979323846 / 180.0);

constexpr double SAMPLES_PER_TEXEL = 2.0;  // along the longer side of a seam
// Costs of a texel's change, relative to a difference along one texel's length of a seam. Gutters
// may change freely.
constexpr double KNOWN_WEIGHT = 0.02;
constexpr double UNKNOWN_WEIGHT = 0.002;
constexpr int MAX_ITERATIONS = 1000;
constexpr double TOLERANCE = 1e-4;  // relative to the first residual

// Height and distance from an edge at which a surface on it is looked for, in texels.
constexpr double REACH = 0.5;

// Triangle's side of a seam, in texels.
struct Side {
    std::array<glm::dvec2, 2> ends;

    [[nodiscard]] double length() const { return glm::distance(ends[0], ends[1]); }
};

using Corners3 = std::array<glm::dvec3, 3>;

// Returns whether the line from a to b meets the triangle, or its edge.
bool meets(const Corners3& corners, const glm::dvec3& a, const glm::dvec3& b) {
    constexpr double EDGE = -1e-9;
    const glm::dvec3 normal = glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
    const double from = glm::dot(normal, a - corners[0]);
    const double to = glm::dot(normal, b - corners[0]);
    if (from == to || (from > 0.0) == (to > 0.0)) {
        return false;
    }
    const glm::dvec3 point = glm::mix(a, b, from / (from - to)) - corners[0];
    const double square = glm::dot(normal, normal);
    const double v = glm::dot(glm::cross(point, corners[2] - corners[0]), normal) / square;
    const double w = glm::dot(glm::cross(corners[1] - corners[0], point), normal) / square;
    return v >= EDGE && w >= EDGE && v + w <= 1.0 - EDGE;
}

// The triangles beside a seam, and the lines from one to the other above samples of it. A line that
// meets a third surface crosses a wall.
struct Crossing {
    std::array<std::uint32_t, 2> triangles{};
    std::array<glm::dvec3, 2> first{};  // line over the start of the edge
    glm::dvec3 along{0.0};              // from there to its end
    glm::dvec3 up{0.0};                 // mean normal of the two, of length 1
    Box<glm::dvec3> box;                // around all lines
};

class SeamFinder {
 public:
    SeamFinder(const Scene& scene, const Extent& extent) : scene_(scene), extent_(extent) {}

    struct Seam {
        Side a;
        Side b;
        Crossing crossing{};
        std::vector<std::uint8_t> parted{};  // by sample: whether a third surface stands there

        [[nodiscard]] double length() const { return std::max(a.length(), b.length()); }
        void part_by(std::uint32_t triangle, const Corners3& corners) {
            if (triangle == crossing.triangles[0] || triangle == crossing.triangles[1]) {
                return;
            }
            const glm::dvec3 normal = glm::cross(corners[1] - corners[0], corners[2] - corners[0]);
            if (!(std::abs(glm::dot(normal, crossing.up)) < MIN_COSINE * glm::length(normal))) {
                return;  // it continues the surface
            }
            for (std::size_t i = 0; i < parted.size(); ++i) {
                const glm::dvec3 offset = (static_cast<double>(i) + 0.5) /
                                          static_cast<double>(parted.size()) * crossing.along;
                if (parted[i] == 0 &&
                    meets(corners, crossing.first[0] + offset, crossing.first[1] + offset)) {
                    parted[i] = 1;
                }
            }
        }
    };
    [[nodiscard]] std::vector<Seam> find() const {
        std::vector<Seam> seams;
        const std::vector<Edge> edges = sorted_edges(scene_, weld_nearby(scene_.positions));
        for (std::size_t i = 0; i < edges.size(); ++i) {
            // If more than two triangles share an edge, each meets the next one that continues it.
            constexpr std::size_t MOST_TRIED = 8;
            const std::size_t end = std::min(edges.size(), i + 1 + MOST_TRIED);
            for (std::size_t j = i + 1; j < end && edges[j].meets(edges[i]); ++j) {
                Seam seam{side(edges[i]), side(edges[j])};
                if (!same(seam.a, seam.b) && smooth(edges[i], edges[j])) {
                    seam.crossing = crossing(edges[i], edges[j], seam.length());
                    seam.parted.resize(static_cast<std::size_t>(
                        std::max(1.0, std::ceil(SAMPLES_PER_TEXEL * seam.length()))));
                    seams.push_back(std::move(seam));
                    break;
                }
            }
        }
        part(seams);
        return seams;
    }

 private:
    [[nodiscard]] Side side(const Edge& edge) const {
        const auto end = [&](std::uint32_t vertex) {
            return glm::dvec2(scene_.light_map_coordinates[vertex]) *
                   glm::dvec2(extent_.width, extent_.height);
        };
        return {{end(edge.start(scene_)), end(edge.end(scene_))}};
    }

    [[nodiscard]] static bool same(const Side& a, const Side& b) {
        return glm::distance(a.ends[0], b.ends[0]) <= COORDINATE_TOLERANCE &&
               glm::distance(a.ends[1], b.ends[1]) <= COORDINATE_TOLERANCE;
    }

    [[nodiscard]] Crossing crossing(const Edge& a, const Edge& b, double texels) const {
        const glm::dvec3 start = scene_.positions[a.start(scene_)];
        Crossing result{.triangles = {a.triangle(), b.triangle()}};
        result.along = glm::dvec3(scene_.positions[a.end(scene_)]) - start;
        const double length = std::max(glm::length(result.along), 1e-30);
        double reach = REACH * length / std::max(texels, 1e-30);
        std::array<glm::dvec3, 2> across;
        for (std::size_t i = 0; i < 2; ++i) {
            const Triangle& triangle = scene_.triangles[result.triangles[i]];
            const glm::dvec3 normal = scene_.plane_normal(triangle);
            const glm::dvec3 inward = glm::cross(normal, result.along / length);
            double height = 0.0;
            for (const glm::dvec3& corner : scene_.corners(triangle)) {
                const double here = glm::dot(corner - start, inward);
                height = std::abs(here) > std::abs(height) ? here : height;
            }
            result.up += normal;
            across[i] = height < 0.0 ? -inward : inward;
            reach = std::min(reach, 0.5 * std::abs(height));
        }
        result.up /= std::max(glm::length(result.up), 1e-30);
        for (std::size_t i = 0; i < 2; ++i) {
            result.first[i] = start + reach * (across[i] + REACH * result.up);
            result.box.include(result.first[i]);
            result.box.include(result.first[i] + result.along);
        }
        return result;
    }

    // Finds the triangles that stand on seams. The pairs are divided by space until they are few.
    void part(std::vector<Seam>& seams) const {
        std::vector<std::uint32_t> numbers(seams.size());
        std::iota(numbers.begin(), numbers.end(), 0U);
        std::vector<std::uint32_t> triangles(scene_.triangles.size());
        std::iota(triangles.begin(), triangles.end(), 0U);
        part(seams, numbers, triangles, 0);
    }
    void part(std::vector<Seam>& seams, const std::vector<std::uint32_t>& numbers,
              const std::vector<std::uint32_t>& triangles, int depth) const {
        constexpr std::size_t FEW = 4096;
        constexpr int DEEPEST = 48;
        Box<glm::dvec3> box;
        for (const std::uint32_t number : numbers) {
            box.include(seams[number].crossing.box);
        }
        const auto is_apart = [](const Box<glm::dvec3>& a, const Box<glm::dvec3>& b) {
            return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::lessThan(b.high, a.low));
        };
        std::vector<std::uint32_t> near;
        for (const std::uint32_t triangle : triangles) {
            Box<glm::dvec3> own;
            std::ranges::for_each(scene_.corners(scene_.triangles[triangle]),
                                  [&](const glm::dvec3& corner) { own.include(corner); });
            if (!is_apart(own, box)) {
                near.push_back(triangle);
            }
        }
        if (numbers.size() * near.size() > FEW && numbers.size() > 1 && depth < DEEPEST) {
            std::vector<std::uint32_t> sorted = numbers;
            const glm::dvec3 size = box.size();
            const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
            const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
            std::ranges::nth_element(sorted, middle, {}, [&](std::uint32_t number) {
                const Box<glm::dvec3>& own = seams[number].crossing.box;
                return own.low[axis] + own.high[axis];
            });
            part(seams, {sorted.begin(), middle}, near, depth + 1);
            part(seams, {middle, sorted.end()}, near, depth + 1);
            return;
        }
        for (const std::uint32_t triangle : near) {
            const Corners3 corners = scene_.corners(scene_.triangles[triangle]);
            for (const std::uint32_t number : numbers) {
                seams[number].part_by(triangle, corners);
            }
        }
    }

    // Returns the normal of the surface at one end of the edge; 0 if there is none.
    [[nodiscard]] glm::dvec3 normal(const Edge& edge, std::size_t end) const {
        glm::dvec3 normal(0.0);
        if (!scene_.normals.empty()) {
            normal = scene_.normals[end == 0 ? edge.start(scene_) : edge.end(scene_)];
        }
        if (!(glm::length(normal) > 0.0)) {
            const auto& vertices = scene_.triangles[edge.triangle()].vertices;
            const glm::dvec3 origin = scene_.positions[vertices[0]];
            normal = glm::cross(glm::dvec3(scene_.positions[vertices[1]]) - origin,
                                glm::dvec3(scene_.positions[vertices[2]]) - origin);
        }
        const double length = glm::length(normal);
        return length > 0.0 ? normal / length : glm::dvec3(0.0);
    }

    [[nodiscard]] bool smooth(const Edge& a, const Edge& b) const {
        return glm::dot(normal(a, 0), normal(b, 0)) >= MIN_COSINE &&
               glm::dot(normal(a, 1), normal(b, 1)) >= MIN_COSINE;
    }

    const Scene& scene_;
    const Extent& extent_;
};

using Index = std::int64_t;  // maps may have more texels than an int counts
using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, Index>;
using Entries = std::vector<Eigen::Triplet<double, Index>>;

// Returns the entries of a matrix with a row per sample of a seam and a column per texel of the
// map. A row times the map is the difference between the light on the two sides of the seam at that
// sample, times the square root of the sample's weight. The solver minimises these differences.
Entries differences_along(const std::vector<SeamFinder::Seam>& seams, const Extent& extent) {
    Entries entries;
    Index row = 0;
    const glm::dvec2 size(extent.width, extent.height);
    for (const SeamFinder::Seam& seam : seams) {
        const std::size_t count = seam.parted.size();
        const double samples = static_cast<double>(count);
        const double root = std::sqrt(seam.length() / samples);
        for (std::size_t i = 0; i < count; ++i) {
            if (seam.parted[i] != 0) {
                continue;
            }
            const auto add = [&](const Side& side, double factor) {
                const BilinearFetch fetch = bilinear_fetch(
                    extent,
                    glm::mix(side.ends[0], side.ends[1], (static_cast<double>(i) + 0.5) / samples) /
                        size);
                for (std::size_t k = 0; k < 4; ++k) {
                    entries.emplace_back(row, static_cast<Index>(fetch.texels[k]),
                                         factor * fetch.weights[k]);
                }
            };
            add(seam.a, root);
            add(seam.b, -root);
            ++row;
        }
    }
    return entries;
}

// Returns the texels that the entries read, and renumbers them from 0 in this order.
std::vector<std::uint32_t> number_texels(Entries& entries, const Extent& extent) {
    std::vector<Index> numbers(extent.texels());  // at first: whether it is read
    for (const auto& entry : entries) {
        numbers[static_cast<std::size_t>(entry.col())] = 1;
    }
    std::vector<std::uint32_t> texels;
    for (std::uint32_t texel = 0; texel < numbers.size(); ++texel) {
        if (numbers[texel] != 0) {
            numbers[texel] = static_cast<Index>(texels.size());
            texels.push_back(texel);
        }
    }
    for (auto& entry : entries) {
        entry = {entry.row(), numbers[static_cast<std::size_t>(entry.col())], entry.value()};
    }
    return texels;
}

}  // namespace

std::size_t blend_seams(LightMap& map, const Scene& scene) {
    if (scene.light_map_coordinates.empty()) {
        return 0;
    }
    const std::vector<SeamFinder::Seam> seams = SeamFinder(scene, map.extent).find();
    Entries entries = differences_along(seams, map.extent);
    if (entries.empty()) {
        return 0;
    }
    const std::vector<std::uint32_t> texels = number_texels(entries, map.extent);
    Matrix differences(entries.back().row() + 1, static_cast<Index>(texels.size()));
    differences.setFromTriplets(entries.begin(), entries.end());
    Eigen::VectorXd texel_weights(differences.cols());
    for (Index i = 0; i < texel_weights.size(); ++i) {
        texel_weights[i] =
            map.known[texels[static_cast<std::size_t>(i)]] != 0 ? KNOWN_WEIGHT : UNKNOWN_WEIGHT;
    }
    // The changes that minimise the sum of |differences * (values + change)|^2 and weight *
    // change^2.
    const Matrix normal = differences.transpose() * differences;
    const Matrix regular = normal + Matrix(texel_weights.asDiagonal());

    const std::vector<std::vector<glm::vec3>*> planes = map.planes();
    parallel_for(planes.size() * 3, 0, [&](std::size_t i) {
        std::vector<glm::vec3>& plane = *planes[i / 3];
        const auto channel = static_cast<int>(i % 3);
        Eigen::VectorXd values(texel_weights.size());
        for (Index k = 0; k < values.size(); ++k) {
            values[k] = plane[texels[static_cast<std::size_t>(k)]][channel];
        }
        if (!values.allFinite()) {
            return;
        }
        Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper> solver;
        solver.setMaxIterations(MAX_ITERATIONS);
        solver.setTolerance(TOLERANCE);
        values += solver.compute(regular).solve(-(normal * values));
        for (Index k = 0; k < values.size(); ++k) {
            const auto value = static_cast<float>(values[k]);
            // Irradiance is never negative; a band of spherical harmonics may be.
            plane[texels[static_cast<std::size_t>(k)]][channel] =
                &plane == &map.irradiance ? std::max(value, 0.0F) : value;
        }
    });
    return seams.size();
}

}  // namespace quadtile::baker
