#include "charts.hpp"

#include "topology.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t NO_SIDE = std::numeric_limits<std::uint32_t>::max();

constexpr double COPLANAR_COSINE = 0.99984769515639127;  // cosine of 1 degree
constexpr double PLANE_TOLERANCE = 0.01;  // distance from the plane, by the first triangle's size
// Cosine of 30 degrees, as in the blending of seams: the largest turn of one surface at an edge.
constexpr double SMOOTH_COSINE = 0.8659;
constexpr std::size_t MAX_SHARED = 16;  // most triangles at an edge; more of them connect nothing
constexpr double WHOLE_TURN = 2.0 * 3.14159265358979323846;
constexpr double TIP = 1.0;  // radians by which the angles at a point differ from 2 pi
// Integrated curvature, in radians, of a spherical cap whose conformal map has twice
// LARGEST_STRETCH between its middle and its border. Segments with more are not tried.
constexpr double LARGEST_CURVATURE = WHOLE_TURN * (2.0 - 2.0 / (LARGEST_STRETCH * LARGEST_STRETCH));
constexpr int SMOOTHING_STEPS = 4;
constexpr double SLIVER = 0.01;  // height relative to the longest edge

// Makes charts from segments of smooth surfaces, which are flattened as a whole or halved.
class ChartBuilder {
 public:
    ChartBuilder(const Scene& scene, double max_size)
        : scene_(scene), max_size_(max_size), points_(weld_equal(scene.positions)) {}

    std::vector<Chart> build(const std::vector<bool>& takes) {
        const std::size_t count = scene_.triangles.size();
        find_normals();
        find_neighbours();
        for (const bool is_taken : takes) {
            owners_.push_back(is_taken ? 0 : NO_SIDE);
        }
        distances_.assign(count, std::numeric_limits<double>::infinity());
        sources_.resize(count);
        entries_.resize(count);
        locals_.resize(count);
        const std::size_t points = scene_.positions.size();
        angles_.resize(points);
        cuts_.resize(points);
        cut_sum_.resize(points);
        // A large triangle's plane is known better than a small one's.
        std::vector<std::uint32_t> seeds(count);
        std::iota(seeds.begin(), seeds.end(), 0U);
        std::ranges::stable_sort(seeds, std::greater(), [&](std::uint32_t t) { return areas_[t]; });
        for (const std::uint32_t seed : seeds) {
            if (owners_[seed] == 0) {
                Triangles segment = spread({}, std::array{seed});
                std::ranges::sort(segment, {},
                                  [&](std::uint32_t t) { return std::pair(-areas_[t], t); });
                flatten_or_halve(std::move(segment));
            }
        }
        return std::move(charts_);
    }

 private:
    using Triangles = std::vector<std::uint32_t>;  // of a segment, the largest first

    [[nodiscard]] std::array<glm::dvec3, 3> corners_of(std::uint32_t triangle) const {
        return scene_.corners(scene_.triangles[triangle]);
    }

    [[nodiscard]] std::uint32_t point_of(std::uint32_t triangle, std::uint32_t corner) const {
        return points_[scene_.triangles[triangle].vertices[corner % 3]];
    }

    void find_normals() {
        for (std::uint32_t i = 0; i < scene_.triangles.size(); ++i) {
            const auto p = corners_of(i);
            const glm::dvec3 area = glm::cross(p[1] - p[0], p[2] - p[0]);
            areas_.push_back(glm::length(area));
            normals_.push_back(areas_[i] > 0.0 ? area / areas_[i] : glm::dvec3(0.0, 1.0, 0.0));
        }
    }

    void find_neighbours() {
        std::vector<Edge> edges = sorted_edges(scene_, points_);
        std::erase_if(edges, [&](const Edge& edge) { return !(areas_[edge.triangle()] > 0.0); });
        neighbours_.assign(3 * scene_.triangles.size(), NO_SIDE);
        for (std::size_t first = 0; first < edges.size();) {
            std::size_t last = first + 1;
            while (last < edges.size() && edges[last].meets(edges[first])) {
                ++last;
            }
            connect({&edges[first], last - first});
            first = last;
        }
    }

    [[nodiscard]] bool smooth(const Edge& a, const Edge& b) const {
        const ScenePart& one = part_of(scene_, a.triangle());
        const ScenePart& other = part_of(scene_, b.triangle());
        return one.density == other.density && one.instance == other.instance &&
               glm::dot(normals_[a.triangle()], normals_[b.triangle()]) >= SMOOTH_COSINE;
    }

