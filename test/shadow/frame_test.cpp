// make_shadow_frame: the way from pixels to the map, and which side of a surface faces the light,
// by brute force.

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

namespace quadtile {
namespace {

using test::Camera;
using test::Depths;
using test::operator-;
using test::operator*;
using test::Point;
using test::Row;
using testing::HasSubstr;

constexpr std::uint32_t MAP_EXTENT = 256;

double uniform(std::mt19937& random, double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
}

Point random_direction(std::mt19937& random) {
    return test::unit({uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1)});
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
};

// Returns none if a side is seen at too flat an angle.
std::optional<Surface> random_surface(std::mt19937& random, const Camera& camera,
                                      const Light& light) {
    Surface surface{};
    surface.column = uniform(random, 1, test::CAMERA_PICTURE.width - 1);
    surface.row = uniform(random, 1, test::CAMERA_PICTURE.height - 1);
    const Row before{camera.forward[0], camera.forward[1], camera.forward[2],
                     -test::dot(camera.forward, camera.eye) - uniform(random, 1, 25)};
    surface.point =
        test::seen_on(camera.view, test::CAMERA_PICTURE, surface.column, surface.row, before);
    surface.normal = random_direction(random);
    const Point to_camera =
        camera.is_parallel ? -1.0 * camera.forward : test::unit((camera.eye - surface.point));
    if (test::dot(surface.normal, to_camera) < 0.0) {
        surface.normal = -1.0 * surface.normal;
    }
    const Point to_light =
        light.is_spot ? test::unit((light.position - surface.point)) : -1.0 * light.direction;
    if (std::abs(test::dot(surface.normal, to_camera)) < 0.05 ||
        std::abs(test::dot(surface.normal, to_light)) < 0.05) {
        return std::nullopt;
    }
    surface.faces_light = test::dot(surface.normal, to_light) > 0.0;
    surface.plane = {surface.normal[0], surface.normal[1], surface.normal[2],
                     -test::dot(surface.normal, surface.point)};
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

TEST(ShadowFrame, FacingIsTheSignOfTheJacobian) {
    std::mt19937 random(1);
    std::map<std::string, int> seen;
    for (int i = 0; i < 4000; ++i) {
        const Camera camera = random_camera(random);
        const Light light = random_light(random);
        const std::optional<Surface> surface = random_surface(random, camera, light);
        const Row point =
            surface ? Row{surface->point[0], surface->point[1], surface->point[2], 1} : Row{};
        const double w = test::apply(test::rows_of(light.projection.clip_from_world)[3], point);
        if (!surface || w < 0.5) {
            continue;
        }
        const auto [xc, xr, yc, yr] =
            test::jacobian(camera.view, test::CAMERA_PICTURE, light.projection.clip_from_world,
                           MAP_EXTENT, surface->column, surface->row, surface->plane);
        const double determinant = xc * yr - yc * xr;
        const ShadowFrame frame = frame_of(camera, light.projection);
        const double facing = frame.lights[0].facing;
        EXPECT_EQ(std::abs(facing), 1.0);
        EXPECT_EQ(determinant * facing > 0.0, surface->faces_light)
            << "camera " << i << " parallel " << camera.is_parallel << " background "
            << camera.view.background_depth << " spot " << light.is_spot;
        seen[std::string(camera.is_parallel ? "parallel" : "perspective") +
             (camera.view.background_depth > 0 ? " standard" : " reversed") +
             (light.is_spot ? " spot" : " sun") + (surface->faces_light ? " front" : " back") +
             (facing > 0 ? " +" : " -")] += 1;
    }
    EXPECT_EQ(seen.size(), 32U);  // all kinds came up
}

TEST(ShadowFrame, MapFromPixelIsTheWayToTheMap) {
    std::mt19937 random(2);
    int checked = 0;
    for (int i = 0; i < 1000; ++i) {
        const Camera camera = random_camera(random);
        const Light light = random_light(random);
        const std::optional<Surface> surface = random_surface(random, camera, light);
        if (!surface) {
            continue;
        }
        const Row point{surface->point[0], surface->point[1], surface->point[2], 1.0};
        const auto camera_rows = test::rows_of(camera.view.clip_from_world);
        const double depth =
            test::apply(camera_rows[2], point) / test::apply(camera_rows[3], point);
        const ShadowLight frame_light = frame_of(camera, light.projection).lights[0];
        const Row pixel{surface->column, surface->row, depth, 1.0};
        std::array<double, 3> on_map{};
        for (std::size_t k = 0; k < 3; ++k) {
            const float* const m = frame_light.map_from_pixel + 4 * k;
            on_map[k] = test::apply({m[0], m[1], m[2], m[3]}, pixel);
        }
        const double w = test::apply(test::rows_of(light.projection.clip_from_world)[3], point);
        EXPECT_EQ(on_map[2] > 0.0, w > 0.0);
        if (w < 1.0) {
            continue;
        }
        const auto expected =
            test::on_map(light.projection.clip_from_world, MAP_EXTENT, surface->point);
        // Floats of 24 bits times what is far from 0.
        EXPECT_NEAR(on_map[0] / on_map[2], expected[0], 0.05);
        EXPECT_NEAR(on_map[1] / on_map[2], expected[1], 0.05);
        const float* const d = frame_light.depth_from_pixel;
        const double light_depth =
            test::apply(test::rows_of(light.projection.clip_from_world)[2], point) / w;
        EXPECT_NEAR(test::apply({d[0], d[1], d[2], d[3]}, pixel) / on_map[2], light_depth, 1e-3);
        ++checked;
    }
    EXPECT_GT(checked, 300);
}

TEST(ShadowFrame, TexelExtent) {
    const Camera camera = test::camera_at({0, 5, 10}, {0, 0, 0}, 0.5, 1.0);
    // 13.5 of 16 units: the box and its margin.
    const ShadowProjection sun =
        directional_shadow_projection({0, -1, 0}, {{0, 0, 0}, {13, 1, 13}});
    const ShadowLight parallel = frame_of(camera, sun).lights[0];
    EXPECT_FLOAT_EQ(parallel.texel_extent, 16.0F / MAP_EXTENT);
    EXPECT_EQ(parallel.perspective, 0.0F);
    const ShadowProjection spot = spot_shadow_projection({0, 9, 0}, {0.3F, -1, 0.1F}, 90, 1, 50);
    const ShadowLight perspective = frame_of(camera, spot).lights[0];
    EXPECT_FLOAT_EQ(perspective.texel_extent, 2.0F / MAP_EXTENT);
    EXPECT_EQ(perspective.perspective, 1.0F);
}

TEST(ShadowFrame, CopiesWhatItIsGiven) {
    const Camera camera = test::camera_at({0, 5, 10}, {0, 0, 0}, 0.5, 1.0, Depths::standard);
    const std::array<ShadowProjection, 2> lights{
        directional_shadow_projection({0, -1, 0}, {{0, 0, 0}, {1, 1, 1}}),
        spot_shadow_projection({0, 9, 0}, {0, -1, 0}, 90, 1, 50)};
    const ShadowFrame frame =
        make_shadow_frame(options_of(2), camera.view, test::CAMERA_PICTURE, lights);
    EXPECT_EQ(frame.depth_width, 160U);
    EXPECT_EQ(frame.depth_height, 90U);
    EXPECT_EQ(frame.background_depth, 1.0F);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_THAT(frame.lights[i].clip_from_world,
                    testing::ElementsAreArray(lights[i].clip_from_world));
    }
}

struct Input {
    ShadowOptions options = options_of(2);
    ShadowView view = test::camera_at({0, 5, 10}, {0, 0, 0}, 0.5, 1.0).view;
    VkExtent2D extent = test::CAMERA_PICTURE;
    std::vector<ShadowProjection> lights{
        2, directional_shadow_projection({0, -1, 0}, {{0, 0, 0}, {1, 1, 1}})};

