#include "alpha_textures.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

namespace quadtile::baker {

AlphaTextures make_alpha_textures(const Scene& scene) {
    AlphaTextures all;
    std::map<std::tuple<std::optional<std::uint32_t>, AlphaMode, float, float>,
             std::optional<AlphaTexture>>
        known;
    for (const Material& material : scene.materials) {
        const std::optional<std::uint32_t> index =
            scene.texture_coordinates.empty() ? std::nullopt : material.albedo_texture;
        const auto [place, is_new] =
            known.try_emplace({index, material.alpha_mode, material.alpha, material.alpha_cutoff});
        if (is_new && material.alpha_mode != AlphaMode::opaque) {
            const Texture none{{1, 1}, {{255, 255, 255, 255}}};
            const Texture& texture = index ? scene.textures[*index] : none;
            const std::size_t first = all.texels.size();
            bool has_holes = false;
            for (const auto& texel : texture.texels) {
                all.texels.push_back(material.coverage(texel[3]));
                has_holes = has_holes || all.texels.back() < 255;
            }
            if (all.texels.size() > std::numeric_limits<std::uint32_t>::max()) {
                throw std::runtime_error(
                    "textures of materials with alphaMode MASK and BLEND have more than 2^32 "
                    "texels; make them smaller");
            }
            if (has_holes) {
                place->second = {static_cast<std::uint32_t>(first), texture.extent};
            } else {
                all.texels.resize(first);
            }
        }
        all.materials.push_back(place->second);
    }
    all.texels.resize((all.texels.size() + 3) / 4 * 4);
    return all;
}

AlphaTriangle alpha_triangle(const Scene& scene, const Triangle& triangle,
                             const AlphaTexture& texture) {
    const Material& material = scene.materials[triangle.material];
    std::array<glm::dvec2, 3> places{};
    Box<glm::dvec2> box;
    for (std::size_t i = 0; i < 3 && !scene.texture_coordinates.empty(); ++i) {
        const glm::dvec2 coordinates(scene.texture_coordinates[triangle.vertices[i]]);
        places[i] = glm::dmat3x2(material.albedo_coordinates) * glm::dvec3(coordinates, 1.0);
        box.include(places[i]);
    }
    const bool is_finite = std::isfinite(box.size().x) && std::isfinite(box.size().y);
    AlphaTriangle result{
        .first = texture.first, .width = texture.extent.width, .height = texture.extent.height};
    for (std::size_t i = 0; i < 6 && is_finite; ++i) {
        const auto axis = static_cast<int>(i % 2);
        result.texture[i] =
            static_cast<float>((places[i / 2][axis] - std::floor(box.low[axis])) *
                               (axis == 0 ? texture.extent.width : texture.extent.height));
    }
    return result;
}

}  // namespace quadtile::baker
