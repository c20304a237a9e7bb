// What a scene's surface is at each texel of its light map.

#pragma once

#include "scene.hpp"

namespace quadtile::baker {

// What a texel is in the scene, as a parallelogram in the plane of its surface.
struct Patch {
    glm::vec3 centre{0.0F};
    glm::vec3 across{0.0F};  // along the light map's x, from edge to edge
    glm::vec3 down{0.0F};
};

// By texel of the light map; means over the part of the texel that charts cover, by area. Nothing
// covers a texel: all are 0.
struct SurfaceMap {
    Extent extent;
    std::vector<float> coverage;             // 0..1, of the texel's area in the light map
    std::vector<glm::vec3> albedo;           // textures included, without their holes
    std::vector<glm::vec3> emission;         // radiance
    std::vector<glm::vec3> normal;           // smooth by those of vertices, of length 1
    std::vector<std::uint8_t> smooth;        // 1: it may differ from that of the plane
    std::vector<std::uint8_t> double_sided;  // 0 or 1: that of most of the covered area
    std::vector<Patch> patches;              // empty: there are no point lights or emitters
    std::vector<std::uint32_t> triangle;     // the first one that covers a part of the texel
    std::size_t overlapping_texels = 0;      // where two charts cover the same point
    std::vector<std::uint32_t> overlapping;  // triangles of these texels, each once, in order
};

// Samples each texel at 8 x 8 points; where several triangles cover one, the first counts. Texels
// that triangles touch between the samples alone have the coverage of one sample at most. Triangles
// without area, in the scene or in the light map, cover nothing. The result does not depend on the
// number of threads (0: as many as there are processors).
//
// Throws std::invalid_argument for maps of more than 65536 texels along an edge and for scenes
// without light map coordinates.
[[nodiscard]] SurfaceMap make_surface_map(const Scene& scene, const Extent& extent,
                                          std::uint32_t threads = 0);

}  // namespace quadtile::baker
