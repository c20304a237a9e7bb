#include <quadtile/kernel_parameters.h>
#include <quadtile/quadtree.h>
#include <quadtile/image.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace quadtile {
namespace {

TEST(Quadtree, LevelExtentIsTheCeilingOfTheQuotient) {
    for (std::uint32_t extent = 1; extent <= 1030; ++extent) {
        for (std::uint32_t level = 0; level <= MAX_TOP_LEVEL; ++level) {
            EXPECT_EQ(level_extent(extent, level), (extent + (1U << level) - 1) >> level);
        }
    }
}

TEST(Quadtree, MortonCodesAreInverted) {
    for (std::uint32_t y = 0; y < 65536; y += 257) {
        for (std::uint32_t x = 0; x < 65536; x += 251) {
            const std::uint32_t code = morton_encode(x, y);
            EXPECT_EQ(morton_x(code), x);
            EXPECT_EQ(morton_y(code), y);
        }
    }
    EXPECT_EQ(morton_encode(1, 0), 1U);
    EXPECT_EQ(morton_encode(0, 1), 2U);
}

TEST(Quadtree, RowsOfThePyramidAreTheSumOfTheLevelsAbove) {
    for (std::uint32_t height = 1; height <= 600; ++height) {
        std::uint32_t rows = 0;
        for (std::uint32_t level = 2; level <= MAX_TOP_LEVEL; ++level) {
            EXPECT_EQ(level_offset_y(height, level), rows) << height << ", level " << level;
            rows += level_extent(height, level);
        }
    }
}

TEST(Quadtree, WorkgroupsAreAsManyAsTheThreadsNeed) {
    for (std::uint32_t depth = 0; depth <= 8; ++depth) {
        for (const std::uint32_t nodes : {0U, 1U, 2U, 3U, 4U, 5U, 15U, 16U, 17U, 63U, 64U, 65U}) {
            const std::uint64_t threads = std::uint64_t{nodes} << (2 * depth);
            EXPECT_EQ(workgroups_for(nodes, depth),
                      (threads + SUBDIVISION_WORKGROUP_SIZE - 1) / SUBDIVISION_WORKGROUP_SIZE);
        }
    }
}

TEST(Quadtree, FoldedWorkgroupsStayBelowTheLimitAndCoverTheCount) {
    for (const std::uint32_t limit : {1U, 3U, 7U, 65535U}) {
        for (const std::uint32_t workgroups : {0U, 1U, 6U, 7U, 8U, 49U}) {
            const std::uint32_t x = folded_x(workgroups, limit);
            const std::uint32_t y = folded_y(workgroups, limit);
            EXPECT_LE(x, limit);
            EXPECT_GE(x * y, workgroups);
            EXPECT_LT(x * y, workgroups + limit);
        }
    }
}

}  // namespace
}  // namespace quadtile
