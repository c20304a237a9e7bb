#include "unwrap.hpp"

#include "pack_charts.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();

constexpr double COPLANAR_COSINE = 0.99984769515639127;  // of 1 degree
constexpr double PLANE_TOLERANCE = 0.01;  // distance from the plane, by the first triangle's size
constexpr std::size_t MAX_SHARED = 16;    // triangles at an edge; more of them connect nothing

constexpr float DEFAULT_TEXELS_PER_UNIT = 10.0F;
constexpr std::uint32_t DEFAULT_MAX_SIDE = 4096;

// For each vertex a number that it has in common with those at the same position, to the bit (0 and
// -0 are one). Blending of seams welds positions that are nearly the same (weld_nearby in
// blend_seams.cpp); charts do not: see there.
std::vector<std::uint32_t> equal_positions(const std::vector<glm::vec3>& positions) {
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

// Triangles that are flattened together.
struct Chart {
    std::uint32_t first = 0;  // of Charts::triangles
    std::uint32_t count = 0;
    // Light map axes, u along the longest side, as long as the density of the chart, and the least
    // coordinate along each.
    glm::dvec3 u{};
    glm::dvec3 v{};
    glm::dvec2 origin{};
    glm::dvec2 size{};
};

struct Charts {
    std::vector<std::uint32_t> triangles;
    std::vector<Chart> charts;
};

class ChartBuilder {
 public:
    // Charts do not become larger than `max_size`, single triangles aside.
    ChartBuilder(const Scene& scene, double max_size)
        : scene_(scene), max_size_(max_size), densities_(densities(scene)) {}

    Charts build() {
        find_normals();
        find_neighbours();
        // A large triangle's plane is known better than a small one's.
        std::vector<std::uint32_t> seeds(scene_.triangles.size());
        std::iota(seeds.begin(), seeds.end(), 0U);
        std::ranges::stable_sort(seeds, std::greater(),
                                 [&](std::uint32_t triangle) { return areas_[triangle]; });
        taken_.assign(seeds.size(), false);
        too_large_.assign(seeds.size(), false);
        for (const std::uint32_t seed : seeds) {
            if (taken_[seed]) {
                continue;
            }
            if (!too_large_[seed]) {
                grow(seed, std::numeric_limits<double>::infinity());
                const Chart& chart = result_.charts.back();
                if (chart.size.x <= max_size_ || chart.count == 1) {
                    continue;
                }
                give_back();
            }
            grow(seed, max_size_);
        }
        return std::move(result_);
    }

 private:
    [[nodiscard]] glm::dvec3 corner(std::uint32_t triangle, std::size_t i) const {
        return scene_.positions[scene_.triangles[triangle].vertices[i]];
    }

    [[nodiscard]] double longest_edge(std::uint32_t triangle) const {
        double longest = 0.0;
        for (std::size_t i = 0; i < 3; ++i) {
            longest = std::max(longest,
                               glm::distance(corner(triangle, i), corner(triangle, (i + 1) % 3)));
        }
        return longest;
    }

    void find_normals() {
        const std::size_t count = scene_.triangles.size();
        normals_.resize(count);
        areas_.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const glm::dvec3 a = corner(i, 0);
            const glm::dvec3 area = glm::cross(corner(i, 1) - a, corner(i, 2) - a);
            areas_[i] = glm::length(area);
            normals_[i] = areas_[i] > 0.0 ? area / areas_[i] : glm::dvec3(0.0, 1.0, 0.0);
        }
    }

    struct Edge {
        std::uint32_t low;  // points
        std::uint32_t high;
        std::uint32_t side;  // 3 * triangle + which of its edges
        bool forward;        // from low to high
    };

    void find_neighbours() {
        const std::vector<std::uint32_t> points = equal_positions(scene_.positions);
        std::vector<Edge> edges;
        edges.reserve(3 * scene_.triangles.size());
        for (std::uint32_t i = 0; i < scene_.triangles.size(); ++i) {
            const auto& vertices = scene_.triangles[i].vertices;
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t from = points[vertices[k]];
                const std::uint32_t to = points[vertices[(k + 1) % 3]];
                if (from != to && areas_[i] > 0.0) {
                    edges.push_back({std::min(from, to), std::max(from, to), 3 * i + k, from < to});
                }
            }
        }
        std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
            return std::array{a.low, a.high, a.side} < std::array{b.low, b.high, b.side};
        });
        neighbours_.assign(3 * scene_.triangles.size(), NONE);
        for (std::size_t first = 0; first < edges.size();) {
            std::size_t last = first + 1;
            while (last < edges.size() && edges[last].low == edges[first].low &&
                   edges[last].high == edges[first].high) {
                ++last;
            }
            connect({&edges[first], last - first});
            first = last;
        }
    }

    // The triangles at one edge.
    void connect(std::span<const Edge> edges) {
        if (edges.size() > MAX_SHARED) {
            return;
        }
        const auto coplanar = [&](const Edge& a, const Edge& b) {
            return glm::dot(normals_[a.side / 3], normals_[b.side / 3]) >= COPLANAR_COSINE &&
                   densities_[a.side / 3] == densities_[b.side / 3];
        };
        for (std::size_t i = 0; i < edges.size(); ++i) {
            std::size_t other = i;
            std::size_t others = 0;
            for (std::size_t k = 0; k < edges.size(); ++k) {
                if (k != i && coplanar(edges[i], edges[k])) {
                    other = k;
                    ++others;
                }
            }
            if (others == 1 && edges[other].forward != edges[i].forward) {
                neighbours_[edges[i].side] = edges[other].side;
            }
        }
        // Where a third is coplanar with one of two only, neither has the other.
        for (const Edge& edge : edges) {
            std::uint32_t& neighbour = neighbours_[edge.side];
            if (neighbour != NONE && neighbours_[neighbour] != edge.side) {
                neighbour = NONE;
            }
        }
    }

    // Of the last chart: its triangles are to become smaller ones.
    void give_back() {
        const std::size_t first = result_.charts.back().first;
        for (std::size_t i = first; i < result_.triangles.size(); ++i) {
            taken_[result_.triangles[i]] = false;
            too_large_[result_.triangles[i]] = true;
        }
        result_.triangles.resize(first);
        result_.charts.pop_back();
    }

    void grow(std::uint32_t seed, double max_size) {
        const glm::dvec3 normal = normals_[seed];
        const glm::dvec3 origin = corner(seed, 0);
        const double tolerance = PLANE_TOLERANCE * longest_edge(seed);
        // Some axes in the plane, for the limit of size.
        const glm::dvec3 u = plane_axis(seed);
        const glm::dvec3 v = glm::cross(normal, u);
        Box<glm::dvec2> box;

        const auto first = static_cast<std::uint32_t>(result_.triangles.size());
        const auto fits = [&](std::uint32_t triangle) {
            if (glm::dot(normals_[triangle], normal) < COPLANAR_COSINE) {
                return false;
            }
            Box<glm::dvec2> larger = box;
            for (std::size_t i = 0; i < 3; ++i) {
                const glm::dvec3 p = corner(triangle, i) - origin;
                if (std::abs(glm::dot(p, normal)) > tolerance) {
                    return false;
                }
                larger.include({glm::dot(p, u), glm::dot(p, v)});
            }
            // The diagonal, as the rectangle may be turned later.
            if (triangle != seed && densities_[seed] * glm::length(larger.size()) > max_size) {
                return false;
            }
            box = larger;
            return true;
        };
        (void)fits(seed);
        taken_[seed] = true;
        result_.triangles.push_back(seed);
        for (std::size_t next = first; next < result_.triangles.size(); ++next) {
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t side = neighbours_[3 * result_.triangles[next] + k];
                if (side != NONE && !taken_[side / 3] && fits(side / 3)) {
                    taken_[side / 3] = true;
                    result_.triangles.push_back(side / 3);
                }
            }
        }
        drop_overlaps(first, u, v);
        Chart chart;
        chart.first = first;
        chart.count = static_cast<std::uint32_t>(result_.triangles.size()) - first;
        turn(chart, normal, u, v);
        chart.u *= densities_[seed];
        chart.v *= densities_[seed];
        chart.origin *= densities_[seed];
        chart.size *= densities_[seed];
        result_.charts.push_back(chart);
    }

    // A triangle of the chart that grows, in its plane.
    struct Flat {
        std::array<glm::dvec2, 3> corners{};
        Box<glm::dvec2> box;
        double tolerance = 0.0;  // that others may reach into it: slivers and rounding do not count
    };

    // By the axes across the edges (Gottschalk, Lin, Manocha 1996).
    static bool overlap(const Flat& a, const Flat& b) {
        const double tolerance = std::min(a.tolerance, b.tolerance);
        if (glm::any(glm::lessThanEqual(
                glm::min(a.box.high, b.box.high) - glm::max(a.box.low, b.box.low),
                glm::dvec2(tolerance)))) {
            return false;
        }
        const auto apart = [tolerance](const Flat& one, const Flat& other) {
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

    // Surfaces may lie on each other in one plane and yet be connected. Leaves those triangles, of
    // what has grown from `first` on, to other charts that overlap one that came before them.
    void drop_overlaps(std::size_t first, const glm::dvec3& u, const glm::dvec3& v) {
        constexpr double TOLERANCE = 1e-3;      // by the triangle's size
        constexpr double MAX_CELLS = 16.0;      // that triangles lie in, on average
        constexpr std::size_t MAX_TESTS = 512;  // of pairs, on average; what is left is not tested
        const std::size_t count = result_.triangles.size() - first;
        if (count < 3) {  // two have an edge between them
            return;
        }
        std::vector<Flat> flats(count);
        Box<glm::dvec2> box;
        for (std::size_t i = 0; i < count; ++i) {
            Flat& flat = flats[i];
            for (std::size_t k = 0; k < 3; ++k) {
                const glm::dvec3 p = corner(result_.triangles[first + i], k);
                flat.corners[k] = {glm::dot(p, u), glm::dot(p, v)};
                flat.box.include(flat.corners[k]);
                box.include(flat.corners[k]);
            }
            flat.tolerance = TOLERANCE * longest_edge(result_.triangles[first + i]);
        }

        // Squares of a grid, as many as there are triangles, or fewer where these are long.
        const glm::dvec2 size = box.size();
        const auto triangles = static_cast<double>(count);
        double cell =
            std::max(std::sqrt(size.x * size.y / triangles), std::max(size.x, size.y) / triangles);
        const auto cells_of = [&](const Flat& flat) {
            return std::pair(glm::floor((flat.box.low - box.low) / cell),
                             glm::floor((flat.box.high - box.low) / cell));
        };
        for (double sum = 2.0 * MAX_CELLS * triangles; sum > MAX_CELLS * triangles;) {
            sum = 0.0;
            for (const Flat& flat : flats) {
                const auto [from, to] = cells_of(flat);
                sum += (to.x - from.x + 1.0) * (to.y - from.y + 1.0);
            }
            cell *= sum > MAX_CELLS * triangles ? 2.0 : 1.0;
        }
        const auto columns = static_cast<std::size_t>(size.x / cell) + 1;
        const auto rows = static_cast<std::size_t>(size.y / cell) + 1;
        std::vector<std::vector<std::uint32_t>> grid(columns * rows);
        std::size_t tests = 0;
        const auto for_cells = [&](const Flat& flat, const auto& visit) {
            const auto [from, to] = cells_of(flat);
            for (auto y = static_cast<std::size_t>(from.y); y <= static_cast<std::size_t>(to.y);
                 ++y) {
                for (auto x = static_cast<std::size_t>(from.x); x <= static_cast<std::size_t>(to.x);
                     ++x) {
                    visit(grid[y * columns + x]);
                }
            }
        };
        std::size_t kept = first;
        for (std::uint32_t i = 0; i < count; ++i) {
            bool overlaps = false;
            for_cells(flats[i], [&](const std::vector<std::uint32_t>& others) {
                for (std::size_t k = 0; k < others.size() && !overlaps; ++k) {
                    overlaps = tests < MAX_TESTS * count && overlap(flats[i], flats[others[k]]);
                    ++tests;
                }
            });
            const std::uint32_t triangle = result_.triangles[first + i];
            if (overlaps) {
                taken_[triangle] = false;  // its turn comes, as it is not larger than the seed
                continue;
            }
            for_cells(flats[i], [&](std::vector<std::uint32_t>& others) { others.push_back(i); });
            result_.triangles[kept++] = triangle;
        }
        result_.triangles.resize(kept);
    }

    // Along the longest edge; of length 1, also where there is no triangle to speak of.
    [[nodiscard]] glm::dvec3 plane_axis(std::uint32_t triangle) const {
        glm::dvec3 longest(0.0);
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec3 edge = corner(triangle, (i + 1) % 3) - corner(triangle, i);
            longest = glm::dot(edge, edge) > glm::dot(longest, longest) ? edge : longest;
        }
        const double length = glm::length(longest);
        return length > 0.0 ? longest / length : glm::dvec3(1.0, 0.0, 0.0);
    }

    // Finds the rectangle of least area around a chart. One of its sides is along the convex hull.
    void turn(Chart& chart, const glm::dvec3& normal, const glm::dvec3& u, const glm::dvec3& v) {
        constexpr std::size_t MAX_TRIED = 256;  // edges of the hull
        points_.clear();
        for (std::uint32_t i = 0; i < chart.count; ++i) {
            for (std::size_t k = 0; k < 3; ++k) {
                const glm::dvec3 p = corner(result_.triangles[chart.first + i], k);
                points_.emplace_back(glm::dot(p, u), glm::dot(p, v));
            }
        }
        find_hull();
        double least = std::numeric_limits<double>::infinity();
        glm::dvec2 best(1.0, 0.0);
        const std::size_t step = hull_.size() / MAX_TRIED + 1;
        for (std::size_t i = 0; i < hull_.size(); i += step) {
            const glm::dvec2 edge = hull_[(i + 1) % hull_.size()] - hull_[i];
            const double length = glm::length(edge);
            if (!(length > 0.0)) {
                continue;
            }
            const glm::dvec2 along = edge / length;
            const glm::dvec2 size = bounds(along).size();
            const double area = size.x * size.y;
            // Not for the last bit: which edge is taken should not depend on rounding.
            if (area < least * (1.0 - 1e-9)) {
                least = area;
                best = along;
            }
        }
        Box<glm::dvec2> box = bounds(best);
        if (box.size().x < box.size().y) {
            best = {-best.y, best.x};
            box = bounds(best);
        }
        chart.u = best.x * u + best.y * v;
        chart.v =
            -glm::cross(normal, chart.u);  // down: seen from the front, charts are not mirrored
        chart.origin = {box.low.x, -box.high.y};
        chart.size = box.size();
    }

    // Of the hull, along an axis and the one to the left of it.
    [[nodiscard]] Box<glm::dvec2> bounds(const glm::dvec2& along) const {
        Box<glm::dvec2> box;
        for (const glm::dvec2& p : hull_) {
            box.include({glm::dot(p, along), along.x * p.y - along.y * p.x});
        }
        return box;
    }

    // Of points_ (Andrew 1979).
    void find_hull() {
        std::ranges::sort(points_, [](const glm::dvec2& a, const glm::dvec2& b) {
            return a.x < b.x || (a.x == b.x && a.y < b.y);
        });
        hull_.clear();
        const auto add = [&](const glm::dvec2& p, std::size_t start) {
            while (hull_.size() >= start + 2) {
                const glm::dvec2 a = hull_[hull_.size() - 2];
                const glm::dvec2 b = hull_.back();
                if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0.0) {
                    break;
                }
                hull_.pop_back();
            }
            hull_.push_back(p);
        };
        for (const glm::dvec2& p : points_) {
            add(p, 0);
        }
        const std::size_t upper = hull_.size() - 1;
        for (auto p = points_.rbegin() + 1; p != points_.rend(); ++p) {
            add(*p, upper);
        }
        if (hull_.size() > 1) {
            hull_.pop_back();  // the first point again
        }
    }

    const Scene& scene_;
    double max_size_;
    std::vector<double> densities_;    // by triangle
    std::vector<glm::dvec3> normals_;  // by triangle
    std::vector<double> areas_;
    std::vector<std::uint32_t> neighbours_;  // by side: the side of the triangle there, or NONE
    std::vector<bool> taken_;
    std::vector<bool> too_large_;  // the chart that all connected triangles would make
    Charts result_;
    std::vector<glm::dvec2> points_;
    std::vector<glm::dvec2> hull_;
};

