// GLSL of the caller's: whether this build compiles it at run time, a threshold and a reduction,
// and their CPU twins.

#pragma once

#include "support/maps.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace quadtile::test {

constexpr bool can_compile_glsl() {
    return QUADTILE_RUNTIME_GLSL != 0;
}

// A threshold with NaN, -0 and denormals; a header; what the map tells. It grows and falls from
// node to node. One product is rounded, on the GPU and here.
inline constexpr const char* THRESHOLD_FUNCTION_GLSL = R"(
#include "quadtile/quadtree.h"
float threshold(uint level, uvec2 position, uint layer) {
    const uint number = (position.x * 7 + position.y * 13 + level * 5 + layer * 3) % 32;
    if (number < 3) {
        return uintBitsToFloat(number == 0 ? 0x7FC00000U : number == 1 ? 0x80000000U : 1U);
    }
    const bool at_edge = position.x + 1 == level_extent(map_extent().x, level);
    const float unit = (at_edge ? 0.5 : 1.0) * (map_layers() > 1 ? 0.0625 : 0.03125);
    return float(number) * unit * threshold_parameter(0);
}
)";

inline Threshold threshold_function_twin(const MapShape& shape, float parameter) {
    return Threshold::map(make_thresholds(shape, [&](auto level, auto x, auto y, auto layer) {
        const std::uint32_t number = (x * 7 + y * 13 + level * 5 + layer * 3) % 32;
        const bool at_edge = x + 1 == level_extent(shape.width, level);
        const float unit = (at_edge ? 0.5F : 1.0F) * (shape.layers > 1 ? 0.0625F : 0.03125F);
        return number == 0  ? INFINITY
               : number < 3 ? 0.0F
                            : static_cast<float>(number) * unit * parameter;
    }));
}

// A reduction that depends on the order of its four texels.
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
