#include "surface_map.hpp"

#include "call_wide.hpp"
#include "parallel.hpp"
#include "sampling.hpp"
#include "tile_triangles.hpp"

#include "shaders/bake.h"

#include <glm/geometric.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace quadtile::baker {

namespace {

// Steps per texel in lightmap space. Samples are decided in integers, so that none is lost or
// counted twice at common edges of triangles. Maps of 2^16 texels make edge functions of 62 bits.
constexpr std::int64_t TEXEL = 1 << 14;
constexpr std::int64_t SAMPLES = 8;  // per texel and axis
constexpr std::int64_t STEP = TEXEL / SAMPLES;
constexpr float SAMPLES_A_TEXEL = SAMPLES * SAMPLES;

// Distance from the edges of both triangles, in steps, at which a sample counts as overlap, so that
// rounded coordinates do not.
constexpr double OVERLAP_MARGIN = static_cast<double>(TEXEL) / 64;

constexpr std::size_t LEAST_TILES_AT_ONCE = 128;
constexpr std::size_t TILES_A_THREAD = 16;  // at least, so that all end at about the same time

constexpr float MIN_COVERAGE = 1e-6F;

// a * x + b * y + c, which is not negative inside.
struct EdgeFunction {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;
};

// Returns the samples of the texel that are inside: bit 8 * row + column.
std::uint64_t inside_samples(const std::array<EdgeFunction, 3>& edges, std::uint32_t x,
                             std::uint32_t y) {
    std::uint64_t inside = ~std::uint64_t{0};
    for (const EdgeFunction& edge : edges) {
        const std::int64_t first =
            edge.a * (x * TEXEL + STEP / 2) + edge.b * (y * TEXEL + STEP / 2) + edge.c;
        const std::int64_t across = edge.a * STEP;
        const std::int64_t down = edge.b * STEP;
        constexpr std::int64_t LAST = SAMPLES - 1;
        const std::int64_t zero = 0;
        if (first + std::max(zero, LAST * across) + std::max(zero, LAST * down) < 0) {
            return 0;
        }
        if (first + std::min(zero, LAST * across) + std::min(zero, LAST * down) >= 0) {
            continue;
        }
        std::uint64_t mask = 0;
        for (std::int64_t row = 0; row < SAMPLES; ++row) {
            for (std::int64_t column = 0; column < SAMPLES; ++column) {
                const bool is_inside = first + column * across + row * down >= 0;
                mask |= std::uint64_t{is_inside ? 1U : 0U} << (row * SAMPLES + column);
            }
        }
        inside &= mask;
    }
    return inside;
}

// A value that is linear in lightmap space.
template <typename Value>
struct Linear {
    Value at_origin{0.0};
    Value by_x{0.0};  // per texel
    Value by_y{0.0};

    Linear() = default;
    Linear(const Corners& corners, const std::array<Value, 3>& values) {
        const glm::dvec2 a = corners[1] - corners[0];
        const glm::dvec2 b = corners[2] - corners[0];
        const Value along_a = values[1] - values[0];
        const Value along_b = values[2] - values[0];
        const double area = doubled_area(corners);
        by_x = (along_a * b.y - along_b * a.y) / area;
        by_y = (along_b * a.x - along_a * b.x) / area;
        at_origin = values[0] - corners[0].x * by_x - corners[0].y * by_y;
    }

    [[nodiscard]] Value at(const glm::dvec2& point) const {
        return at_origin + point.x * by_x + point.y * by_y;
    }
};

// A triangle prepared for sampling.
class SampledTriangle {
 public:
    SampledTriangle(const Scene& scene, std::uint32_t index, const Corners& corners)
        : scene_(scene),
          material_(scene.materials[scene.triangles[index].material]),
          index_(index),
          corners_(corners),
          has_textures_(has_textures(scene, material_) || !scene.colours.empty()) {
        const Triangle& triangle = scene.triangles[index];
        normal_ = scene.plane_normal(triangle);
        is_smooth_ = scene.is_smooth(triangle);
        if (is_smooth_) {
            normals_ = {corners, scene.vertex_normals(triangle)};
        }
        position_ = linear_over(scene_.positions, corners);
        if (doubled_area(corners_) < 0.0) {
            std::swap(corners_[1], corners_[2]);
        }
        set_edges();
        if (has_textures_) {
            if (!scene.texture_coordinates.empty()) {
                texture_coordinates_ = linear_over(scene_.texture_coordinates, corners);
            }
            if (!scene.colours.empty()) {
                colours_ = linear_over(scene_.colours, corners);
            }
        } else {
            albedo_ = albedo_at(scene_, material_, {});
            emission_ = emission_at(scene_, material_, {});
        }
    }

