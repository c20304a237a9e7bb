#include "path_tracer.hpp"

#include "../../test/support/hash.hpp"

#include "embree_rays.hpp"
#include "parallel.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/integer.hpp>
#include <glm/mat3x3.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <stdexcept>

namespace quadtile::test {

namespace {

constexpr float PI = std::numbers::pi_v<float>;
constexpr std::uint32_t NO_TRIANGLE = baker::EmbreeRays::NOTHING;

// ---- Random numbers ----

// PCG32 by M. O'Neill.
class Random {
 public:
    explicit Random(std::uint64_t seed = 0) : state_(seed) { next(); }

    float next() {
        const std::uint64_t state = state_;
        state_ = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto word = static_cast<std::uint32_t>(((state >> 18U) ^ state) >> 27U);
        return unit_float(std::rotr(word, static_cast<int>(state >> 59U)));
    }

 private:
    std::uint64_t state_;
};

// Owen's scrambling of a word whose bits are reversed: each bit depends on those below it only
// (Laine and Karras; the constants are N. Vegdahl's).
std::uint32_t scramble_reversed(std::uint32_t v, std::uint32_t seed) {
    v ^= v * 0x3d20adeaU;
    v += seed;
    v *= (seed >> 16U) | 1U;
    v ^= v * 0x05526c56U;
    v ^= v * 0x53a22864U;
    return v;
}

// The first 2^n points of the plane's Sobol sequence, scrambled and in another order: one lies in
// each of 2^n equal rectangles of any shape. Each is uniform in [0, 1)^2 on its own, so that means
// over them are unbiased; but they have far less noise than those over independent points.
glm::vec2 sobol_point(std::uint32_t index, std::uint32_t seed) {
    const std::uint32_t shuffled =
        glm::bitfieldReverse(scramble_reversed(glm::bitfieldReverse(index), hash(seed, 0)));
    // Times Pascal's triangle modulo 2, the generator of the second coordinate.
    std::uint32_t second = shuffled;
    second ^= (second >> 16U) & 0x0000ffffU;
    second ^= (second >> 8U) & 0x00ff00ffU;
    second ^= (second >> 4U) & 0x0f0f0f0fU;
    second ^= (second >> 2U) & 0x33333333U;
    second ^= (second >> 1U) & 0x55555555U;
    return {unit_float(glm::bitfieldReverse(scramble_reversed(shuffled, hash(seed, 1)))),
            unit_float(glm::bitfieldReverse(scramble_reversed(second, hash(seed, 2))))};
}

// ---- Geometry ----

// As the shading of a hit reads it: all in one place.
struct Surface {
    glm::vec3 corner;
    glm::vec3 edge1;
    glm::vec3 edge2;
    glm::vec3 normal{0.0F};  // of length 1; 0: the triangle has no area
    glm::vec2 map_corner;    // in texels
    glm::vec2 map_edge1;
    glm::vec2 map_edge2;
    double stretch = 0.0;  // area of the surface by that of the map
    float inset = 0.0F;    // of starting rays: towards the centroid, of the way there
    bool double_sided = false;

