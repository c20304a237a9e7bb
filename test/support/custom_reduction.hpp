// A custom reduction that depends on the order of its four texels, in GLSL and as the CPU twin.

#pragma once

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cstddef>

namespace quadtile::test {

inline constexpr const char* CUSTOM_REDUCTION_GLSL =
    R"(TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {
    return max(a, d) * 0.5 + min(b, c) * 0.25;
})";

inline reference::Texel custom_reduction(const reference::Texel& a, const reference::Texel& b,
                                         const reference::Texel& c, const reference::Texel& d) {
    reference::Texel result;
    for (std::size_t i = 0; i < 4; ++i) {
        result[i] = std::max(a[i], d[i]) * 0.5F + std::min(b[i], c[i]) * 0.25F;
    }
    return result;
}

}  // namespace quadtile::test