    // Returns whether it has no plane, and so adds nothing to its texels.
    [[nodiscard]] bool degenerate() const { return normal_ == glm::vec3(0.0F); }
    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] bool smooth() const { return is_smooth_; }
    [[nodiscard]] glm::vec3 normal(const glm::dvec2& point) const {
        return is_smooth_ ? glm::vec3(glm::normalize(normals_.at(point))) : normal_;
    }
    [[nodiscard]] bool double_sided() const { return material_.double_sided; }
    [[nodiscard]] bool textured() const { return has_textures_; }

    [[nodiscard]] std::uint64_t samples(std::uint32_t x, std::uint32_t y) const {
        return has_samples_ ? inside_samples(edges_, x, y) : 0;
    }
    [[nodiscard]] std::uint64_t samples_within_margin(std::uint32_t x, std::uint32_t y) const {
        return has_samples_ ? inside_samples(inner_edges_, x, y) : 0;
    }

    // Returns the albedo at a point of the lightmap, in texels.
    [[nodiscard]] glm::vec3 albedo(const glm::dvec2& point) const {
        return has_textures_ ? albedo_at(scene_, material_, texture_coordinates_.at(point)) *
                                   glm::vec3(colour(point))
                             : albedo_;
    }
    [[nodiscard]] glm::vec3 emission(const glm::dvec2& point) const {
        return has_textures_ ? emission_at(scene_, material_, texture_coordinates_.at(point))
                             : emission_;
    }
    [[nodiscard]] float coverage(const glm::dvec2& point) const {
        return static_cast<float>(coverage_at(scene_, material_, texture_coordinates_.at(point),
                                              colour(point).a)) /
               255.0F;
    }
    [[nodiscard]] const Linear<glm::dvec3>& position() const { return position_; }

    // Returns false if the texel is wholly beyond one of the edges.
    [[nodiscard]] bool may_touch(std::uint32_t x, std::uint32_t y) const {
        for (std::size_t i = 0; i < 3; ++i) {
            const glm::dvec2 start = corners_[i];
            const glm::dvec2 along = corners_[(i + 1) % 3] - start;
            const double inmost_x = along.y > 0.0 ? x : x + 1.0;
            const double inmost_y = along.x > 0.0 ? y + 1.0 : y;
            if (along.x * (inmost_y - start.y) - along.y * (inmost_x - start.x) <= 0.0) {
                return false;
            }
        }
        return true;
    }

    // Part of the triangle within a texel.
    struct Part {
        double area = 0.0;
        glm::dvec2 centre{0.0};
    };
    [[nodiscard]] Part part_within(std::uint32_t x, std::uint32_t y) const;

 private:
    [[nodiscard]] glm::vec4 colour(const glm::dvec2& point) const {
        return scene_.colours.empty() ? glm::vec4(1.0F)
                                      : glm::vec4(glm::clamp(colours_.at(point), 0.0, 1.0));
    }
    void set_edges() {
        std::array<std::array<std::int64_t, 2>, 3> points{};
        for (std::size_t i = 0; i < 3; ++i) {
            points[i] = {std::llround(corners_[i].x * TEXEL), std::llround(corners_[i].y * TEXEL)};
        }
        const std::int64_t area = (points[1][0] - points[0][0]) * (points[2][1] - points[0][1]) -
                                  (points[1][1] - points[0][1]) * (points[2][0] - points[0][0]);
        has_samples_ = area != 0;
        if (area < 0) {  // almost degenerate, and turned by rounding
            std::swap(points[1], points[2]);
        }
        for (std::size_t i = 0; i < 3; ++i) {
            const auto& start = points[i];
            const auto& end = points[(i + 1) % 3];
            EdgeFunction& edge = edges_[i];
            edge.a = start[1] - end[1];
            edge.b = end[0] - start[0];
            edge.c = -(edge.a * start[0] + edge.b * start[1]);
            inner_edges_[i] = edge;
            inner_edges_[i].c -= static_cast<std::int64_t>(
                std::ceil(OVERLAP_MARGIN *
                          std::hypot(static_cast<double>(edge.a), static_cast<double>(edge.b))));
            // A sample on an edge belongs to the triangle on one side of it, always the same side.
            const bool owns_edge = edge.a > 0 || (edge.a == 0 && edge.b > 0);
            edge.c -= owns_edge ? 0 : 1;
        }
    }

