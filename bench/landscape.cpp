#include "landscape.hpp"

#include "unwrap.hpp"

#include <cmath>
#include <string>

namespace quadtile::baker {

namespace {

void add_quad(Scene& scene, const glm::vec3& corner, const glm::vec3& across, const glm::vec3& up) {
    const auto first = static_cast<std::uint32_t>(scene.positions.size());
    for (const glm::vec3& at : {corner, corner + across, corner + across + up, corner + up}) {
        scene.positions.push_back(at);
        scene.normals.push_back(glm::normalize(glm::cross(across, up)));
    }
    scene.triangles.push_back({{first, first + 1, first + 2}});
    scene.triangles.push_back({{first, first + 2, first + 3}});
}

// Adds the top of a box and, unless it is flat, its sides.
void add_box(Scene& scene, const glm::vec3& low, const glm::vec3& size) {
    const glm::vec3 x(size.x, 0.0F, 0.0F);
    const glm::vec3 y(0.0F, size.y, 0.0F);
    const glm::vec3 z(0.0F, 0.0F, size.z);
    add_quad(scene, low + z + y, x, -z);
    if (size.y > 0.0F) {
        add_quad(scene, low + z, x, y);
        add_quad(scene, low + z + x, -z, y);
        add_quad(scene, low + x, -x, y);
        add_quad(scene, low, z, y);
    }
}

void begin_part(Scene& scene, const std::string& name, float density) {
    scene.parts.push_back(
        {.first_triangle = scene.triangles.size(), .name = name, .density = density});
}

// Adds four walls on a base, columns and steps.
void add_courtyard(Scene& scene) {
    add_box(scene, {-3.25F, 0.0F, -3.25F}, {6.5F, 0.2F, 6.5F});
    for (const float at : {-3.25F, 3.0F}) {
        add_box(scene, {-3.25F, 0.2F, at}, {6.5F, 3.0F, 0.25F});
        add_box(scene, {at, 0.2F, -3.0F}, {0.25F, 3.0F, 6.0F});
    }
    for (int i = 0; i < 4; ++i) {
        const auto step = static_cast<float>(i);
        add_box(scene, {-2.5F + 1.5F * step, 0.2F, -1.8F}, {0.3F, 2.4F, 0.3F});
        add_box(scene, {-2.5F + 1.5F * step, 0.2F, 1.5F}, {0.3F, 2.4F, 0.3F});
        add_box(scene, {-1.2F + 0.3F * step, 0.2F, -0.6F}, {0.3F, 0.2F + 0.2F * step, 1.2F});
    }
}

}  // namespace

Scene landscape_scene(const Extent& extent) {
    constexpr int TERRACES = 8;  // per side
    constexpr float TERRACE = 256.0F;
    Scene scene;
    scene.materials = {{.albedo = glm::vec3(0.5F)}};
    begin_part(scene, "courtyard", 64.0F);
    add_courtyard(scene);
    for (const bool is_near : {true, false}) {
        begin_part(scene, is_near ? "near" : "far", is_near ? 1.0F : 0.25F);
        for (int i = 0; i < TERRACES * TERRACES; ++i) {
            const int x = i % TERRACES - TERRACES / 2;
            const int z = i / TERRACES - TERRACES / 2;
            // Heights rise in rings around the middle.
            const int ring = std::max(std::abs(2 * x + 1), std::abs(2 * z + 1)) / 2;
            const int height = ring == 0 ? 0 : 8 * ring + 5 * ((7 * x + 11 * z) & 3);
            if (is_near == (ring < TERRACES / 4)) {
                add_box(scene,
                        {TERRACE * static_cast<float>(x), 0.0F, TERRACE * static_cast<float>(z)},
                        {TERRACE, height, TERRACE});
            }
        }
    }
    unwrap(scene, {.extent = extent});
    return scene;
}

}  // namespace quadtile::baker