    // Connects the triangles at one edge.
    void connect(std::span<const Edge> edges) {
        if (edges.size() > MAX_SHARED) {
            return;
        }
        for (std::size_t i = 0; i < edges.size(); ++i) {
            std::size_t other = i;
            std::size_t others = 0;
            for (std::size_t k = 0; k < edges.size(); ++k) {
                if (k != i && smooth(edges[i], edges[k])) {
                    other = k;
                    ++others;
                }
            }
            if (others == 1 && edges[other].forward != edges[i].forward) {
                neighbours_[edges[i].side] = edges[other].side;
            }
        }
        // Only mutual connections stay: a third triangle may continue one of two only.
        for (const Edge& edge : edges) {
            std::uint32_t& neighbour = neighbours_[edge.side];
            if (neighbour != NO_SIDE && neighbours_[neighbour] != edge.side) {
                neighbour = NO_SIDE;
            }
        }
    }

    void flatten_or_halve(Triangles segment) {
        std::vector<Triangles> waiting;
        waiting.push_back(std::move(segment));
        while (!waiting.empty()) {
            Triangles triangles = std::move(waiting.back());
            waiting.pop_back();
            ++segments_;
            for (const std::uint32_t triangle : triangles) {
                owners_[triangle] = segments_;
            }
            if (!flatten(triangles)) {
                auto [one, other] = halves_of(triangles);
                waiting.push_back(std::move(other));
                waiting.push_back(std::move(one));
            }
        }
    }

    // Returns the side of the neighbour there in the same segment, or NO_SIDE.
    [[nodiscard]] std::uint32_t inner(std::uint32_t side) const {
        const std::uint32_t neighbour = neighbours_[side];
        return neighbour != NO_SIDE && owners_[neighbour / 3] == owners_[side / 3] ? neighbour
                                                                                   : NO_SIDE;
    }