    // Interpolates. `corners` are in the order of the triangle's vertices.
    template <int N>
    [[nodiscard]] Linear<glm::vec<N, double>> linear_over(
        const std::vector<glm::vec<N, float>>& values, const Corners& corners) const {
        const auto& vertices = scene_.triangles[index_].vertices;
        return {corners, {values[vertices[0]], values[vertices[1]], values[vertices[2]]}};
    }

    const Scene& scene_;
    const Material& material_;
    std::uint32_t index_;
    Corners corners_;  // in the order of increasing angles
    bool has_textures_;
    bool has_samples_ = false;
    std::array<EdgeFunction, 3> edges_{};
    std::array<EdgeFunction, 3> inner_edges_{};
    glm::vec3 normal_{0.0F};
    bool is_smooth_ = false;
    Linear<glm::dvec3> normals_;
    glm::vec3 albedo_{0.0F};
    glm::vec3 emission_{0.0F};
    Linear<glm::dvec2> texture_coordinates_;
    Linear<glm::dvec4> colours_;
    Linear<glm::dvec3> position_;
};

SampledTriangle::Part SampledTriangle::part_within(std::uint32_t x, std::uint32_t y) const {
    // In coordinates from the texel's corner; each of its edges cuts off the part beyond.
    std::array<glm::dvec2, 8> polygon;
    std::size_t count = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        polygon[i] = corners_[i] - glm::dvec2(x, y);
    }
    for (int cut = 0; cut < 4; ++cut) {
        const int axis = cut / 2;
        const double border = cut % 2;
        const double sign = cut % 2 == 0 ? 1.0 : -1.0;
        std::array<glm::dvec2, 8> kept;
        std::size_t kept_count = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const glm::dvec2& start = polygon[i];
            const glm::dvec2& end = polygon[(i + 1) % count];
            const double at_start = sign * (start[axis] - border);
            const double at_end = sign * (end[axis] - border);
            if (at_start >= 0.0) {
                kept[kept_count++] = start;
            }
            if ((at_start < 0.0 && at_end > 0.0) || (at_start > 0.0 && at_end < 0.0)) {
                kept[kept_count] = start + (end - start) * (at_start / (at_start - at_end));
                kept[kept_count++][axis] = border;
            }
        }
        polygon = kept;
        count = kept_count;
    }
    Part part;
    for (std::size_t i = 2; i < count; ++i) {
        const Corners piece = {polygon[0], polygon[i - 1], polygon[i]};
        const double area = doubled_area(piece) / 2.0;
        part.area += area;
        part.centre += (piece[0] + piece[1] + piece[2]) * (area / 3.0);
    }
    // An edge through a texel's corner leaves an area that only rounding made.
    if (part.area <= std::min(1e-10, 1e-6 * doubled_area(corners_))) {
        return {};
    }
    part.centre = part.centre / part.area + glm::dvec2(x, y);
    return part;
}

// Sums of a texel.
struct TexelSums {
    std::uint64_t taken = 0;   // samples that triangles cover
    std::uint64_t inside = 0;  // of these, samples that are not near an edge
    glm::vec3 albedo{0.0F};
    glm::vec3 emission{0.0F};
    float colour_weight = 0.0F;  // without holes
    glm::vec3 normal{0.0F};
    glm::dvec3 position{0.0};
    glm::dvec3 across{0.0};
    glm::dvec3 down{0.0};
    float weight = 0.0F;
    float double_sided = 0.0F;
    std::uint32_t first_triangle = 0;
    bool overlaps = false;
    bool is_smooth = false;

