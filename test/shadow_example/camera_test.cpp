// Cameras and lights.

#include "scenes.hpp"

#include <cmath>

namespace quadtile::shadow {
namespace {

constexpr float ASPECT = 16.0F / 9.0F;

Camera random_pose(Random& random) {
    return {.position = random.between({-300.0F, -5.0F, -250.0F}, {350.0F, 60.0F, 400.0F}),
            .yaw_degrees = random.between(-180.0F, 180.0F),
            .pitch_degrees = random.between(-89.0F, 89.0F),
            .vertical_field_degrees = random.between(20.0F, 100.0F)};
}

// Catches axes that are swapped or turned the other way, and depths that are not reversed.
TEST(Camera, ShowsWhatIsAheadInTheMiddle) {
    Random random(1);
    for (int i = 0; i < 100; ++i) {
        const Camera camera = random_pose(random);
        const glm::vec3 right =
            glm::normalize(glm::cross(camera.forward(), glm::vec3(0.0F, 1.0F, 0.0F)));
        const glm::vec3 up = glm::cross(right, camera.forward());
        const auto clip_at = [&](float x, float y, float distance) {
            const glm::vec4 clip =
                camera.clip_from_world(ASPECT) *
                glm::vec4(camera.position + distance * (camera.forward() + x * right + y * up),
                          1.0F);
            return glm::vec3(clip) / clip.w;
        };
        EXPECT_LT(glm::length(glm::vec2(clip_at(0.0F, 0.0F, 5.0F))), 1e-3F);
        EXPECT_NEAR(clip_at(0.0F, 0.0F, 5.0F).z * 5.0F / camera.nearest, 1.0F, 1e-2F);
        const float tangent = std::tan(glm::radians(0.5F * camera.vertical_field_degrees));
        EXPECT_NEAR(clip_at(0.0F, tangent, 5.0F).y, -1.0F, 1e-3F);  // row 0 is above
        EXPECT_NEAR(clip_at(ASPECT * tangent, 0.0F, 5.0F).x, 1.0F, 1e-3F);
        const Camera again = look(camera.position, camera.position + 9.0F * camera.forward());
        EXPECT_LT(glm::distance(again.forward(), camera.forward()), 1e-3F);
    }
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
    EXPECT_EQ(lights({}).size(), 1U);
    EXPECT_EQ(lights({}).front().kind, Light::Kind::sun);
    EXPECT_EQ(layers_of(lights({}, 4.0F)), 4U);  // 4, 8, 16 and 32 are wider than 28.7
    baker::Scene scene;
    scene.suns.push_back({.irradiance = {5e4F, 5e4F, 4e4F}});
    scene.point_lights.resize(2, {.intensity = glm::vec3(1e4F), .radius = 0.2F});
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
    EXPECT_EQ(projections_of(all, bounds, {}).size(), 14U);
    scene.point_lights.resize(4);
    EXPECT_EQ(lights(scene).size(), 4U);
    EXPECT_EQ(warnings.size(), 1U);
}

}  // namespace
}  // namespace quadtile::shadow
