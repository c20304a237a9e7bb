// Steps of a sun's map: which ones there are, and what the CPU twin keeps over one.

#include <quadtile/shadow.hpp>

#include "spheres.hpp"
#include "twin_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace quadtile {
namespace {

constexpr VkExtent2D STEPS_PICTURE{96, 54};
constexpr std::array<float, 3> DIRECTION{-0.5F, -1.0F, 0.25F};

std::vector<ShadowProjection> levels_at(const std::array<float, 3>& eye, float nearest_extent,
                                        std::uint32_t levels) {
    return directional_shadow_levels(DIRECTION, test::spheres_box(), eye, nearest_extent, levels);
}

// Projection whose box has moved by so many eighths, along its own axes.
ShadowProjection moved(ShadowProjection level, float right, float down) {
    level.clip_from_world[12] -= 0.25F * right;
    level.clip_from_world[13] -= 0.25F * down;
    return level;
}

// Catches boxes that move by an eighth but for rounding: their tiles are drawn again.
TEST(ShadowSteps, AreExactMultiplesOfAnEighth) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> place(-3000.0F, 3000.0F);
    const auto expect_steps = [](const ShadowProjection& a, const ShadowProjection& b) {
        for (std::size_t i = 0; i < 16; ++i) {
            if (i == 12 || i == 13) {
                EXPECT_EQ(4.0F * a.clip_from_world[i], std::round(4.0F * a.clip_from_world[i]));
            } else {
                EXPECT_EQ(a.clip_from_world[i], b.clip_from_world[i]);
            }
        }
    };
    for (const float extent : {16.0F, 3.7F, 0.3F}) {
        const auto first = levels_at({}, extent, 3);
        for (int i = 0; i < 200; ++i) {
            const auto levels = levels_at({place(random), 2.0F, place(random)}, extent, 3);
            for (std::size_t level = 0; level < 3; ++level) {
                expect_steps(levels[level], first[level]);
            }
        }
    }
    const auto sun_over = [](float x) {
        return directional_shadow_projection({0, -1, 0}, {{x, 0, 0}, {x + 1.3F, 1, 1}});
    };
    for (int i = -40; i < 40; ++i) {
        expect_steps(sun_over(0.3F * static_cast<float>(i)), sun_over(0));
    }
}

// Catches steps that are no whole texels or of another light, and NaN that is taken for one.
TEST(ShadowSteps, AreShiftsByWholeTexelsOfTheSameSun) {
    const ShadowParameters parameters = shadow_parameters({.map_extent = 64});
    const auto light_of = [](const ShadowProjection& projection, float perspective = 0.0F) {
        ShadowLight light{};
        std::ranges::copy(projection.clip_from_world, light.clip_from_world);
        light.perspective = perspective;
        return light;
    };
    const ShadowProjection sun = levels_at({1, 2, 3}, 16, 1)[0];
    const ShadowLight last = light_of(sun);
    const auto step_to = [&](float right, float down) {
        return shadow_step(parameters, light_of(moved(sun, right, down)), last);
    };
    const auto expect_step = [](const ShadowStep& step, std::int32_t x, std::int32_t y) {
        EXPECT_EQ(step.changed, 0U);
        EXPECT_EQ(step.x, x);
        EXPECT_EQ(step.y, y);
    };
    expect_step(step_to(0, 0), 0, 0);
    expect_step(step_to(1, -2), 8, -16);
    expect_step(step_to(-900, 0.125F), -7200, 1);  // by a texel, as well
    for (const ShadowStep& step : {step_to(0.0625F, 0), step_to(1, 0.0625F), step_to(1e12F, 0)}) {
        EXPECT_EQ(step.changed, 1U);
        EXPECT_EQ(step.x, 0);
        EXPECT_EQ(step.y, 0);
    }
    for (std::size_t i = 0; i < 16; ++i) {
        for (const float wrong : {0.3F, std::numeric_limits<float>::quiet_NaN(),
                                  std::numeric_limits<float>::infinity()}) {
            ShadowProjection other = moved(sun, 1, 1);
            other.clip_from_world[i] = wrong;
            EXPECT_EQ(shadow_step(parameters, light_of(other), last).changed, 1U) << i;
        }
    }
    EXPECT_EQ(
        shadow_step(parameters, light_of(moved(sun, 1, 0), 1.0F), light_of(sun, 1.0F)).changed, 1U);
    EXPECT_EQ(shadow_step(parameters, last, ShadowLight{}).changed, 1U);  // the first frame
}

// A twin whose frames are all checked, without its code.
class Walk {
 public:
    explicit Walk(const ShadowOptions& options)
        : options_(options), fitter_(options), atlas_(test::empty_atlas(options)) {}

