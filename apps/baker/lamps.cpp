#include "lamps.hpp"

#include "light_map.hpp"
#include "topology.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

namespace quadtile::baker {

namespace {

// Largest share of a lamp of the scene's surface: enough directions meet larger ones.
constexpr double LARGEST_SHARE = 1.0 / 16.0;
// Directions that take as long as a point, in a room and on lavapipe.
constexpr std::uint32_t DIRECTIONS_A_POINT = 4;
// Distance of points in front of their patch, relative to its size, so that it does not hide them.
constexpr double POINT_OFFSET = 1e-3;

void include(LampPatch& patch, const LampPiece& piece) {
    patch.pieces.push_back(piece);
    patch.power += glm::length(piece.cross()) * double{grey(piece.radiance)};
    for (const glm::dvec3& corner : piece.corners) {
        patch.box.include(corner);
    }
}

// Returns halves, split at its longest edge.
std::array<LampPiece, 2> halves_of(const LampPiece& piece) {
    const auto length = [&](std::size_t i) {
        return glm::length(piece.corners[(i + 1) % 3] - piece.corners[i]);
    };
    std::size_t longest = length(1) > length(0) ? 1 : 0;
    longest = length(2) > length(longest) ? 2 : longest;
    const glm::dvec3& start = piece.corners[longest];
    const glm::dvec3& end = piece.corners[(longest + 1) % 3];
    const glm::dvec3& across = piece.corners[(longest + 2) % 3];
    const glm::dvec3 middle = 0.5 * (start + end);
    return {LampPiece{{start, middle, across}, piece.radiance},
            LampPiece{{middle, end, across}, piece.radiance}};
}

// Returns halves, split at the longest side of its box.
std::array<LampPatch, 2> halves_of(LampPatch patch) {
    if (patch.pieces.size() == 1) {
        const std::array<LampPiece, 2> halves = halves_of(patch.pieces[0]);
        patch.pieces.assign(halves.begin(), halves.end());
    }
    const glm::dvec3 size = patch.box.size();
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    std::ranges::stable_sort(patch.pieces, {},
                             [&](const LampPiece& piece) { return piece.middle()[axis]; });
    std::array<LampPatch, 2> halves;
    for (const LampPiece& piece : patch.pieces) {
        // At least one piece each.
        const bool is_first = halves[0].pieces.empty() || (halves[0].power < 0.5 * patch.power &&
                                                           &piece != &patch.pieces.back());
        include(halves[is_first ? 0 : 1], piece);
    }
    return halves;
}

// Returns the gain of a split.
double weight_of(const LampPatch& patch) {
    return patch.power * glm::length(patch.box.size());
}

// Splits the most important patches until there are `count`.
void cut(std::vector<LampPatch>& patches, std::size_t count) {
    const auto is_less = [](const LampPatch& a, const LampPatch& b) {
        return weight_of(a) < weight_of(b);
    };
    std::ranges::make_heap(patches, is_less);
    while (patches.size() < count) {
        std::ranges::pop_heap(patches, is_less);
        auto [first, second] = halves_of(std::move(patches.back()));
        patches.back() = std::move(first);
        std::ranges::push_heap(patches, is_less);
        patches.push_back(std::move(second));
        std::ranges::push_heap(patches, is_less);
    }
}

// Returns patches of pieces that share corners, each side of a surface by itself. `triangles`: by
// piece.
std::vector<LampPatch> connected_patches(const Scene& scene, const std::vector<LampPiece>& pieces,
                                         const std::vector<std::uint32_t>& triangles) {
    JoinedSets sets(pieces.size());
    std::vector<glm::vec3> positions;  // of corners
    for (const std::uint32_t triangle : triangles) {
        for (const std::uint32_t vertex : scene.triangles[triangle].vertices) {
            positions.push_back(scene.positions[vertex]);
        }
    }
    const std::vector<std::uint32_t> points = weld_equal(positions);
    std::vector<std::vector<std::uint32_t>> corners(points.size());  // pieces by point
    for (std::uint32_t i = 0; i < pieces.size(); ++i) {
        const glm::dvec3 normal = pieces[i].cross();
        for (std::size_t k = std::size_t{3} * i; k < std::size_t{3} * i + 3; ++k) {
            std::vector<std::uint32_t>& others = corners[points[k]];
            for (const std::uint32_t other : others) {
                // not the back of a sheet
                if (glm::dot(normal, pieces[other].cross()) >
                    -0.999 * glm::length(normal) * glm::length(pieces[other].cross())) {
                    sets.join(i, other);
                }
            }
            others.push_back(i);
        }
    }
    std::map<std::uint32_t, std::size_t> places;
    std::vector<LampPatch> patches;
    for (std::uint32_t i = 0; i < pieces.size(); ++i) {
        const auto [place, is_new] = places.emplace(sets.root(i), patches.size());
        if (is_new) {
            patches.emplace_back();
        }
        include(patches[place->second], pieces[i]);
    }
    return patches;
}

bool is_lamp(const Material& material) {
    return greatest_of(material.emission) > 0.0F && !material.emission_texture;
}

}  // namespace

Lamps find_lamps(const Scene& scene, const SurfaceMap& surface, std::uint32_t points,
                 std::uint32_t directions) {
    std::vector<LampPiece> pieces;
    double scene_area = 0.0;
    double lamp_area = 0.0;
    std::vector<std::uint32_t> triangles;  // by piece
    for (std::uint32_t t = 0; t < scene.triangles.size(); ++t) {
        const Triangle& triangle = scene.triangles[t];
        const Material& material = scene.materials[triangle.material];
        LampPiece piece{scene.corners(triangle), material.emission};
        const double area = glm::length(piece.cross());
        scene_area += area;
        if (is_lamp(material) && area > 0.0) {
            lamp_area += area;
            pieces.push_back(piece);
            triangles.push_back(t);
            if (material.double_sided) {
                std::swap(piece.corners[1], piece.corners[2]);
                pieces.push_back(piece);
                triangles.push_back(t);
            }
        }
    }
    if (points == 0 || pieces.empty() || lamp_area > LARGEST_SHARE * scene_area) {
        return {};
    }
    Lamps lamps{connected_patches(scene, pieces, triangles), {}};
    if (lamps.patches.size() * POINTS_A_PATCH * DIRECTIONS_A_POINT > directions) {
        return {};
    }
    cut(lamps.patches, points / POINTS_A_PATCH);
    // A partly covered texel emits only the lamp's light.
    lamps.texels.resize(surface.emission.size());
    for (std::size_t i = 0; i < lamps.texels.size(); ++i) {
        const Material& material = scene.materials[scene.triangles[surface.triangle[i]].material];
        lamps.texels[i] = greatest_of(surface.emission[i]) > 0.0F && !material.emission_texture;
    }
    return lamps;
}

std::vector<LampPatch> with_more_patches(std::vector<LampPatch> patches, std::uint32_t doublings) {
    cut(patches, patches.size() << doublings);
    return patches;
}

std::vector<LampPoint> make_lamp_points(const std::vector<LampPatch>& patches, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::array<double, 3>> places(patches.size());
    for (auto& place : places) {
        place = {random_unit(random), random_unit(random), random_unit(random)};
    }
    std::vector<LampPoint> points;
    for (std::uint32_t sample = 0; sample < POINTS_A_PATCH; ++sample) {
        for (std::uint32_t i = 0; i < patches.size(); ++i) {
            const LampPatch& patch = patches[i];
            const auto at = [&](std::size_t axis) {
                return std::fmod(places[i][axis] + 1.0 * sample / POINTS_A_PATCH, 1.0);
            };
            double rest = at(0) * patch.power;
            const LampPiece* piece = &patch.pieces.front();
            for (const LampPiece& next : patch.pieces) {
                piece = &next;
                rest -= glm::length(next.cross()) * double{grey(next.radiance)};
                if (rest < 0.0) {
                    break;
                }
            }
            const double root = std::sqrt(at(1));
            const glm::dvec3 normal = glm::normalize(piece->cross());
            points.push_back({i,
                              (1.0 - root) * piece->corners[0] +
                                  root * (1.0 - at(2)) * piece->corners[1] +
                                  root * at(2) * piece->corners[2] +
                                  POINT_OFFSET * glm::length(patch.box.size()) * normal,
                              normal});
        }
    }
    return points;
}

std::vector<BundleDirection> make_lamp_directions(const std::vector<LampPoint>& points,
                                                  std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<BundleDirection> directions;
    for (const LampPoint& point : points) {
        add_faces(directions, point.position, cube_along(point.normal, random), FACES_A_LAMP_POINT,
                  1.0, random);
    }
    return directions;
}

LampTriangle lamp_triangle(const LampPiece& piece) {
    LampTriangle triangle{.size = static_cast<float>(glm::length(piece.cross()))};
    for (int axis = 0; axis < 3; ++axis) {
        triangle.a[axis] = static_cast<float>(piece.corners[0][axis]);
        triangle.b[axis] = static_cast<float>(piece.corners[1][axis]);
        triangle.c[axis] = static_cast<float>(piece.corners[2][axis]);
        triangle.cross[axis] = static_cast<float>(piece.cross()[axis]);
        triangle.radiance[axis] = piece.radiance[axis];
    }
    return triangle;
}

// ---- Point and spot lights

namespace {

// Points of a patch along each side, enough for a mean that is right to a thousandth.
constexpr double POINTS_AT_ITS_SIZE = 16.0;
constexpr double MOST_POINTS = 16.0;
constexpr double POINTS_AT_EDGES = 4.0;  // for a cone's light, which may end within a texel
// Distance of a light from a plane that contains it, in greatest coordinates; and the sine of its
// height above a texel that it does not light.
constexpr double PLANE_TOLERANCE = 0x1p-22;
constexpr double LEAST_SINE = 1e-6;

// Returns the irradiance of a sphere with the radiance 1 / pi, whose middle lies in the direction
// of `cosine`; `square` is the squared sine of its angular radius. Source: Lagarde and de Rousiers,
// "Moving Frostbite to Physically Based Rendering" (2014), 4.7.2.
double sphere_irradiance(double cosine, double square) {
    if (cosine * cosine >= square) {
        return square * std::max(cosine, 0.0);
    }
    // The horizon cuts the sphere.
    const double sine = std::sqrt(1.0 - cosine * cosine);
    const double x = std::sqrt(1.0 / square - 1.0);
    const double y = -x * cosine / sine;
    const double z = sine * std::sqrt(std::max(1.0 - y * y, 0.0));
    const double angle = std::acos(std::clamp(y, -1.0, 1.0));
    return std::max(((cosine * angle - x * z) * square + std::atan(z / x)) / std::numbers::pi, 0.0);
}

// Returns the attenuation that KHR_lights_punctual recommends for cone and range.
double attenuation(const PointLight& light, const glm::dvec3& to_light, double distance) {
    const double part = distance / light.range;
    double share = std::clamp(1.0 - part * part * part * part, 0.0, 1.0);
    if (light.is_spot) {
        const double inner = std::cos(double{light.inner_angle});
        const double outer = std::cos(double{light.outer_angle});
        const double cosine = -glm::dot(to_light, glm::dvec3(light.direction));
        const double within =
            std::clamp((cosine - outer) / std::max(0.001, inner - outer), 0.0, 1.0);
        share *= within * within;
    }
    return share;
}

// Returns whether no part of a ball is within the light's range and cone.
bool is_beyond(const PointLight& light, const glm::dvec3& centre, double radius) {
    const glm::dvec3 way = centre - glm::dvec3(light.position);
    const double distance = glm::length(way);
    if (distance - radius > light.range) {
        return true;
    }
    if (!light.is_spot || distance <= radius) {
        return false;
    }
    const double cosine = glm::dot(way, glm::dvec3(light.direction)) / distance;
    return std::acos(std::clamp(cosine, -1.0, 1.0)) - std::asin(radius / distance) >
           double{light.outer_angle} + 1e-6;
}

}  // namespace

std::vector<std::uint32_t> triangles_in_plane(const TracedScene& scene, const glm::vec3& position) {
    const glm::dvec3 point = glm::dvec3(position) - scene.centre;
    const glm::dvec3 size = glm::abs(scene.centre) + scene.half_extent;
    const double tolerance = PLANE_TOLERANCE * std::max({size.x, size.y, size.z});
    std::vector<std::uint32_t> triangles;
    for (std::uint32_t i = 0; i < scene.triangles.size(); ++i) {
        const float* const p = scene.triangles[i].positions;
        const glm::dvec3 a(p[0], p[1], p[2]);
        const glm::dvec3 normal =
            glm::cross(glm::dvec3(p[3], p[4], p[5]) - a, glm::dvec3(p[6], p[7], p[8]) - a);
        if (std::abs(glm::dot(normal, point - a)) <= tolerance * glm::length(normal)) {
            triangles.push_back(i);
        }
    }
    return triangles;
}

LightReceived received(const PointLight& light, const Patch& patch, const glm::vec3& normal) {
    const glm::dvec3 centre(patch.centre);
    const glm::dvec3 across(patch.across);
    const glm::dvec3 down(patch.down);
    const glm::dvec3 position(light.position);
    const double radius = light.radius;
    const double size = std::max({glm::length(across), glm::length(down), 1e-30});
    const double points = std::clamp(
        std::ceil(POINTS_AT_ITS_SIZE * size / std::max(glm::length(position - centre), 1e-30)),
        light.is_spot ? POINTS_AT_EDGES : 1.0, MOST_POINTS);
    const double nearest = std::max(radius, 0.5 * size / MOST_POINTS);
    LightReceived result;
    if (is_beyond(light, centre, 0.71 * (glm::length(across) + glm::length(down)))) {
        return result;
    }
    for (double y = 0.5; y < points; ++y) {
        for (double x = 0.5; x < points; ++x) {
            const glm::dvec3 point =
                centre + (x / points - 0.5) * across + (y / points - 0.5) * down;
            const double true_distance = std::max(glm::length(position - point), 1e-30);
            const glm::dvec3 to_light = (position - point) / true_distance;
            const double distance = std::max(true_distance, nearest);
            const double cosine = std::clamp(glm::dot(to_light, glm::dvec3(normal)), -1.0, 1.0);
            const double square = std::min(radius * radius / (distance * distance), 1.0 - 1e-9);
            const double shape = radius > 0.0          ? sphere_irradiance(cosine, square) / square
                                 : cosine > LEAST_SINE ? cosine
                                                       : 0.0;
            const double irradiance =
                shape * attenuation(light, to_light, distance) / (distance * distance);
            result.irradiance += irradiance;
            result.direction += irradiance * to_light;
        }
    }
    result.irradiance /= points * points;
    result.direction /= points * points;
    return result;
}

}  // namespace quadtile::baker
