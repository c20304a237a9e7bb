// The surface of a scene at each texel of its lightmap.

#pragma once

#include "covered_texels.hpp"
#include "parallel.hpp"
#include "scene.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace quadtile::baker {

// A texel in the scene, as a parallelogram in the plane of its surface.
struct Patch {
    glm::vec3 centre{0.0F};
    glm::vec3 across{0.0F};  // along the lightmap's x, from edge to edge
    glm::vec3 down{0.0F};
};

// A part of a texel that an edge divides, as one plane.
struct Facet {
    std::uint32_t texel = 0;
    glm::vec3 normal{0.0F};  // a mean, so its length is at most 1
    float share = 0.0F;      // of the texel's covered area
};

// Surface by covered texel of the lightmap: means over the part of the texel that charts cover, by
// area. One element more is that of all other texels: all its values are 0.
struct SurfaceMap {
    CoveredTexels texels;
    UnsetVector<float> coverage;             // of the texel's area in the lightmap, up to 1
    UnsetVector<glm::vec3> albedo;           // with textures, without their holes
    UnsetVector<glm::vec3> emission;         // radiance; empty: no emitters
    UnsetVector<glm::vec3> normal;           // smooth if the vertices' normals are, of length 1
    UnsetVector<std::uint8_t> smooth;        // 1: the normal may differ from that of the plane
    UnsetVector<std::uint8_t> double_sided;  // 0 or 1: of most of the covered area
    UnsetVector<Patch> patches;              // empty: no point lights or emitters
    UnsetVector<std::uint32_t> triangle;     // first one that covers a part of the texel
    UnsetVector<Facet> facets;               // of divided texels, in order; none without sources
    // Whether the texel is not baked, and keeps light; empty: all are baked.
    std::vector<std::uint8_t> kept;
    std::vector<glm::vec3> kept_light;       // irradiance
    std::size_t overlapping_texels = 0;      // texels with a point that two charts cover
    std::vector<std::uint32_t> overlapping;  // triangles of these texels, each once, in order

    // Returns the parts of a texel, or none if it is all in one plane.
    [[nodiscard]] std::span<const Facet> facets_of(std::size_t texel) const;
    [[nodiscard]] bool keeps(std::size_t texel) const { return !kept.empty() && kept[texel] != 0; }
    [[nodiscard]] bool keeps_all() const {
        return !kept.empty() && std::ranges::count(kept, 0) == 0;
    }
};

// Samples each texel at 8 x 8 points; if several triangles cover a point, the first counts. Texels
// that triangles touch only between the samples have at most the coverage of one sample. Triangles
// without area, in the scene or in the lightmap, cover nothing. The result does not depend on the
// number of threads (0: as many as processors).
//
// The scene has lightmap coordinates, and the map at most 65536 texels along an edge.
[[nodiscard]] SurfaceMap make_surface_map(const Scene& scene, const Extent& extent,
                                          std::uint32_t threads = 0);

// Lets texels keep irradiance (by texel of the lightmap), except those of triangles that are baked.
// Kept texels have no patch.
void keep_light(SurfaceMap& surface, const std::vector<std::uint8_t>& is_triangle_baked,
                const std::vector<glm::vec3>& irradiance);

// Returns a triangle of each object whose lightmap coordinates have less than the area of a texel.
[[nodiscard]] std::vector<std::uint32_t> objects_without_texels(const Scene& scene,
                                                                const Extent& extent);

}  // namespace quadtile::baker
