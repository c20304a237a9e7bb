// A hierarchy of bounding volumes over triangles, for rays that look for any triangle.

#pragma once

#include "geometry.hpp"
#include "shaders/rays.h"

#include <vector>

namespace quadtile::shadow {

[[nodiscard]] std::vector<RayTriangle> ray_triangles(const Geometry& geometry);

struct Bvh {
    std::vector<RayNode> nodes;          // depth first, the root first
    std::vector<RayTriangle> triangles;  // in the order of leaves
    float largest_coordinate = 0.0F;     // of any corner, its absolute value
};

// By the surface area heuristic, over bins (Wald, "On fast Construction of SAH-based Bounding
// Volume Hierarchies", 2007). On all processors; the same on every machine. There is a triangle at
// least, and 2^29 at most.
[[nodiscard]] Bvh build_bvh(std::vector<RayTriangle> triangles);

}  // namespace quadtile::shadow