    // Empty where there is no error.
    [[nodiscard]] std::string error() const {
        return test::refusal_of([&] { return make_shadow_frame(options, view, extent, lights); });
    }
};

template <typename Change>
std::string error_after(Change change) {
    Input input;
    change(input);
    return input.error();
}

TEST(ShadowFrame, RefusesWhatMakesNoSense) {
    EXPECT_EQ(Input{}.error(), "");
    EXPECT_THAT(error_after([](Input& i) { i.lights.pop_back(); }),
                HasSubstr("lights is 2, but 1 projections"));
    EXPECT_THAT(error_after([](Input& i) { i.options.gutter = 0; }), HasSubstr("gutter is 0"));
    const auto faces = point_shadow_projections({0, 1, 0}, 0.1F, 9);
    const auto of_point = [&faces](std::size_t first, std::size_t last) {
        return error_after([&](Input& i) {
            i.lights.assign(faces.begin() + static_cast<std::ptrdiff_t>(first),
                            faces.begin() + static_cast<std::ptrdiff_t>(last));
            i.options.lights = static_cast<std::uint32_t>(i.lights.size());
        });
    };
    EXPECT_EQ(of_point(0, 6), "");
    EXPECT_THAT(of_point(0, 4), HasSubstr("light 0 has 6 layers, but only 4 projections"));
    EXPECT_THAT(of_point(1, 3), HasSubstr("layers of light 0 is 0, but must be 1, or 6"));
    EXPECT_THAT(error_after([](Input& i) { i.lights[0].layers = 6; }),
                HasSubstr("layers of light 1 is 1, but must be 0: it belongs to light 0"));
    EXPECT_THAT(error_after([](Input& i) { i.lights[0].layers = 9; }),
                HasSubstr("layers of light 0 is 9, but must be 1, or up to 8"));
    EXPECT_THAT(error_after([&faces](Input& i) {
                    i.lights = {i.lights[0], faces[1]};
                    i.lights[0].layers = 2;
                }),
                HasSubstr("light 1 belongs to light 0, but one of them is parallel"));
    EXPECT_THAT(error_after([](Input& i) { i.lights[1].weight = 65.0F; }),
                HasSubstr("weight of light 1 is 65"));
    EXPECT_THAT(error_after([](Input& i) { i.extent.height = 0; }), HasSubstr("160 x 0 pixels"));
    EXPECT_THAT(error_after([](Input& i) { i.view.background_depth = std::nanf(""); }),
                HasSubstr("background depth"));
    EXPECT_THAT(error_after([](Input& i) { i.view.clip_from_world[3] = std::nanf(""); }),
                HasSubstr("matrix of the camera has a number"));
    EXPECT_THAT(error_after([](Input& i) { i.view.clip_from_world = {}; }),
                HasSubstr("matrix of the camera cannot be inverted"));
    EXPECT_THAT(error_after([](Input& i) {
                    for (const std::size_t k : {0U, 4U, 8U, 12U}) {  // x is y
                        i.view.clip_from_world[k] = i.view.clip_from_world[k + 1];
                    }
                }),
                HasSubstr("matrix of the camera cannot be inverted"));
    EXPECT_THAT(error_after([](Input& i) {
                    i.lights[1].clip_from_world[0] = std::numeric_limits<float>::infinity();
                }),
                HasSubstr("matrix of light 1 has a number"));
    EXPECT_THAT(error_after([](Input& i) { i.lights[1].clip_from_world = {}; }),
                HasSubstr("matrix of light 1 cannot be inverted"));
    EXPECT_THAT(error_after([](Input& i) {
                    for (float& number : i.lights[0].clip_from_world) {
                        number = -number;
                    }
                }),
                HasSubstr("matrix of light 0 makes all w negative"));
}

}  // namespace
}  // namespace quadtile
