#include "cascades.hpp"

#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace quadtile::shadow {

namespace {

// ---- Intersection of two convex bodies

using Points = std::vector<glm::dvec3>;
// Corners of a body with six faces: bit 0 of the index is x, bit 1 y, bit 2 z.
using Corners = std::array<glm::dvec3, 8>;

using Polygon = Points;    // convex
using Plane = glm::dvec4;  // inside: dot(plane, (p, 1)) >= 0

std::array<Polygon, 6> faces_of(const Corners& c) {
    return {{{c[0], c[2], c[6], c[4]},
             {c[1], c[3], c[7], c[5]},
             {c[0], c[1], c[5], c[4]},
             {c[2], c[3], c[7], c[6]},
             {c[0], c[1], c[3], c[2]},
             {c[4], c[5], c[7], c[6]}}};
}

// Returns the planes of the faces; the middle is inside.
std::array<Plane, 6> planes_of(const Corners& corners) {
    glm::dvec3 middle(0.0);
    for (const glm::dvec3& corner : corners) {
        middle += corner / 8.0;
    }
    std::array<Plane, 6> planes;
    const auto faces = faces_of(corners);
    for (std::size_t i = 0; i < faces.size(); ++i) {
        const glm::dvec3 normal = glm::cross(faces[i][1] - faces[i][0], faces[i][3] - faces[i][0]);
        const Plane plane(normal, -glm::dot(normal, faces[i][0]));
        planes[i] = glm::dot(plane, glm::dvec4(middle, 1.0)) < 0.0 ? -plane : plane;
    }
    return planes;
}

Polygon cut(const Polygon& polygon, const Plane& plane) {
    Polygon inside;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const glm::dvec3& from = polygon[i];
        const glm::dvec3& to = polygon[(i + 1) % polygon.size()];
        const double before = glm::dot(plane, glm::dvec4(from, 1.0));
        const double after = glm::dot(plane, glm::dvec4(to, 1.0));
        if (before >= 0.0) {
            inside.push_back(from);
        }
        if ((before < 0.0) != (after < 0.0)) {
            inside.push_back(from + (to - from) * (before / (before - after)));
        }
    }
    return inside;
}

void add_cut_faces(const Corners& body, const Corners& by, Points& points) {
    for (Polygon face : faces_of(body)) {
        for (const Plane& plane : planes_of(by)) {
            face = cut(face, plane);
        }
        points.insert(points.end(), face.begin(), face.end());
    }
}

Corners corners_of(const ShadowBox& box) {
    const std::array<glm::dvec3, 2> ends{low_of(box), high_of(box)};
    Corners corners;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        corners[i] = {ends[i & 1U].x, ends[i >> 1U & 1U].y, ends[i >> 2U].z};
    }
    return corners;
}

// Returns the corners of the intersection; none if it is empty.
Points shared_corners(const Corners& a, const Corners& b) {
    Points points;
    add_cut_faces(a, b, points);
    add_cut_faces(b, a, points);
    return points;
}

// ---- The shadow maps of suns that follow the scene's bounds and the camera: around all of the
// scene, and cascades, each of a slice of what the camera sees, one behind the other

constexpr std::uint32_t EDGE_TEXELS = 2;  // of fixed views, at each edge, for filters

// A rectangle across the light, without the edge texels around it.
struct ParallelMap {
    glm::dmat3 light_from_world{1.0};  // rows: two axes across the light, and its direction
    glm::dvec2 middle{0.0};            // along these axes
    glm::dvec2 size{0.0};
};

// Distances along the camera's direction, from nearest to farthest.
using Splits = std::array<double, CASCADES + 1>;

// Part of the camera's view between two distances along its direction.
struct Slice {
    Camera camera;
    double aspect = 1.0;
    double from = 0.0;
    double to = 0.0;
};

constexpr std::uint32_t ROTATIONS = 18;

