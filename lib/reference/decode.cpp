// Twin of what the texture unit does when a shader reads a texel of the map.

#include "texel_codec.hpp"

#include <quadtile/reference.hpp>

namespace quadtile::reference {

std::vector<float> decode(const MapView& map) {
    check_shape(map.shape);
    check_texels(map);
    const std::size_t size = texel_size_bytes(map.shape.format);
    std::vector<float> texels(std::size_t{map.shape.width} * map.shape.height * map.shape.layers);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        texels[i] =
            decode_texel(map.shape.format, static_cast<const std::byte*>(map.texels) + i * size)[0];
    }
    return texels;
}

}  // namespace quadtile::reference