std::string text(const Extent& extent) {
    return std::to_string(extent.width) + " x " + std::to_string(extent.height);
}

[[noreturn]] void fail(const std::string& what, const std::string& remedy) {
    throw std::runtime_error("cannot unwrap the scene: " + what + "; " + remedy);
}

Layout find_layout(const std::vector<glm::dvec2>& sizes, const UnwrapOptions& options) {
    const std::uint32_t gutter = options.gutter_texels;
    const std::string what = std::to_string(sizes.size()) + " charts with gutters of " +
                             std::to_string(gutter) + " texels do not find room in ";
    if (options.texels_per_unit) {
        const double density = *options.texels_per_unit;
        const std::string at =
            " texels at " + std::to_string(*options.texels_per_unit) + " texels per unit";
        const std::optional<Layout> large = pack_at_density(sizes, gutter, density);
        if (!options.extent) {
            if (large) {
                return *large;
            }
            fail(what + text({MAX_LIGHT_MAP_SIDE, MAX_LIGHT_MAP_SIDE}) + at,
                 "use fewer texels per unit");
        }
        if (auto layout = pack(sizes, gutter, density, *options.extent)) {
            return *layout;
        }
        const std::optional<Layout> coarse = pack_into(sizes, gutter, *options.extent);
        std::string remedy;
        if (large) {
            remedy = "use " + text(large->extent) + " texels";
        }
        if (coarse) {
            remedy += (large ? ", or " : "use ") + std::to_string(coarse->texels_per_unit) +
                      " texels per unit";
        }
        fail(what + text(*options.extent) + at,
             remedy.empty() ? "use a larger light map and fewer texels per unit" : remedy);
    }
    const Extent extent = options.extent.value_or(Extent{DEFAULT_MAX_SIDE, DEFAULT_MAX_SIDE});
    if (!options.extent) {
        const auto layout = pack_at_density(sizes, gutter, DEFAULT_TEXELS_PER_UNIT);
        if (layout && std::max(layout->extent.width, layout->extent.height) <= DEFAULT_MAX_SIDE) {
            return *layout;
        }
    }
    if (auto layout = pack_into(sizes, gutter, extent)) {
        return *layout;
    }
    const auto least = pack_at_density(sizes, gutter, 0.0);  // a texel each
    fail(what + text(extent) + " texels",
         least ? "they need " + text(least->extent) + " at least"
               : "simplify the scene, or give it light map coordinates of its own");
}

