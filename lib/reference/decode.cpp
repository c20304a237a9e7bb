// Twin of what the texture unit does when a shader reads a texel of the map.

#include <quadtile/reference.hpp>

#include <bit>
#include <cmath>
#include <cstring>

namespace quadtile::reference {

namespace {

template <typename T>
T load(const void* texels, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(texels) + index * sizeof(T), sizeof(T));
    return value;
}

// IEEE 754 binary16 to binary32; exact.
float float_from_half(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16U;
    const std::uint32_t exponent = (half >> 10U) & 0x1fU;
    const std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 0) {  // zero and denormals: fraction * 2^-24
        const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
        return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t float_exponent = exponent == 0x1fU ? 0xffU : exponent + (127 - 15);
    return std::bit_cast<float>(sign | (float_exponent << 23U) | (fraction << 13U));
}

float decode_texel(const MapView& map, std::size_t index) {
    switch (map.shape.format) {
        case TexelFormat::r32_float:
        case TexelFormat::d32_float:
            return load<float>(map.texels, index);
        case TexelFormat::r16_float:
            return float_from_half(load<std::uint16_t>(map.texels, index));
        case TexelFormat::r16_unorm:
            return static_cast<float>(load<std::uint16_t>(map.texels, index)) / 65535.0F;
        case TexelFormat::r8_unorm:
            break;
    }
    return static_cast<float>(load<std::uint8_t>(map.texels, index)) / 255.0F;
}

}  // namespace

std::vector<float> decode(const MapView& map) {
    check_shape(map.shape);
    std::vector<float> texels(std::size_t{map.shape.width} * map.shape.height * map.shape.layers);
    for (std::size_t i = 0; i < texels.size(); ++i) {
        texels[i] = decode_texel(map, i);
    }
    return texels;
}

}  // namespace quadtile::reference
