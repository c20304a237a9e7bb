// Bilinear filtering of lightmaps, and a material's colours at a point with its textures.

#pragma once

#include "scene.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace quadtile::baker {

// Texels and weights, whose sum is 1; texels may be equal.
struct BilinearFetch {
    std::array<std::uint32_t, 4> texels;
    std::array<float, 4> weights;
};

// Returns the fetch at lightmap coordinates; beyond the map, its border's texels are read.
inline BilinearFetch bilinear_fetch(const Extent& extent, const glm::dvec2& coordinates) {
    const double x = std::clamp(coordinates.x * extent.width - 0.5, 0.0, extent.width - 1.0);
    const double y = std::clamp(coordinates.y * extent.height - 0.5, 0.0, extent.height - 1.0);
    const auto left = static_cast<std::uint32_t>(x);
    const auto top = static_cast<std::uint32_t>(y);
    const std::uint32_t right = std::min(left + 1, extent.width - 1);
    const std::uint32_t bottom = std::min(top + 1, extent.height - 1);
    const auto across = static_cast<float>(x - left);
    const auto down = static_cast<float>(y - top);
    return {{top * extent.width + left, top * extent.width + right, bottom * extent.width + left,
             bottom * extent.width + right},
            {(1.0F - across) * (1.0F - down), across * (1.0F - down), (1.0F - across) * down,
             across * down}};
}

// Returns linear values, filtered bilinearly; NaN reads as 0.
[[nodiscard]] glm::vec3 sample_texture(const Texture& texture, const glm::dvec2& coordinates);

// Returns the albedo at texture coordinates, without vertex colours. Textures are ignored in a
// scene without coordinates.
[[nodiscard]] glm::vec3 albedo_at(const Scene& scene, const Material& material,
                                  const glm::dvec2& coordinates);
[[nodiscard]] glm::vec3 emission_at(const Scene& scene, const Material& material,
                                    const glm::dvec2& coordinates);

// Returns Material::coverage of the nearest texel.
[[nodiscard]] std::uint8_t coverage_at(const Scene& scene, const Material& material,
                                       const glm::dvec2& coordinates, float vertex_alpha);

// Returns whether the colours vary over the surface.
[[nodiscard]] bool has_textures(const Scene& scene, const Material& material);

// Corners of a triangle in the lightmap.
using Corners = std::array<glm::dvec2, 3>;
[[nodiscard]] double doubled_area(const Corners& corners);
// Returns corners in texels; none for a triangle without area or outside the map.
[[nodiscard]] std::optional<Corners> corners_of(const Scene& scene, const Triangle& triangle,
                                                const Extent& extent);

}  // namespace quadtile::baker