    void add(const SampledTriangle& triangle, float area, const glm::dvec2& centre) {
        if (weight == 0.0F) {
            first_triangle = triangle.index();
        }
        weight += area;
        normal += area * triangle.normal(centre);
        is_smooth = is_smooth || triangle.smooth();
        position += double{area} * triangle.position().at(centre);
        across += double{area} * triangle.position().by_x;
        down += double{area} * triangle.position().by_y;
        double_sided += triangle.double_sided() ? area : 0.0F;
    }
    void add_colours(const SampledTriangle& triangle, float area, const glm::dvec2& point) {
        // A texel of which all samples are open has colours too: rays may meet what is between.
        const float share = area * std::max(triangle.coverage(point), 1e-20F);
        albedo += share * triangle.albedo(point);
        emission += share * triangle.emission(point);
        colour_weight += share;
    }
};

// Returns the middle of samples within the texel.
glm::dvec2 middle_of(std::uint64_t samples) {
    constexpr std::uint64_t COLUMN = 0x0101010101010101;
    constexpr std::uint64_t ROW = 0xff;
    glm::dvec2 sum(0.0);
    for (int i = 0; i < SAMPLES; ++i) {
        sum += (i + 0.5) / SAMPLES *
               glm::dvec2(std::popcount(samples & COLUMN << i),
                          std::popcount(samples & ROW << i * SAMPLES));
    }
    return sum / static_cast<double>(std::popcount(samples));
}

void add_samples(TexelSums& sums, const SampledTriangle& triangle, std::uint64_t samples,
                 std::uint32_t x, std::uint32_t y) {
    if (samples == 0) {
        return;
    }
    const auto count = static_cast<float>(std::popcount(samples));
    sums.add(triangle, count, glm::dvec2(x, y) + middle_of(samples));
    if (!triangle.textured()) {
        sums.add_colours(triangle, count, {});
        return;
    }
    for (; samples != 0; samples &= samples - 1) {
        const int sample = std::countr_zero(samples);
        const auto column = sample % static_cast<int>(SAMPLES);
        const auto row = sample / static_cast<int>(SAMPLES);
        const glm::dvec2 point(x + (column + 0.5) / SAMPLES, y + (row + 0.5) / SAMPLES);
        sums.add_colours(triangle, 1.0F, point);
    }
}

// Returns the sums of a tile's texels, row by row, and adds overlapping triangles to `overlapping`.
std::vector<TexelSums> sum_tile(const Scene& scene, const Extent& extent, const TexelRange& tile,
                                std::span<const std::uint32_t> triangles,
                                std::vector<std::uint32_t>& overlapping) {
    std::vector<TexelSums> sums(std::size_t{tile.right - tile.left} * (tile.bottom - tile.top));
    const auto visit = [&](std::uint32_t index, const auto& texel) {
        const std::optional<Corners> corners = corners_of(scene, scene.triangles[index], extent);
        const SampledTriangle triangle(scene, index, *corners);
        if (triangle.degenerate()) {
            return;
        }
        const TexelRange range = intersection(bounds_of(*corners), tile);
        for (std::uint32_t y = range.top; y < range.bottom; ++y) {
            for (std::uint32_t x = range.left; x < range.right; ++x) {
                const std::size_t place =
                    std::size_t{y - tile.top} * (tile.right - tile.left) + (x - tile.left);
                texel(triangle, sums[place], x, y);
            }
        }
    };

    std::vector<std::uint32_t> between_samples;  // triangles
    for (const std::uint32_t index : triangles) {
        bool is_between = false;
        visit(index, [&](const SampledTriangle& triangle, TexelSums& texel, std::uint32_t x,
                         std::uint32_t y) {
            const std::uint64_t samples = triangle.samples(x, y);
            if (samples == 0) {
                is_between = is_between || triangle.may_touch(x, y);
                return;
            }
            const std::uint64_t inside = triangle.samples_within_margin(x, y);
            if ((inside & texel.inside) != 0) {
                for (const std::uint32_t one : {texel.first_triangle, index}) {
                    if (overlapping.empty() || overlapping.back() != one) {
                        overlapping.push_back(one);
                    }
                }
                texel.overlaps = true;
            }
            texel.inside |= inside;
            add_samples(texel, triangle, samples & ~texel.taken, x, y);
            texel.taken |= samples;
        });
        if (is_between) {
            between_samples.push_back(index);
        }
    }
    for (const std::uint32_t index : between_samples) {
        visit(index, [&](const SampledTriangle& triangle, TexelSums& texel, std::uint32_t x,
                         std::uint32_t y) {
            if (texel.taken != 0 || !triangle.may_touch(x, y)) {
                return;
            }
            const SampledTriangle::Part part = triangle.part_within(x, y);
            if (part.area > 0.0) {
                const float area = std::max(static_cast<float>(part.area), 1e-20F);
                texel.add(triangle, area, part.centre);
                texel.add_colours(triangle, area, part.centre);
            }
        });
    }
    return sums;
}

