// Bounding volume hierarchy over triangles, for rays that search for any hit.

#pragma once

#include "geometry.hpp"
#include "shaders/rays.h"

#include <vector>

namespace quadtile::shadow {

[[nodiscard]] std::vector<RayTriangle> ray_triangles(const Geometry& geometry);

struct Bvh {
    std::vector<RayNode> nodes;          // depth first, the root first
    std::vector<RayTriangle> triangles;  // in the order of leaves
    float largest_coordinate = 0.0F;     // greatest absolute value of all corners
};

// Builds the hierarchy by the binned surface area heuristic (Wald, "On fast Construction of
// SAH-based Bounding Volume Hierarchies", 2007), on all processors. The result is the same on every
// machine. Takes 1 to 2^29 triangles.
[[nodiscard]] Bvh build_bvh(std::vector<RayTriangle> triangles);

}  // namespace quadtile::shadow
