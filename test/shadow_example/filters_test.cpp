// Filters: no seams where nothing is in shadow, and penumbrae as wide as the light's disc makes
// them.

#include "scenes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace quadtile::shadow {
namespace {

// A ball from within: nothing shadows anything, and no surfaces meet in corners.
Geometry ball() {
    constexpr int PARTS = 48;
    baker::Scene scene = empty_scene();
    const auto at = [](int column, int row) {
        const float longitude =
            2.0F * std::numbers::pi_v<float> * static_cast<float>(column) / PARTS;
        const float latitude = std::numbers::pi_v<float> * static_cast<float>(row) / PARTS;
        return 6.0F * glm::vec3(std::sin(latitude) * std::cos(longitude), std::cos(latitude),
                                std::sin(latitude) * std::sin(longitude));
    };
    for (int row = 0; row < PARTS; ++row) {
        for (int column = 0; column < PARTS; ++column) {
            const auto first = static_cast<std::uint32_t>(scene.positions.size());
            for (int corner = 0; corner < 4; ++corner) {
                scene.positions.push_back(at(column + corner % 2, row + corner / 2));
            }
            if (row > 0) {
                scene.triangles.push_back({.vertices = {first, first + 1, first + 3}});
            }
            if (row + 1 < PARTS) {
                scene.triangles.push_back({.vertices = {first, first + 3, first + 2}});
            }
        }
    }
    return make_geometry(scene);
}

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
    baker::Scene scene = empty_scene();
    add_quad(scene, {-32.0F, 0.0F, -32.0F}, {0.0F, 0.0F, 64.0F}, {64.0F, 0.0F, 0.0F});
    for (int i = -3; i <= 3; ++i) {
        const glm::vec3 corner(8.0F * static_cast<float>(i), 0.0F, 14.0F);
        add_box(scene, corner, corner + glm::vec3(2.0F, 12.0F, 2.0F));
    }
    Rig rig(*machine_, make_geometry(scene), {240, 135},
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

// Catches seams where the faces of a point light meet.
TEST_F(Shadows, OfAPointLightHaveNoSeams) {
    Rig rig(*machine_, ball(), {240, 135},
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
    baker::Scene scene = empty_scene();
    add_quad(scene, {-12.0F, 0.0F, -12.0F}, {0.0F, 0.0F, 24.0F}, {24.0F, 0.0F, 0.0F});
    add_quad(scene, {-12.0F, height, -12.0F}, {0.0F, 0.0F, 24.0F}, {12.0F, 0.0F, 0.0F});
    return make_geometry(scene);
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

}  // namespace
}  // namespace quadtile::shadow
