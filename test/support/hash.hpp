// Random numbers that are the same everywhere. The distributions of <random> differ between
// standard libraries.

#pragma once

#include <cstdint>

namespace quadtile::test {

// A permutation of the 32-bit words without visible structure.
inline std::uint32_t hash(std::uint32_t v) {
    v ^= v >> 16U;
    v *= 0x7feb352dU;
    v ^= v >> 15U;
    v *= 0x846ca68bU;
    v ^= v >> 16U;
    return v;
}
inline std::uint32_t hash(std::uint32_t a, std::uint32_t b) {
    return hash(a ^ (hash(b) + 0x9e3779b9U));
}

// Returns a float in [0, 1).
inline float unit_float(std::uint32_t word) {
    return static_cast<float>(word >> 8U) * 0x1p-24F;
}

}  // namespace quadtile::test
