// Clip spaces of lights: what they hold, and that they stand still.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"
#include "scene.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <tuple>

namespace quadtile {
namespace {

using test::Point;
using test::refusal_of;
using test::Row;
using testing::HasSubstr;
using Float3 = std::array<float, 3>;

constexpr float INF = std::numeric_limits<float>::infinity();

float uniform(std::mt19937& random, float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
}

Float3 random_point(std::mt19937& random, float extent) {
    return {uniform(random, -extent, extent), uniform(random, -extent, extent),
            uniform(random, -extent, extent)};
}

ShadowBox random_box(std::mt19937& random, float extent) {
    ShadowBox box{random_point(random, extent), {}};
    for (std::size_t i = 0; i < 3; ++i) {
        box.high[i] = box.low[i] + uniform(random, 0.0F, extent);
    }
    return box;
}

// Into x / w, y / w, z / w, w.
Row seen_by(const ShadowProjection& light, double x, double y, double z) {
    const auto rows = test::rows_of(light.clip_from_world);
    const Row point{x, y, z, 1.0};
    const double w = dot(rows[3], point);
    return {dot(rows[0], point) / w, dot(rows[1], point) / w, dot(rows[2], point) / w, w};
}

Row corner_seen(const ShadowProjection& light, const ShadowBox& box, unsigned corner) {
    return seen_by(light, (corner & 1U) != 0 ? box.high[0] : box.low[0],
                   (corner & 2U) != 0 ? box.high[1] : box.low[1],
                   (corner & 4U) != 0 ? box.high[2] : box.low[2]);
}

void expect_inside(const ShadowProjection& light, const ShadowBox& box, bool is_filled) {
    double widest = 0.0;
    for (unsigned corner = 0; corner < 8; ++corner) {
        const Row seen = corner_seen(light, box, corner);
        EXPECT_TRUE(std::abs(seen.x) < 1.0 && std::abs(seen.y) < 1.0 && seen.z > 0.0 &&
                    seen.z < 1.0);
        for (unsigned other = 0; other < corner; ++other) {
            const Row of_other = corner_seen(light, box, other);
            widest =
                std::max({widest, std::abs(seen.x - of_other.x), std::abs(seen.y - of_other.y)});
        }
    }
    // No wider than it must be: half of 7/8 - 2/64 of the 2 units.
    EXPECT_TRUE(widest > 2.0 * 0.42 || !is_filled) << widest;
}

// Extents are eighths of a power of two, so a box that moves jumps by eighths, and its shadows do
// not crawl.
TEST(DirectionalShadowProjection, HoldsTheBoxInEighths) {
    std::mt19937 random(1);
    for (unsigned i = 0; i < 500; ++i) {
        const float extent = std::exp2(uniform(random, -8.0F, 16.0F));
        ShadowBox box = random_box(random, extent);
        Float3 direction = random_point(random, 1.0F);
        if (i < 12) {  // along the axes
            constexpr float LENGTHS[] = {-1e-20F, 1e20F, -1.0F, 0.25F};
            direction = {};
            direction[i / 4] = LENGTHS[i % 4];
        } else if (i < 60) {  // flat, or a point
            for (std::size_t axis = 0; axis < 3; ++axis) {
                box.high[axis] = (i >> axis & 1U) != 0 ? box.high[axis] : box.low[axis];
            }
        }
        const ShadowProjection light = directional_shadow_projection(direction, box);
        expect_inside(light, box, i < 12 || i >= 60);
        const Point along = normalize(Point{direction[0], direction[1], direction[2]});
        const auto rows = test::rows_of(light.clip_from_world);
        for (const std::size_t row : {0U, 1U, 2U}) {
            const double scale = std::hypot(rows[row][0], rows[row][1], rows[row][2]);
            // Farther along the light is deeper.
            const double step = dot(rows[row], Row(along, 0.0));
            EXPECT_NEAR(step / scale, row == 2 ? 1.0 : 0.0, 1e-6);
            const double size = (row == 2 ? 1.0 : 2.0) / scale;
            const double eighths = 8.0 * size / std::exp2(std::floor(std::log2(size) + 1e-6));
            EXPECT_NEAR(eighths, std::round(eighths), 1e-5);
            // It begins at a multiple of an eighth of its extent, to the bit on the map.
            const double begin =
                (row == 2 ? -rows[row][3] : -1.0 - rows[row][3]) * (row == 2 ? 8.0 : 4.0);
            EXPECT_NEAR(begin, std::round(begin), row == 2 ? 1e-4 : 0.0);
        }
        EXPECT_EQ(rows[3], (Row{0.0, 0.0, 0.0, 1.0}));
    }
}

TEST(SpotShadowProjection, SeesItsPyramid) {
    std::mt19937 random(4);
    for (int i = 0; i < 200; ++i) {
        const Float3 position = random_point(random, 10.0F);
        Float3 direction = random_point(random, 1.0F);
        if (i < 6) {  // the axes
            direction = {};
            direction[static_cast<std::size_t>(i) / 2] = i % 2 == 0 ? 3.0F : -0.5F;
        }
        const float angle = uniform(random, 5.0F, 170.0F);
        const ShadowProjection light = spot_shadow_projection(position, direction, angle, 0.5F, 20);
        const Point forward = normalize(Point{direction[0], direction[1], direction[2]});
        const auto at = [&](double distance, const Point& side) {
            return seen_by(light, position[0] + distance * forward[0] + side[0],
                           position[1] + distance * forward[1] + side[1],
                           position[2] + distance * forward[2] + side[2]);
        };
        EXPECT_NEAR(at(0.5, {})[2], 0.0, 1e-4);
        EXPECT_NEAR(at(20.0, {})[2], 1.0, 1e-4);
        EXPECT_NEAR(at(7.0, {})[3], 7.0, 1e-4);
        EXPECT_NEAR(at(7.0, {})[0], 0.0, 1e-4);
        EXPECT_NEAR(at(7.0, {})[1], 0.0, 1e-4);
        // The edge of the cone touches the square: what lies to the side by tan(angle / 2) is at 1
        // from the centre.
        const double radius = 7.0 * std::tan(angle * 3.14159265358979 / 360.0);
        const Point axis = std::abs(forward[0]) < 0.5 ? Point{1, 0, 0} : Point{0, 1, 0};
        const Point side = radius * normalize(cross(forward, axis));
        const Row seen = at(7.0, side);
        EXPECT_NEAR(std::hypot(seen[0], seen[1]), 1.0, 1e-3);
    }
}

TEST(ShadowProjections, RefuseWhatMakesNoSense) {
    const ShadowBox box{{0, 0, 0}, {1, 1, 1}};
    const Float3 up{0, 1, 0};
    const std::tuple<Float3, ShadowBox, const char*> suns[] = {
        {{0, 0, 0}, box, "direction of the light has length 0"},
        {{0, INF, 0}, box, "direction of the light has a number"},
        {up, {{0, 2, 0}, {1, 1, 1}}, "inside out: its y begins at 2 and ends at 1"},
        {up, {{0, -INF, 0}, {1, 1, 1}}, "low corner of the box"},
        {up, {{0, 0, 0}, {1, 1, std::nanf("")}}, "high corner"}};
    for (const auto& [direction, of, text] : suns) {
        const std::string refusal = refusal_of(
            [&, &way = direction, &of = of] { return directional_shadow_projection(way, of); });
        EXPECT_THAT(refusal, HasSubstr(text));
    }
    // Position, direction, angle, nearest and farthest.
    const std::tuple<Float3, Float3, float, float, float, const char*> spots[] = {
        {{}, up, 0.1F, 1, 2, ""},
        {{}, up, 170.0F, 1, 2, ""},
        {{}, {0, 0, 0}, 45, 1, 2, "length 0"},
        {{INF, 0, 0}, up, 45, 1, 2, "position of the spot light"},
        {{}, up, 0.05F, 1, 2, "0.1 to 170"},
        {{}, up, std::nanf(""), 1, 2, "0.1 to 170"},
        {{}, up, 45, 0, 2, "from 0 to 2"},
        {{}, up, 45, 2, 2, "from 2 to 2"},
        {{}, up, 45, 2, INF, "from 2 to inf"}};
    for (const auto& spot : spots) {
        const std::string refusal = refusal_of([&] {
            return spot_shadow_projection(std::get<0>(spot), std::get<1>(spot), std::get<2>(spot),
                                          std::get<3>(spot), std::get<4>(spot));
        });
        const std::string text = std::get<5>(spot);
        EXPECT_EQ(refusal.empty(), text.empty()) << refusal;
        EXPECT_THAT(refusal, HasSubstr(text));
    }
}

// Catches gaps between faces, and faces that are not where the lookup looks for them.
TEST(PointShadowProjections, FacesShareAllDirectionsOut) {
    const Float3 position{3, -2, 7};
    const auto faces = point_shadow_projections(position, 0.5F, 50);
    EXPECT_EQ(faces[0].layers, SHADOW_FACES);
    EXPECT_EQ(faces[5].layers, 0U);
    std::mt19937 random(8);
    for (int i = 0; i < 2000; ++i) {
        Float3 way = random_point(random, 1.0F);
        const std::size_t longest = std::abs(way[0]) > std::abs(way[1])
                                        ? (std::abs(way[0]) > std::abs(way[2]) ? 0 : 2)
                                        : (std::abs(way[1]) > std::abs(way[2]) ? 1 : 2);
        const float scale = 10.0F / std::abs(way[longest]);
        for (std::size_t face = 0; face < faces.size(); ++face) {
            const Row seen =
                seen_by(faces[face], position[0] + double{scale * way[0]},
                        position[1] + double{scale * way[1]}, position[2] + double{scale * way[2]});
            const bool is_inside =
                seen[3] > 0 && std::abs(seen[0]) <= 1.0 && std::abs(seen[1]) <= 1.0;
            EXPECT_EQ(is_inside, face == 2 * longest + (way[longest] < 0 ? 1 : 0));
            EXPECT_TRUE(!is_inside || (seen[2] > 0.9 && seen[2] < 1.0));
        }
    }
}

// Catches levels that lose the camera, whose texels depend on the world, that move all the time, or
// by an eighth but for rounding: their tiles are drawn again.
TEST(DirectionalShadowLevels, FollowTheCameraByEighths) {
    const Float3 direction{-0.5F, -1, 0.25F};
    std::set<float> places;
    for (const float size : {200.0F, 20000.0F}) {
        const ShadowBox world{{-size, -10, -size}, {size, 50, size}};
        const auto first = directional_shadow_levels(direction, world, {}, 16, 5);
        for (int i = 0; i < 64; ++i) {
            const Float3 eye{0.05F * size + 0.5F * static_cast<float>(i), 2, 3};
            const auto levels = directional_shadow_levels(direction, world, eye, 16, 5);
            ASSERT_EQ(levels.size(), 5U);
            for (std::size_t level = 0; level < levels.size(); ++level) {
                EXPECT_EQ(levels[level].layers, level == 0 ? 5U : 0U);
                for (std::size_t k = 0; k < 16; ++k) {
                    const float number = levels[level].clip_from_world[k];
                    const bool is_place = k == 12 || k == 13;
                    EXPECT_EQ(number, is_place ? 0.25F * std::round(4.0F * number)
                                               : first[level].clip_from_world[k]);
                }
                const Row seen = seen_by(levels[level], eye[0], eye[1], eye[2]);
                EXPECT_LE(std::abs(seen[0]), 0.126);
                EXPECT_LE(std::abs(seen[1]), 0.126);
                EXPECT_TRUE(seen[2] > 0.0 && seen[2] < 1.0);
                const auto x = test::rows_of(levels[level].clip_from_world)[0];
                EXPECT_NEAR(std::hypot(x[0], x[1], x[2]), 2.0 / (16 << level), 1e-6);
            }
            if (size < 1000.0F) {
                places.insert(levels[0].clip_from_world[12]);
            }
        }
    }
    EXPECT_GT(places.size(), 4U);
    EXPECT_LT(places.size(), 20U);  // 32 units, of which each step takes 2
    const ShadowBox box{{0, 0, 0}, {1, 1, 1}};
    EXPECT_THROW((void)directional_shadow_levels(direction, box, {}, 16, 0), Error);
    EXPECT_THROW((void)directional_shadow_levels(direction, box, {}, 16, 9), Error);
    EXPECT_THROW((void)directional_shadow_levels(direction, box, {}, 0, 2), Error);
}

}  // namespace
}  // namespace quadtile
