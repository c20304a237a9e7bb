// How much of the light the surfaces of materials with holes stop, by texel of their textures.

#pragma once

#include "scene.hpp"

#include "shaders/bake.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace quadtile::baker {

// Of a material, in AlphaTextures::texels.
struct AlphaTexture {
    std::uint32_t first = 0;
    Extent extent;
};

struct AlphaTextures {
    std::vector<std::optional<AlphaTexture>> materials;  // none: light does not go through
    std::vector<std::uint8_t> texels;                    // as Material::coverage; a multiple of 4
};

// Materials that only differ in colour share their texels. Throws std::runtime_error for more than
// 2^32 texels.
[[nodiscard]] AlphaTextures make_alpha_textures(const Scene& scene);

[[nodiscard]] AlphaTriangle alpha_triangle(const Scene& scene, const Triangle& triangle,
                                           const AlphaTexture& texture);

}  // namespace quadtile::baker