    [[nodiscard]] glm::vec3 position(float u, float v) const {
        return corner + u * edge1 + v * edge2;
    }
    [[nodiscard]] glm::vec2 map_position(float u, float v) const {
        return map_corner + u * map_edge1 + v * map_edge2;
    }
};

// Large enough for what single precision does to a hit's position, which depends on the
// coordinates' size.
float ray_offset(const baker::Scene& scene) {
    float largest = 0.0F;
    for (const glm::vec3& p : scene.positions) {
        largest = std::max({largest, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    }
    return 4e-6F * largest;
}

double cross(const glm::dvec2& a, const glm::dvec2& b) {
    return a.x * b.y - a.y * b.x;
}

std::vector<Surface> make_surfaces(const baker::Scene& scene, const baker::Extent& extent,
                                   float offset) {
    const glm::vec2 scale(static_cast<float>(extent.width), static_cast<float>(extent.height));
    std::vector<Surface> surfaces;
    surfaces.reserve(scene.triangles.size());
    for (const baker::Triangle& triangle : scene.triangles) {
        const auto position = [&](std::size_t i) {
            return scene.positions.at(triangle.vertices.at(i));
        };
        const auto map_position = [&](std::size_t i) {
            return scene.light_map_coordinates.at(triangle.vertices.at(i)) * scale;
        };
        Surface surface{.corner = position(0),
                        .edge1 = position(1) - position(0),
                        .edge2 = position(2) - position(0),
                        .map_corner = map_position(0),
                        .map_edge1 = map_position(1) - map_position(0),
                        .map_edge2 = map_position(2) - map_position(0),
                        .double_sided = scene.materials.at(triangle.material).double_sided};
        const glm::dvec3 normal = glm::cross(glm::dvec3(surface.edge1), glm::dvec3(surface.edge2));
        const double length = glm::length(normal);
        surface.stretch = length / std::abs(cross(surface.map_edge1, surface.map_edge2));
        surface.normal = length > 0.0 ? glm::vec3(normal / length) : glm::vec3(0.0F);
        // The way there is a third of the triangle's height at an edge.
        const float height = static_cast<float>(length) /
                             std::max({glm::length(surface.edge1), glm::length(surface.edge2),
                                       glm::length(surface.edge2 - surface.edge1),
                                       std::numeric_limits<float>::min()});
        surface.inset = std::min(1e-3F, 3.0F * offset / std::max(height, 1e-30F));
        surfaces.push_back(surface);
    }
    return surfaces;
}

// About `normal`, the third axis (T. Duff and others, "Building an orthonormal basis, revisited").
glm::mat3 basis(const glm::vec3& normal) {
    const float sign = std::copysign(1.0F, normal.z);
    const float a = -1.0F / (sign + normal.z);
    const float b = normal.x * normal.y * a;
    return {{1.0F + sign * normal.x * normal.x * a, sign * b, -sign * normal.x},
            {b, sign + normal.y * normal.y * a, -normal.y},
            normal};
}

// Distributed by the cosine to `normal`.
glm::vec3 cosine_direction(const glm::vec3& normal, const glm::vec2& random) {
    const float radius = std::sqrt(random.x);
    const float angle = 2.0F * PI * random.y;
    // Never in the plane itself.
    const float height = std::sqrt(std::max(1.0F - random.x, 1e-10F));
    return basis(normal) * glm::vec3(radius * std::cos(angle), radius * std::sin(angle), height);
}

// ---- Where charts cover texels ----

struct Point {
    std::uint32_t triangle = 0;
    glm::vec2 barycentrics{0.0F};
};

// The triangles around which a box reaches a texel, by texel.
std::vector<std::vector<std::uint32_t>> triangles_by_texel(std::span<const Surface> surfaces,
                                                           const baker::Extent& extent) {
    std::vector<std::vector<std::uint32_t>> triangles(extent.texels());
    const glm::ivec2 last(extent.width - 1, extent.height - 1);
    for (std::uint32_t triangle = 0; triangle < surfaces.size(); ++triangle) {
        const Surface& surface = surfaces[triangle];
        if (surface.normal == glm::vec3(0.0F) ||
            cross(surface.map_edge1, surface.map_edge2) == 0.0) {
            continue;  // has no light of its own, or no place for it
        }
        const glm::vec2 a = surface.map_corner;
        const glm::vec2 b = surface.map_position(1.0F, 0.0F);
        const glm::vec2 c = surface.map_position(0.0F, 1.0F);
        const glm::ivec2 low = glm::max(glm::ivec2(glm::min(a, glm::min(b, c))), 0);
        const glm::ivec2 high = glm::min(glm::ivec2(glm::max(a, glm::max(b, c))), last);
        for (int y = low.y; y <= high.y; ++y) {
            for (int x = low.x; x <= high.x; ++x) {
                triangles[static_cast<std::size_t>(y) * extent.width + static_cast<std::size_t>(x)]
                    .push_back(triangle);
            }
        }
    }
    return triangles;
}

// In the first of the triangles that a place of the map lies in.
std::optional<Point> point_at(std::span<const Surface> surfaces,
                              std::span<const std::uint32_t> triangles, const glm::dvec2& place) {
    for (const std::uint32_t triangle : triangles) {
        const Surface& surface = surfaces[triangle];
        const glm::dvec2 offset = place - glm::dvec2(surface.map_corner);
        const double determinant = cross(surface.map_edge1, surface.map_edge2);
        const double u = cross(offset, surface.map_edge2) / determinant;
        const double v = cross(surface.map_edge1, offset) / determinant;
        if (u >= 0.0 && v >= 0.0 && u + v <= 1.0) {
            return Point{triangle, {u, v}};
        }
    }
    return std::nullopt;
}

// ---- Rays ----

struct Hit {
    std::uint32_t triangle = NO_TRIANGLE;
    float u = 0.0F;
    float v = 0.0F;
};

// Returns the nearest hit that is not with the triangle `from`, where the ray starts: a plane
// cannot hide what lies before it, so such a hit is a rounding error.
Hit nearest(const baker::EmbreeRays& rays, const glm::vec3& origin, const glm::vec3& direction,
            std::uint32_t from) {
    RTCIntersectContext context = baker::EmbreeRays::plain_context();
    float distance = 0.0F;
    for (;;) {
        const auto [ray, hit] = rays.nearest(origin, direction, distance, context);
        if (hit.primID == NO_TRIANGLE || hit.primID != from) {
            return {hit.primID, hit.u, hit.v};
        }
        distance = std::nextafter(ray.tfar, std::numeric_limits<float>::infinity());
    }
}

// ---- Paths ----

class Tracer {
 public:
    Tracer(const baker::Scene& scene, const baker::SurfaceMap& surface,
           const PathTracerOptions& options)
        : surface_(surface),
          options_(options),
          lights_(scene.point_lights),
          rays_(
              scene.positions.size(), [&](std::size_t i) { return scene.positions[i]; },
              scene.triangles.size(), [&](std::size_t i) { return scene.triangles[i].vertices; }),
          offset_(ray_offset(scene)),
          surfaces_(make_surfaces(scene, surface.texels.extent(), offset_)),
          triangles_(triangles_by_texel(surfaces_, surface.texels.extent())) {
        for (const baker::Sun& sun : scene.suns) {
            if (sun.irradiance != glm::vec3(0.0F)) {
                suns_.push_back({-glm::normalize(sun.direction), sun.irradiance,
                                 std::tan(0.5F * glm::radians(sun.angular_diameter_degrees))});
            }
        }
    }

    // Threads may trace different texels at the same time.
    void trace_texel(std::uint32_t texel, PathTracedMap& map) const {
        if (surface_.texels[texel] == surface_.texels.count()) {
            return;  // no chart covers it
        }
        const auto seed = hash(hash(static_cast<std::uint32_t>(options_.seed),
                                    static_cast<std::uint32_t>(options_.seed >> 32U)),
                               texel);
        glm::dvec3 irradiance(0.0);
        double area = 0.0;  // of surfaces: a texel may have charts of different densities
        double backs = 0.0;
        // Takes points of the whole texel that lie on charts, and rays in front of their planes. If
        // charts cover less than a 64th, there are few points or none.
        std::uint32_t sample = 0;
        std::uint32_t ray = 0;
        for (std::uint32_t number = 0;
             sample < options_.samples_per_texel && number < 64 * (sample + 16); ++number) {
            const std::uint32_t width = surface_.texels.extent().width;
            const auto point = point_at(surfaces_, triangles_[texel],
                                        glm::dvec2(texel % width, texel / width) +
                                            glm::dvec2(sobol_point(number, hash(seed, 1))));
            if (!point) {
                continue;
            }
            const auto [triangle, at] = *point;
            Path path{.triangle = triangle,
                      .random = Random((std::uint64_t{seed} << 32U) | hash(seed, sample))};
            if (!set_out(path, surface_.texels[texel], options_.is_of_backs, at,
                         sobol_point(ray++, hash(seed, 2)))) {
                continue;
            }
            trace(path);
            const double stretch = surfaces_[triangle].stretch;
            irradiance += stretch * glm::dvec3(path.irradiance);
            backs += path.starts_at_back ? stretch : 0.0;
            area += stretch;
            ++sample;
        }
        const double weight = sample > 0 ? 1.0 / area : 0.0;
        map.samples[texel] = sample;
        map.irradiance[texel] = glm::vec3(irradiance * weight);
        map.back_share[texel] = static_cast<float>(backs * weight);
    }

 private:
    struct SunLight {
        glm::vec3 to_sun;
        glm::vec3 irradiance;
        float disc_radius;  // at a distance of 1
    };

    struct Path {
        std::uint32_t triangle = NO_TRIANGLE;  // where the next ray starts
        glm::vec3 origin{0.0F};
        glm::vec3 plane{0.0F};   // normal of the side from which it starts
        glm::vec3 normal{0.0F};  // the same, or the smooth normal there
        glm::vec3 direction{0.0F};
        Random random;
        glm::vec3 irradiance{0.0F};  // that it found
        glm::vec3 throughput{1.0F};
        bool starts_at_back = false;  // the first ray hits one
    };

    // Returns a ray's origin: off the triangle's plane and off the neighbours that rounding bends,
    // and slightly inside of the triangle, since other walls may stand on its edges.
    [[nodiscard]] glm::vec3 start(const Surface& surface, const glm::vec3& normal, float u,
                                  float v) const {
        constexpr float THIRD = 1.0F / 3.0F;
        return surface.position(u + surface.inset * (THIRD - u), v + surface.inset * (THIRD - v)) +
               offset_ * normal;
    }

    // Lets a path go on from a side of its triangle, whose texel is `place`. Returns false if it
    // leads through the plane, which it does less than half of the time: smooth normals lean.
    [[nodiscard]] bool set_out(Path& path, std::size_t place, bool is_back,
                               const glm::vec2& barycentrics, const glm::vec2& random) const {
        const Surface& surface = surfaces_[path.triangle];
        const float side = is_back ? -1.0F : 1.0F;
        path.plane = side * surface.normal;
        const bool leans =
            surface_.smooth[place] != 0 && glm::dot(surface_.normal[place], surface.normal) > 0.0F;
        path.normal = leans ? side * surface_.normal[place] : path.plane;
        path.origin = start(surface, path.plane, barycentrics.x, barycentrics.y);
        path.direction = cosine_direction(path.normal, random);
        return glm::dot(path.direction, path.plane) > 0.0F;
    }

    void trace(Path& path) const {
        for (std::uint32_t depth = 0;; ++depth) {
            add_suns(path);
            add_lights(path);
            const Hit hit = nearest(rays_, path.origin, path.direction, path.triangle);
            if (hit.triangle == NO_TRIANGLE) {
                path.irradiance += path.throughput * PI * options_.sky;
                return;
            }
            const Surface& surface = surfaces_[hit.triangle];
            const bool meets_back = glm::dot(path.direction, surface.normal) >= 0.0F;
            if (!surface.double_sided && meets_back) {
                path.starts_at_back = depth == 0;
                return;
            }
            const std::size_t texel = surface_.texels[texel_at(surface.map_position(hit.u, hit.v))];
            const auto& emission = meets_back && !options_.back_emission.empty()
                                       ? options_.back_emission
                                       : surface_.emission;
            if (!emission.empty()) {
                path.irradiance += path.throughput * PI * emission[texel];
            }
            if (depth == options_.bounces) {
                return;
            }
            path.throughput *= surface_.albedo[texel];
            path.triangle = hit.triangle;
            glm::vec2 random;
            do {
                random.x = path.random.next();
                random.y = path.random.next();
            } while (!set_out(path, texel, meets_back, {hit.u, hit.v}, random));
        }
    }

    [[nodiscard]] static glm::vec3 point_of_disc(const SunLight& sun, Random& random) {
        if (sun.disc_radius == 0.0F) {
            return sun.to_sun;
        }
        const float radius = sun.disc_radius * std::sqrt(random.next());
        const float angle = 2.0F * PI * random.next();
        const glm::vec3 x = glm::normalize(glm::cross(
            sun.to_sun, std::abs(sun.to_sun.x) < 0.5F ? glm::vec3(1, 0, 0) : glm::vec3(0, 1, 0)));
        return glm::normalize(sun.to_sun + radius * (std::cos(angle) * x +
                                                     std::sin(angle) * glm::cross(sun.to_sun, x)));
    }

    // Adds the light of suns at the start of the next ray.
    void add_suns(Path& path) const {
        for (const SunLight& sun : suns_) {
            const glm::vec3 to_sun = point_of_disc(sun, path.random);
            const float cosine = glm::dot(path.normal, to_sun);
            const bool is_in_front = glm::dot(path.plane, to_sun) > 0.0F;
            if (cosine > 0.0F && is_in_front && rays_.is_free(path.origin, to_sun)) {
                path.irradiance += path.throughput * sun.irradiance * cosine;
            }
        }
    }

    // Adds the light of point and spot lights there, with KHR_lights_punctual's attenuation.
    void add_lights(Path& path) const {
        for (const baker::PointLight& light : lights_) {
            const glm::vec3 way = light.position - path.origin;
            const float square = glm::dot(way, way);
            const glm::vec3 to_light = way / std::sqrt(square);
            const float cosine =
                glm::dot(path.plane, to_light) > 0.0F ? glm::dot(path.normal, to_light) : 0.0F;
            const float fade = std::pow(std::sqrt(square) / light.range, 4.0F);
            float share = cosine / square * std::clamp(1.0F - fade, 0.0F, 1.0F);
            if (light.is_spot) {
                const float outer = std::cos(light.outer_angle);
                const float inner = std::max(std::cos(light.inner_angle), outer + 0.001F);
                const float within = (-glm::dot(light.direction, to_light) - outer);
                share *= std::pow(std::clamp(within / (inner - outer), 0.0F, 1.0F), 2.0F);
            }
            if (share > 0.0F && rays_.is_free(path.origin, way, 1.0F)) {
                path.irradiance += path.throughput * light.intensity * share;
            }
        }
    }

    [[nodiscard]] std::size_t texel_at(const glm::vec2& position) const {
        const auto texel = [](float coordinate, std::uint32_t extent) {
            return static_cast<std::size_t>(
                std::clamp(coordinate, 0.0F, static_cast<float>(extent - 1)));
        };
        return texel(position.y, surface_.texels.extent().height) * surface_.texels.extent().width +
               texel(position.x, surface_.texels.extent().width);
    }

    const baker::SurfaceMap& surface_;
    const PathTracerOptions& options_;
    const std::vector<baker::PointLight>& lights_;
    baker::EmbreeRays rays_;
    float offset_;
    std::vector<Surface> surfaces_;
    std::vector<std::vector<std::uint32_t>> triangles_;
    std::vector<SunLight> suns_;
};

}  // namespace

PathTracedMap trace_paths(const baker::Scene& scene, const baker::SurfaceMap& surface,
                          const PathTracerOptions& options) {
    const std::size_t texels = surface.texels.extent().texels();
    if (scene.light_map_coordinates.size() != scene.positions.size() ||
        surface.albedo.size() != surface.texels.places()) {
        throw std::invalid_argument(
            "The path tracer needs lightmap coordinates and a surface of their extent");
    }
    PathTracedMap map{.irradiance = std::vector(texels, glm::vec3(0.0F)),
                      .samples = std::vector(texels, std::uint32_t{0}),
                      .back_share = std::vector(texels, 0.0F)};
    if (texels == 0 || scene.triangles.empty() || options.samples_per_texel == 0) {
        return map;
    }
    const Tracer tracer(scene, surface, options);

    baker::parallel_for(surface.texels.extent().height, options.threads, [&](std::size_t row) {
        for (std::uint32_t x = 0; x < surface.texels.extent().width; ++x) {
            tracer.trace_texel(static_cast<std::uint32_t>(row) * surface.texels.extent().width + x,
                               map);
        }
    });
    return map;
}

}  // namespace quadtile::test