    const test::ShadowResult& next(const std::vector<ShadowProjection>& lights,
                                   const test::Pinhole& camera, const std::vector<float>& depth) {
        const ShadowFrame frame = make_shadow_frame(options_, camera.view(), STEPS_PICTURE, lights);
        last = fitter_.next(frame, depth, atlas_);
        test::check_shadow_frame(options_, frame_, last_, frame, last);
        frame_ = frame;
        last_ = last;
        return last;
    }

    test::ShadowResult last;

 private:
    ShadowOptions options_;
    reference::ShadowFitter fitter_;
    std::vector<float> atlas_;
    ShadowFrame frame_{};
    test::ShadowResult last_;
};

// Catches steps that draw all, tiles that lose their slots by one, and tiles that are kept although
// they begin elsewhere. The camera stands still, so needs are the same all the time.
TEST(ShadowSteps, DrawOnlyWhatIsNew) {
    const ShadowOptions options = test::with_small_tiles(
        {.map_extent = 64, .atlas_extent = 1024, .max_tiles = 600, .resolution_scale = 4.0F});
    Walk walk(options);
    const test::Pinhole camera = test::camera_of_frame(3);
    const std::vector<float> depth = test::depth_buffer(camera);
    ShadowProjection sun = levels_at({6, 0, 0}, 30, 1)[0];
    walk.next({sun}, camera, depth);
    EXPECT_GT(walk.last.header.tiles, 100U);
    for (const auto& [right, down] : {std::array{1.0F, 0.0F},
                                      {0.0F, 1.0F},
                                      {-1.0F, -1.0F},
                                      {-2.0F, 1.0F},
                                      {1.0F, -1.0F},
                                      {1.0F, 0.0F}}) {
        EXPECT_EQ(walk.next({sun}, camera, depth).header.render_count, 0U);
        sun = moved(sun, right, down);
        const ShadowHeader header = walk.next({sun}, camera, depth).header;
        EXPECT_GT(header.render_count, 0U);
        EXPECT_LT(header.render_count, header.tiles / 4);
    }
    const ShadowHeader jump = walk.next({moved(sun, 8, 0)}, camera, depth).header;
    EXPECT_EQ(jump.kept, 0U);  // nothing of it was in the box
}

// Catches needs that stay at their place on the map, and those of places that have left it.
TEST(ShadowSteps, MoveTheNeedsOfTheLastFrames) {
    const ShadowOptions options =
        test::with_small_tiles({.map_extent = 64, .atlas_extent = 512, .max_tiles = 300});
    const ShadowParameters parameters = shadow_parameters(options);
    const test::Pinhole camera = test::camera_of_frame(3);
    const std::vector<float> nothing(STEPS_PICTURE.width * STEPS_PICTURE.height, 0.0F);
    const ShadowProjection sun = levels_at({6, 0, 0}, 30, 1)[0];
    for (const auto& [right, down] : {std::array{1, 0}, {0, -2}, {-1, 1}, {-9, 0}}) {
        Walk walk(options);
        const std::vector<float> before =
            walk.next({sun}, camera, test::depth_buffer(camera)).importance;
        const std::vector<float> after =
            walk.next({moved(sun, static_cast<float>(right), static_cast<float>(down))}, camera,
                      nothing)
                .importance;
        for (int i = 0; i < 64 * 64; ++i) {
            const int x = i % 64 + 8 * right;
            const int y = i / 64 + 8 * down;
            const bool was_inside = x >= 0 && x < 64 && y >= 0 && y < 64;
            const std::size_t then = was_inside ? static_cast<std::size_t>(64 * y + x) : 0;
            EXPECT_EQ(after[static_cast<std::size_t>(i)],
                      was_inside ? shadow_faded(parameters, before[then]) : 0.0F);
        }
    }
}

// Catches budgets that are counted with other nodes than the tiles are kept by.
TEST(ShadowSteps, KeepBudgets) {
    for (const std::uint32_t max_tiles : {20U, 90U}) {
        const ShadowOptions options = test::with_small_tiles({.lights = 4,
                                                              .map_extent = 64,
                                                              .atlas_extent = 512,
                                                              .max_tiles = max_tiles,
                                                              .resolution_scale = 4.0F});
        Walk walk(options);
        std::uint32_t kept = 0;
        std::uint32_t tiles = 0;
        for (int i = 0; i < 40; ++i) {
            const test::Pinhole camera = test::camera_of_frame(5 * i);
            const std::array eye{static_cast<float>(camera.eye[0]), 1.7F,
                                 static_cast<float>(camera.eye[2])};
            walk.next(levels_at(eye, 4, 4), camera, test::depth_buffer(camera));
            kept += walk.last.header.kept;
            tiles += walk.last.header.tiles;
            EXPECT_GT(walk.last.header.factor_index, 0U);
        }
        EXPECT_GT(kept, tiles / 2);
        EXPECT_LT(kept, tiles);
    }
}

}  // namespace
}  // namespace quadtile
