// Texels in memory and as floats, the tables of the sRGB curve, kinds of reductions. libquadtile
// uses what is marked QUADTILE_API.

#pragma once

#include <quadtile/export.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/image.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadtile::detail {

using Texel = std::array<float, 4>;  // channels; unorm in [0, 1], sRGB colours in linear light

// Returns ENCODING_... of texel_encoding.h.
[[nodiscard]] QUADTILE_API std::uint32_t encoding_of(TexelFormat format) noexcept;

[[nodiscard]] inline bool is_depth(TexelFormat format) noexcept {
    return format == TexelFormat::d32_float || format == TexelFormat::d16_unorm;
}

[[nodiscard]] inline bool is_extreme(Reduction reduction) {
    return reduction == Reduction::max || reduction == Reduction::min ||
           reduction == Reduction::min_max;
}

[[nodiscard]] inline bool is_sum(Reduction reduction) {  // means included
    return reduction == Reduction::mean || reduction == Reduction::sum;
}

// Returns the tables of the sRGB curve (IEC 61966-2-1). The border between a code and the next is
// half way on the scale of codes.
[[nodiscard]] QUADTILE_API const SrgbTables& srgb_tables();

// Returns the channels of a texel as floats; 0 for channels that the format lacks.
[[nodiscard]] Texel decode_texel(TexelFormat format, const std::byte* bytes);

// Rounds to the nearest texel: ties to even, sRGB on the scale of codes.
void encode_texel(TexelFormat format, const Texel& texel, std::byte* bytes);

}  // namespace quadtile::detail
