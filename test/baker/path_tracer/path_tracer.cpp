#include "path_tracer.hpp"

#include <embree3/rtcore.h>
#include <glm/geometric.hpp>
#include <glm/mat3x3.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace quadtile::test {

namespace {

constexpr float PI = std::numbers::pi_v<float>;
constexpr std::uint32_t NO_TRIANGLE = RTC_INVALID_GEOMETRY_ID;

// ---- Random numbers ----

std::uint32_t hash(std::uint32_t v) {
    v ^= v >> 16U;
    v *= 0x7feb352dU;
    v ^= v >> 15U;
    v *= 0x846ca68bU;
    v ^= v >> 16U;
    return v;
}

std::uint32_t hash(std::uint32_t a, std::uint32_t b) {
    return hash(a ^ (hash(b) + 0x9e3779b9U));
}

// In [0, 1).
float unit_float(std::uint32_t word) {
    return static_cast<float>(word >> 8U) * 0x1p-24F;
}

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

std::uint32_t reverse_bits(std::uint32_t v) {
    v = ((v >> 1U) & 0x55555555U) | ((v & 0x55555555U) << 1U);
    v = ((v >> 2U) & 0x33333333U) | ((v & 0x33333333U) << 2U);
    v = ((v >> 4U) & 0x0f0f0f0fU) | ((v & 0x0f0f0f0fU) << 4U);
    v = ((v >> 8U) & 0x00ff00ffU) | ((v & 0x00ff00ffU) << 8U);
    return std::rotl(v, 16);
}

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
        reverse_bits(scramble_reversed(reverse_bits(index), hash(seed, 0)));
    // Times Pascal's triangle modulo 2, the generator of the second coordinate.
    std::uint32_t second = shuffled;
    second ^= (second >> 16U) & 0x0000ffffU;
    second ^= (second >> 8U) & 0x00ff00ffU;
    second ^= (second >> 4U) & 0x0f0f0f0fU;
    second ^= (second >> 2U) & 0x33333333U;
    second ^= (second >> 1U) & 0x55555555U;
    return {unit_float(reverse_bits(scramble_reversed(shuffled, hash(seed, 1)))),
            unit_float(reverse_bits(scramble_reversed(second, hash(seed, 2))))};
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
    float inset = 0.0F;  // of starting rays: towards the centroid, of the way there
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

// ---- Where charts cover a texel ----

// A triangle's part of a texel, or a part of that: barycentrics of the triangle at its corners.
struct Piece {
    std::uint32_t triangle = 0;
    std::array<glm::vec2, 3> barycentrics;
    float area_before = 0.0F;  // of the pieces before it, of all of the texel's: 0..1
    float area = 0.0F;
};

using Polygon = std::vector<glm::dvec2>;

// Keeps the part where sign * p[axis] <= sign * limit (Sutherland and Hodgman).
void clip(Polygon& polygon, Polygon& scratch, int axis, double sign, double limit) {
    scratch.clear();
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const glm::dvec2& from = polygon[i];
        const glm::dvec2& to = polygon[i + 1 == polygon.size() ? 0 : i + 1];
        const double from_outside = sign * (from[axis] - limit);
        const double to_outside = sign * (to[axis] - limit);
        if (from_outside <= 0.0) {
            scratch.push_back(from);
        }
        if ((from_outside < 0.0 && to_outside > 0.0) || (from_outside > 0.0 && to_outside < 0.0)) {
            scratch.push_back(from + (to - from) * (from_outside / (from_outside - to_outside)));
        }
    }
    polygon.swap(scratch);
}

double cross(const glm::dvec2& a, const glm::dvec2& b) {
    return a.x * b.y - a.y * b.x;
}

class TexelPieces {
 public:
    // Of the texel (x, y), by the triangles given; false: none of them covers it.
    bool find(std::span<const Surface> surfaces, std::span<const std::uint32_t> triangles,
              std::uint32_t x, std::uint32_t y) {
        pieces_.clear();
        double sum = 0.0;
        for (const std::uint32_t triangle : triangles) {
            sum = add(surfaces[triangle], triangle, x, y, sum);
        }
        // Less is a chart's border that rounding pushed over the border of the texel.
        constexpr double LEAST_AREA = 1e-6;
        if (sum < LEAST_AREA) {
            return false;
        }
        for (Piece& piece : pieces_) {
            piece.area_before /= static_cast<float>(sum);
            piece.area /= static_cast<float>(sum);
        }
        return true;
    }