// Vertices of more than one chart become several.
void write_coordinates(Scene& scene, const Charts& charts, const Layout& layout) {
    const auto append_copy = [](auto& values, std::uint32_t vertex) {
        if (!values.empty()) {
            const auto value = values[vertex];
            values.push_back(value);
        }
    };
    std::vector<std::uint32_t> chart_of(scene.positions.size(), NONE);  // that used it last
    std::vector<std::uint32_t> copies(scene.positions.size());          // in that chart
    scene.light_map_coordinates.assign(scene.positions.size(), glm::vec2(0.0F));
    for (std::uint32_t c = 0; c < charts.charts.size(); ++c) {
        const Chart& chart = charts.charts[c];
        glm::dvec2 corner(layout.places[c].x, layout.places[c].y);
        for (int i = 0; i < 2; ++i) {  // what is thinner than a texel goes through its middle
            corner[i] += std::max(0.0, 0.5 * (1.0 - chart.size[i] * layout.texels_per_unit));
        }
        for (std::uint32_t t = 0; t < chart.count; ++t) {
            Triangle& triangle = scene.triangles[charts.triangles[chart.first + t]];
            for (std::uint32_t& vertex : triangle.vertices) {
                const std::uint32_t old = vertex;
                if (chart_of[old] == c) {
                    vertex = copies[old];
                    continue;
                }
                if (chart_of[old] != NONE) {
                    vertex = static_cast<std::uint32_t>(scene.positions.size());
                    append_copy(scene.positions, old);
                    append_copy(scene.normals, old);
                    append_copy(scene.texture_coordinates, old);
                    append_copy(scene.source_vertices, old);
                    scene.light_map_coordinates.emplace_back();
                }
                chart_of[old] = c;
                copies[old] = vertex;
                const glm::dvec3 p = scene.positions[vertex];
                const glm::dvec2 in_chart =
                    glm::dvec2(glm::dot(p, chart.u), glm::dot(p, chart.v)) - chart.origin;
                const glm::dvec2 at = (corner + in_chart * layout.texels_per_unit) /
                                      glm::dvec2(layout.extent.width, layout.extent.height);
                scene.light_map_coordinates[vertex] =
                    glm::clamp(glm::vec2(at), glm::vec2(0.0F), glm::vec2(1.0F));
            }
        }
    }
    scene.light_map_extent = layout.extent;
}

}  // namespace

void unwrap(Scene& scene, const UnwrapOptions& options) {
    if (options.texels_per_unit &&
        !(std::isfinite(*options.texels_per_unit) && *options.texels_per_unit > 0.0F)) {
        fail("texels per unit are not above 0", "use 10, for example");
    }
    if (options.extent && (options.extent->width - 1 >= MAX_LIGHT_MAP_SIDE ||
                           options.extent->height - 1 >= MAX_LIGHT_MAP_SIDE)) {
        fail("the light map's extent is " + text(*options.extent), "use sides from 1 to 32768");
    }
    double max_size = std::numeric_limits<double>::infinity();
    if (options.texels_per_unit) {
        const Extent extent =
            options.extent.value_or(Extent{MAX_LIGHT_MAP_SIDE, MAX_LIGHT_MAP_SIDE});
        max_size = std::min(extent.width, extent.height) / double{*options.texels_per_unit};
    }
    const Charts charts = ChartBuilder(scene, max_size).build();
    std::vector<glm::dvec2> sizes;
    sizes.reserve(charts.charts.size());
    for (const Chart& chart : charts.charts) {
        sizes.push_back(chart.size);
    }
    write_coordinates(scene, charts, find_layout(sizes, options));
}

}  // namespace quadtile::baker
