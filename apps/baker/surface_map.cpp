#include "surface_map.hpp"

#include "call_wide.hpp"
#include "parallel.hpp"
#include "sampled_triangle.hpp"
#include "tile_triangles.hpp"

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

constexpr std::size_t LEAST_TILES_AT_ONCE = 128;
constexpr std::size_t TILES_A_THREAD = 16;  // at least, so that all end at about the same time

constexpr float MIN_COVERAGE = 1e-6F;

// Planes of a texel have no more parts than this; the last one takes the rest.
constexpr std::size_t MOST_FACETS = 4;
constexpr float SAME_FACET_COSINE = 0.95F;

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
    std::array<glm::vec4, MOST_FACETS> facets{};  // normal times area, and area

    void add(const SampledTriangle& triangle, float area, const glm::dvec2& centre) {
        if (weight == 0.0F) {
            first_triangle = triangle.index();
        }
        weight += area;
        const glm::vec3 direction = triangle.normal(centre);
        normal += area * direction;
        std::size_t i = 0;
        while (i + 1 < MOST_FACETS && facets[i].w > 0.0F &&
               glm::dot(glm::vec3(facets[i]), direction) < SAME_FACET_COSINE * facets[i].w) {
            ++i;
        }
        facets[i] += area * glm::vec4(direction, 1.0F);
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

// Adds the parts of a texel, by its number in the lightmap, if there are several.
void add_facets(const TexelSums& sums, std::size_t texel, std::vector<Facet>& facets) {
    for (const glm::vec4& facet : sums.facets) {
        if (facet.w > 0.0F && sums.facets[1].w > 0.0F) {
            facets.push_back({static_cast<std::uint32_t>(texel), glm::vec3(facet) / facet.w,
                              facet.w / sums.weight});
        }
    }
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

// Returns the first facet from a texel on.
auto first_facet(std::span<const Facet> facets, std::size_t texel) {
    return std::lower_bound(
        facets.begin(), facets.end(), texel,
        [](const Facet& facet, std::size_t number) { return facet.texel < number; });
}

// Joins the facets of tiles, which have them row by row, in the order of the covered texels.
UnsetVector<Facet> in_order(std::span<const std::vector<Facet>> of_tiles, std::size_t columns,
                            const CoveredTexels& texels) {
    const auto visit = [&](std::size_t row, const auto& facets_of_row) {
        const std::size_t width = texels.extent().width;
        for (const std::span<const Facet> of_tile :
             of_tiles.subspan(row / TILE * columns, columns)) {
            facets_of_row(first_facet(of_tile, row * width),
                          first_facet(of_tile, (row + 1) * width));
        }
    };
    std::vector<std::size_t> ends(texels.extent().height);
    parallel_for(ends.size(), 0, [&](std::size_t row) {
        visit(row,
              [&](auto begin, auto end) { ends[row] += static_cast<std::size_t>(end - begin); });
    });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    UnsetVector<Facet> facets(ends.empty() ? 0 : ends.back());
    parallel_for(ends.size(), 0, [&](std::size_t row) {
        auto next = facets.begin() + static_cast<std::ptrdiff_t>(row == 0 ? 0 : ends[row - 1]);
        visit(row, [&](auto begin, auto end) {
            next = std::transform(begin, end, next, [&](Facet facet) {
                facet.texel = texels[facet.texel];
                return facet;
            });
        });
    });
    return facets;
}

}  // namespace

SurfaceMap make_surface_map(const Scene& scene, const Extent& extent, std::uint32_t threads) {
    SurfaceMap map;
    const bool has_emitters = std::ranges::any_of(scene.materials, [](const Material& material) {
        return greatest_of(material.emission) > 0.0F;
    });
    const bool has_patches = has_emitters || !scene.point_lights.empty();
    const bool has_sources = !scene.suns.empty() || !scene.point_lights.empty();

    const TileTriangles tiles(scene, extent, threads);
    std::atomic<std::size_t> overlapping = 0;
    std::vector<std::vector<std::uint32_t>> overlapping_of(tiles.count());
    std::vector<std::vector<Facet>> facets_of(tiles.count());
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
                    if (has_sources) {
                        add_facets(*texel, y * extent.width + x, facets_of[first + i]);
                    }
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
    map.facets = in_order(facets_of, tiles.columns(), map.texels);
    return map;
}

std::span<const Facet> SurfaceMap::facets_of(std::size_t texel) const {
    const std::span<const Facet> all(facets);
    const auto begin = first_facet(all, texel);
    const auto end =
        std::find_if(begin, all.end(), [&](const Facet& facet) { return facet.texel != texel; });
    return {begin, end};
}

void keep_light(SurfaceMap& surface, const std::vector<std::uint8_t>& is_triangle_baked,
                const std::vector<glm::vec3>& irradiance) {
    surface.kept.assign(surface.texels.places(), 1);
    surface.kept_light.resize(surface.texels.places());
    const auto keep = [&](std::size_t i) {
        const std::uint32_t texel = surface.texels[i];
        if (texel == surface.texels.count()) {
            return;
        }
        surface.kept[texel] = is_triangle_baked[surface.triangle[texel]] != 0 ? 0 : 1;
        surface.kept_light[texel] = irradiance[i];
        if (surface.keeps(texel) && !surface.patches.empty()) {
            surface.patches[texel] = {};
        }
    };
    parallel_for(irradiance.size(), 0, keep, SHORT_CALLS);
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