    struct Point {
        std::uint32_t triangle = 0;
        glm::vec2 barycentrics{0.0F};
    };

    // Uniform over the pieces.
    [[nodiscard]] Point point(glm::vec2 random) const {
        const auto after = std::ranges::upper_bound(pieces_, random.x, {}, &Piece::area_before);
        const Piece& piece = *(after == pieces_.begin() ? after : after - 1);
        // What is left of the number is as uniform.
        random.x = std::clamp((random.x - piece.area_before) / piece.area, 0.0F, 1.0F);
        const float root = std::sqrt(random.x);
        const auto& [a, b, c] = piece.barycentrics;
        return {piece.triangle,
                (1.0F - root) * a + root * (1.0F - random.y) * b + root * random.y * c};
    }

 private:
    double add(const Surface& surface, std::uint32_t triangle, std::uint32_t x, std::uint32_t y,
               double sum) {
        const glm::dvec2 corner = surface.map_corner;
        const glm::dvec2 edge1 = surface.map_edge1;
        const glm::dvec2 edge2 = surface.map_edge2;
        const double determinant = cross(edge1, edge2);
        polygon_ = {corner, corner + edge1, corner + edge2};
        clip(polygon_, scratch_, 0, -1.0, x);
        clip(polygon_, scratch_, 0, 1.0, x + 1.0);
        clip(polygon_, scratch_, 1, -1.0, y);
        clip(polygon_, scratch_, 1, 1.0, y + 1.0);
        const auto barycentrics = [&](const glm::dvec2& p) {
            const glm::dvec2 offset = p - corner;
            return glm::vec2(cross(offset, edge2) / determinant,
                             cross(edge1, offset) / determinant);
        };
        for (std::size_t i = 2; i < polygon_.size(); ++i) {
            const double area =
                0.5 * std::abs(cross(polygon_[i - 1] - polygon_[0], polygon_[i] - polygon_[0]));
            if (area > 0.0) {
                pieces_.push_back(
                    {.triangle = triangle,
                     .barycentrics = {barycentrics(polygon_[0]), barycentrics(polygon_[i - 1]),
                                      barycentrics(polygon_[i])},
                     .area_before = static_cast<float>(sum),
                     .area = static_cast<float>(area)});
                sum += area;
            }
        }
        return sum;
    }

    std::vector<Piece> pieces_;
    Polygon polygon_;
    Polygon scratch_;
};

// Squares of texels: what a thread works on at a time.
constexpr std::uint32_t TILE_EXTENT = 8;

struct Tiles {
    std::uint32_t width = 0;
    std::vector<std::vector<std::uint32_t>> triangles;  // by tile: those that may lie in it
};

Tiles make_tiles(std::span<const Surface> surfaces, const baker::Extent& extent) {
    const auto tiles_along = [](std::uint32_t texels) {
        return (texels + TILE_EXTENT - 1) / TILE_EXTENT;
    };
    const std::uint32_t width = tiles_along(extent.width);
    const std::uint32_t height = tiles_along(extent.height);
    Tiles tiles{width, std::vector<std::vector<std::uint32_t>>(std::size_t{width} * height)};
    for (std::uint32_t index = 0; index < surfaces.size(); ++index) {
        const Surface& surface = surfaces[index];
        const std::array<glm::dvec2, 3> corners{
            glm::dvec2(surface.map_corner),
            glm::dvec2(surface.map_corner) + glm::dvec2(surface.map_edge1),
            glm::dvec2(surface.map_corner) + glm::dvec2(surface.map_edge2)};
        const double determinant = cross(surface.map_edge1, surface.map_edge2);
        if (surface.normal == glm::vec3(0.0F) || determinant == 0.0) {
            continue;  // has no light of its own, or no place for it
        }
        const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x});
        const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y});
        const auto tile = [](double texel, std::uint32_t count) {
            return static_cast<std::uint32_t>(
                std::clamp(std::floor(texel / TILE_EXTENT), 0.0, count - 1.0));
        };
        for (std::uint32_t y = tile(top, height); y <= tile(bottom, height); ++y) {
            for (std::uint32_t x = tile(left, width); x <= tile(right, width); ++x) {
                // Outside of an edge is a tile whose centre is farther from it than its corners
                // can be from the centre.
                constexpr double HALF = TILE_EXTENT / 2.0;
                const glm::dvec2 centre(x * TILE_EXTENT + HALF, y * TILE_EXTENT + HALF);
                bool outside = false;
                for (std::size_t i = 0; i < 3; ++i) {
                    const glm::dvec2 edge = corners[(i + 1) % 3] - corners[i];
                    const double inside =
                        std::copysign(1.0, determinant) * cross(edge, centre - corners[i]);
                    outside = outside ||
                              inside < -HALF * (std::abs(edge.x) + std::abs(edge.y)) * (1.0 + 1e-9);
                }
                if (!outside) {
                    tiles.triangles[std::size_t{y} * width + x].push_back(index);
                }
            }
        }
    }
    return tiles;
}

