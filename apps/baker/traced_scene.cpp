#include "traced_scene.hpp"

#include "parallel.hpp"
#include "scene.hpp"
#include "surface_map.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace quadtile::baker {

namespace {

// Share of the lightmap that gets all the pixels that its density requests; the densest rest
// requests no more than the densest of it. A tile has the resolution of its densest place, so a few
// small charts to which an unwrapper gave many texels would make all tiles expensive.
constexpr double DENSITY_SHARE = 0.95F;

// Largest half diagonal of a box, in pixels of the densest triangles, for which a depth step is a
// part of a pixel. That of a plane with the largest lightmap is smaller.
constexpr double LARGEST_BOX = 0x1p15;
// Distance from the centre beyond which triangles are no neighbours of others.
constexpr double FARTHEST_NEIGHBOUR = 0x1p20;
// In pixels of the densest triangles.
constexpr double LARGEST_UNIT = 1024.0;
// Edges of triangles that reach farther are off by more than some pixels.
constexpr double FARTHEST_EDGE = 0x1p27;
// In pixels of the triangle: floats do not resolve those of a triangle that is farther away.
constexpr double FARTHEST_PIXEL = 0x1p24;

// ---- Textures of surfaces with holes

// Texture of a material, in AlphaTextures::texels.
struct AlphaTexture {
    std::uint32_t first = 0;
    Extent extent;
    std::uint8_t least = 255;  // texel
};

struct AlphaTextures {
    std::vector<AlphaTexture> materials;
    std::vector<std::uint8_t> texels;  // alpha; a multiple of 4
};

// Makes the textures of a scene. Materials share them. Throws std::runtime_error for more than 2^32
// texels.
AlphaTextures make_alpha_textures(const Scene& scene) {
    AlphaTextures all;
    std::map<std::optional<std::uint32_t>, AlphaTexture> known;
    for (const Material& material : scene.materials) {
        if (material.alpha_mode == AlphaMode::opaque) {
            all.materials.emplace_back();
            continue;
        }
        const std::optional<std::uint32_t> index =
            scene.texture_coordinates.empty() ? std::nullopt : material.albedo_texture;
        const auto [place, is_new] = known.try_emplace(index);
        if (is_new) {
            const Texture none{{1, 1}, {{255, 255, 255, 255}}};
            const Texture& texture = index ? scene.textures[*index] : none;
            place->second = {static_cast<std::uint32_t>(all.texels.size()), texture.extent};
            for (const auto& texel : texture.texels) {
                all.texels.push_back(texel[3]);
                place->second.least = std::min(place->second.least, texel[3]);
            }
            if (all.texels.size() > std::numeric_limits<std::uint32_t>::max()) {
                throw std::runtime_error(
                    "textures of materials with alphaMode MASK and BLEND have more than 2^32 "
                    "texels; make them smaller");
            }
        }
        all.materials.push_back(place->second);
    }
    all.texels.resize((all.texels.size() + 3) / 4 * 4);
    return all;
}

float vertex_alpha(const Scene& scene, std::uint32_t vertex) {
    return scene.colours.empty() ? 1.0F : scene.colours[vertex].a;
}

bool has_holes(const Scene& scene, const Triangle& triangle, const AlphaTexture& texture) {
    float alpha = 1.0F;
    for (const std::uint32_t vertex : triangle.vertices) {
        alpha = std::min(alpha, vertex_alpha(scene, vertex));
    }
    return scene.materials[triangle.material].coverage(texture.least, alpha) < 255;
}

AlphaTriangle alpha_triangle(const Scene& scene, const Triangle& triangle,
                             const AlphaTexture& texture) {
    const Material& material = scene.materials[triangle.material];
    std::array<glm::dvec2, 3> places{};
    Box<glm::dvec2> box;
    for (std::size_t i = 0; i < 3 && !scene.texture_coordinates.empty(); ++i) {
        const glm::dvec2 coordinates(scene.texture_coordinates[triangle.vertices[i]]);
        places[i] = glm::dmat3x2(material.albedo_coordinates) * glm::dvec3(coordinates, 1.0);
        box.include(places[i]);
    }
    const bool is_finite = std::isfinite(box.size().x) && std::isfinite(box.size().y);
    AlphaTriangle result{.limit = material.alpha_mode == AlphaMode::mask
                                      ? std::max(material.alpha_cutoff * 255.0F, 0.0F)
                                      : -1.0F,
                         .first = texture.first,
                         .width = texture.extent.width,
                         .height = texture.extent.height,
                         .tint = {material.tint.r, material.tint.g, material.tint.b}};
    for (std::size_t i = 0; i < 3; ++i) {
        result.alpha[i] = material.alpha * vertex_alpha(scene, triangle.vertices[i]);
    }
    for (std::size_t i = 0; i < 6 && is_finite; ++i) {
        const auto axis = static_cast<int>(i % 2);
        result.texture[i] =
            static_cast<float>((places[i / 2][axis] - std::floor(box.low[axis])) *
                               (axis == 0 ? texture.extent.width : texture.extent.height));
    }
    return result;
}

// ---- Densities

struct Areas {
    double surface;    // square world units
    double light_map;  // texels
};

Areas areas_of(const Scene& scene, const Triangle& triangle, const Extent& light_map) {
    const auto [a, b, c] = scene.corners(triangle);
    const auto texel = [&](std::size_t i) {
        return glm::dvec2(scene.light_map_coordinates[triangle.vertices[i]]) *
               glm::dvec2(light_map.width, light_map.height);
    };
    const glm::dvec2 u = texel(1) - texel(0);
    const glm::dvec2 v = texel(2) - texel(0);
    return {0.5 * glm::length(glm::cross(b - a, c - a)), 0.5 * std::abs(u.x * v.y - u.y * v.x)};
}

glm::dvec3 middle_of(const Scene& scene, const Triangle& triangle) {
    glm::dvec3 middle(0.0);
    for (const std::uint32_t vertex : triangle.vertices) {
        middle += glm::dvec3(scene.positions[vertex]) / 3.0;
    }
    return middle;
}

// Returns the point with as much of the lightmap on one side as on the other, along each axis, so
// that stray triangles do not move it far.
glm::dvec3 median_of(const Scene& scene, const std::vector<Areas>& areas) {
    glm::dvec3 median(0.0);
    for (int axis = 0; axis < 3; ++axis) {
        std::vector<std::pair<double, double>> places;  // positions along the axis, with texels
        double left = 0.0;
        for (std::size_t i = 0; i < areas.size(); ++i) {
            places.emplace_back(middle_of(scene, scene.triangles[i])[axis], areas[i].light_map);
            left += 0.5 * areas[i].light_map;
        }
        std::ranges::sort(places);
        for (const auto& [place, texels] : places) {
            median[axis] = place;
            left -= texels;
            if (left <= 0.0) {
                break;
            }
        }
    }
    return median;
}

TriangleCluster cluster_around(const TracedTriangle* first, const TracedTriangle* end) {
    Box<glm::vec3> box;
    for (const TracedTriangle* triangle = first; triangle != end; ++triangle) {
        for (std::size_t i = 0; i < 9; i += 3) {
            const glm::vec3 corner(triangle->positions[i], triangle->positions[i + 1],
                                   triangle->positions[i + 2]);
            box.include(corner);
        }
    }
    const glm::vec3 centre = 0.5F * (box.low + box.high);
    const glm::vec3 half_extent = glm::max(box.high - centre, centre - box.low);
    return {{centre.x, centre.y, centre.z}, {half_extent.x, half_extent.y, half_extent.z}};
}

// Returns the texels of the lightmap along a world unit.
double density_of(const Areas& areas) {
    return std::sqrt(areas.light_map / areas.surface);
}

// Returns the density that DENSITY_SHARE of the lightmap does not exceed.
double density_of_share(std::vector<Areas> areas) {
    std::erase_if(
        areas, [](const Areas& area) { return !(area.light_map > 0.0) || !(area.surface > 0.0); });
    parallel_sort(areas, [](const Areas& a, const Areas& b) {
        return a.light_map / a.surface < b.light_map / b.surface;
    });
    double all = 0.0;
    for (const Areas& area : areas) {
        all += area.light_map;
    }
    double below = 0.0;
    for (const Areas& area : areas) {
        below += area.light_map;
        if (below >= DENSITY_SHARE * all) {
            return density_of(area);
        }
    }
    return areas.empty() ? 0.0 : density_of(areas.back());
}

// Returns the largest surface of a texel: that of the least dense triangle, and all triangles that
// are smaller than a texel.
double largest_texel_of(const Scene& scene, const std::vector<Areas>& areas,
                        const Extent& light_map) {
    double sparsest = 0.0;
    std::vector<std::pair<std::size_t, std::size_t>> small_ones;  // texel and triangle
    for (std::size_t i = 0; i < areas.size(); ++i) {
        if (areas[i].light_map >= 1.0) {
            sparsest = std::max(sparsest, areas[i].surface / areas[i].light_map);
            continue;
        }
        const glm::vec2 place = scene.light_map_coordinates[scene.triangles[i].vertices[0]] *
                                glm::vec2(light_map.width, light_map.height);
        const auto x =
            std::min(static_cast<std::uint32_t>(std::max(place.x, 0.0F)), light_map.width - 1);
        const auto y =
            std::min(static_cast<std::uint32_t>(std::max(place.y, 0.0F)), light_map.height - 1);
        small_ones.emplace_back(std::size_t{y} * light_map.width + x, i);
    }
    parallel_sort(small_ones, std::less<>());
    float most = 0.0F;
    float sum = 0.0F;
    for (std::size_t i = 0; i < small_ones.size(); ++i) {
        const bool is_first = i == 0 || small_ones[i].first != small_ones[i - 1].first;
        sum = (is_first ? 0.0F : sum) + static_cast<float>(areas[small_ones[i].second].surface);
        most = std::max(most, sum);
    }
    // A small one may lie in four texels, and so may its neighbours.
    return sparsest + 9.0 * most;
}

}  // namespace

