// Kinds of scenes as people make them, by formulas or by exact zeros.

#include "bake_fixture.hpp"

#include <algorithm>
#include <cmath>

namespace quadtile::baker::test {
namespace {

// ---- Seams

// Two floors that meet at x = 8, of 8 by 8 texels; the first one is bright. A sheet stands on a
// part of their edge. Catches light that is blended through it, and light that is not blended
// beside it.
TEST(SeamKinds, EndWhereASurfaceStands) {
    struct Wall {
        glm::vec3 corner;
        glm::vec3 a;
        glm::vec3 b;
        bool parts;  // the middle of the edge
        bool is_open_beside;
    };
    for (const Wall& wall : std::initializer_list<Wall>{
             {{8, 0, 0}, 8.0F * Z, 3.0F * Y, true, false},
             {{8, 0, -5}, 16.0F * Z, 3.0F * Y, true, false},
             {{8, 0, 2}, 4.0F * Z, 3.0F * Y, true, true},
             {{8, -3, 2}, 4.0F * Z, 6.0F * Y, true, true},
             {{8, 0, 2}, 4.0F * Z, glm::vec3(2, 3, 0), true, true},
             {{4, 0, 4.25F}, 8.0F * X, 3.0F * Y, false, true},  // across the edge
             {{8, -3, 0}, 8.0F * Z, 3.0F * Y, false, true},     // below
             {{4, 2, 0}, 8.0F * Z, 8.0F * X, false, true}}) {   // a ceiling
        Quads scene(3, 1, 8);
        scene.add_material({.double_sided = true});
        scene.add({0, 0, 0}, 8.0F * Z, 8.0F * X);
        scene.add({8, 0, 0}, 8.0F * Z, 8.0F * X);
        scene.add(wall.corner, wall.a, wall.b);
        LightMap map = uniform_light_map(scene.extent(), glm::vec3(0.0F));
        for (const std::size_t texel : scene.texels(0)) {
            map.irradiance[texel] = glm::vec3(1.0F);
        }
        blend_seams(map, scene.scene);
        const auto dark = [&](std::size_t z) { return map.irradiance[scene.texels(1)[z]].x; };
        EXPECT_EQ(dark(3) == 0.0F && dark(4) == 0.0F, wall.parts) << wall.corner.x << wall.corner.z;
        EXPECT_EQ(dark(0) > 0.01F, wall.is_open_beside) << wall.corner.x << wall.corner.z;
    }
}

}  // namespace
}  // namespace quadtile::baker::test
