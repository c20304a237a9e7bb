#include "texel_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

namespace quadtile::detail {

namespace {

double linear_light(double code) {
    const double encoded = code / 255.0;
    return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

template <typename T>
T load(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

template <typename T>
void save(std::byte* bytes, T value) {
    std::memcpy(bytes, &value, sizeof(T));
}

float float_from_unorm(std::uint32_t code, std::uint32_t bits) {
    return std::bit_cast<float>(bits_from_unorm(code, bits));
}

std::uint32_t unorm_code(float value, std::uint32_t largest) {
    const float scaled = value * static_cast<float>(largest);
    return scaled > 0.0F  // else 0, for NaN too
               ? static_cast<std::uint32_t>(
                     std::nearbyint(std::min(scaled, static_cast<float>(largest))))
               : 0;
}

std::uint32_t srgb_code(float linear, const SrgbTables& tables) {
    const float* const end = std::end(tables.border) - 1;
    return static_cast<std::uint32_t>(std::upper_bound(tables.border, end, linear) - tables.border);
}

// Converts a float that a half can hold.
std::uint16_t half_from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return sign | 0x7e00U;
    }
    if (magnitude == 0x7f800000U) {
        return sign | 0x7c00U;
    }
    if (magnitude < 0x38800000U) {
        return sign | static_cast<std::uint16_t>(std::ldexp(std::abs(value), 24));
    }
    return sign | static_cast<std::uint16_t>((magnitude - 0x38000000U) >> 13U);
}

// Converts IEEE 754 binary16 to binary32, exactly.
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

}  // namespace

const SrgbTables& srgb_tables() {
    static const auto tables = [] {
        SrgbTables made{};
        for (std::uint32_t code = 0; code < SRGB_CODES; ++code) {
            made.light[code] = static_cast<float>(linear_light(code));
            made.border[code] = static_cast<float>(linear_light(code + 0.5));
        }
        for (std::uint32_t bits = SRGB_DARKEST; bits <= SRGB_BRIGHTEST; bits += 1U << 16U) {
            const std::uint32_t cell = srgb_cell(bits);
            made.starts[cell / 4] |= srgb_code(std::bit_cast<float>(bits), made)
                                     << (8 * (cell % 4));
        }
        return made;
    }();
    return tables;
}

Texel decode_texel(TexelFormat format, const std::byte* bytes) {
    const std::uint32_t encoding = encoding_of(format);
    const std::uint32_t channels = channel_count(format);
    Texel texel{};
    for (std::size_t c = 0; c < channels; ++c) {
        switch (encoding) {
            case ENCODING_FLOAT32:
                texel[c] = load<float>(bytes + 4 * c);
                break;
            case ENCODING_FLOAT16:
                texel[c] = float_from_half(load<std::uint16_t>(bytes + 2 * c));
                break;
            case ENCODING_UNORM16:
                texel[c] = float_from_unorm(load<std::uint16_t>(bytes + 2 * c), 16);
                break;
            default: {
                const auto code = load<std::uint8_t>(bytes + c);
                texel[c] = encoding == ENCODING_SRGB8 && c < 3 ? srgb_tables().light[code]
                                                               : float_from_unorm(code, 8);
            }
        }
    }
    return texel;
}

void encode_texel(TexelFormat format, const Texel& texel, std::byte* bytes) {
    const std::uint32_t encoding = encoding_of(format);
    const std::uint32_t channels = channel_count(format);
    for (std::size_t c = 0; c < channels; ++c) {
        switch (encoding) {
            case ENCODING_FLOAT32:
                save(bytes + 4 * c, texel[c]);
                break;
            case ENCODING_FLOAT16:
                save(bytes + 2 * c, half_from_float(std::bit_cast<float>(
                                        round_to_half(std::bit_cast<std::uint32_t>(texel[c])))));
                break;
            case ENCODING_UNORM16:
                save(bytes + 2 * c, static_cast<std::uint16_t>(unorm_code(texel[c], 65535)));
                break;
            default: {
                const bool colour = encoding == ENCODING_SRGB8 && c < 3;
                save(bytes + c,
                     static_cast<std::uint8_t>(colour ? srgb_code(texel[c], srgb_tables())
                                                      : unorm_code(texel[c], 255)));
            }
        }
    }
}

}  // namespace quadtile::detail
