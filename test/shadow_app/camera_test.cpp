#include "camera.hpp"

#include <gtest/gtest.h>
#include <glm/glm.hpp>

namespace quadtile::shadow {
namespace {

constexpr float NEAREST = 0.1F;

glm::vec4 clip_of(const Camera& camera, const glm::vec3& point) {
    return camera.clip_from_world(2.0F, NEAREST) * glm::vec4(point, 1.0F);
}

TEST(Camera, LooksAlongItsAngles) {
    const auto expect = [](const Camera& camera, const glm::vec3& forward) {
        EXPECT_LT(glm::distance(camera.forward(), forward), 1e-6F);
    };
    expect({}, {0.0F, 0.0F, -1.0F});
    expect({.yaw_degrees = 90.0F}, {-1.0F, 0.0F, 0.0F});
    expect({.yaw_degrees = 77.0F, .pitch_degrees = 90.0F}, {0.0F, 1.0F, 0.0F});
}

TEST(Camera, ShowsWhatIsAheadInTheMiddle) {
    const Camera camera{
        .position = {3.0F, -2.0F, 7.0F}, .yaw_degrees = 130.0F, .pitch_degrees = -25.0F};
    for (const float distance : {NEAREST, 1.0F, 50.0F, 1e5F}) {
        const glm::vec4 clip = clip_of(camera, camera.position + distance * camera.forward());
        EXPECT_NEAR(clip.x / clip.w, 0.0F, 1e-4F);
        EXPECT_NEAR(clip.y / clip.w, 0.0F, 1e-4F);
        EXPECT_NEAR(clip.z / clip.w * distance / NEAREST, 1.0F, 1e-4F);  // reversed, to infinity
        EXPECT_NEAR(clip.w / distance, 1.0F, 1e-4F);
    }
}

TEST(Camera, HasRowZeroAtTheTop) {
    const Camera camera{.vertical_field_degrees = 90.0F};
    const glm::vec4 upper_right = clip_of(camera, {2.0F, 1.0F, -1.0F});
    EXPECT_NEAR(upper_right.x / upper_right.w, 1.0F, 1e-6F);
    EXPECT_NEAR(upper_right.y / upper_right.w, -1.0F, 1e-6F);
}

TEST(Flight, PassesItsPosesOneASecond) {
    const Flight flight{"",
                        {{.position = {1.0F, 2.0F, 3.0F}, .yaw_degrees = 10.0F},
                         {.position = {4.0F, 2.0F, 3.0F}, .pitch_degrees = 20.0F},
                         {.position = {5.0F, 6.0F, 3.0F}, .vertical_field_degrees = 40.0F}}};
    EXPECT_EQ(flight.seconds(), 2.0F);
    for (std::size_t i = 0; i < flight.poses.size(); ++i) {
        const Camera camera = flight.at(static_cast<float>(i));
        EXPECT_LT(glm::distance(camera.position, flight.poses[i].position), 1e-5F);
        EXPECT_NEAR(camera.yaw_degrees, flight.poses[i].yaw_degrees, 1e-4F);
        EXPECT_NEAR(camera.pitch_degrees, flight.poses[i].pitch_degrees, 1e-4F);
        EXPECT_NEAR(camera.vertical_field_degrees, flight.poses[i].vertical_field_degrees, 1e-4F);
    }
    EXPECT_EQ(flight.at(-1.0F).position, flight.at(0.0F).position);
    EXPECT_EQ(flight.at(9.0F).position, flight.at(2.0F).position);
}

TEST(Flight, IsSmooth) {
    const Flight flight{"",
                        {{.position = {0.0F, 0.0F, 0.0F}},
                         {.position = {1.0F, 0.0F, 0.0F}},
                         {.position = {1.0F, 3.0F, 0.0F}},
                         {.position = {5.0F, 3.0F, 1.0F}}}};
    constexpr float STEP = 1e-2F;
    for (const float second : {1.0F, 2.0F}) {
        const glm::vec3 here = flight.at(second).position;
        const glm::vec3 before = (here - flight.at(second - STEP).position) / STEP;
        const glm::vec3 after = (flight.at(second + STEP).position - here) / STEP;
        EXPECT_LT(glm::distance(before, after), 0.2F);
    }
}

TEST(Flight, TurnsTheShortWay) {
    const Flight flight{"",
                        {{.yaw_degrees = 340.0F},
                         {.yaw_degrees = 350.0F},
                         {.yaw_degrees = 10.0F},
                         {.yaw_degrees = 20.0F}}};
    for (int i = 0; i <= 10; ++i) {
        const Camera camera = flight.at(1.0F + 0.1F * static_cast<float>(i));
        EXPECT_LT(camera.forward().z, -0.98F);  // between 350 and 370 degrees
    }
}

TEST(Flight, MayHaveOnePose) {
    const Flight flight{"", {{.position = {1.0F, 2.0F, 3.0F}}}};
    EXPECT_EQ(flight.seconds(), 0.0F);
    EXPECT_EQ(flight.at(5.0F).position, glm::vec3(1.0F, 2.0F, 3.0F));
}

}  // namespace
}  // namespace quadtile::shadow
