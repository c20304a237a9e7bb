// Lightmaps, and their preparation for bilinear filtering.

#pragma once

#include "scene.hpp"
#include "surface_map.hpp"

#include "picture.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace quadtile::baker {

[[nodiscard]] inline float grey(const glm::vec3& colour) {
    return (colour.r + colour.g + colour.b) / 3.0F;
}

struct LightMap {
    Extent extent;
    std::vector<glm::vec3> irradiance;  // by texel
    // 1: baked; 0: unknown: the texel has no chart, no ray, or lies inside of something.
    std::vector<std::uint8_t> known;
    // Spherical harmonics of the incoming radiance times its cosine to the surface; empty: not
    // requested. Bands 0 and 1 (Y00, Y1-1, Y10, Y11: of 1, y, z and x), each by texel. So the first
    // one is Y00 times the irradiance.
    std::array<std::vector<glm::vec3>, 4> radiance_sh;

    // Returns the irradiance and the existing harmonics.
    [[nodiscard]] std::vector<std::vector<glm::vec3>*> planes();
};

// Returns a page of a scene's lightmap, and the part of the surface that encode_light_map_exr
// needs.
[[nodiscard]] LightMap page_of(const LightMap& map, const Pages& pages, std::uint32_t page);
[[nodiscard]] SurfaceMap page_of(const SurfaceMap& map, const Pages& pages, std::uint32_t page);

// Calls visit(index) for the up to 8 neighbours of a texel, always in the same order.
template <typename Visit>
void visit_neighbours(const Extent& extent, std::size_t texel, const Visit& visit) {
    const std::size_t x = texel % extent.width;
    const std::size_t y = texel / extent.width;
    for (std::size_t v = y == 0 ? 0 : y - 1; v <= std::min<std::size_t>(y + 1, extent.height - 1);
         ++v) {
        for (std::size_t u = x == 0 ? 0 : x - 1;
             u <= std::min<std::size_t>(x + 1, extent.width - 1); ++u) {
            if (u != x || v != y) {
                visit(v * extent.width + u);
            }
        }
    }
}

// Gives unknown texels the mean of their known neighbours (of 8), ring after ring, `rings` times;
// `known` stays unchanged.
void dilate(LightMap& map, std::uint32_t rings);

// Makes both sides of each seam agree. Seams are edges that two triangles share in the scene (by
// position, with normals within 30 degrees of each other) but not in the lightmap. Least squares
// over the texels that bilinear filtering reads along the seams weigh the difference across the
// seam against the change of the texels. Call it after dilate. Deterministic. Returns the number of
// seams.
std::size_t blend_seams(LightMap& map, const Scene& scene);

enum class Quantity {
    irradiance,
    radiance,   // irradiance / pi: from a white surface; the harmonics are divided too
    radiosity,  // albedo * irradiance + pi * emission; the harmonics stay those of irradiance
    ambient_occlusion,  // like radiance, under a white sky
    shadow_mask         // the share of a sun that a texel sees, in red, green and blue
};
[[nodiscard]] std::string name_of(Quantity quantity);

constexpr float LARGEST_HALF = 65504.0F;

// OpenEXR with 32-bit floats or half floats: R, G, B, and A, which is 1 for known texels. Spherical
// harmonics are the layers sh0 to sh3 (sh0.R ...). Attributes name the quantity and the program.
// Gutters of radiosity are filled again, from the texels with coverage.
struct LightMapExr {
    std::string bytes;
    std::size_t cut = 0;  // number of values that were clamped to LARGEST_HALF
};
[[nodiscard]] LightMapExr encode_light_map_exr(const LightMap& map, const SurfaceMap& surface,
                                               Quantity quantity, bool half = false);

// A picture for glTF, whose values times `intensity` are the light. The light of the brightest
// hundredth of the known texels is cut, because lamps would leave few of 255 steps to the rest.
struct LightMapPng {
    std::string bytes;  // PNG of 8 bits, without the sRGB curve
    double intensity = 1.0;
    double brightest = 0.0;  // light before the cut
};
[[nodiscard]] LightMapPng encode_light_map(const LightMap& map, Quantity quantity);

// Draws the lightmap, tone mapped like white surfaces; unknown texels are dark grey.
[[nodiscard]] app::Picture draw_atlas(const LightMap& map);

// A camera inside of a closed scene, such as a room with all of its walls: one that sees fronts in
// all directions, from one of 27 points. None: the scene is open.
[[nodiscard]] std::optional<Camera> inside_camera(const Scene& scene);

struct PreviewOptions {
    std::uint32_t width = 1280;
    std::uint32_t height = 720;
    std::optional<Camera> camera;   // none: the scene's, else inside_camera, else one that sees all
    std::optional<float> exposure;  // radiance that is shown almost white; none: automatic
    glm::vec3 sky{0.0F};            // radiance
    std::uint32_t threads = 0;      // 0: as many as processors
};

// Draws the lit scene: albedo * irradiance / pi + emission with bilinear filtering of
// the lightmap, tone mapped, with the sky behind. Only front faces are drawn, so rooms can be seen
// from outside; 2 x 2 samples per pixel.
[[nodiscard]] app::Picture draw_preview(const Scene& scene, const LightMap& map,
                                        const PreviewOptions& options);

}  // namespace quadtile::baker