// The surface at a texel: an element of each of a map's arrays.
struct SurfaceTexel {
    float coverage = 0.0F;
    glm::vec3 albedo{0.0F};
    glm::vec3 emission{0.0F};
    glm::vec3 normal{0.0F};
    std::uint8_t smooth = 0;
    std::uint8_t double_sided = 0;
    Patch patch;
    std::uint32_t triangle = 0;
};

SurfaceTexel surface_of(const Scene& scene, const TexelSums& sums) {
    SurfaceTexel texel;
    if (sums.weight == 0.0F) {
        return texel;
    }
    texel.coverage = sums.taken != 0
                         ? static_cast<float>(std::popcount(sums.taken)) / SAMPLES_A_TEXEL
                         : std::clamp(sums.weight, MIN_COVERAGE, 1.0F / SAMPLES_A_TEXEL);
    if (sums.colour_weight > 0.0F) {
        texel.albedo = sums.albedo / sums.colour_weight;
        texel.emission = sums.emission / sums.colour_weight;
    }
    const glm::vec3 normal = sums.normal / sums.weight;
    const float length = glm::length(normal);
    texel.normal = length > 1e-3F
                       ? normal / length
                       : glm::vec3(scene.plane_normal(scene.triangles[sums.first_triangle]));
    texel.smooth = sums.is_smooth ? 1 : 0;
    const double side = std::sqrt(double{texel.coverage}) / sums.weight;
    texel.patch = {sums.position / double{sums.weight}, sums.across * side, sums.down * side};
    texel.triangle = sums.first_triangle;
    texel.double_sided = sums.double_sided * 2.0F > sums.weight ? 1 : 0;
    return texel;
}

// Calls visit(array, member) for the arrays of a map, and what they hold of a texel.
void visit_arrays(SurfaceMap& map, bool has_emitters, bool has_patches, const auto& visit) {
    visit(map.coverage, &SurfaceTexel::coverage);
    visit(map.albedo, &SurfaceTexel::albedo);
    visit(map.normal, &SurfaceTexel::normal);
    visit(map.smooth, &SurfaceTexel::smooth);
    visit(map.double_sided, &SurfaceTexel::double_sided);
    visit(map.triangle, &SurfaceTexel::triangle);
    if (has_emitters) {
        visit(map.emission, &SurfaceTexel::emission);
    }
    if (has_patches) {
        visit(map.patches, &SurfaceTexel::patch);
    }
}

}  // namespace

