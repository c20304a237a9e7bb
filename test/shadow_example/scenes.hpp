// A device for tests of shadows, and small scenes. Pictures are small, since CPU drivers are slow.

#pragma once

#include "rig.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <random>

namespace quadtile::shadow {

constexpr vk::Extent2D SMALL_PICTURE{160, 90};

// Tests on a device; the validation layer, where it is installed, must be silent.
class Shadows : public testing::Test {
 protected:
    static void SetUpTestSuite() {
        machine_ = std::make_unique<Machine>(quadtile::Device::validation_available());
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

inline baker::Scene empty_scene() {
    baker::Scene scene;
    scene.materials.emplace_back();
    return scene;
}

// A parallelogram, by its corner and two edges.
inline void add_quad(baker::Scene& scene, const glm::vec3& corner, const glm::vec3& u,
                     const glm::vec3& v) {
    const auto first = static_cast<std::uint32_t>(scene.positions.size());
    for (const glm::vec3& position : {corner, corner + u, corner + u + v, corner + v}) {
        scene.positions.push_back(position);
    }
    scene.triangles.push_back({.vertices = {first, first + 1, first + 2}});
    scene.triangles.push_back({.vertices = {first, first + 2, first + 3}});
}

inline void add_box(baker::Scene& scene, const glm::vec3& low, const glm::vec3& high) {
    const glm::vec3 size = high - low;
    for (int axis = 0; axis < 3; ++axis) {
        glm::vec3 u(0.0F);
        glm::vec3 v(0.0F);
        glm::vec3 w(0.0F);
        u[(axis + 1) % 3] = size[(axis + 1) % 3];
        v[(axis + 2) % 3] = size[(axis + 2) % 3];
        w[axis] = size[axis];
        add_quad(scene, low, u, v);
        add_quad(scene, low + w, u, v);
    }
}

// A room of 40 x 12 x 40 around the origin, without a ceiling, with boxes of many sizes.
inline Geometry random_room(Random& random) {
    baker::Scene scene = empty_scene();
    add_quad(scene, {-20.0F, 0.0F, -20.0F}, {0.0F, 0.0F, 40.0F}, {40.0F, 0.0F, 0.0F});
    for (const float side : {-20.0F, 20.0F}) {
        add_quad(scene, {side, 0.0F, -20.0F}, {0.0F, 12.0F, 0.0F}, {0.0F, 0.0F, 40.0F});
        add_quad(scene, {-20.0F, 0.0F, side}, {0.0F, 12.0F, 0.0F}, {40.0F, 0.0F, 0.0F});
    }
    for (int i = 0; i < 40; ++i) {
        const glm::vec3 size = random.between(glm::vec3(0.2F), glm::vec3(3.0F));
        const glm::vec3 low = random.between({-18.0F, 0.0F, -18.0F}, {15.0F, 6.0F, 15.0F});
        add_box(scene, low, low + size);
    }
    return make_geometry(scene);
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

// The next frame draws all tiles, as if there had been none before, into an atlas of this depth.
inline void forget(Machine& machine, Rig& rig, float atlas_depth) {
    const Targets& targets = rig.renderer().targets();
    const auto pass = make_atlas_pass(machine.gpu.device(), AtlasContents::cleared);
    const vk::UniqueFramebuffer framebuffer =
        machine.gpu.make_framebuffer(*pass, targets.atlas.extent, std::array{*targets.atlas.view});
    machine.gpu.run([&](vk::CommandBuffer commands) {
        app::memory_barrier(commands, app::ALL_USES, app::ALL_USES);
        commands.fillBuffer(*targets.memory.handle, 0, VK_WHOLE_SIZE, 0);
        const vk::ClearValue depth{.depthStencil = {.depth = atlas_depth}};
        app::begin_render_pass(commands, *pass, *framebuffer, targets.atlas.extent,
                               std::span(&depth, 1));
        commands.endRenderPass();
        app::memory_barrier(commands, app::ALL_USES, app::ALL_USES);
    });
}

// The share of pixels whose receivers have other lights.
inline double share_that_differs(const std::vector<Receiver>& a, const std::vector<Receiver>& b) {
    double surfaces = 0.0;
    double different = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        surfaces += a[i].share >= 0.0F ? 1.0 : 0.0;
        different += a[i].word != b[i].word ? 1.0 : 0.0;
    }
    return different / std::max(surfaces, 1.0);
}

}  // namespace quadtile::shadow
