// make_shadow_frame and the requests of pixels: the way from pixels to the map, which side of a
// surface faces the light, and the resolution that a pixel needs, by brute force.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"
#include "scene.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>

namespace quadtile {
namespace {

using test::Camera;
using test::Depths;
using test::Point;
using test::Row;
using test::Rows;
using testing::HasSubstr;

constexpr std::uint32_t MAP_EXTENT = 256;

double uniform(std::mt19937& random, double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
}

Point random_direction(std::mt19937& random) {
    return normalize(Point{uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1)});
}

std::array<float, 3> floats(const Point& v) {
    return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

Camera random_camera(std::mt19937& random) {
    const auto depths = static_cast<Depths>(random() % 3);
    const bool is_parallel = random() % 3 == 0;
    const Point eye{uniform(random, -9, 9), uniform(random, -9, 9), uniform(random, 10, 20)};
    const Point target{uniform(random, -2, 2), uniform(random, -2, 2), uniform(random, -2, 2)};
    const double slope = is_parallel ? uniform(random, 2, 9) : uniform(random, 0.2, 1.2);
    return test::camera_at(eye, target, slope, 16.0 / 9, depths, is_parallel, random() % 2 == 0);
}

struct Light {
    ShadowProjection projection;
    Point position;   // of a spot light
    Point direction;  // of a directional one
    bool is_spot;
};

Light random_light(std::mt19937& random) {
    Light light{};
    light.is_spot = random() % 2 == 0;
    light.direction = random_direction(random);
    if (light.is_spot) {
        light.position = -30.0 * light.direction;
        light.projection = spot_shadow_projection(floats(light.position), floats(light.direction),
                                                  60.0F, 1.0F, 100.0F);
    } else {
        light.projection =
            directional_shadow_projection(floats(light.direction), {{-20, -20, -20}, {20, 20, 20}});
    }
    if (random() % 2 == 0) {  // mirrored, as others may have it
        for (const std::size_t i : {0U, 4U, 8U, 12U}) {
            light.projection.clip_from_world[i] *= -1.0F;
        }
    }
    return light;
}

// A point in the picture and a plane through it whose front the camera sees.
struct Surface {
    double column;
    double row;
    Point point;
    Point normal;
    Row plane;
    bool faces_light;
    bool is_flat;  // its depths change so fast that floats hardly tell
};

// Returns none if a side is seen at too flat an angle.
std::optional<Surface> random_surface(std::mt19937& random, const Camera& camera,
                                      const Light& light) {
    Surface surface{};
    surface.column = std::floor(uniform(random, 0, test::CAMERA_PICTURE.width - 1)) + 0.5;
    surface.row = std::floor(uniform(random, 0, test::CAMERA_PICTURE.height - 1)) + 0.5;
    const Row before{camera.forward[0], camera.forward[1], camera.forward[2],
                     -dot(camera.forward, camera.eye) - uniform(random, 1, 25)};
    surface.point =
        test::seen_on(camera.view, test::CAMERA_PICTURE, surface.column, surface.row, before);
    surface.normal = random_direction(random);
    const Point to_camera =
        camera.is_parallel ? -1.0 * camera.forward : normalize(camera.eye - surface.point);
    if (dot(surface.normal, to_camera) < 0.0) {
        surface.normal = -1.0 * surface.normal;
    }
    const Point to_light =
        light.is_spot ? normalize(light.position - surface.point) : -1.0 * light.direction;
    if (std::abs(dot(surface.normal, to_camera)) < 0.05 ||
        std::abs(dot(surface.normal, to_light)) < 0.05) {
        return std::nullopt;
    }
    surface.is_flat = std::abs(dot(surface.normal, to_camera)) < 0.3 ||
                      std::abs(dot(surface.normal, to_light)) < 0.3;
    surface.faces_light = dot(surface.normal, to_light) > 0.0;
    surface.plane = {surface.normal[0], surface.normal[1], surface.normal[2],
                     -dot(surface.normal, surface.point)};
    return surface;
}

ShadowOptions options_of(std::uint32_t lights) {
    ShadowOptions options;
    options.lights = lights;
    options.map_extent = MAP_EXTENT;
    return options;
}

ShadowFrame frame_of(const Camera& camera, const ShadowProjection& light) {
    return make_shadow_frame(options_of(1), camera.view, test::CAMERA_PICTURE, {&light, 1});
}

// Cameras and lights of all kinds, and planes. Catches a sign of one kind of them, a way to another
// texel or depth, and needs that are not those of the numerical Jacobian, by a weight and up to a
// stretch of 4.
TEST(ShadowFrame, IsTheWayFromPixelsToTheMap) {
    std::mt19937 random(1);
    const ShadowParameters parameters = shadow_parameters(options_of(1));
    std::map<std::string, int> kinds;
    int requests = 0;
    for (int i = 0; i < 4000; ++i) {
        const Camera camera = random_camera(random);
        Light light = random_light(random);
        light.projection.weight = 0.5F * static_cast<float>(1 + i % 4);
        const std::optional<Surface> surface = random_surface(random, camera, light);
        if (!surface) {
            continue;
        }
        SCOPED_TRACE(testing::Message()
                     << "case " << i << ", parallel " << camera.is_parallel << ", background "
                     << camera.view.background_depth << ", spot " << light.is_spot);
        const Row point(surface->point, 1.0);
        const Rows light_rows = test::rows_of(light.projection.clip_from_world);
        const double w = dot(light_rows[3], point);
        const ShadowFrame frame = frame_of(camera, light.projection);
        const ShadowLight& of_frame = frame.lights[0];
        const Rows camera_rows = test::rows_of(camera.view.clip_from_world);
        const Row pixel{surface->column, surface->row,
                        dot(camera_rows[2], point) / dot(camera_rows[3], point), 1.0};
        std::array<double, 3> on_map{};
        for (std::size_t k = 0; k < 3; ++k) {
            const float* const m = of_frame.map_from_pixel + (k == 2 ? 12 : 4 * k);
            on_map[k] = dot(Row{m[0], m[1], m[2], m[3]}, pixel);
        }
        EXPECT_EQ(on_map[2] > 0.0, w > 0.0);
        if (w < 1.0) {
            continue;
        }
        const auto texel =
            test::on_map(light.projection.clip_from_world, MAP_EXTENT, surface->point);
        // Floats of 24 bits times what is far from 0.
        EXPECT_NEAR(on_map[0] / on_map[2], texel[0], 0.05);
        EXPECT_NEAR(on_map[1] / on_map[2], texel[1], 0.05);
        const float* const d = of_frame.map_from_pixel + 8;
        EXPECT_NEAR(dot(Row{d[0], d[1], d[2], d[3]}, pixel) / on_map[2],
                    dot(light_rows[2], point) / w, 1e-3);

        const auto [xc, xr, yc, yr] =
            test::jacobian(camera.view, test::CAMERA_PICTURE, light.projection.clip_from_world,
                           MAP_EXTENT, surface->column, surface->row, surface->plane);
        const double determinant = xc * yr - yc * xr;
        const double facing = of_frame.facing;
        EXPECT_EQ(std::abs(facing), 1.0);
        EXPECT_EQ(of_frame.perspective, light.is_spot ? 1.0F : 0.0F);
        EXPECT_EQ(determinant * facing > 0.0, surface->faces_light);
        kinds[std::string(camera.is_parallel ? "parallel" : "perspective") +
              (camera.view.background_depth > 0 ? " standard" : " reversed") +
              (light.is_spot ? " spot" : " sun") + (surface->faces_light ? " front" : " back") +
              (facing > 0 ? " +" : " -")] += 1;

        const auto [least, most] = std::minmax(texel[0], texel[1]);
        if (surface->is_flat || std::abs(least) < 0.1 || std::abs(most - MAP_EXTENT) < 0.1) {
            continue;
        }
        const auto depth = [&](double right, double down) {
            const Row seen(test::seen_on(camera.view, test::CAMERA_PICTURE, surface->column + right,
                                         surface->row + down, surface->plane),
                           1.0);
            return static_cast<float>(dot(camera_rows[2], seen) / dot(camera_rows[3], seen));
        };
        const float here = depth(0, 0);
        const ShadowMapping mapping = shadow_mapping(
            parameters, of_frame, static_cast<std::uint32_t>(surface->column),
            static_cast<std::uint32_t>(surface->row), here, depth(1, 0) - here, depth(0, 1) - here);
        const float importance = shadow_request(parameters, of_frame, mapping);
        ASSERT_EQ(mapping.inside, surface->faces_light && least > 0.0 && most < MAP_EXTENT);
        if (mapping.inside != 0) {
            const double squares = xc * xc + xr * xr + yc * yc + yr * yr;
            EXPECT_NEAR(mapping.at[0], texel[0], 0.05);
            EXPECT_NEAR(mapping.at[1], texel[1], 0.05);
            // Differences of depths of 24 bits keep about 10.
            EXPECT_NEAR(mapping.squares / squares, 1.0, 0.05);
            EXPECT_NEAR(importance / light.projection.weight / std::sqrt(0.5 * squares) *
                            std::max(std::abs(determinant), 4.0 / 17.0 * squares),
                        1.0, 0.05);
            ++requests;
        }
    }
    EXPECT_EQ(kinds.size(), 32U);  // all kinds came up
    EXPECT_GT(requests, 300);
}

// Catches another limit, and distances from the texel's corner.
TEST(ShadowRequest, APixelIsNearUpToSixteenPixelsAway) {
    ShadowMapping mapping{};
    mapping.at[0] = 100.5F;
    mapping.at[1] = 40.25F;
    const auto is_near = [&](float across, float down) {
        return shadow_is_near(mapping, mapping.at[0] + across, mapping.at[1] + down);
    };
    for (const auto& [squared, across, down, near] : {std::tuple(0.25F, 0.0F, 8.0F, true),
                                                      {0.25F, -8.0F, -1.0F, true},
                                                      {0.25F, 8.0F, 1.0625F, false},
                                                      {0.25F, -8.125F, 0.0F, false},
                                                      {0.0F, 0.0F, 1.0F, true},  // within a texel
                                                      {0.0F, 0.75F, 0.75F, false}}) {
        mapping.squares = squared;  // 16 pixels are 8 texels
        EXPECT_EQ(is_near(across, down), near) << across << " " << down;
    }
}

TEST(ShadowRequest, NoNumberHarms) {
    const ShadowParameters parameters = shadow_parameters(options_of(1));
    const Camera camera = test::camera_at({0, 10, 0}, {0, 0, 0}, 0.5, 16.0 / 9);
    const ShadowFrame frame = frame_of(
        camera, directional_shadow_projection({0.3F, -1.0F, 0.0F}, {{-10, 0, -10}, {10, 1, 10}}));
    const float inf = std::numeric_limits<float>::infinity();
    const float values[] = {0.0F, -1.0F, 0.01F, 1e30F, -1e30F, 1e-38F, inf, -inf, std::nanf("")};
    for (const float depth : values) {
        for (const float by_column : values) {
            for (const float by_row : values) {
                const ShadowMapping mapping =
                    shadow_mapping(parameters, frame.lights[0], 80, 45, depth, by_column, by_row);
                const float importance = shadow_request(parameters, frame.lights[0], mapping);
                EXPECT_TRUE(importance >= 0.0F && importance <= 128.0F);
                EXPECT_TRUE(mapping.inside == 0 ||
                            (mapping.at[0] >= 0.0F && mapping.at[0] < MAP_EXTENT &&
                             mapping.at[1] >= 0.0F && mapping.at[1] < MAP_EXTENT));
            }
        }
    }
}

TEST(ShadowArithmetic, ReciprocalsAndRoots) {
    std::mt19937 random(1);
    for (int i = 0; i < 1'000'000; ++i) {
        const auto value = static_cast<float>(std::exp2(uniform(random, -100.0, 100.0)));
        const double root = std::sqrt(double{value});
        ASSERT_NEAR(shadow_reciprocal(value) * double{value}, 1.0, 0x1p-23 * 1.5) << value;
        ASSERT_NEAR(shadow_square_root(value) / root, 1.0, 0x1p-22) << value;
    }
    for (int i = -100; i <= 100; ++i) {
        EXPECT_EQ(shadow_reciprocal(std::ldexp(1.0F, i)), std::ldexp(1.0F, -i));
    }
    EXPECT_EQ(shadow_depth_step(1.0F, 2.0F), 1.0F);  // the lesser one
    EXPECT_EQ(shadow_depth_step(3.0F, -2.0F), -2.0F);
    EXPECT_EQ(shadow_depth_step(-1.0F, 1.0F), 1.0F);  // a tie
}

struct Input {
    ShadowOptions options = options_of(2);
    ShadowView view = test::camera_at({0, 5, 10}, {0, 0, 0}, 0.5, 1.0).view;
    VkExtent2D extent = test::CAMERA_PICTURE;
    std::vector<ShadowProjection> lights{
        2, directional_shadow_projection({0, -1, 0}, {{0, 0, 0}, {1, 1, 1}})};
    std::array<ShadowProjection, SHADOW_FACES> faces = point_shadow_projections({0, 1, 0}, 0.1F, 9);

    void take_faces(std::ptrdiff_t first, std::ptrdiff_t last) {
        lights.assign(faces.begin() + first, faces.begin() + last);
        options.lights = static_cast<std::uint32_t>(lights.size());
    }
};

TEST(ShadowFrame, RefusesWhatMakesNoSense) {
    using I = Input;
    const std::pair<void (*)(I&), const char*> cases[] = {
        {[](I&) {}, ""},
        {[](I& i) { i.take_faces(0, 6); }, ""},
        {[](I& i) { i.lights.pop_back(); }, "lights is 2, but 1 projections"},
        {[](I& i) { i.options.gutter = 0; }, "gutter is 0"},
        {[](I& i) { i.take_faces(0, 4); }, "light 0 has 6 layers, but only 4 projections"},
        {[](I& i) { i.take_faces(1, 3); }, "layers of light 0 is 0, but must be 1, or 6"},
        {[](I& i) { i.lights[0].layers = 6; },
         "layers of light 1 is 1, but must be 0: it belongs to light 0"},
        {[](I& i) { i.lights[0].layers = 9; }, "layers of light 0 is 9, but must be 1, or up to 8"},
        {[](I& i) {
             i.lights = {i.lights[0], i.faces[1]};
             i.lights[0].layers = 2;
         },
         "light 1 belongs to light 0, but one of them is parallel"},
        {[](I& i) { i.lights[1].weight = 65.0F; }, "weight of light 1 is 65"},
        {[](I& i) { i.extent.height = 0; }, "160 x 0 pixels"},
        {[](I& i) { i.view.background_depth = std::nanf(""); }, "background depth"},
        {[](I& i) { i.view.clip_from_world[3] = std::nanf(""); },
         "matrix of the camera has a number"},
        {[](I& i) { i.view.clip_from_world = {}; }, "matrix of the camera cannot be inverted"},
        {[](I& i) {
             for (const std::size_t k : {0U, 4U, 8U, 12U}) {  // x is y
                 i.view.clip_from_world[k] = i.view.clip_from_world[k + 1];
             }
         },
         "matrix of the camera cannot be inverted"},
        {[](I& i) { i.lights[1].clip_from_world[0] = std::numeric_limits<float>::infinity(); },
         "matrix of light 1 has a number"},
        {[](I& i) { i.lights[1].clip_from_world = {}; }, "matrix of light 1 cannot be inverted"},
        {[](I& i) {
             for (float& number : i.lights[0].clip_from_world) {
                 number = -number;
             }
         },
         "matrix of light 0 makes all w negative"}};
    for (const auto& [change, text] : cases) {
        Input input;
        change(input);
        const std::string refusal = test::refusal_of([&] {
            return make_shadow_frame(input.options, input.view, input.extent, input.lights);
        });
        EXPECT_EQ(refusal.empty(), *text == '\0') << refusal;
        EXPECT_THAT(refusal, HasSubstr(text));
    }
}

}  // namespace
}  // namespace quadtile