    // Finds for each triangle that is connected with the sources the nearest source, by the way
    // through triangles' middles, and the side through which the way enters. Returns the triangles
    // by distance. `triangles`: those found before.
    Triangles spread(const Triangles& triangles, std::span<const std::uint32_t> from) {
        for (const std::uint32_t triangle : triangles) {
            distances_[triangle] = std::numeric_limits<double>::infinity();
        }
        Triangles found;
        using Item = std::tuple<double, std::uint32_t>;
        std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
        for (const std::uint32_t source : from) {
            distances_[source] = 0.0;
            sources_[source] = source;
            entries_[source] = NO_SIDE;
            queue.emplace(0.0, source);
        }
        while (!queue.empty()) {
            const auto [distance, triangle] = queue.top();
            queue.pop();
            if (distance > distances_[triangle]) {
                continue;
            }
            found.push_back(triangle);
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t side = inner(3 * triangle + k);
                if (side == NO_SIDE) {
                    continue;
                }
                const double next =
                    distance + glm::distance(middle_of(triangle), middle_of(side / 3));
                if (next < distances_[side / 3]) {
                    distances_[side / 3] = next;
                    sources_[side / 3] = sources_[triangle];
                    entries_[side / 3] = side;
                    queue.emplace(next, side / 3);
                }
            }
        }
        return found;
    }

    [[nodiscard]] glm::dvec3 middle_of(std::uint32_t triangle) const {
        const auto p = corners_of(triangle);
        return (p[0] + p[1] + p[2]) / 3.0;
    }

    // Returns the triangles nearer to one of two triangles that are far apart, and the others.
    std::pair<Triangles, Triangles> halves_of(const Triangles& triangles) {
        const std::uint32_t first = spread(triangles, std::array{triangles.front()}).back();
        const std::uint32_t second = spread(triangles, std::array{first}).back();
        (void)spread(triangles, std::array{first, second});
        // Triangles with two neighbours beyond the border move there, because teeth cost room.
        for (int i = 0; i < SMOOTHING_STEPS; ++i) {
            for (const std::uint32_t triangle : triangles) {
                std::uint32_t alike = 0;
                std::uint32_t others = 0;
                for (std::uint32_t k = 0; k < 3; ++k) {
                    const std::uint32_t side = inner(3 * triangle + k);
                    if (side != NO_SIDE) {
                        ++(sources_[side / 3] == sources_[triangle] ? alike : others);
                    }
                }
                if (alike == 1 && others == 2) {
                    sources_[triangle] = sources_[triangle] == first ? second : first;
                }
            }
        }
        std::pair<Triangles, Triangles> halves;
        for (const std::uint32_t triangle : triangles) {
            (sources_[triangle] == first ? halves.first : halves.second).push_back(triangle);
        }
        return halves;
    }

    // Adds a chart unless it would be stretched, overlap itself or be too large.
    bool flatten(const Triangles& triangles) {
        Chart chart;
        const bool is_single = triangles.size() == 1;
        const bool is_plane = is_single || lies_in_plane(triangles);
        chart.corners = is_plane ? projected(triangles) : unrolled(triangles);
        double surface = 0.0;
        double flat = 0.0;
        for (std::size_t i = 0; i < chart.corners.size(); ++i) {
            surface += areas_[triangles[i]];
            flat += doubled_area(chart.corners[i]);
        }
        double scale = part_of(scene_, triangles[0]).density;
        if (!is_plane) {
            const double mean = std::sqrt(flat / surface);
            if (!(mean > 0.0) || is_stretched(chart, triangles, mean)) {
                return false;
            }
            scale /= mean;
        }
        chart.size = scale * fit_rectangle(chart.corners);
        if (!is_single && (chart.size.x > max_size_ || overlap(chart.corners))) {
            return false;
        }
        for (FlatTriangle& triangle : chart.corners) {
            for (glm::dvec2& corner : triangle) {
                // y points down, so that charts seen from the front are not mirrored.
                corner = {scale * corner.x, chart.size.y - scale * corner.y};
            }
        }
        chart.triangles = triangles;
        charts_.push_back(std::move(chart));
        return true;
    }

    [[nodiscard]] bool lies_in_plane(const Triangles& triangles) const {
        const glm::dvec3 normal = normals_[triangles[0]];
        const glm::dvec3 origin = corners_of(triangles[0])[0];
        const double tolerance = PLANE_TOLERANCE * longest_edge(corners_of(triangles[0]));
        return std::ranges::all_of(triangles, [&](std::uint32_t triangle) {
            return glm::dot(normals_[triangle], normal) >= COPLANAR_COSINE &&
                   std::ranges::all_of(corners_of(triangle), [&](const glm::dvec3& p) {
                       return std::abs(glm::dot(p - origin, normal)) <= tolerance;
                   });
        });
    }

    // Projects triangles onto the first triangle's plane.
    [[nodiscard]] std::vector<FlatTriangle> projected(const Triangles& triangles) const {
        const auto p = corners_of(triangles[0]);
        const glm::dvec3 edge = p[1] - p[0];
        const glm::dvec3 u =
            glm::length(edge) > 0.0 ? glm::normalize(edge) : glm::dvec3(1.0, 0.0, 0.0);
        const glm::dvec3 v = glm::cross(normals_[triangles[0]], u);
        std::vector<FlatTriangle> flat(triangles.size());
        for (std::size_t i = 0; i < flat.size(); ++i) {
            const auto corners = corners_of(triangles[i]);
            for (std::size_t k = 0; k < 3; ++k) {
                const glm::dvec3 from_first = corners[k] - p[0];
                flat[i][k] = {glm::dot(from_first, u), glm::dot(from_first, v)};
            }
        }
        return flat;
    }

    [[nodiscard]] bool is_stretched(const Chart& chart, const Triangles& triangles,
                                    double mean) const {
        for (std::size_t i = 0; i < triangles.size(); ++i) {
            const double longest = longest_edge(corners_of(triangles[i]));
            if (areas_[triangles[i]] < SLIVER * longest * longest) {
                continue;
            }
            const Stretch stretch = stretch_of(corners_of(triangles[i]), chart.corners[i]);
            if (!(doubled_area(chart.corners[i]) > 0.0 &&
                  stretch.greatest <= LARGEST_STRETCH * mean &&
                  stretch.least * LARGEST_STRETCH >= mean)) {
                return true;
            }
        }
        return false;
    }

    // Cuts triangles if necessary, and maps them to the plane; nothing if that is impossible.
    std::vector<FlatTriangle> unrolled(const Triangles& triangles) {
        if (!cut(triangles)) {
            return {};
        }
        // Corners on both sides of an uncut edge are one corner.
        for (std::uint32_t i = 0; i < triangles.size(); ++i) {
            locals_[triangles[i]] = i;
        }
        JoinedSets joined_corners(3 * triangles.size());
        const auto local = [&](std::uint32_t side, std::uint32_t shift) {
            return 3 * locals_[side / 3] + (side + shift) % 3;
        };
        for (const std::uint32_t triangle : triangles) {
            for (std::uint32_t side = 3 * triangle; side < 3 * triangle + 3; ++side) {
                const std::uint32_t other = inner(side);
                if (other != NO_SIDE && side < other && joined_[side]) {
                    joined_corners.join(local(side, 0), local(other, 1));
                    joined_corners.join(local(side, 1), local(other, 0));
                }
            }
        }
        std::vector<std::uint32_t> numbers(3 * triangles.size(), NO_SIDE);
        std::vector<glm::dvec3> places;
        std::vector<std::array<std::uint32_t, 3>> indices(triangles.size());
        for (std::uint32_t i = 0; i < triangles.size(); ++i) {
            const auto corners = corners_of(triangles[i]);
            for (std::uint32_t k = 0; k < 3; ++k) {
                std::uint32_t& number = numbers[joined_corners.root(3 * i + k)];
                if (number == NO_SIDE) {
                    number = static_cast<std::uint32_t>(places.size());
                    places.push_back(corners[k]);
                }
                indices[i][k] = number;
            }
        }
        const auto map = conformal_map(places, indices);
        std::vector<FlatTriangle> flat(map ? triangles.size() : 0);
        for (std::size_t i = 0; i < flat.size(); ++i) {
            flat[i] = {(*map)[indices[i][0]], (*map)[indices[i][1]], (*map)[indices[i][2]]};
        }
        return flat;
    }

    // Cuts a segment so that it can be spread in a plane: along all edges that the shortest ways
    // from its first triangle do not cross, except cuts that end at a point within it. Cuts to the
    // tip of a cone stay. Returns false if it is closed or too curved.
    bool cut(const Triangles& triangles) {
        (void)spread(triangles, {triangles.data(), 1});
        joined_.resize(neighbours_.size());
        for (const std::uint32_t triangle : triangles) {
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t point = point_of(triangle, k);
                angles_[point] = 0.0;
                cuts_[point] = cut_sum_[point] = 0;
            }
        }
        std::size_t count = 0;
        const auto change = [&](std::uint32_t side, std::uint32_t number) {
            for (const std::uint32_t corner : {side, side + 1}) {
                const std::uint32_t point = point_of(side / 3, corner - side / 3 * 3);
                cuts_[point] += number;
                cut_sum_[point] ^= side;
            }
            count += number;
        };
        for (const std::uint32_t triangle : triangles) {
            const auto p = corners_of(triangle);
            for (std::uint32_t k = 0; k < 3; ++k) {
                const glm::dvec3 a = glm::normalize(p[(k + 1) % 3] - p[k]);
                const glm::dvec3 b = glm::normalize(p[(k + 2) % 3] - p[k]);
                angles_[point_of(triangle, k)] += std::acos(std::clamp(glm::dot(a, b), -1.0, 1.0));
                const std::uint32_t side = 3 * triangle + k;
                const std::uint32_t other = inner(side);
                joined_[side] = other != NO_SIDE &&
                                (entries_[triangle] == side || entries_[other / 3] == other);
                if (!joined_[side] && side < other) {
                    change(side, 1);
                }
            }
        }
        std::vector<std::uint32_t> ends;
        const auto note_end = [&](std::uint32_t point) {
            if (cuts_[point] == 1 && std::abs(angles_[point] - WHOLE_TURN) < TIP) {
                ends.push_back(point);
            }
        };
        for (const std::uint32_t triangle : triangles) {
            for (std::uint32_t k = 0; k < 3; ++k) {
                note_end(point_of(triangle, k));
            }
        }
        while (!ends.empty()) {
            const std::uint32_t point = ends.back();
            ends.pop_back();
            const std::uint32_t side = cut_sum_[point];
            if (cuts_[point] != 1 || inner(side) == NO_SIDE) {
                continue;
            }
            joined_[side] = joined_[inner(side)] = true;
            change(side, std::numeric_limits<std::uint32_t>::max());  // minus 1
            note_end(point_of(side / 3, side % 3));
            note_end(point_of(side / 3, side % 3 + 1));
        }
        double curvature = 0.0;  // by the theorem of Gauss and Bonnet
        for (const std::uint32_t triangle : triangles) {
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t point = point_of(triangle, k);
                if (cuts_[point] == 0) {
                    curvature += WHOLE_TURN - angles_[point];
                    angles_[point] = WHOLE_TURN;  // counted once
                }
            }
        }
        return count > 0 && std::abs(curvature) <= LARGEST_CURVATURE;
    }

    const Scene& scene_;
    double max_size_;
    std::vector<std::uint32_t> points_;      // by vertex
    std::vector<glm::dvec3> normals_;        // by triangle
    std::vector<double> areas_;              // twice the areas
    std::vector<std::uint32_t> neighbours_;  // by side: the side of the triangle there, or NO_SIDE
    std::vector<std::uint32_t> owners_;      // segment by triangle
    std::uint32_t segments_ = 0;
    // Results of spread(), by triangle.
    std::vector<double> distances_;
    std::vector<std::uint32_t> sources_;
    std::vector<std::uint32_t> entries_;
    std::vector<std::uint32_t> locals_;  // number in its segment, by triangle
    std::vector<bool> joined_;           // by side
    // By point: the sum of its angles; the number of cuts and borders that meet there, and the
    // differing bits of their sides.
    std::vector<double> angles_;
    std::vector<std::uint32_t> cuts_;
    std::vector<std::uint32_t> cut_sum_;
    std::vector<Chart> charts_;
};

