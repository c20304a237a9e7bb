// Shares of the light that surfaces with holes stop, per texel of their textures.

#pragma once

#include "scene.hpp"

#include "shaders/bake.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile::baker {

// Texture of a material, in AlphaTextures::texels.
struct AlphaTexture {
    std::uint32_t first = 0;
    Extent extent;
};

struct AlphaTextures {
    std::vector<std::optional<AlphaTexture>> materials;  // none: no light goes through
    std::vector<std::uint8_t> texels;                    // as Material::coverage; a multiple of 4
};

// Makes the textures of a scene. Materials that differ only in colour share texels. Throws
// std::runtime_error for more than 2^32 texels.
[[nodiscard]] AlphaTextures make_alpha_textures(const Scene& scene);

[[nodiscard]] AlphaTriangle alpha_triangle(const Scene& scene, const Triangle& triangle,
                                           const AlphaTexture& texture);

}  // namespace quadtile::baker
