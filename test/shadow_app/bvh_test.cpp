#include "bvh.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <utility>

namespace quadtile::shadow {
namespace {

std::vector<RayTriangle> random_triangles(std::size_t count, std::size_t copies = 1) {
    std::mt19937 random(11);
    const auto unit = [&] { return static_cast<float>(random() % 65536) / 65536.0F; };
    std::vector<RayTriangle> triangles;
    for (std::size_t i = 0; i < count; ++i) {
        const std::array middle{40.0F * unit(), 10.0F * unit(), 30.0F * unit() * unit()};
        RayTriangle triangle;
        for (std::size_t k = 0; k < 9; ++k) {
            triangle.corners[k] = middle[k % 3] + unit();
        }
        triangles.insert(triangles.end(), copies, triangle);
    }
    return triangles;
}

// Checks the node and all that is below, and returns how many triangles that are.
std::size_t check_below(const Bvh& bvh, std::size_t index) {
    const RayNode& node = bvh.nodes[index];
    if (node.leaf != RAY_INNER_NODE) {
        EXPECT_EQ(node.next, index + 1);
        return node.leaf % RAY_LEAF_TRIANGLES + 1;
    }
    const std::size_t second = bvh.nodes[index + 1].next;
    EXPECT_EQ(bvh.nodes[second].next, node.next);
    return check_below(bvh, index + 1) + check_below(bvh, second);
}

// Boxes that are wrong hide triangles from rays (test/shadow_renderer).
TEST(Bvh, HoldsEachTriangleOnce) {
    for (const auto& [count, copies] : {std::pair(1U, 1U), {4U, 1U}, {17U, 1U}, {3U, 700U}}) {
        const Bvh bvh = build_bvh(random_triangles(count, copies));
        EXPECT_EQ(check_below(bvh, 0), count * copies);
    }
}

// More than one thread takes part.
TEST(Bvh, IsTheSameEachTime) {
    const std::vector<RayTriangle> triangles = random_triangles(150000);
    const Bvh a = build_bvh(triangles);
    const Bvh b = build_bvh(triangles);
    EXPECT_EQ(check_below(a, 0), triangles.size());
    ASSERT_EQ(a.nodes.size(), b.nodes.size());
    EXPECT_EQ(std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(RayNode)), 0);
    EXPECT_EQ(std::memcmp(a.triangles.data(), b.triangles.data(),
                          a.triangles.size() * sizeof(RayTriangle)),
              0);
}

// Checks the purpose of the heuristic: boxes of children are small.
TEST(Bvh, SplitsWell) {
    const Bvh bvh = build_bvh(random_triangles(20000));
    const auto half_area = [](const RayNode& node) {
        std::array<float, 3> size{};
        for (std::size_t i = 0; i < 3; ++i) {
            size[i] = node.high[i] - node.low[i];
        }
        return size[0] * (size[1] + size[2]) + size[1] * size[2];
    };
    float sum = 0.0F;  // nodes that a ray through the scene crosses
    for (const RayNode& node : bvh.nodes) {
        sum += half_area(node) / half_area(bvh.nodes.front());
    }
    EXPECT_LT(sum, 150.0F);
}

}  // namespace
}  // namespace quadtile::shadow
