// Stable cascades: they stay as they are or move by whole texels, and have all that is seen.

#include "fixed_views.hpp"
#include "studio.hpp"

#include <gtest/gtest.h>
#include <glm/glm.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace quadtile::shadow {
namespace {

constexpr ShadowBox BOUNDS{{-300.0F, -5.0F, -250.0F}, {350.0F, 60.0F, 400.0F}};
constexpr float ASPECT = 16.0F / 9.0F;
constexpr std::uint32_t ATLAS_EXTENT = 1024;
constexpr std::uint32_t LAST = 3;  // cascade

std::vector<FixedView> views_at(const Camera& camera) {
    return fixed_views(
        {.technique = Technique::stable_cascades, .camera = camera, .lights = {side_sun()}},
        std::vector<ShadowProjection>(1), BOUNDS, ASPECT, ATLAS_EXTENT);
}

// ---- From frame to frame

// Returns the way from `from` to `to` in texels.
glm::vec2 moved_texels(const FixedView& from, const FixedView& to) {
    const glm::vec2 extent(static_cast<float>(to.width), static_cast<float>(to.height));
    return glm::vec2(to.clip_from_world[3] - from.clip_from_world[3]) * 0.5F * extent;
}

// In so many small steps, each camera from the one before. How often each cascade has moved.
std::array<int, LAST + 1> times_moved(Camera camera, int steps, const glm::vec3& move,
                                      float yaw_degrees, float pitch_degrees) {
    std::array<int, LAST + 1> times{};
    std::vector<FixedView> before = views_at(camera);
    for (int step = 0; step < steps; ++step) {
        camera.position += move;
        camera.yaw_degrees += yaw_degrees;
        camera.pitch_degrees += pitch_degrees;
        const std::vector<FixedView> views = views_at(camera);
        for (std::uint32_t i = 0; i <= LAST; ++i) {
            EXPECT_EQ(views[i].farthest, before[i].farthest);
            EXPECT_EQ(views[i].texel_extent, before[i].texel_extent);
            for (int column = 0; column < 3; ++column) {
                EXPECT_EQ(views[i].clip_from_world[column], before[i].clip_from_world[column]);
            }
            EXPECT_EQ(views[i].clip_from_world[3].z, before[i].clip_from_world[3].z);
            const glm::vec2 texels = moved_texels(before[i], views[i]);
            EXPECT_LT(glm::distance(texels, glm::round(texels)), 0.01F) << "cascade " << i;
            times[i] += views[i].clip_from_world != before[i].clip_from_world ? 1 : 0;
        }
        before = views;
    }
    return times;
}

// Returns the most moves of a view whose centre went so far: one per texel and axis.
int most_moves(const FixedView& view, float way) {
    return 2 * (1 + static_cast<int>(way / view.texel_extent));
}

TEST(StableCascades, StayAsTheyAreOrMoveByWholeTexels) {
    constexpr int STEPS = 1000;
    const Camera camera{.position = {31.7F, 2.3F, 87.1F}, .yaw_degrees = 33.0F};
    const std::vector<FixedView> views = views_at(camera);
    {
        const float way = 10.0F * views[0].texel_extent;
        const glm::vec3 step = way / STEPS * glm::normalize(glm::vec3(1.0F, 0.3F, -0.7F));
        const auto times = times_moved(camera, STEPS, step, 0.0F, 0.0F);
        for (std::uint32_t i = 0; i <= LAST; ++i) {
            EXPECT_LE(times[i], most_moves(views[i], way)) << "cascade " << i;
        }
        EXPECT_GE(times[0], 5);  // else there was nothing to see
    }
    {
        constexpr float TURN_DEGREES = 2.0F;
        const auto times = times_moved(camera, STEPS, {}, TURN_DEGREES / STEPS, 0.0F);
        for (std::uint32_t i = 0; i < LAST; ++i) {
            const float way = glm::radians(TURN_DEGREES) * views[i].farthest;
            EXPECT_LE(times[i], most_moves(views[i], way)) << "cascade " << i;
        }
        EXPECT_GE(times[0], 3);
        EXPECT_GE(times[1], 3);
    }
}

// ---- What is in them

// Beyond the edge texels where it is more than 1.
float place_in(const FixedView& view, const glm::vec3& position) {
    const glm::vec2 inside =
        1.0F - 4.0F / glm::vec2(static_cast<float>(view.width), static_cast<float>(view.height));
    const glm::vec2 place =
        glm::abs(glm::vec2(view.clip_from_world * glm::vec4(position, 1.0F))) / inside;
    return std::max(place.x, place.y);
}

// To a distance of 1 along the camera's direction, through a place of its clip space.
glm::vec3 ray_through(const Camera& camera, const glm::vec2& clip) {
    const glm::dmat4 clip_from_world(camera.clip_from_world(ASPECT, CAMERA_NEAREST));
    glm::dmat3 clip_from_direction;
    for (int column = 0; column < 3; ++column) {
        clip_from_direction[column] = {clip_from_world[column].x, clip_from_world[column].y,
                                       clip_from_world[column].w};
    }
    return glm::inverse(clip_from_direction) * glm::dvec3(clip, 1.0);
}

bool is_in_bounds(const glm::vec3& p) {
    return p.x >= BOUNDS.low[0] && p.y >= BOUNDS.low[1] && p.z >= BOUNDS.low[2] &&
           p.x <= BOUNDS.high[0] && p.y <= BOUNDS.high[1] && p.z <= BOUNDS.high[2];
}

// Radius of a sphere around a slice whose corners are `spread` from the middle at a distance of 1.
float smallest_radius(float from, float to, float spread) {
    constexpr int TRIES = 1000;
    float smallest = std::numeric_limits<float>::max();
    for (int i = 0; i <= TRIES; ++i) {
        const float middle = from + (to - from) * static_cast<float>(i) / TRIES;
        smallest = std::min(smallest, std::max(std::hypot(middle - from, spread * from),
                                               std::hypot(to - middle, spread * to)));
    }
    return smallest;
}

TEST(StableCascades, AreNoLargerThanNecessary) {
    for (const float field_degrees : {25.0F, 60.0F, 100.0F}) {
        SCOPED_TRACE(field_degrees);
        const std::vector<FixedView> views = views_at({.vertical_field_degrees = field_degrees});
        const float spread =
            std::tan(glm::radians(0.5F * field_degrees)) * std::hypot(1.0F, ASPECT);
        float from = CAMERA_NEAREST;
        for (std::uint32_t i = 0; i < LAST; ++i) {
            // Two texels at each edge are for filters, two for moving by whole ones.
            const float size = views[i].texel_extent * static_cast<float>(views[i].width - 6);
            EXPECT_LT(size, 2.001F * smallest_radius(from, views[i].farthest, spread));
            EXPECT_LE(views[i].texel_extent, views[LAST].texel_extent);
            from = views[i].farthest;
        }
    }
}

TEST(StableCascades, AreAroundTheirSlices) {
    std::mt19937 random(1);
    const auto uniform = [&](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    for (const float field_degrees : {25.0F, 60.0F, 100.0F}) {
        SCOPED_TRACE(field_degrees);
        std::uint32_t corners = 0;
        for (int i = 0; i < 1000; ++i) {
            const Camera camera{
                .position = {uniform(-300, 350), uniform(-5, 60), uniform(-250, 400)},
                .yaw_degrees = uniform(-180, 180),
                .pitch_degrees = uniform(-90, 90),
                .vertical_field_degrees = field_degrees};
            const std::vector<FixedView> views = views_at(camera);
            float from = CAMERA_NEAREST;
            for (std::uint32_t cascade = 0; cascade < LAST; ++cascade) {
                const FixedView& view = views[cascade];
                for (const float distance : {from, view.farthest}) {
                    for (const glm::vec2 corner : {glm::vec2(-1, -1), {1, -1}, {-1, 1}, {1, 1}}) {
                        const glm::vec3 position =
                            camera.position + distance * ray_through(camera, corner);
                        if (is_in_bounds(position)) {
                            ASSERT_LE(place_in(view, position), 1.0F)
                                << "cascade " << cascade << " at " << distance;
                            ++corners;
                        }
                    }
                }
                from = view.farthest;
            }
        }
        EXPECT_GT(corners, 5000U);
    }
}

}  // namespace
}  // namespace quadtile::shadow
