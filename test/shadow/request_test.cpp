// Requests of pixels for a shadow map, against geometry, and their arithmetic.

#include <quadtile/shadow.hpp>

#include "scene.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <numbers>
#include <random>

namespace quadtile {
namespace {

using test::Camera;
using test::Depths;
using test::Point;
using test::Row;

constexpr double SLOPE = 0.5;
constexpr double HEIGHT = 10.0;                                               // of the camera
constexpr double PIXEL = 2.0 * HEIGHT * SLOPE / test::CAMERA_PICTURE.height;  // on the ground
constexpr Row GROUND{0.0, 1.0, 0.0, 0.0};

ShadowOptions small_options() {
    ShadowOptions options;
    options.max_stretch = 8.0F;
    options.map_extent = 256;
    return options;
}

Camera camera_above(Depths depths = Depths::infinite_reversed) {
    return test::camera_at({0, HEIGHT, 0}, {0, 0, 0}, SLOPE, 16.0 / 9, depths);
}

// Request of a pixel that sees a plane, to a light.
struct Asked {
    ShadowRequest request;
    ShadowLight light;
};
Asked ask(const ShadowOptions& options, const Camera& camera, const ShadowProjection& light,
          std::uint32_t column, std::uint32_t row, const Row& plane = GROUND) {
    const ShadowFrame frame =
        make_shadow_frame(options, camera.view, test::CAMERA_PICTURE, {&light, 1});
    const auto rows = test::rows_of(camera.view.clip_from_world);
    const auto depth = [&](std::uint32_t c, std::uint32_t r) {
        const Point at = test::seen_on(camera.view, test::CAMERA_PICTURE, c + 0.5, r + 0.5, plane);
        const Row point{at[0], at[1], at[2], 1.0};
        return static_cast<float>(test::apply(rows[2], point) / test::apply(rows[3], point));
    };
    const float here = depth(column, row);
    return {shadow_request(shadow_parameters(options), frame.lights[0], column, row, here,
                           depth(column + 1, row) - here, depth(column, row + 1) - here),
            frame.lights[0]};
}

ShadowProjection sun(double degrees_from_zenith) {
    const double angle = degrees_from_zenith * std::numbers::pi / 180.0;
    return directional_shadow_projection(
        {static_cast<float>(std::sin(angle)), static_cast<float>(-std::cos(angle)), 0.0F},
        {{-10, 0, -10}, {10, 1, 10}});
}

// By the definition: of the pixels along the axes of the ellipse that a map texel is.
double needed(double a, double b) {
    return std::sqrt(0.5 * (a * a + b * b)) / (a * b);
}

TEST(ShadowRequest, ScalesWithTheResolution) {
    ShadowOptions options = small_options();
    const float once = ask(options, camera_above(), sun(0.0), 80, 45).request.importance;
    options.resolution_scale = 1.5F;
    EXPECT_FLOAT_EQ(ask(options, camera_above(), sun(0.0), 80, 45).request.importance, 1.5F * once);
}

TEST(ShadowRequest, TiltedLightStretchesUpToALimit) {
    for (const double degrees : {30.0, 60.0, 80.0, 85.0, 89.0, 89.9}) {
        const Asked asked = ask(small_options(), camera_above(), sun(degrees), 80, 45);
        ASSERT_EQ(asked.request.inside, 1U) << degrees;
        // Texels that a pixel is long, and wide.
        const double a = PIXEL / asked.light.texel_extent;
        const double b = a * std::cos(degrees * std::numbers::pi / 180.0);
        constexpr double MOST = 8.0;
        const double expected =
            a / b <= MOST ? needed(a, b) : std::sqrt(0.5 / (a * a + b * b)) * (MOST + 1.0 / MOST);
        EXPECT_NEAR(asked.request.importance / expected, 1.0, 1e-3) << degrees;
    }
    // Without stretching a pixel counts as a circle.
    ShadowOptions round = small_options();
    round.max_stretch = 1.0F;
    const Asked asked = ask(round, camera_above(), sun(0.0), 80, 45);
    EXPECT_NEAR(asked.request.importance * PIXEL / asked.light.texel_extent, 1.0, 1e-4);
}

TEST(ShadowRequest, FromBelowThereIsNoLight) {
    for (const double degrees : {91.0, 120.0, 180.0}) {
        EXPECT_EQ(ask(small_options(), camera_above(), sun(degrees), 80, 45).request.inside, 0U);
    }
}

TEST(ShadowRequest, ASpotLightSeesItsPyramid) {
    const auto inside = [](const ShadowProjection& spot, std::uint32_t column, std::uint32_t row) {
        return ask(small_options(), camera_above(), spot, column, row).request.inside;
    };
    const ShadowProjection narrow = spot_shadow_projection({0, 20, 0}, {0, -1, 0}, 10, 1, 50);
    EXPECT_EQ(inside(narrow, 80, 45), 1U);
    EXPECT_EQ(inside(narrow, 0, 0), 0U);
    EXPECT_EQ(inside(spot_shadow_projection({0, 20, 0}, {0, 1, 0}, 120, 1, 50), 80, 45), 0U);
}

TEST(ShadowRequest, AnyPlaneHasItsNumericalJacobian) {
    std::mt19937 random(1);
    const auto uniform = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    ShadowOptions options = small_options();
    options.max_stretch = 1024.0F;
    int checked = 0;
    for (int i = 0; i < 2000; ++i) {
        const bool is_parallel = i % 3 == 0;
        const Camera camera = test::camera_at(
            {uniform(-5, 5), uniform(3, 9), uniform(5, 9)}, {uniform(-1, 1), 0, uniform(-1, 1)},
            is_parallel ? 5.0 : 0.5, 16.0 / 9, static_cast<Depths>(i / 6 % 3), is_parallel);
        const ShadowProjection light =
            i % 2 == 0 ? sun(uniform(-70, 70))
                       : spot_shadow_projection({3, 15, 0}, {-0.2F, -1, 0}, 80, 1, 50);
        const Point n = test::unit({uniform(-0.4, 0.4), 1.0, uniform(-0.4, 0.4)});
        const Row plane{n[0], n[1], n[2], uniform(-0.5, 0.5)};
        const auto column = static_cast<std::uint32_t>(uniform(20, 140));
        const auto row = static_cast<std::uint32_t>(uniform(10, 80));
        const Asked asked = ask(options, camera, light, column, row, plane);
        if (asked.request.inside == 0) {
            continue;
        }
        const Point at =
            test::seen_on(camera.view, test::CAMERA_PICTURE, column + 0.5, row + 0.5, plane);
        const auto texel = test::on_map(light.clip_from_world, 256, at);
        EXPECT_NEAR(asked.request.x + 0.5, texel[0], 0.51);
        EXPECT_NEAR(asked.request.y + 0.5, texel[1], 0.51);
        EXPECT_NEAR(asked.request.exact_x, texel[0], 0.01);
        EXPECT_NEAR(asked.request.exact_y, texel[1], 0.01);
        const auto [xc, xr, yc, yr] =
            test::jacobian(camera.view, test::CAMERA_PICTURE, light.clip_from_world, 256,
                           column + 0.5, row + 0.5, plane);
        const double squares = xc * xc + xr * xr + yc * yc + yr * yr;
        const double expected = std::sqrt(0.5 * squares) / std::abs(xc * yr - yc * xr);
        // Differences of depths of 24 bits keep about 10.
        EXPECT_NEAR(asked.request.importance / expected, 1.0, 0.03) << i;
        EXPECT_NEAR(asked.request.pixel_squared / squares, 1.0, 0.03) << i;
        ++checked;
    }
    EXPECT_GT(checked, 1000);
}

// Catches another limit, and distances from the texel's corner.
TEST(ShadowRequest, APixelIsNearUpToSixteenPixelsAway) {
    ShadowRequest request{};
    request.exact_x = 100.5F;
    request.exact_y = 40.25F;
    request.pixel_squared = 0.25F;  // 16 pixels are 8 texels
    const auto is_near = [&](float across, float down) {
        return shadow_is_near(request, request.exact_x + across, request.exact_y + down);
    };
    EXPECT_TRUE(is_near(0.0F, 8.0F));
    EXPECT_TRUE(is_near(-8.0F, -1.0F));  // 256 * 0.25 + 1
    EXPECT_FALSE(is_near(8.0F, 1.0625F));
    EXPECT_FALSE(is_near(-8.125F, 0.0F));
    request.pixel_squared = 0.0F;
    EXPECT_TRUE(is_near(0.0F, 1.0F));  // within a texel
    EXPECT_FALSE(is_near(0.75F, 0.75F));
}

TEST(ShadowRequest, NoNumberHarms) {
    const ShadowProjection light = sun(20.0);
    const ShadowOptions options = small_options();
    const ShadowFrame frame =
        make_shadow_frame(options, camera_above().view, test::CAMERA_PICTURE, {&light, 1});
    const float inf = std::numeric_limits<float>::infinity();
    const float values[] = {0.0F, -1.0F, 0.01F, 1e30F, -1e30F, 1e-38F, inf, -inf, std::nanf("")};
    for (const float depth : values) {
        for (const float by_column : values) {
            for (const float by_row : values) {
                const ShadowRequest request = shadow_request(
                    shadow_parameters(options), frame.lights[0], 80, 45, depth, by_column, by_row);
                EXPECT_GE(request.importance, 0.0F);
                EXPECT_LE(request.importance, 128.0F);
                EXPECT_LT(request.x, 256U);
                EXPECT_LT(request.y, 256U);
            }
        }
    }
}

TEST(ShadowArithmetic, ReciprocalsAndRoots) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> exponent(-100.0, 100.0);
    double worst_reciprocal = 0.0;
    double worst_root = 0.0;
    for (int i = 0; i < 1000000; ++i) {
        const auto value = static_cast<float>(std::exp2(exponent(random)));
        worst_reciprocal =
            std::max(worst_reciprocal, std::abs(shadow_reciprocal(value) * double{value} - 1.0));
        worst_root = std::max(worst_root,
                              std::abs(shadow_square_root(value) / std::sqrt(double{value}) - 1.0));
    }
    EXPECT_LT(worst_reciprocal, 0x1p-23 * 1.5);
    EXPECT_LT(worst_root, 0x1p-22);
    for (int i = -100; i <= 100; ++i) {
        EXPECT_EQ(shadow_reciprocal(std::ldexp(1.0F, i)), std::ldexp(1.0F, -i));
    }
    RecordProperty("worst_reciprocal_bits", std::to_string(-std::log2(worst_reciprocal)));
    RecordProperty("worst_root_bits", std::to_string(-std::log2(worst_root)));
}

TEST(ShadowArithmetic, DepthStepTakesTheLesser) {
    EXPECT_EQ(shadow_depth_step(1.0F, 2.0F), 1.0F);
    EXPECT_EQ(shadow_depth_step(3.0F, -2.0F), -2.0F);
    EXPECT_EQ(shadow_depth_step(-1.0F, 1.0F), 1.0F);  // a tie
}

}  // namespace
}  // namespace quadtile
