/// \file
/// What lets the headers of this folder compile as C++20 and as GLSL 4.6.
///
/// C++ code sees everything in namespace quadtile; GLSL has no namespaces. A function that both
/// languages need is written in the words they share and marked QUADTILE_SHARED.

#ifndef QUADTILE_LANGUAGE_H
#define QUADTILE_LANGUAGE_H

#ifdef __cplusplus

#include <bit>
#include <cstdint>

/// Before all that a header defines: namespace quadtile in C++, nothing in GLSL.
#define QUADTILE_NAMESPACE_BEGIN namespace quadtile {
/// Ends what QUADTILE_NAMESPACE_BEGIN begins.
#define QUADTILE_NAMESPACE_END }
/// Marks a function of both languages: constexpr in C++, nothing in GLSL.
#define QUADTILE_SHARED constexpr
/// An unsigned integer of 32 bits: std::uint32_t in C++, uint in GLSL.
#define QUADTILE_UINT std::uint32_t
/// A signed integer of 32 bits: std::int32_t in C++, int in GLSL.
#define QUADTILE_INT std::int32_t

namespace quadtile {

/// The IEEE 754 bits of a float.
constexpr std::uint32_t bits_from_float(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
/// The float with these IEEE 754 bits.
constexpr float float_from_bits(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
/// The number of bits that are set.
constexpr std::uint32_t count_bits(std::uint32_t word) {
    return static_cast<std::uint32_t>(std::popcount(word));
}
/// The place of the highest bit that is set, of a word that is not 0.
constexpr std::uint32_t highest_bit(std::uint32_t word) {
    return static_cast<std::uint32_t>(std::bit_width(word)) - 1;
}

}  // namespace quadtile

#else

#define bits_from_float floatBitsToUint
#define float_from_bits uintBitsToFloat
#define count_bits(word) uint(bitCount(word))
#define highest_bit(word) uint(findMSB(word))

#define QUADTILE_NAMESPACE_BEGIN
#define QUADTILE_NAMESPACE_END
#define QUADTILE_SHARED
#define QUADTILE_UINT uint
#define QUADTILE_INT int

#endif

#endif