glm::dmat3 light_from_world(const glm::dvec3& direction, double turn) {
    const glm::dvec3 along = glm::normalize(direction);
    const glm::dvec3 helper = std::abs(along.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
    const glm::dvec3 right = glm::normalize(glm::cross(helper, along));
    const glm::dvec3 up = glm::cross(along, right);
    return glm::transpose(glm::dmat3(right * std::cos(turn) + up * std::sin(turn),
                                     up * std::cos(turn) - right * std::sin(turn), along));
}

ParallelMap map_around(std::span<const glm::dvec3> points, const glm::dmat3& light) {
    glm::dvec2 low(std::numeric_limits<double>::max());
    glm::dvec2 high(std::numeric_limits<double>::lowest());
    for (const glm::dvec3& point : points) {
        const glm::dvec2 place(light * point);
        low = glm::min(low, place);
        high = glm::max(high, place);
    }
    return {light, 0.5 * (low + high), high - low};
}

// Returns the smallest map of all rotations around the points.
ParallelMap smallest_map(const glm::vec3& direction, std::span<const glm::dvec3> points) {
    ParallelMap best = map_around(points, light_from_world(direction, 0.0));
    for (std::uint32_t i = 1; i < ROTATIONS; ++i) {
        const ParallelMap turned = map_around(
            points, light_from_world(direction, i * (0.5 * std::numbers::pi / ROTATIONS)));
        if (turned.size.x * turned.size.y < best.size.x * best.size.y) {
            best = turned;
        }
    }
    return best;
}

// Sets a view that holds all of the scene along the light.
void set_parallel(DrawnView& view, const ParallelMap& map, const Corners& scene) {
    const glm::dmat3& light = map.light_from_world;
    double nearest = std::numeric_limits<double>::max();
    double farthest = std::numeric_limits<double>::lowest();
    for (const glm::dvec3& corner : scene) {
        const double depth = (light * corner).z;
        nearest = std::min(nearest, depth);
        farthest = std::max(farthest, depth);
    }
    const double margin = 1e-3 * (farthest - nearest) + 1e-6;
    nearest -= margin;
    farthest += margin;

    const glm::dvec2 texels(view.width, view.height);
    const glm::dvec2 size =
        glm::max(map.size, glm::dvec2(margin)) * texels / (texels - 2.0 * EDGE_TEXELS);
    const glm::dvec3 scale(2.0 / size, 1.0 / (farthest - nearest));
    const glm::dvec3 origin(map.middle, nearest);
    glm::dmat4 clip(1.0);
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            clip[column][row] = scale[row] * light[column][row];
        }
        clip[3][row] = -scale[row] * origin[row];
    }
    const glm::mat4 rounded(clip);
    std::memcpy(view.clip_from_world, &rounded, sizeof(rounded));
    view.texel_extent = static_cast<float>(std::max(size.x / texels.x, size.y / texels.y));
}

// The practical split scheme (Zhang et al., 2006).
Splits practical_splits(double nearest, double farthest) {
    constexpr double LAMBDA = 0.7;  // 1: logarithmic, 0: even
    Splits splits{};
    for (std::uint32_t i = 0; i <= CASCADES; ++i) {
        const double part = static_cast<double>(i) / CASCADES;
        splits[i] = LAMBDA * nearest * std::pow(farthest / nearest, part) +
                    (1.0 - LAMBDA) * (nearest + (farthest - nearest) * part);
    }
    return splits;
}

// ---- Tight ones: as small as they can be, so they change with all that the camera does

Corners corners_of(const Slice& slice) {
    const glm::dmat3 direction_from_clip = [&] {
        const glm::dmat4 clip(slice.camera.clip_from_world(static_cast<float>(slice.aspect)));
        glm::dmat3 rows;  // x, y and w
        for (int column = 0; column < 3; ++column) {
            rows[column] = {clip[column][0], clip[column][1], clip[column][3]};
        }
        return glm::inverse(rows);
    }();
    Corners corners;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const glm::dvec3 ray = direction_from_clip * glm::dvec3((i & 1U) != 0 ? 1.0 : -1.0,
                                                                (i & 2U) != 0 ? 1.0 : -1.0, 1.0);
        corners[i] =
            glm::dvec3(slice.camera.position) + ray * ((i & 4U) != 0 ? slice.to : slice.from);
    }
    return corners;
}

// Returns splits of the distances at which the scene may be in view.
Splits tight_splits(const Camera& camera, double aspect, const Corners& scene) {
    const glm::dvec3 forward(camera.forward());
    double farthest = camera.nearest;
    for (const glm::dvec3& corner : scene) {
        farthest = std::max(farthest, glm::dot(corner - glm::dvec3(camera.position), forward));
    }
    double nearest = farthest;
    const Corners seen = corners_of({camera, aspect, camera.nearest, 1.001 * farthest});
    const Points points = shared_corners(seen, scene);
    farthest = 0.0;
    for (const glm::dvec3& point : points) {
        const double distance = glm::dot(point - glm::dvec3(camera.position), forward);
        nearest = std::min(nearest, distance);
        farthest = std::max(farthest, distance);
    }
    // Any value, if nothing is in view.
    farthest = std::max(1.001 * farthest, 2.0 * camera.nearest);
    nearest = std::clamp<double>(nearest, camera.nearest, 0.5 * farthest);
    return practical_splits(nearest, farthest);
}

// Returns a map around the parts of the scene that may be in the slice.
ParallelMap tight_map(const glm::vec3& direction, const Slice& slice, const Corners& scene) {
    const Points points = shared_corners(corners_of(slice), scene);
    return points.empty() ? smallest_map(direction, scene) : smallest_map(direction, points);
}

// ---- Stable ones: of a size that does not change, they move by whole texels, so that texels stay
// where they are in the scene (Valient, "Stable Rendering of Cascaded Shadow Maps", ShaderX6, 2008)

// Of lambdas of 0.6 to 1 and shares of 0.002 to 0.05 and 0.3 to 1 these had the fewest wrong pixels
// over flights through a level and a city; around them little changes. The farthest split is less
// than all of the scene, since the last map has that anyway: so the three before it are finer.
constexpr double NEAREST_SHARE = 0.005;  // of the diagonal of the scene's bounds
constexpr double FARTHEST_SHARE = 0.4;

