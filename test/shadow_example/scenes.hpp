// A device for tests of shadows, and small scenes. Pictures are small, since CPU drivers are slow.

#pragma once

#include "rig.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace quadtile::shadow {

constexpr vk::Extent2D SMALL_PICTURE{160, 90};

// Tests on a device; the validation layer, where it is installed, must be silent.
class Shadows : public testing::Test {
 protected:
    static void SetUpTestSuite();
    static void TearDownTestSuite();
    void TearDown() override;

    static std::unique_ptr<Machine> machine_;
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

// Scene with a material; these add a parallelogram, by its corner and two edges, and a box.
[[nodiscard]] baker::Scene empty_scene();
void add_quad(baker::Scene& scene, const glm::vec3& corner, const glm::vec3& u, const glm::vec3& v);
void add_box(baker::Scene& scene, const glm::vec3& low, const glm::vec3& high);

// A room of 40 x 12 x 40 around the origin, without a ceiling, with boxes of many sizes, on a
// ground that reaches so far.
[[nodiscard]] Geometry random_room(Random& random, float ground = 20.0F);
// A camera in it, and a light of any kind.
[[nodiscard]] Camera random_camera(Random& random);
[[nodiscard]] Light random_light(Random& random, Light::Kind kind);

// The next frame draws all tiles, as if there had been none before, into an atlas of this depth.
void forget(Machine& machine, Rig& rig, float atlas_depth);

// The share of pixels whose receivers have other lights.
[[nodiscard]] double share_that_differs(const std::vector<Receiver>& a,
                                        const std::vector<Receiver>& b);

}  // namespace quadtile::shadow
