#include "convex.hpp"

#include <glm/geometric.hpp>
#include <glm/vec4.hpp>

namespace quadtile::shadow {

namespace {

using Polygon = Points;    // convex
using Plane = glm::dvec4;  // inside: dot(plane, (p, 1)) >= 0

glm::dvec3 low_of(const ShadowBox& box) {
    return {box.low[0], box.low[1], box.low[2]};
}
glm::dvec3 high_of(const ShadowBox& box) {
    return {box.high[0], box.high[1], box.high[2]};
}

std::array<Polygon, 6> faces_of(const Corners& c) {
    return {{{c[0], c[2], c[6], c[4]},
             {c[1], c[3], c[7], c[5]},
             {c[0], c[1], c[5], c[4]},
             {c[2], c[3], c[7], c[6]},
             {c[0], c[1], c[3], c[2]},
             {c[4], c[5], c[7], c[6]}}};
}

// Of its faces, to the side of its middle.
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

}  // namespace

Corners corners_of(const ShadowBox& box) {
    const std::array ends{low_of(box), high_of(box)};
    Corners corners;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        corners[i] = {ends[i & 1U].x, ends[i >> 1U & 1U].y, ends[i >> 2U].z};
    }
    return corners;
}

Points shared_corners(const Corners& a, const Corners& b) {
    Points points;
    add_cut_faces(a, b, points);
    add_cut_faces(b, a, points);
    return points;
}

}  // namespace quadtile::shadow