std::uint32_t packed_normal(const glm::dvec3& normal) {
    std::uint32_t packed = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const auto component = std::lround(normal[axis] * NORMAL_SCALE);
        packed |= (static_cast<std::uint32_t>(component) & 0x3ffU) << (10 * axis);
    }
    return packed;
}

TracedScene make_traced_scene(const Scene& scene, CoveredTexels texels, float pixels_per_texel,
                              const std::vector<std::uint8_t>& requests) {
    TracedScene traced{.texels = std::move(texels)};
    const Extent light_map = traced.texels.extent();
    const std::size_t count = scene.triangles.size();
    std::vector<Areas> areas(count);
    std::vector<Box<glm::dvec3>> boxes((count + SHORT_CALLS - 1) / SHORT_CALLS);
    parallel_for(boxes.size(), 0, [&](std::size_t part) {
        Box<glm::dvec3> of_part;
        for (std::size_t i = part * SHORT_CALLS; i < std::min(count, (part + 1) * SHORT_CALLS);
             ++i) {
            for (const std::uint32_t vertex : scene.triangles[i].vertices) {
                of_part.include(scene.positions[vertex]);
            }
            areas[i] = areas_of(scene, scene.triangles[i], light_map);
        }
        boxes[part] = of_part;
    });
    Box<glm::dvec3> box;
    std::ranges::for_each(boxes, [&](const Box<glm::dvec3>& part) { box.include(part); });
    for (const Areas& area : areas) {
        if (area.light_map > 0.0) {
            traced.surface_area += area.surface;
            traced.light_map_area += area.light_map;
        }
    }
    if (!(traced.surface_area > 0.0)) {
        throw std::runtime_error(
            "no triangle has both an area and a part of the lightmap: the lightmap coordinates "
            "are unusable; make new ones with --unwrap");
    }
    traced.centre = 0.5 * (box.low + box.high);
    traced.half_extent = 0.5 * box.size();
    traced.depth_extent = glm::length(traced.half_extent);
    traced.unit_area = traced.texel_area();

    const double densest = density_of_share(areas);
    const double pixel = 1.0 / (densest * pixels_per_texel);
    if (traced.depth_extent > LARGEST_BOX * pixel) {
        const glm::dvec3 median = median_of(scene, areas);
        traced.box_middle = traced.centre - median;
        traced.centre = median;
        traced.depth_extent = LARGEST_BOX * pixel;
        traced.unit_area = std::min(traced.unit_area, LARGEST_UNIT * pixel * pixel);
        box.low = glm::max(box.low, median - FARTHEST_NEIGHBOUR * pixel);
        box.high = glm::min(box.high, median + FARTHEST_NEIGHBOUR * pixel);
    }
    traced.largest_texel = largest_texel_of(scene, areas, light_map) / traced.unit_area;
    AlphaTextures alpha = make_alpha_textures(scene);
    const auto alpha_of = [&](std::uint32_t index) -> const AlphaTexture& {
        return alpha.materials[scene.triangles[index].material];
    };
    std::size_t with_holes = 0;
    const std::vector<std::uint32_t> order = order_by_boxes(scene, [&](std::uint32_t index) {
        const bool is_first = has_holes(scene, scene.triangles[index], alpha_of(index));
        with_holes += is_first ? 1 : 0;
        return is_first;
    });
    traced.alpha_triangles.resize(with_holes);
    traced.triangles.resize(count);
    std::atomic<bool> has_two_sides = false;
    std::atomic<bool> is_smooth = false;
    std::atomic<bool> some_are_far = false;
    const auto distance_of = [&](std::size_t i) {
        double distance = 0.0;
        for (const std::uint32_t vertex : scene.triangles[order[i]].vertices) {
            distance = std::max(distance,
                                glm::length(glm::dvec3(scene.positions[vertex]) - traced.centre));
        }
        return distance;
    };
    const auto resolves_itself = [&](std::size_t i) {
        return distance_of(i) * traced.triangles[i].density <= FARTHEST_PIXEL;
    };
    const auto is_far = [&](std::size_t i) {
        return !resolves_itself(i) || distance_of(i) > FARTHEST_EDGE * pixel;
    };
    const auto fill = [&](std::size_t i) {
        const std::uint32_t index = order[i];
        const Triangle& triangle = scene.triangles[index];
        if (i < traced.alpha_triangles.size()) {
            traced.alpha_triangles[i] = alpha_triangle(scene, triangle, alpha_of(index));
        }
        if (scene.materials[triangle.material].double_sided) {
            has_two_sides = true;
        }
        if (scene.is_smooth(triangle)) {
            is_smooth = true;
        }
        TracedTriangle& result = traced.triangles[i];
        result.normal = packed_normal(scene.plane_normal(triangle));
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t vertex = triangle.vertices[k];
            const glm::vec3 position(glm::dvec3(scene.positions[vertex]) - traced.centre);
            result.positions[3 * k] = position.x;
            result.positions[3 * k + 1] = position.y;
            result.positions[3 * k + 2] = position.z;
            const glm::vec2 texel =
                scene.light_map_coordinates[vertex] * glm::vec2(light_map.width, light_map.height);
            result.light_map[2 * k] = texel.x;
            result.light_map[2 * k + 1] = texel.y;
        }
        if (areas[index].light_map > 0.0 && areas[index].surface > 0.0 &&
            (requests.empty() || requests[index] != 0)) {
            result.density =
                pixels_per_texel * static_cast<float>(std::min(density_of(areas[index]), densest));
        }
        if (is_far(i)) {
            some_are_far = true;
        }
    };
    parallel_for(count, 0, fill, SHORT_CALLS);
    for (std::size_t i = 0; some_are_far && i < count; ++i) {
        if (is_far(i)) {
            const auto finest = std::ranges::find(areas, densest, density_of);
            throw std::runtime_error(
                scene.place_of(order[i], traced.centre) +
                " is too far from the rest of the scene for texels as small as those of " +
                scene.name_of(resolves_itself(i) ? static_cast<std::size_t>(finest - areas.begin())
                                                 : order[i]) +
                "; move it closer, leave it out, or make the lightmap smaller with --size");
        }
    }
    traced.has_two_sides = has_two_sides;
    traced.is_smooth = is_smooth;
    if (!traced.alpha_triangles.empty()) {
        traced.alpha_texels = std::move(alpha.texels);
    }
    traced.clusters.resize((count + CLUSTER_TRIANGLES - 1) / CLUSTER_TRIANGLES);
    parallel_for(
        traced.clusters.size(), 0,
        [&](std::size_t i) {
            const std::size_t first = i * CLUSTER_TRIANGLES;
            const std::size_t end = std::min<std::size_t>(first + CLUSTER_TRIANGLES, count);
            traced.clusters[i] =
                cluster_around(traced.triangles.data() + first, traced.triangles.data() + end);
        },
        SHORT_CALLS / CLUSTER_TRIANGLES);
    return traced;
}

}  // namespace quadtile::baker
