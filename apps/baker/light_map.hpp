// Lightmaps, and their preparation for bilinear filtering.

#pragma once

#include "scene.hpp"

#include "output_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
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

// The lightmap of an earlier bake.
struct EarlierLight {
    LightMap map;       // in the quantity of its file
    float unit = 1.0F;  // irradiance of a value of 1
    std::vector<std::uint8_t>
        kept;  // by texel: whether a new lightmap keeps the value; empty: none

    // Sets kept texels of a lightmap to these values times a factor.
    void keep_in(LightMap& to, float factor) const;
};

// Returns a page of a scene's lightmap.
[[nodiscard]] LightMap page_of(const LightMap& map, const Pages& pages, std::uint32_t page);

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

// A sample of a seam. The light on one side of it less that on the other is the sum of weights *
// texels, divided by the square root of the length that the sample stands for.
struct SeamSample {
    std::array<std::uint32_t, 8> texels;  // numbers in Seams::texels
    std::array<float, 8> weights;
};

// Seams: edges that two triangles share in the scene (by position, with normals within 30 degrees
// of each other) but not in the lightmap. A seam ends where a third surface stands on it, or less
// than half a texel beside it.
struct Seams {
    struct Use {
        std::uint32_t sample;
        float weight;
    };
    std::size_t count = 0;
    std::vector<SeamSample> samples;
    std::vector<std::uint32_t> texels;  // of the map: those that samples read
    std::vector<Use> uses;              // of these texels, in the order of samples
    std::vector<std::size_t> ends;      // by texel: of its uses
};
[[nodiscard]] Seams find_seams(const Scene& scene, const Extent& extent);

// Makes both sides of each seam agree. Least squares over the texels that bilinear filtering reads
// along the seams weigh the difference across the seam against the change of the texels. Texels
// that are kept (by texel; empty: none) change by less than a billionth. Call it after dilate.
// Deterministic.
void blend_seams(LightMap& map, const Seams& seams, const std::vector<std::uint8_t>& kept = {});

enum class Quantity {
    irradiance,
    radiance,           // irradiance / pi: from a white surface; the harmonics are divided too
    ambient_occlusion,  // like radiance, under a white sky
    shadow_mask         // the share of a sun that a texel sees, in red, green and blue
};
[[nodiscard]] std::string name_of(Quantity quantity);
// Returns the name of the quantity in an OpenEXR file; empty: it tells none.
[[nodiscard]] std::string quantity_in(const std::filesystem::path& path);

constexpr float LARGEST_HALF = 65504.0F;

// Writes OpenEXR with 32-bit floats or half floats: R, G, B, and A, which is 1 for known texels.
// Spherical harmonics are the layers sh0 to sh3 (sh0.R ...). Attributes name the quantity and the
// program. Kept texels get the bits of `earlier`, of the same quantity. Returns the number of
// values that were clamped to LARGEST_HALF.
std::size_t write_light_map(const LightMap& map, Quantity quantity, bool half,
                            app::OutputFile& file, const EarlierLight& earlier = {});

// Returns what irradiance is multiplied by to become the quantity of a .glb or a PNG.
[[nodiscard]] double unit_of(Quantity quantity);

// Returns the least power of two that is no less than irradiance * unit of all texels; 1 for
// darkness.
[[nodiscard]] double rgbm_range(const LightMap& map, double unit);

// Returns a PNG of 8 bits, without the sRGB curve: irradiance is (RGB * A)^2 * range. RGB * A is
// off by at most A / 510, and A is as small as can be. The square gives dark light finer steps. In
// the demo's room, texels darker than 1 % of the brightest are off by 0.3 % in the mean; light
// stored as RGB * A * range, without a square, was off by 35 % there.
[[nodiscard]] std::string encode_rgbm(const LightMap& map, double range);

// Pictures for glTF, whose values times `intensity` are the light. In the PNG the light of the
// brightest hundredth of the known texels is cut, because lamps would leave few of 255 steps to the
// rest.
struct LightMapPictures {
    std::string png;   // of 8 bits, without the sRGB curve
    std::string ktx2;  // of half floats, up to LARGEST_HALF; empty unless they are wanted
    double intensity = 1.0;
    double brightest = 0.0;  // light before the cut
};
[[nodiscard]] LightMapPictures encode_light_map(const LightMap& map, Quantity quantity, bool half);

}  // namespace quadtile::baker