struct Sphere {
    glm::dvec3 middle{0.0};
    double radius = 0.0;
};

// Returns the smallest sphere around a slice. It depends on the camera's angles alone, so that its
// radius is bit-identical for all places and directions.
Sphere sphere_around(const Slice& slice) {
    const double tangent = std::tan(glm::radians(0.5 * slice.camera.vertical_field_degrees));
    // Squared distance of a corner from the middle, at a distance of 1.
    const double spread = tangent * tangent * (1.0 + slice.aspect * slice.aspect);
    // Equally far from the nearest and the farthest corners; in wide slices only the farthest
    // count.
    const double distance = std::min(0.5 * (slice.from + slice.to) * (1.0 + spread), slice.to);
    const double behind = slice.to - distance;
    return {glm::dvec3(slice.camera.position) + distance * glm::dvec3(slice.camera.forward()),
            std::sqrt(behind * behind + spread * slice.to * slice.to)};
}

// Returns splits that depend on the scene's bounds alone; the last slice has no end.
Splits stable_splits(const Corners& scene, float camera_nearest) {
    const double diagonal = glm::distance(scene.front(), scene.back());
    const double farthest = std::max(FARTHEST_SHARE * diagonal, 2.0 * camera_nearest);
    const double nearest = std::max<double>(NEAREST_SHARE * diagonal, camera_nearest);
    Splits splits = practical_splits(nearest, farthest);
    splits.front() = camera_nearest;
    // The camera may be anywhere, so its view has no limit.
    splits.back() = std::numeric_limits<double>::infinity();
    return splits;
}

// Around the sphere around the slice; along an axis where the scene is smaller, around that.
// `scene` is the map of it, `texels` are those of the view.
ParallelMap stable_map(const ParallelMap& scene, const Slice& slice, const glm::dvec2& texels) {
    ParallelMap map = scene;
    if (std::isinf(slice.to)) {
        return map;
    }
    const Sphere sphere = sphere_around(slice);
    const glm::dvec2 middle(scene.light_from_world * sphere.middle);
    for (int axis = 0; axis < 2; ++axis) {
        // Two texels are lost: the middle moves by half a texel at most, and there is rounding.
        const double inside = texels[axis] - 2.0 * EDGE_TEXELS;
        const double texel = 2.0 * sphere.radius / (inside - 2.0);
        if (inside * texel < scene.size[axis]) {
            map.middle[axis] = std::round(middle[axis] / texel) * texel;
            map.size[axis] = inside * texel;
        }
    }
    return map;
}

// Divides the image into columns and rows of rectangles.
void share_out(std::vector<DrawnView>& views, std::uint32_t extent) {
    std::uint32_t columns = 1;
    while (columns * columns < views.size()) {
        ++columns;
    }
    const auto width = static_cast<float>(extent / columns);
    for (std::uint32_t i = 0; i < views.size(); ++i) {
        views[i].width = views[i].height = width;
        views[i].x = static_cast<float>(i % columns) * width;
        views[i].y = static_cast<float>(i / columns) * width;
    }
}

}  // namespace

std::vector<DrawnView> cube_views(std::span<const ShadowProjection> faces, std::uint32_t extent) {
    std::vector<DrawnView> views(faces.size());
    share_out(views, extent);
    for (std::size_t i = 0; i < faces.size(); ++i) {
        std::ranges::copy(faces[i].clip_from_world, views[i].clip_from_world);
        views[i].texel_extent = 2.0F / views[i].width;
    }
    return views;
}

std::vector<DrawnView> fixed_views(Technique technique, const glm::vec3& sun_direction,
                                   const Camera& camera, const ShadowBox& bounds, float aspect,
                                   std::uint32_t extent) {
    std::vector<DrawnView> views(technique == Technique::single ? 1 : CASCADES);
    share_out(views, extent);
    const Corners scene = corners_of(bounds);
    const ParallelMap whole = smallest_map(sun_direction, scene);
    if (technique == Technique::single) {
        views.front().farthest = std::numeric_limits<float>::max();
        set_parallel(views.front(), whole, scene);
        return views;
    }
    const bool is_stable = technique == Technique::stable_cascades;
    const Splits splits =
        is_stable ? stable_splits(scene, camera.nearest) : tight_splits(camera, aspect, scene);
    for (std::uint32_t i = 0; i < CASCADES; ++i) {
        DrawnView& view = views[i];
        const Slice slice{camera, aspect, splits[i], splits[i + 1]};
        set_parallel(view,
                     is_stable ? stable_map(whole, slice, {view.width, view.height})
                               : tight_map(sun_direction, slice, scene),
                     scene);
        view.farthest = i + 1 < CASCADES ? static_cast<float>(splits[i + 1])
                                         : std::numeric_limits<float>::max();
    }
    return views;
}

}  // namespace quadtile::shadow