// ---- Rays ----

struct Ray {
    glm::vec3 origin;
    glm::vec3 direction;
    std::uint32_t path = 0;
    std::uint32_t from = NO_TRIANGLE;  // the triangle of its origin
};

struct Hit {
    std::uint32_t triangle = NO_TRIANGLE;
    float u = 0.0F;
    float v = 0.0F;
};

template <typename Rays>
void set_ray(Rays& rays, std::size_t lane, const Ray& ray) {
    rays.org_x[lane] = ray.origin.x;
    rays.org_y[lane] = ray.origin.y;
    rays.org_z[lane] = ray.origin.z;
    rays.dir_x[lane] = ray.direction.x;
    rays.dir_y[lane] = ray.direction.y;
    rays.dir_z[lane] = ray.direction.z;
    rays.tnear[lane] = 0.0F;
    rays.tfar[lane] = std::numeric_limits<float>::infinity();
    rays.time[lane] = 0.0F;
    rays.mask[lane] = ~0U;
    rays.id[lane] = static_cast<unsigned>(lane);
    rays.flags[lane] = 0;
}

struct DeviceDeleter {
    void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct SceneDeleter {
    void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};

class Intersector {
 public:
    explicit Intersector(const baker::Scene& scene) : device_(rtcNewDevice(nullptr)) {
        if (device_ == nullptr) {
            throw std::runtime_error("Embree gives no device: error " +
                                     std::to_string(rtcGetDeviceError(nullptr)));
        }
        scene_.reset(rtcNewScene(device_.get()));
        rtcSetSceneBuildQuality(scene_.get(), RTC_BUILD_QUALITY_HIGH);
        const RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_TRIANGLE);
        rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_HIGH);
        auto* positions = static_cast<glm::vec3*>(
            rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                    sizeof(glm::vec3), scene.positions.size()));
        auto* indices = static_cast<std::array<std::uint32_t, 3>*>(
            rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                    3 * sizeof(std::uint32_t), scene.triangles.size()));
        if (positions != nullptr && indices != nullptr) {
            std::ranges::copy(scene.positions, positions);
            std::ranges::transform(scene.triangles, indices, &baker::Triangle::vertices);
        }
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene_.get(), geometry);
        rtcReleaseGeometry(geometry);
        rtcCommitScene(scene_.get());
        if (const RTCError error = rtcGetDeviceError(device_.get()); error != RTC_ERROR_NONE) {
            throw std::runtime_error("Embree cannot build its structure: error " +
                                     std::to_string(error));
        }
    }

    // The nearest hit of each ray.
    void intersect(std::span<const Ray> rays, std::span<Hit> hits) const {
        RTCIntersectContext context = make_context();
        RTCRayHit8 packet;
        alignas(32) std::array<int, WIDTH> valid{};
        for (std::size_t first = 0; first < rays.size(); first += WIDTH) {
            const std::size_t count = std::min(WIDTH, rays.size() - first);
            for (std::size_t lane = 0; lane < WIDTH; ++lane) {
                valid[lane] = lane < count ? -1 : 0;
                set_ray(packet.ray, lane, rays[first + std::min(lane, count - 1)]);
                packet.hit.primID[lane] = NO_TRIANGLE;
                packet.hit.geomID[lane] = NO_TRIANGLE;
                packet.hit.instID[0][lane] = NO_TRIANGLE;
            }
            rtcIntersect8(valid.data(), scene_.get(), &context, &packet);
            for (std::size_t lane = 0; lane < count; ++lane) {
                const Ray& ray = rays[first + lane];
                Hit& hit = hits[first + lane];
                hit = {packet.hit.primID[lane], packet.hit.u[lane], packet.hit.v[lane]};
                if (hit.triangle == ray.from && hit.triangle != NO_TRIANGLE) {
                    hit = behind(ray, packet.ray.tfar[lane]);
                }
            }
        }
    }

    // By ray: whether it hits anything. Not 0 is yes.
    void occluded(std::span<const Ray> rays, std::span<std::uint8_t> occluded) const {
        RTCIntersectContext context = make_context();
        RTCRay8 packet;
        alignas(32) std::array<int, WIDTH> valid{};
        for (std::size_t first = 0; first < rays.size(); first += WIDTH) {
            const std::size_t count = std::min(WIDTH, rays.size() - first);
            for (std::size_t lane = 0; lane < WIDTH; ++lane) {
                valid[lane] = lane < count ? -1 : 0;
                set_ray(packet, lane, rays[first + std::min(lane, count - 1)]);
            }
            rtcOccluded8(valid.data(), scene_.get(), &context, &packet);
            for (std::size_t lane = 0; lane < count; ++lane) {
                occluded[first + lane] = packet.tfar[lane] < 0.0F ? 1 : 0;
            }
        }
    }

 private:
    // Of packets. The paths of a texel start in all directions, and end anywhere: larger packets,
    // or telling Embree that rays are coherent, are slower, as is sorting by direction first.
    static constexpr std::size_t WIDTH = 8;

    static RTCIntersectContext make_context() {
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        context.flags = RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
        return context;
    }

    // The nearest hit past `distance` that is not with the triangle where the ray starts: a plane
    // cannot hide what lies before it, so such a hit is a rounding error.
    [[nodiscard]] Hit behind(const Ray& ray, float distance) const {
        RTCIntersectContext context = make_context();
        for (;;) {
            RTCRayHit result{};
            result.ray = {.org_x = ray.origin.x,
                          .org_y = ray.origin.y,
                          .org_z = ray.origin.z,
                          .tnear = std::nextafter(distance, std::numeric_limits<float>::infinity()),
                          .dir_x = ray.direction.x,
                          .dir_y = ray.direction.y,
                          .dir_z = ray.direction.z,
                          .tfar = std::numeric_limits<float>::infinity(),
                          .mask = ~0U};
            result.hit.primID = NO_TRIANGLE;
            result.hit.geomID = NO_TRIANGLE;
            result.hit.instID[0] = NO_TRIANGLE;
            rtcIntersect1(scene_.get(), &context, &result);
            if (result.hit.primID == NO_TRIANGLE || result.hit.primID != ray.from) {
                return {result.hit.primID, result.hit.u, result.hit.v};
            }
            distance = result.ray.tfar;
        }
    }

    std::unique_ptr<std::remove_pointer_t<RTCDevice>, DeviceDeleter> device_;
    std::unique_ptr<std::remove_pointer_t<RTCScene>, SceneDeleter> scene_;
};

