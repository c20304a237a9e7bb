#include "demo_map.hpp"

#include <quadtile/reference.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(DemoMap, HasTilesOfManyLevels) {
    const std::vector<float> texels = render_demo_map(1024);
    const TileList list = reference::subdivide(view_of(texels, 1024, 1024),
                                               Threshold::max_resolution(DEMO_MAX_RESOLUTION));
    EXPECT_EQ(check_partition(list.tiles, list.shape), "");
    EXPECT_GE(std::ranges::count_if(list.tiles_per_level(),
                                    [](std::uint64_t count) { return count > 0; }),
              8);
    EXPECT_GT(list.tiles.size(), 2000U);
    EXPECT_LT(list.tiles.size(), 20000U);
}

// The number of light map texels does not depend on how finely the map samples them.
TEST(DemoMap, DensityIsPerTexelOfTheMap) {
    const auto greatest = [](std::uint32_t size) {
        return std::ranges::max(render_demo_map(size));
    };
    EXPECT_FLOAT_EQ(greatest(512), 2.0F * greatest(1024));
}

}  // namespace
}  // namespace quadtile::app::test