SurfaceMap make_surface_map(const Scene& scene, const Extent& extent, std::uint32_t threads) {
    SurfaceMap map;
    const bool has_emitters = std::ranges::any_of(scene.materials, [](const Material& material) {
        return greatest_of(material.emission) > 0.0F;
    });
    const bool has_patches = has_emitters || !scene.point_lights.empty();

    const TileTriangles tiles(scene, extent, threads);
    std::atomic<std::size_t> overlapping = 0;
    std::vector<std::vector<std::uint32_t>> overlapping_of(tiles.count());
    std::vector<std::uint32_t> covered((extent.texels() + 31) / 32);
    // Rows of tiles that are made together. Only they take memory for texels without charts.
    const std::size_t tiles_at_once =
        std::max(
            std::max(LEAST_TILES_AT_ONCE, TILES_A_THREAD * threads_of(threads)) / tiles.columns(),
            std::size_t{1}) *
        tiles.columns();
    UnsetVector<SurfaceTexel> texels;
    std::vector<std::size_t> ends;  // by row of texels: of the covered ones in the map
    std::size_t total = 0;
    visit_arrays(map, has_emitters, has_patches, [&](auto& array, auto) {
        array.reserve(extent.texels() + 1);  // takes no memory until it is used
    });
    for (std::size_t first = 0; first < tiles.count(); first += tiles_at_once) {
        const std::size_t end = std::min(tiles.count(), first + tiles_at_once);
        const std::uint32_t top = tiles.texels(first, extent).top;
        ends.assign(tiles.texels(end - 1, extent).bottom - top, 0);
        texels.resize(ends.size() * extent.width);
        const std::size_t begin = std::size_t{top} * extent.width;
        parallel_for(end - first, threads, [&](std::size_t i) {
            const TexelRange range = tiles.texels(first + i, extent);
            std::vector<TexelSums> sums;
            call_wide([&] {
                sums = sum_tile(scene, extent, range, tiles.triangles(first + i),
                                overlapping_of[first + i]);
            });
            std::size_t overlaps = 0;
            auto texel = sums.begin();
            for (std::size_t y = range.top; y < range.bottom; ++y) {
                std::size_t count = 0;
                for (std::size_t x = range.left; x < range.right; ++x, ++texel) {
                    SurfaceTexel& result = texels[y * extent.width + x - begin];
                    result = surface_of(scene, *texel);
                    count += result.coverage > 0.0F ? 1 : 0;
                    overlaps += texel->overlaps ? 1 : 0;
                }
                std::atomic_ref(ends[y - top]) += count;
            }
            overlapping += overlaps;
        });
        for (std::size_t& row : ends) {
            row = total += row;
        }
        visit_arrays(map, has_emitters, has_patches,
                     [&](auto& array, auto) { array.resize(total + 1); });
        parallel_for(ends.size(), threads, [&](std::size_t row) {
            std::vector<const SurfaceTexel*> of_row;
            std::uint32_t bits = 0;  // of a word, which the next row may share
            for (std::size_t i = row * extent.width; i < (row + 1) * extent.width; ++i) {
                if (texels[i].coverage > 0.0F) {
                    of_row.push_back(&texels[i]);
                    bits |= 1U << (begin + i) % 32;
                }
                if ((begin + i) % 32 == 31 || i + 1 == (row + 1) * extent.width) {
                    std::atomic_ref(covered[(begin + i) / 32]) |= std::exchange(bits, 0U);
                }
            }
            visit_arrays(map, has_emitters, has_patches, [&](auto& array, auto member) {
                std::ranges::transform(of_row, &array[ends[row] - of_row.size()],
                                       [&](const SurfaceTexel* texel) { return texel->*member; });
            });
        });
    }
    visit_arrays(map, has_emitters, has_patches,
                 [&](auto& array, auto member) { array.back() = SurfaceTexel().*member; });
    map.texels = CoveredTexels(extent, covered);
    map.overlapping_texels = overlapping;
    std::set<std::uint32_t> triangles;
    for (const std::vector<std::uint32_t>& of_tile : overlapping_of) {
        triangles.insert(of_tile.begin(), of_tile.end());
    }
    map.overlapping.assign(triangles.begin(), triangles.end());
    return map;
}

std::vector<std::uint32_t> objects_without_texels(const Scene& scene, const Extent& extent) {
    std::vector<double> areas(scene.triangles.size());
    const auto measure = [&](std::size_t i) {
        const std::optional<Corners> corners = corners_of(scene, scene.triangles[i], extent);
        areas[i] = corners ? 0.5 * std::abs(doubled_area(*corners)) : 0.0;
    };
    parallel_for(areas.size(), 0, measure, SHORT_CALLS);
    std::map<std::size_t, std::pair<std::uint32_t, double>> objects;  // first triangle and area
    for (std::uint32_t i = 0; i < scene.triangles.size(); ++i) {
        objects.try_emplace(part_of(scene, i).instance, i, 0.0).first->second.second += areas[i];
    }
    std::vector<std::uint32_t> without;
    for (const auto& [object, place] : objects) {
        if (place.second < 1.0) {
            without.push_back(place.first);
        }
    }
    return without;
}

}  // namespace quadtile::baker