// ---- Paths ----

struct Path {
    glm::vec3 irradiance{0.0F};  // that it found
    glm::vec3 throughput{1.0F};
    Random random;
};

class Tracer {
 public:
    Tracer(const baker::Scene& scene, const baker::SurfaceMap& surface,
           const PathTracerOptions& options, const Intersector& intersector,
           std::span<const Surface> surfaces, const Tiles& tiles, PathTracedMap& map, float offset)
        : surface_(surface),
          options_(options),
          intersector_(intersector),
          surfaces_(surfaces),
          tiles_(tiles),
          map_(map),
          offset_(offset) {
        for (const baker::Sun& sun : scene.suns) {
            if (sun.irradiance != glm::vec3(0.0F)) {
                suns_.push_back({-glm::normalize(sun.direction), sun.irradiance});
            }
        }
    }

    void trace_tile(std::size_t tile) {
        const std::span<const std::uint32_t> triangles = tiles_.triangles[tile];
        if (triangles.empty()) {
            return;
        }
        const auto left = static_cast<std::uint32_t>(tile % tiles_.width) * TILE_EXTENT;
        const auto top = static_cast<std::uint32_t>(tile / tiles_.width) * TILE_EXTENT;
        const std::uint32_t right = std::min(left + TILE_EXTENT, surface_.extent.width);
        const std::uint32_t bottom = std::min(top + TILE_EXTENT, surface_.extent.height);
        for (std::uint32_t y = top; y < bottom; ++y) {
            for (std::uint32_t x = left; x < right; ++x) {
                if (pieces_.find(surfaces_, triangles, x, y)) {
                    add_texel(y * surface_.extent.width + x);
                }
            }
        }
        trace_batch();
    }

    [[nodiscard]] std::uint64_t rays() const { return ray_count_; }

 private:
    struct SunLight {
        glm::vec3 to_sun;
        glm::vec3 irradiance;
    };

