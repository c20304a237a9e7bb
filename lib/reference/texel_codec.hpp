// Texels in memory and as floats, and the tables of the sRGB curve.
//
// No public header, but libquadtile needs what is marked QUADTILE_API of libquadtile_reference.

#pragma once

#include <quadtile/export.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/reference.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadtile::reference {

// ENCODING_… of texel_encoding.h.
[[nodiscard]] QUADTILE_API std::uint32_t encoding_of(TexelFormat format) noexcept;

// Linear light of each 8-bit sRGB code (IEC 61966-2-1).
[[nodiscard]] const std::array<float, 256>& srgb_light();

// Linear light where each code ends and the next begins: half way on the scale of codes. The last
// is unused.
[[nodiscard]] const std::array<float, 256>& srgb_border();

// Those, and a start for finding codes, for kernels.
[[nodiscard]] QUADTILE_API const SrgbTables& srgb_tables();

// IEEE 754 binary16 to binary32; exact.
[[nodiscard]] float float_from_half(std::uint16_t half);

// Channels of a texel as floats; those that the format lacks are 0.
[[nodiscard]] Texel decode_texel(TexelFormat format, const std::byte* bytes);

// Rounds to the nearest texel: ties to even, sRGB on the scale of codes.
void encode_texel(TexelFormat format, const Texel& texel, std::byte* bytes);

}  // namespace quadtile::reference
