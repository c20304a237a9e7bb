// Pictures with shadows: hard shadows against closed forms and rays, filters without seams and with
// the penumbrae of the light's disc, and cameras and lights. Pictures are small, since CPU drivers
// are slow.

#include "flights.hpp"
#include "load_scene.hpp"
#include "rig.hpp"

#include "baker/small_scenes.hpp"
#include "support/gpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numbers>
#include <random>

namespace quadtile::shadow {
namespace {

using baker::test::Quads;
using baker::test::X;
using baker::test::Y;
using baker::test::Z;

// Tests on a device; the validation layer, where it is installed, must be silent.
class Shadows : public testing::Test {
 protected:
    static void SetUpTestSuite() {
        machine_ = std::make_unique<Machine>(quadtile::test::has_validation_layer());
        if (!machine_->instance.validates()) {
            std::printf("VALIDATION IS OFF: the Khronos validation layer is not installed\n");
        }
    }
    static void TearDownTestSuite() { machine_.reset(); }
    void TearDown() override { EXPECT_EQ(machine_->instance.validation_messages(), 0U); }

    static inline std::unique_ptr<Machine> machine_;
};

class Random {
 public:
    explicit Random(unsigned int seed) : engine_(seed) {}

    float between(float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(engine_);
    }
    glm::vec3 between(const glm::vec3& low, const glm::vec3& high) {
        const float x = between(low.x, high.x);
        const float y = between(low.y, high.y);
        return {x, y, between(low.z, high.z)};
    }