    // Some of a texel's paths, one after the other in a batch.
    struct Run {
        std::uint32_t texel = 0;
        std::uint32_t paths = 0;
    };

    static constexpr std::size_t BATCH_PATHS = 4096;

    void add_texel(std::uint32_t texel) {
        map_.samples[texel] = options_.samples_per_texel;
        const auto seed = hash(hash(static_cast<std::uint32_t>(options_.seed),
                                    static_cast<std::uint32_t>(options_.seed >> 32U)),
                               texel);
        for (std::uint32_t sample = 0; sample < options_.samples_per_texel; ++sample) {
            if (paths_.size() == BATCH_PATHS) {
                trace_batch();
            }
            if (runs_.empty() || runs_.back().texel != texel) {
                runs_.push_back({texel, 0});
            }
            ++runs_.back().paths;
            const auto path = static_cast<std::uint32_t>(paths_.size());
            paths_.push_back({.random = Random((std::uint64_t{seed} << 32U) | hash(seed, sample))});

            const auto [triangle, barycentrics] = pieces_.point(sobol_point(sample, hash(seed, 1)));
            const Surface& from = surfaces_[triangle];
            const glm::vec3 origin = start(from, barycentrics.x, barycentrics.y);
            add_sun_rays(origin, triangle, path);
            rays_.push_back({origin,
                             cosine_direction(from.normal, sobol_point(sample, hash(seed, 2))),
                             path, triangle});
        }
    }

    // Of a ray: clear of the triangle's plane, and of those next to it that rounding bent; and a
    // bit inside of the triangle, for other walls may stand on its edges.
    [[nodiscard]] glm::vec3 start(const Surface& surface, float u, float v) const {
        constexpr float THIRD = 1.0F / 3.0F;
        return surface.position(u + surface.inset * (THIRD - u), v + surface.inset * (THIRD - v)) +
               offset_ * surface.normal;
    }

    void add_sun_rays(const glm::vec3& origin, std::uint32_t triangle, std::uint32_t path) {
        for (const SunLight& sun : suns_) {
            const float cosine = glm::dot(surfaces_[triangle].normal, sun.to_sun);
            if (cosine > 0.0F) {
                sun_rays_.push_back({origin, sun.to_sun, path, triangle});
                sun_light_.push_back(paths_[path].throughput * sun.irradiance * cosine);
            }
        }
    }

    void trace_batch() {
        for (std::uint32_t depth = 0; !rays_.empty(); ++depth) {
            trace_sun_rays();
            hits_.resize(rays_.size());
            ray_count_ += rays_.size();
            intersector_.intersect(rays_, hits_);
            if (depth == 0) {
                back_.assign(paths_.size(), 0);
            }
            next_rays_.clear();
            for (std::size_t i = 0; i < rays_.size(); ++i) {
                shade(rays_[i], hits_[i], depth);
            }
            rays_.swap(next_rays_);
        }
        trace_sun_rays();
        add_to_map();
        paths_.clear();
        runs_.clear();
    }

    void trace_sun_rays() {
        occluded_.resize(sun_rays_.size());
        ray_count_ += sun_rays_.size();
        intersector_.occluded(sun_rays_, occluded_);
        for (std::size_t i = 0; i < sun_rays_.size(); ++i) {
            if (occluded_[i] == 0) {
                paths_[sun_rays_[i].path].irradiance += sun_light_[i];
            }
        }
        sun_rays_.clear();
        sun_light_.clear();
    }

    void shade(const Ray& ray, const Hit& hit, std::uint32_t depth) {
        Path& path = paths_[ray.path];
        if (hit.triangle == NO_TRIANGLE) {
            path.irradiance += path.throughput * PI * options_.sky;
            return;
        }
        const Surface& surface = surfaces_[hit.triangle];
        if (!surface.double_sided && glm::dot(ray.direction, surface.normal) >= 0.0F) {
            if (depth == 0) {
                back_[ray.path] = 1;
            }
            return;
        }
        const std::size_t texel = texel_at(surface.map_position(hit.u, hit.v));
        path.irradiance += path.throughput * PI * surface_.emission[texel];
        if (depth == options_.bounces) {
            return;
        }
        path.throughput *= surface_.albedo[texel];
        if (!survives(path)) {
            return;
        }
        // The back of a double-sided surface radiates what its front receives.
        const glm::vec3 origin = start(surface, hit.u, hit.v);
        add_sun_rays(origin, hit.triangle, ray.path);
        const float first = path.random.next();
        const float second = path.random.next();
        next_rays_.push_back(
            {origin, cosine_direction(surface.normal, {first, second}), ray.path, hit.triangle});
    }

