// The sRGB tables of the kernels: finding a code by a start and one comparison.

#include "values/texel_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

namespace quadtile {
namespace {

std::uint32_t start_of(std::uint32_t cell) {
    return detail::srgb_tables().starts[cell / 4] >> (8 * (cell % 4)) & 0xffU;
}

// Encodes as kernels do; see downsample_items.glsl.
std::uint32_t code_by_tables(float linear) {
    const float value = std::clamp(linear, std::bit_cast<float>(SRGB_DARKEST),
                                   std::bit_cast<float>(SRGB_BRIGHTEST));
    const std::uint32_t code = start_of(srgb_cell(std::bit_cast<std::uint32_t>(value)));
    return code + (value >= detail::srgb_tables().border[code] ? 1U : 0U);
}

std::uint32_t code_by_search(float linear) {
    const auto& border = detail::srgb_tables().border;
    return static_cast<std::uint32_t>(std::upper_bound(border, std::end(border) - 1, linear) -
                                      border);
}

// A cell with two borders would give the wrong code beside one of them.
TEST(SrgbTables, FindTheCodeOfAllLight) {
    for (const float outside : {-1.0F, 0.0F, 1.0e-20F, 1.0F, 1.5F, 1.0e20F}) {
        EXPECT_EQ(code_by_tables(outside), code_by_search(outside)) << outside;
    }
    for (std::uint32_t bits = 0x38000000U; bits < 0x3f800010U; bits += 97) {
        const auto linear = std::bit_cast<float>(bits);
        ASSERT_EQ(code_by_tables(linear), code_by_search(linear)) << linear;
    }
    for (std::uint32_t code = 0; code < 255; ++code) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(detail::srgb_tables().border[code]);
        for (std::uint32_t near = bits - 2; near <= bits + 2; ++near) {
            const auto linear = std::bit_cast<float>(near);
            EXPECT_EQ(code_by_tables(linear), code_by_search(linear)) << linear;
        }
    }
}

}  // namespace
}  // namespace quadtile
