// Cameras inside of closed scenes. They catch cameras outside of a room, or inside of what stands
// in it, and scenes that are taken for closed and are not.

#include "light_map.hpp"
#include "load_scene.hpp"

#include "quads.hpp"

#include <gmock/gmock.h>

namespace quadtile::baker::test {
namespace {

// A room with walls of some thickness, and a cupboard where its middle is.
Quads thick_room() {
    Quads quads(6, 3, 4);
    quads.add_material({});
    quads.add_room({0, 0, 0}, {6, 3, 4});
    quads.add_block({-0.2F, -0.2F, -0.2F}, {6.4F, 3.4F, 4.4F});
    quads.add_block({2.5F, 0, 1.5F}, {1, 2.5F, 1});
    return quads;
}

TEST(InsideCamera, StandsInTheRoom) {
    const Scene scene = thick_room().scene;
    const std::optional<Camera> camera = inside_camera(scene);
    ASSERT_TRUE(camera);
    const glm::vec3 place = camera->position;
    EXPECT_TRUE(place.x > 0 && place.x < 6 && place.y > 0 && place.y < 3 && place.z > 0 &&
                place.z < 4);
    EXPECT_FALSE(place.x > 2.5F && place.x < 3.5F && place.z > 1.5F && place.z < 2.5F);
    // At one end of a long line, looking at the other.
    EXPECT_EQ(camera->target.y, place.y);
    EXPECT_GT(glm::length(place - glm::vec3(3, place.y, 2)), 1.5F);
    EXPECT_GT(glm::dot(camera->target - place, glm::vec3(3, place.y, 2) - place), 0.0F);
}

TEST(InsideCamera, IsForClosedScenesAlone) {
    EXPECT_FALSE(inside_camera(Scene{}));
    EXPECT_FALSE(inside_camera(city_scene(2000, {1024, 1024})));
    Scene open = thick_room().scene;
    open.triangles.erase(open.triangles.begin(), open.triangles.begin() + 2);  // a wall
    open.triangles.erase(open.triangles.begin() + 10, open.triangles.begin() + 22);
    EXPECT_FALSE(inside_camera(open));
    Quads block(3, 2, 4);
    block.add_material({});
    block.add_block({0, 0, 0}, {1, 1, 1});
    EXPECT_FALSE(inside_camera(block.scene));
}

}  // namespace
}  // namespace quadtile::baker::test
