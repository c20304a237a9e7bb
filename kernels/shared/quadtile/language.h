/// \file
/// Macros with which the headers of this folder compile as C++20, in namespace quadtile, and as
/// GLSL 4.6. A function for both uses only their common words and is marked QUADTILE_SHARED.

#ifndef QUADTILE_LANGUAGE_H
#define QUADTILE_LANGUAGE_H

#ifdef __cplusplus

#include <bit>
#include <cstdint>

namespace quadtile {

/// An unsigned integer of 32 bits, by GLSL's name.
using uint = std::uint32_t;

/// Returns the IEEE 754 bits of a float.
constexpr uint bits_from_float(float value) {
    return std::bit_cast<uint>(value);
}

/// Returns the float with these IEEE 754 bits.
constexpr float float_from_bits(uint bits) {
    return std::bit_cast<float>(bits);
}

}  // namespace quadtile

/// Begins the definitions of a header: namespace quadtile in C++, nothing in GLSL.
#define QUADTILE_NAMESPACE_BEGIN namespace quadtile {
/// Ends the definitions of a header.
#define QUADTILE_NAMESPACE_END }
/// Marks a function or a float for both languages: constexpr in C++, nothing in GLSL.
#define QUADTILE_SHARED constexpr
/// Keeps GLSL from fusing or rearranging operations.
#define QUADTILE_PRECISE
/// Returns the number of bits of a word that are 1.
#define QUADTILE_BIT_COUNT(word) static_cast<std::uint32_t>(std::popcount(word))
/// Returns the place of the highest bit of a word that is 1.
#define QUADTILE_HIGHEST_BIT(word) (static_cast<std::uint32_t>(std::bit_width(word)) - 1U)

#else

#define QUADTILE_NAMESPACE_BEGIN
#define QUADTILE_NAMESPACE_END
#define QUADTILE_SHARED
#define QUADTILE_PRECISE precise
#define QUADTILE_BIT_COUNT(word) uint(bitCount(word))
#define QUADTILE_HIGHEST_BIT(word) uint(findMSB(word))
#define bits_from_float floatBitsToUint
#define float_from_bits uintBitsToFloat

#endif

#endif
