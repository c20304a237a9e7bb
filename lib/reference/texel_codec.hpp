// Texels in memory and as floats, and the tables of the sRGB curve.
//
// Not a public header, but libquadtile uses the functions of libquadtile_reference that are marked
// QUADTILE_API.

#pragma once

#include <quadtile/export.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/reference.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadtile::reference {

// Returns ENCODING_... of texel_encoding.h.
[[nodiscard]] QUADTILE_API std::uint32_t encoding_of(TexelFormat format) noexcept;

// Returns the linear light of each 8-bit sRGB code (IEC 61966-2-1).
[[nodiscard]] const std::array<float, 256>& srgb_light();

// Returns the linear light of the border between each code and the next: half way on the scale of
// codes. The last one is unused.
[[nodiscard]] const std::array<float, 256>& srgb_border();

// Returns both, with starts for finding codes, for kernels.
[[nodiscard]] QUADTILE_API const SrgbTables& srgb_tables();

// Converts IEEE 754 binary16 to binary32, exactly.
[[nodiscard]] float float_from_half(std::uint16_t half);

// Returns the channels of a texel as floats; 0 for channels that the format lacks.
[[nodiscard]] Texel decode_texel(TexelFormat format, const std::byte* bytes);

// Rounds to the nearest texel: ties to even, sRGB on the scale of codes.
void encode_texel(TexelFormat format, const Texel& texel, std::byte* bytes);

}  // namespace quadtile::reference
