// What a material's colours are at a point, textures included.

#pragma once

#include "scene.hpp"

namespace quadtile::baker {

// Bilinear filtering of linear values; what is not a number reads as 0.
[[nodiscard]] glm::vec3 sample_texture(const Texture& texture, const glm::dvec2& coordinates);

// By texture coordinates. In a scene without these, textures do not count.
[[nodiscard]] glm::vec3 albedo_at(const Scene& scene, const Material& material,
                                  const glm::dvec2& coordinates);
[[nodiscard]] glm::vec3 emission_at(const Scene& scene, const Material& material,
                                    const glm::dvec2& coordinates);

// Whether the colours differ from point to point.
[[nodiscard]] bool has_textures(const Scene& scene, const Material& material);

}  // namespace quadtile::baker
