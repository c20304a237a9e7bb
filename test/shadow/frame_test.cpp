// Clip spaces of lights: what they hold, and that they stand still. make_shadow_frame and the
// requests of pixels: the way from pixels to the map, which side of a surface faces the light, and
// the resolution that a pixel needs, by brute force.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"
#include "scene.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

namespace quadtile {
namespace {

using test::Camera;
using test::Depths;
using test::Point;
using test::refusal_of;
using test::Row;
using test::Rows;
using testing::HasSubstr;
using Float3 = std::array<float, 3>;

constexpr float INF = std::numeric_limits<float>::infinity();
constexpr std::uint32_t MAP_EXTENT = 256;

template <typename T = double>
T uniform(std::mt19937& random, std::type_identity_t<T> low, std::type_identity_t<T> high) {
    return std::uniform_real_distribution<T>(low, high)(random);
}

Point random_direction(std::mt19937& random) {
    return normalize(Point{uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1)});
}

Float3 floats(const Point& v) {
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
    const float values[] = {0.0F, -1.0F, 0.01F, 1e30F, -1e30F, 1e-38F, INF, -INF, std::nanf("")};
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
        {[](I& i) { i.lights.clear(); }, ""},
        {[](I& i) { i.lights[0] = {}; }, ""},  // an unused layer
        {[](I& i) { i.lights.push_back(i.lights[0]); }, "lights is 2, but 3 projections"},
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
        {[](I& i) {
             i.lights[0].layers = 2;
             i.lights[1] = {.layers = 0};
         },
         "light 1 belongs to light 0, but its matrix has only zeros"},
        {[](I& i) { i.lights[1].range = std::nanf(""); }, "range of light 1 is NaN; give"},
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
        {[](I& i) { i.lights[1].clip_from_world[0] = INF; }, "matrix of light 1 has a number"},
        {[](I& i) { i.lights[1].clip_from_world = {1.0F}; }, "matrix of light 1 cannot be"},
        {[](I& i) {
             for (float& number : i.lights[0].clip_from_world) {
                 number = -number;
             }
         },
         "matrix of light 0 makes all w negative"}};
    for (const auto& [change, text] : cases) {
        Input input;
        change(input);
        const std::string refusal = refusal_of([&] {
            return make_shadow_frame(input.options, input.view, input.extent, input.lights);
        });
        EXPECT_EQ(refusal.empty(), *text == '\0') << refusal;
        EXPECT_THAT(refusal, HasSubstr(text));
    }
}

// ---- Clip spaces of lights

Float3 random_point(std::mt19937& random, float extent) {
    return {uniform<float>(random, -extent, extent), uniform<float>(random, -extent, extent),
            uniform<float>(random, -extent, extent)};
}

ShadowBox random_box(std::mt19937& random, float extent) {
    ShadowBox box{random_point(random, extent), {}};
    for (std::size_t i = 0; i < 3; ++i) {
        box.high[i] = box.low[i] + uniform<float>(random, 0.0F, extent);
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
        const float extent = std::exp2(uniform<float>(random, -8.0F, 16.0F));
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
        const float angle = uniform<float>(random, 5.0F, 170.0F);
        const ShadowProjection light = spot_shadow_projection(position, direction, angle, 0.5F, 20);
        const Point forward = normalize(Point{direction[0], direction[1], direction[2]});
        const auto at = [&](double distance, const Point& side) {
            return seen_by(light, position[0] + distance * forward[0] + side[0],
                           position[1] + distance * forward[1] + side[1],
                           position[2] + distance * forward[2] + side[2]);
        };
        EXPECT_EQ(light.range, 20.0F);
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
    EXPECT_EQ(faces[5].range, 50.0F);
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