// Consecutive triangles of an object with a mesh of the file.
struct Object {
    const ScenePart* part;  // its first one
    std::uint32_t first;
    std::uint32_t end;
    double scale;  // of its charts, which are alike for equal shapes

    // The mesh, and how the transform distorts it: products of its axes, scaled to one volume and
    // rounded to thousandths.
    [[nodiscard]] std::array<double, 9> shape() const {
        const glm::dmat3& axes = part->transform;
        const double unit = std::pow(std::abs(glm::determinant(axes)), 2.0 / 3.0);
        const auto product = [&](int i, int k) {
            return std::round(1e3 * glm::dot(axes[i], axes[k]) / unit);
        };
        return {static_cast<double>(*part->mesh),
                static_cast<double>(end - first),
                part->mirrored ? 1.0 : 0.0,
                product(0, 0),
                product(1, 1),
                product(2, 2),
                product(0, 1),
                product(1, 2),
                product(2, 0)};
    }
};

// Returns the objects that have triangles and a volume, those with the largest charts first.
std::vector<Object> objects_of(const Scene& scene) {
    std::vector<Object> objects;
    for (std::size_t i = 0; i < scene.parts.size();) {
        const ScenePart& part = scene.parts[i];
        while (i < scene.parts.size() && scene.parts[i].instance == part.instance) {
            ++i;
        }
        const std::size_t end =
            i < scene.parts.size() ? scene.parts[i].first_triangle : scene.triangles.size();
        const glm::dmat3& axes = part.transform;
        const double scale = part.density * std::cbrt(std::abs(glm::determinant(axes)));
        if (part.mesh && end > part.first_triangle &&
            std::isnormal(glm::determinant(glm::transpose(axes) * axes))) {
            objects.push_back({&part, static_cast<std::uint32_t>(part.first_triangle),
                               static_cast<std::uint32_t>(end), scale});
        }
    }
    std::ranges::stable_sort(objects, std::greater(), &Object::scale);
    return objects;
}

}  // namespace