 private:
    std::mt19937 engine_;
};

// What shadows need has no lightmap.
Quads quads() {
    Quads made(1, 1, 1);
    made.add_material({});
    return made;
}

// Adds a material with square holes, 4 x 4 in a texture.
std::uint32_t add_leaves(Quads& to) {
    baker::Texture texture{{8, 8}, {}};
    for (std::uint32_t i = 0; i < 64; ++i) {
        const bool is_hole = i % 2 == 1 && i / 8 % 2 == 1;
        texture.texels.push_back({40, 200, 40, is_hole ? std::uint8_t{100} : std::uint8_t{160}});
    }
    to.scene.textures.push_back(texture);
    return to.add_material({.albedo_texture = 0, .alpha_mode = baker::AlphaMode::mask});
}

// Gives a quad, the last one, a texture that repeats.
void add_coordinates(Quads& to, float repeats) {
    to.scene.texture_coordinates.resize(to.scene.positions.size());
    const std::size_t first = to.scene.positions.size() - 4;
    for (const std::size_t corner : {1U, 2U, 3U}) {
        to.scene.texture_coordinates[first + corner] = {corner < 3 ? repeats : 0.0F,
                                                        corner > 1 ? -repeats : 0.0F};
    }
}

// A room of 40 x 12 x 40 around the origin, without a ceiling, with boxes of many sizes, some
// of which move, and leaves.
Geometry random_room(Random& random) {
    Quads room = quads();
    room.add({-20.0F, 0.0F, -20.0F}, 40.0F * Z, 40.0F * X);
    for (const float side : {-20.0F, 20.0F}) {
        room.add({side, 0.0F, -20.0F}, 12.0F * Y, 40.0F * Z);
        room.add({-20.0F, 0.0F, side}, 12.0F * Y, 40.0F * X);
    }
    for (int i = 0; i < 40; ++i) {
        const glm::vec3 size = random.between(glm::vec3(0.2F), glm::vec3(3.0F));
        const glm::vec3 low = random.between({-18.0F, 0.0F, -18.0F}, {15.0F, 6.0F, 15.0F});
        room.add_block(low, size);
    }
    const std::uint32_t leaves = add_leaves(room);
    for (int i = 0; i < 6; ++i) {
        const glm::vec3 corner = random.between({-14.0F, 5.0F, -14.0F}, {10.0F, 7.0F, 10.0F});
        room.add(corner, random.between(1.0F, 4.0F) * (X + 0.3F * Y),
                 random.between(1.0F, 4.0F) * (Z + 0.2F * Y), leaves);
        add_coordinates(room, random.between(0.5F, 2.5F));
    }
    Geometry geometry = make_geometry(room.scene);
    for (int i = 0; i < 8; ++i) {
        add_moving_box(geometry, random.between({-8.0F, 2.0F, -8.0F}, {8.0F, 6.0F, 8.0F}), 2.0F);
    }
    return geometry;
}

Camera random_camera(Random& random) {
    return look(random.between({-19.0F, 7.0F, -19.0F}, {19.0F, 11.0F, 19.0F}),
                random.between({-8.0F, 0.0F, -8.0F}, {8.0F, 3.0F, 8.0F}));
}

Light random_light(Random& random, Light::Kind kind) {
    Light light{.kind = kind, .angle_degrees = random.between(40.0F, 120.0F)};
    const bool is_sun = kind == Light::Kind::sun;
    light.direction = random.between({-1.0F, -1.0F, -1.0F}, {1.0F, is_sun ? -0.4F : -0.7F, 1.0F});
    light.position = random.between({-15.0F, 9.0F, -15.0F}, {15.0F, 11.0F, 15.0F});
    return light;
}

ShadowOptions with_lights(const std::vector<Light>& lights) {
    return {
        .lights = layers_of(lights), .map_extent = 128, .atlas_extent = 2048, .max_tiles = 1000};
}

// Draws frames until the edges of shadows are found, also after things have moved, leaves have come
// and a light was off, and compares the last one.
Comparison settled(Rig& rig, FrameSettings settings) {
    for (int frame = 0; frame < 6; ++frame) {
        settings.second = frame < 3 ? 0.0F : 1.3F;
        settings.has_leaves = frame != 1 && frame != 2;
        settings.lights.front().is_on = frame != 1;
        rig.draw(settings);
    }
    return rig.compare(settings);
}

// ---- Closed forms

// A cube around the origin, whose walls are 8 away, with a square of 2 x 2 halfway to each wall.
Geometry squares_in_a_cube() {
    Quads scene = quads();
    scene.add_room(glm::vec3(-8.0F), glm::vec3(16.0F));
    for (int axis = 0; axis < 3; ++axis) {
        glm::vec3 u(0.0F);
        glm::vec3 v(0.0F);
        u[(axis + 1) % 3] = 2.0F;
        v[(axis + 2) % 3] = 2.0F;
        for (const float side : {-4.0F, 4.0F}) {
            glm::vec3 middle(0.0F);
            middle[axis] = side;
            scene.add(middle - 0.5F * (u + v), u, v);
        }
    }
    return make_geometry(scene.scene);
}

// From the origin, the shadow of each square is a square of 4 x 4 in the middle of its wall.
// Catches faces that look elsewhere than they were drawn for, a cone that is off its axis, and rays
// (the truth of all other tests) that miss or invent something.
TEST_F(Shadows, OfSquaresAroundALampAreSquares) {
    for (const Light::Kind kind : {Light::Kind::point, Light::Kind::spot}) {
        std::vector<Light> lights{{.kind = kind, .angle_degrees = 80.0F}};
        Rig rig(*machine_, squares_in_a_cube(), {160, 90}, with_lights(lights));
        for (int side = 0; side < 6; ++side) {
            SCOPED_TRACE(testing::Message() << "kind " << int(kind) << ", side " << side);
            glm::vec3 towards(0.0F);
            towards[side / 2] = side % 2 == 0 ? 1.0F : -1.0F;
            lights[0].direction = towards;
            const glm::vec3 aside(0.3F, 0.4F, 0.5F);  // so that no camera looks straight up
            const FrameSettings settings{.camera = look(5.0F * towards + aside, 8.0F * towards),
                                         .lights = lights};
            const Comparison comparison = settled(rig, settings);
            int shadowed = 0;
            for (std::size_t i = 0; i < comparison.receivers.size(); ++i) {
                const auto& place = comparison.receivers[i].position;
                std::array<float, 3> across{std::abs(place[0]), std::abs(place[1]),
                                            std::abs(place[2])};
                std::ranges::sort(across);  // the last one is the distance of the wall
                const float outside = across[1] - 2.0F;
                const float to_cone = across[1] - 8.0F * std::tan(glm::radians(40.0F));
                if (across[2] < 7.9F || (kind == Light::Kind::spot && to_cone > -0.05F)) {
                    continue;
                }
                const std::uint32_t lit = outside > 0.0F ? 1 : 0;
                if (std::abs(outside) > 0.01F) {
                    ASSERT_EQ(comparison.truth[i].reached, lit) << place[0] << " " << place[1];
                }
                if (std::abs(outside) > 0.06F) {
                    ASSERT_EQ(comparison.receivers[i].lit & 1U, lit)
                        << place[0] << " " << place[1] << " " << place[2];
                }
                shadowed += lit == 0 ? 1 : 0;
            }
            EXPECT_GT(shadowed, 1000);
        }
    }
}

// ---- Random scenes

// The stated bound: at most 1 % of the pixels differ from rays, 0.5 % in the mean. Catches lights
// whose layers or levels are mixed up, slots that are drawn or looked up elsewhere, and biases. And
// ghosts where something has left, and shadows that are missing where it has come to.
TEST_F(Shadows, AreThoseOfRaysInRandomScenes) {
    using enum Light::Kind;
    const std::vector<std::vector<Light::Kind>> kinds{
        {sun, spot}, {sun}, {point, spot}, {point, sun}};
    double sum = 0.0;
    for (unsigned int seed = 0; seed < kinds.size(); ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        FrameSettings settings{.camera = random_camera(random), .lights = {}};
        for (const Light::Kind kind : kinds[seed]) {
            settings.lights.push_back(random_light(random, kind));
            if (seed % 2 == 1 && kind == sun) {  // with levels, beyond the scene and within
                // Along walls and sides of boxes, where neither shadows nor rays tell anything.
                settings.lights.back().direction.x = 0.0F;
                settings.lights.back().nearest_extent = random.between(5.0F, 40.0F);
                settings.lights.back().levels = 5;
            }
        }
        Rig rig(*machine_, random_room(random), {192, 108}, with_lights(settings.lights));
        const Difference difference = settled(rig, settings).difference();
        EXPECT_GT(difference.surfaces, 6'000U);
        EXPECT_LT(difference.share_wrong(), 0.01);
        sum += difference.share_wrong();
    }
    EXPECT_LT(sum / static_cast<double>(kinds.size()), 0.005);
}

// ---- Filters

void expect_all_lit(Rig& rig, FrameSettings settings) {
    for (const Filter filter : {Filter::hard, Filter::box, Filter::soft}) {
        SCOPED_TRACE(static_cast<int>(filter));
        settings.filter = filter;
        std::size_t surfaces = 0;
        for (const Receiver& receiver : rig.receivers(settings)) {
            if (receiver.share >= 0.0F) {
                ASSERT_EQ(receiver.share, 1.0F)
                    << receiver.position[0] << " " << receiver.position[1] << " "
                    << receiver.position[2];
                ++surfaces;
            }
        }
        EXPECT_GT(surfaces, 5000U);
    }
}

// Catches seams between tiles of all levels, and acne: an even floor is evenly lit. Towers behind
// the camera need tiles, but shadow nothing that it sees.
TEST_F(Shadows, LeaveAnEvenFloorEvenlyLit) {
    Quads scene = quads();
    scene.add({-32.0F, 0.0F, -32.0F}, 64.0F * Z, 64.0F * X);
    for (int i = -3; i <= 3; ++i) {
        scene.add_block({8.0F * static_cast<float>(i), 0.0F, 14.0F}, {2.0F, 12.0F, 2.0F});
    }
    Rig rig(*machine_, make_geometry(scene.scene), {240, 135},
            {.map_extent = 256, .atlas_extent = 2048, .max_tiles = 400});
    for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(i);
        expect_all_lit(rig, {.camera = {.position = {0.0F, 1.0F + static_cast<float>(i), 0.0F},
                                        .yaw_degrees = 9.0F * static_cast<float>(i - 2),
                                        .pitch_degrees = -20.0F - 2.0F * static_cast<float>(i)},
                             .lights = {{.direction = {-0.5F, -1.0F, 0.2F}}}});
        EXPECT_GT(rig.renderer().header().tiles, 20U);
    }
}

// Catches seams where the faces of a point light meet, in a ball: nothing shadows anything there,
// and no surfaces meet in corners.
TEST_F(Shadows, OfAPointLightHaveNoSeams) {
    const Geometry ball =
        make_geometry(baker::test::turned(32, baker::test::arc(32, 6.0, 0.0, 0.5, -0.5)));
    Rig rig(*machine_, ball, {240, 135},
            {.lights = SHADOW_FACES, .map_extent = 128, .atlas_extent = 2048, .max_tiles = 900});
    for (int frame = 0; frame < 4; ++frame) {
        SCOPED_TRACE(frame);
        const auto turn = static_cast<float>(frame);
        expect_all_lit(
            rig,
            {.camera = {.position = {1.0F, 0.5F, -1.0F},
                        .yaw_degrees = 60.0F * turn,
                        .pitch_degrees =
                            frame % 3 == 0 ? 40.0F : -40.0F * static_cast<float>(frame % 2)},
             .lights = {
                 {.kind = Light::Kind::point, .position = {0.2F, 0.1F, -0.3F}, .radius = 0.05F}}});
    }
}

// A floor below a half plane at this height, which ends at x = 0.
Geometry edge_above_floor(float height) {
    Quads scene = quads();
    scene.add({-12.0F, 0.0F, -12.0F}, 24.0F * Z, 24.0F * X);
    scene.add({-12.0F, height, -12.0F}, 24.0F * Z, 12.0F * X);
    return make_geometry(scene.scene);
}

// The share of a disc that is on one side of a line, whose distance from the middle is this many
// radii.
float part_of_disc(float distance) {
    const float u = std::clamp(distance, -1.0F, 1.0F);
    return 0.5F + (u * std::sqrt(1.0F - u * u) + std::asin(u)) / std::numbers::pi_v<float>;
}

// The closed form of a penumbra, in the mean along the edge. Catches penumbrae that do not grow
// with the distance of the blocker, filters that end at a tile's border, and biases in either
// direction. The filter of 3 x 3 has texels' width only.
TEST_F(Shadows, HavePenumbraeOfTheLightsDisc) {
    for (const float height : {2.0F, 4.0F}) {
        constexpr float RADIUS_DEGREES = 4.0F;
        Rig rig(*machine_, edge_above_floor(height), {256, 144},
                {.map_extent = 256, .atlas_extent = 1024, .max_tiles = 300});
        // Below the half plane, and so far from its edge that the disc is not cut off.
        FrameSettings settings{
            .camera = look({1.0F, 0.9F * height, 0.1F}, {0.0F, 0.0F, 0.0F}),
            .lights = {{.direction = {0.0F, -1.0F, 0.0F}, .radius = RADIUS_DEGREES}}};
        for (int frame = 0; frame < 4; ++frame) {
            rig.draw(settings);
        }
        for (const Filter filter : {Filter::box, Filter::soft}) {
            SCOPED_TRACE(testing::Message() << height << ", filter " << int(filter));
            settings.filter = filter;
            const float radius =
                filter == Filter::soft ? height * std::tan(glm::radians(RADIUS_DEGREES)) : 0.02F;
            struct Sum {
                double found = 0.0;
                double wanted = 0.0;
                int count = 0;
            };
            std::map<int, Sum> strips;  // by x, a tenth of a penumbra each
            for (const Receiver& receiver : rig.receivers(settings)) {
                const float x = receiver.position[0] / (height * std::tan(glm::radians(4.0F)));
                if (receiver.share < 0.0F || std::abs(receiver.position[1]) > 0.01F ||
                    std::abs(x) > 2.0F) {
                    continue;
                }
                Sum& sum = strips[static_cast<int>(std::floor(10.0F * x))];
                sum.found += receiver.share;
                sum.wanted += part_of_disc(receiver.position[0] / radius);
                ++sum.count;
            }
            EXPECT_GT(strips.size(), 30U);
            for (const auto& [strip, sum] : strips) {
                EXPECT_NEAR(sum.found / sum.count, sum.wanted / sum.count,
                            filter == Filter::soft ? 0.1 : 0.35)
                    << "strip " << strip << ", " << sum.count << " pixels";
            }
        }
    }
}

// ---- Cameras and lights

// Catches axes that are swapped or turned the other way, and depths that are not reversed.
TEST(Camera, ShowsWhatIsAheadInTheMiddle) {
    constexpr float ASPECT = 16.0F / 9.0F;
    const Camera camera{.position = {30.0F, 5.0F, -25.0F},
                        .yaw_degrees = 130.0F,
                        .pitch_degrees = -40.0F,
                        .vertical_field_degrees = 50.0F};
    const glm::vec3 right = glm::normalize(glm::cross(camera.forward(), Y));
    const glm::vec3 up = glm::cross(right, camera.forward());
    const auto clip_at = [&](float x, float y) {
        const glm::vec3 way = 5.0F * (camera.forward() + x * right + y * up);
        const glm::vec4 clip =
            camera.clip_from_world(ASPECT) * glm::vec4(camera.position + way, 1.0F);
        return glm::vec3(clip) / clip.w;
    };
    EXPECT_LT(glm::distance(clip_at(0.0F, 0.0F), {0.0F, 0.0F, camera.nearest / 5.0F}), 1e-3F);
    const float tangent = std::tan(glm::radians(25.0F));
    EXPECT_NEAR(clip_at(0.0F, tangent).y, -1.0F, 1e-3F);  // row 0 is above
    EXPECT_NEAR(clip_at(ASPECT * tangent, 0.0F).x, 1.0F, 1e-3F);
    // Scenes of a centimetre, in the program and in flights.
    const ShadowBox small{{0.0F, 0.0F, 0.0F}, {0.01F, 0.01F, 0.01F}};
    EXPECT_LT(nearest_in(small), 1e-4F);
    EXPECT_EQ(flight_for("small.obj", small).at(1.5F).nearest, nearest_in(small));
}

// Catches lights of a file that the picture has not, brightnesses that do not follow the file, and
// more layers than there are.
TEST(Lights, AreThoseOfTheScene) {
    const ShadowBox bounds{{-10.0F, 0.0F, -10.0F}, {10.0F, 5.0F, 10.0F}};
    std::vector<std::string> warnings;
    const auto lights = [&](const baker::Scene& scene, float extent = 0.0F) {
        warnings.clear();
        return lights_of(scene, bounds, extent, warnings);
    };
    EXPECT_EQ(lights({}).at(0).kind, Light::Kind::sun);
    EXPECT_EQ(layers_of(lights({}, 4.0F)), 4U);  // 4, 8, 16 and 32 are wider than 28.7
    baker::Scene scene;
    scene.suns.push_back({.irradiance = {5e4F, 5e4F, 4e4F}});
    scene.point_lights.resize(2, {.intensity = glm::vec3(1e4F), .radius = 0.2F, .range = 7.0F});
    scene.point_lights.push_back({.intensity = glm::vec3(1e5F), .is_spot = true});
    const std::vector<Light> all = lights(scene);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(layers_of(all), 14U);
    EXPECT_TRUE(warnings.empty());
    EXPECT_EQ(all[1].kind, Light::Kind::spot);
    EXPECT_FLOAT_EQ(all[1].colour.r, 2.0F * all[0].colour.r);
    EXPECT_NEAR(all[1].angle_degrees, 90.0F, 0.01F);
    EXPECT_FLOAT_EQ(all[2].colour.r, 0.2F * all[0].colour.r);
    EXPECT_EQ(all[2].radius, 0.2F);
    EXPECT_EQ(all[2].range, 7.0F);
    scene.point_lights.resize(44);
    EXPECT_EQ(lights(scene).size(), 44U);  // a sun, a spot and 42 of 43 point lights: 254 layers
    EXPECT_EQ(warnings.size(), 1U);
}

}  // namespace
}  // namespace quadtile::shadow
