// A device for tests of shadows, and small scenes. Pictures are small, since CPU drivers are slow.

#pragma once

#include "baker/small_scenes.hpp"

#include "rig.hpp"
#include "support/gpu.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <random>

namespace quadtile::shadow {

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
inline Quads quads() {
    Quads made(1, 1, 1);
    made.add_material({});
    return made;
}

// A room of 40 x 12 x 40 around the origin, without a ceiling, with boxes of many sizes, some
// of which move.
inline Geometry random_room(Random& random) {
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
    Geometry geometry = make_geometry(room.scene);
    for (int i = 0; i < 8; ++i) {
        add_moving_box(geometry, random.between({-8.0F, 2.0F, -8.0F}, {8.0F, 6.0F, 8.0F}), 2.0F);
    }
    return geometry;
}

inline Camera random_camera(Random& random) {
    return look(random.between({-19.0F, 7.0F, -19.0F}, {19.0F, 11.0F, 19.0F}),
                random.between({-8.0F, 0.0F, -8.0F}, {8.0F, 3.0F, 8.0F}));
}

inline Light random_light(Random& random, Light::Kind kind) {
    Light light{.kind = kind, .angle_degrees = random.between(40.0F, 120.0F)};
    const bool is_sun = kind == Light::Kind::sun;
    light.direction = random.between({-1.0F, -1.0F, -1.0F}, {1.0F, is_sun ? -0.4F : -0.7F, 1.0F});
    light.position = random.between({-15.0F, 9.0F, -15.0F}, {15.0F, 11.0F, 15.0F});
    return light;
}

}  // namespace quadtile::shadow