std::vector<Chart> make_charts(const Scene& scene, std::vector<bool> takes, double max_size) {
    std::map<std::array<double, 9>, Object> models;
    std::vector<std::pair<Object, Object>> copies;  // models and copies of them
    for (const Object& object : objects_of(scene)) {
        if (!takes[object.first]) {
            continue;
        }
        const auto [model, is_new] = models.try_emplace(object.shape(), object);
        if (!is_new) {
            copies.emplace_back(model->second, object);
            std::fill(takes.begin() + object.first, takes.begin() + object.end, false);
        }
    }
    std::vector<Chart> charts = ChartBuilder(scene, max_size).build(takes);
    std::map<std::size_t, std::vector<std::size_t>> of_objects;  // charts
    for (std::size_t i = 0; i < charts.size() && !copies.empty(); ++i) {
        of_objects[part_of(scene, charts[i].triangles.front()).instance].push_back(i);
    }
    for (const auto& [model, copy] : copies) {
        const double scale = copy.scale / model.scale;
        for (const std::size_t i : of_objects[model.part->instance]) {
            Chart chart = charts[i];
            chart.size *= scale;
            for (std::size_t t = 0; t < chart.triangles.size(); ++t) {
                chart.triangles[t] += copy.first - model.first;
                for (glm::dvec2& corner : chart.corners[t]) {
                    corner *= scale;
                }
            }
            charts.push_back(std::move(chart));
        }
    }
    return charts;
}

}  // namespace quadtile::baker
