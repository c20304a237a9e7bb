#include "demo_map.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace quadtile::app::test {
namespace {

// FNV-1a of the bits.
std::uint64_t fingerprint(const std::vector<float>& texels) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const float texel : texels) {
        hash = (hash ^ std::bit_cast<std::uint32_t>(texel)) * 0x100000001b3U;
    }
    return hash;
}

TEST(DemoMap, IsTheSameOnEveryMachine) {
    EXPECT_EQ(fingerprint(render_demo_map(256)), 11475506351362405790U);
    EXPECT_EQ(fingerprint(render_demo_map(333)), 341973096239913984U);
}

}  // namespace
}  // namespace quadtile::app::test
