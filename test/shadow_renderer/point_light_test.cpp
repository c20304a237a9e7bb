// A point light in a room: shadows all around it, and no seams where its faces meet.

#include "studio.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace quadtile::shadow {
namespace {

void add_box(baker::Scene& scene, const glm::vec3& low, const glm::vec3& high) {
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

constexpr glm::vec3 ROOM(5.0F, 4.0F, 6.0F);

// With boxes all around its middle.
Geometry room() {
    baker::Scene scene;
    scene.materials.emplace_back();
    add_box(scene, -ROOM, ROOM);
    for (int i = 0; i < 40; ++i) {
        const auto turn = static_cast<float>(i);
        const glm::vec3 place(3.5F * std::sin(2.4F * turn), 3.0F * std::sin(1.7F * turn + 1.0F),
                              4.5F * std::cos(2.4F * turn));
        if (glm::length(place) > 1.5F) {
            add_box(scene, place - 0.3F, place + 0.3F);
        }
    }
    return make_geometry(scene);
}

// From within: nothing shadows anything, and no surfaces meet in corners.
Geometry ball() {
    constexpr int PARTS = 48;
    baker::Scene scene;
    scene.materials.emplace_back();
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

FrameSettings settings_at(int frame) {
    const auto turn = static_cast<float>(frame);
    return {.camera = {.position = {1.0F, 0.5F, -1.0F},
                       .yaw_degrees = 60.0F * turn,
                       .pitch_degrees =
                           frame % 3 == 0 ? 40.0F : -40.0F * static_cast<float>(frame % 2)},
            .lights = {{.kind = Light::Kind::point, .position = {0.2F, 0.1F, -0.3F}}}};
}

constexpr ShadowOptions POINT_BASE{
    .lights = SHADOW_FACES, .map_extent = 128, .atlas_extent = 2048, .max_tiles = 900};

// Catches faces that look elsewhere than they were drawn for, and pixels at their edges that no
// face has.
TEST_F(ShadowRenderer, APointLightShadowsAllAroundAsRaysSay) {
    Studio studio(room(), {240, 135}, POINT_BASE);
    double wrong = 0.0;
    double wrong_of_single = 0.0;
    std::set<std::uint32_t> faces;
    for (int frame = 0; frame < 6; ++frame) {
        SCOPED_TRACE(frame);
        FrameSettings settings = settings_at(frame);
        studio.draw(settings);
        const MaskDifference difference = studio.compare(settings);
        EXPECT_LT(share_wrong(difference), 0.01);
        wrong += share_wrong(difference);
        const std::vector<std::uint32_t> mask = studio.mask();
        EXPECT_GT(std::ranges::count(mask, shadow_lit_word(0, true, true)), 3000);
        EXPECT_GT(std::ranges::count(mask, shadow_lit_word(0, true, false)), 300);
        for (const ShadowTile& tile : studio.fit().tiles) {
            if ((tile.node & 0xffU) < 6) {
                faces.insert(tile.node >> 16U);
            }
        }
        settings.technique = Technique::single;
        wrong_of_single += share_wrong(studio.compare(settings));
    }
    EXPECT_EQ(faces.size(), SHADOW_FACES);
    EXPECT_LT(wrong_of_single / 6.0, 0.05);
    EXPECT_LT(wrong, wrong_of_single);
}

// Catches seams: within a ball all is lit, by hard shadows and by filtered ones.
TEST_F(ShadowRenderer, APointLightHasNoSeams) {
    Studio studio(ball(), {240, 135}, POINT_BASE);
    for (int frame = 0; frame < 6; ++frame) {
        SCOPED_TRACE(frame);
        FrameSettings settings = settings_at(frame);
        EXPECT_EQ(studio.compare(settings).wrong, 0U);
        const std::vector<std::uint32_t> filtered = studio.colours();
        EXPECT_EQ(std::ranges::count(studio.mask(), shadow_lit_word(0, true, true)), 240 * 135);
        settings.filter = Filter::hard;
        studio.draw(settings);
        EXPECT_TRUE(filtered == studio.colours());
    }
}

// Catches weights that are not heard.
TEST_F(ShadowRenderer, AWeakLightHasFewerTexels) {
    const Geometry geometry = room();
    const auto cells = [&](float weight) {
        Studio studio(geometry, {240, 135}, POINT_BASE);
        FrameSettings settings = settings_at(1);
        settings.lights[0].weight = weight;
        studio.draw(settings);
        return studio.fit().header.used_cells;
    };
    const std::uint32_t whole = cells(1.0F);
    EXPECT_LT(cells(0.25F), whole / 4);
    EXPECT_GT(cells(4.0F), whole);
}

}  // namespace
}  // namespace quadtile::shadow
