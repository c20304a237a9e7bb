#include <quadtile/kernel_parameters.h>
#include <quadtile/quadtree.h>
#include <quadtile/image.hpp>

#include <gtest/gtest.h>

namespace quadtile {
namespace {

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