    // Russian roulette: of paths that carry little, a few go on and stand for all.
    static bool survives(Path& path) {
        constexpr float LITTLE = 0.05F;
        const float most = std::max({path.throughput.x, path.throughput.y, path.throughput.z});
        if (most >= LITTLE) {
            return true;
        }
        if (path.random.next() * LITTLE >= most) {
            return false;
        }
        path.throughput *= LITTLE / most;
        return true;
    }

    [[nodiscard]] std::size_t texel_at(const glm::vec2& position) const {
        const auto texel = [](float coordinate, std::uint32_t extent) {
            return static_cast<std::size_t>(
                std::clamp(coordinate, 0.0F, static_cast<float>(extent - 1)));
        };
        return texel(position.y, surface_.extent.height) * surface_.extent.width +
               texel(position.x, surface_.extent.width);
    }

    void add_to_map() {
        std::size_t path = 0;
        for (const Run& run : runs_) {
            glm::dvec3 sum(0.0);
            std::uint32_t back = 0;
            for (const std::size_t end = path + run.paths; path < end; ++path) {
                sum += glm::dvec3(paths_[path].irradiance);
                back += back_[path];
            }
            const double weight = 1.0 / options_.samples_per_texel;
            map_.irradiance[run.texel] += glm::vec3(sum * weight);
            map_.back_share[run.texel] += static_cast<float>(back * weight);
        }
    }

    const baker::SurfaceMap& surface_;
    const PathTracerOptions& options_;
    const Intersector& intersector_;
    std::span<const Surface> surfaces_;
    const Tiles& tiles_;
    PathTracedMap& map_;  // each thread writes texels of its own
    float offset_;
    std::vector<SunLight> suns_;

    TexelPieces pieces_;
    std::vector<Path> paths_;
    std::vector<Run> runs_;
    std::vector<Ray> rays_;
    std::vector<Ray> next_rays_;
    std::vector<Hit> hits_;
    std::vector<std::uint8_t> back_;
    std::vector<Ray> sun_rays_;
    std::vector<glm::vec3> sun_light_;
    std::vector<std::uint8_t> occluded_;
    std::uint64_t ray_count_ = 0;
};

}  // namespace

PathTracedMap trace_paths(const baker::Scene& scene, const baker::SurfaceMap& surface,
                          const PathTracerOptions& options) {
    const std::size_t texels = surface.extent.texels();
    if (scene.light_map_coordinates.size() != scene.positions.size() ||
        surface.albedo.size() != texels || surface.emission.size() != texels) {
        throw std::invalid_argument(
            "The path tracer needs light map coordinates and a surface of their extent");
    }
    PathTracedMap map{.irradiance = std::vector(texels, glm::vec3(0.0F)),
                      .samples = std::vector(texels, std::uint32_t{0}),
                      .back_share = std::vector(texels, 0.0F)};
    if (texels == 0 || scene.triangles.empty() || options.samples_per_texel == 0) {
        return map;
    }
    const Intersector intersector(scene);

    const auto begin = std::chrono::steady_clock::now();
    const float offset = ray_offset(scene);
    const std::vector<Surface> surfaces = make_surfaces(scene, surface.extent, offset);
    const Tiles tiles = make_tiles(surfaces, surface.extent);
    std::atomic<std::size_t> next_tile = 0;
    std::atomic<std::uint64_t> rays = 0;
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto work = [&] {
        try {
            Tracer tracer(scene, surface, options, intersector, surfaces, tiles, map, offset);
            for (std::size_t tile = next_tile++; tile < tiles.triangles.size();
                 tile = next_tile++) {
                tracer.trace_tile(tile);
            }
            rays += tracer.rays();
        } catch (...) {
            const std::scoped_lock lock(error_mutex);
            error = std::current_exception();
        }
    };
    {
        const std::uint32_t count = options.threads > 0
                                        ? options.threads
                                        : std::max(1U, std::thread::hardware_concurrency());
        std::vector<std::jthread> threads;
        for (std::uint32_t i = 1; i < count; ++i) {
            threads.emplace_back(work);
        }
        work();
    }
    if (error) {
        std::rethrow_exception(error);
    }
    map.rays = rays;
    map.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return map;
}

}  // namespace quadtile::test
