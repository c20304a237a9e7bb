// Moving objects: their shadows follow them, none stays behind, and nothing else is drawn.

#include "studio.hpp"

#include <algorithm>
#include <map>

namespace quadtile::shadow {
namespace {

// Without memory and hysteresis frames have the same tiles whatever came before.
constexpr ShadowOptions MOVING_BASE{.lights = 2,
                                    .map_extent = 256,
                                    .atlas_extent = 1024,
                                    .max_tiles = 400,
                                    .merge_ratio = 1.0F,
                                    .importance_decay = 0.0F,
                                    .edge_scale = 1.0F};

// A city with so many boxes before a camera.
Geometry with_boxes(const Film& film, const Camera& camera, int count, float size) {
    Geometry geometry = film.geometry;
    const glm::vec3 right = glm::normalize(glm::cross(camera.forward(), {0.0F, 1.0F, 0.0F}));
    for (int i = 0; i < count; ++i) {
        const float sideways = 2.0F * static_cast<float>(i - count / 2);
        add_moving_box(
            geometry,
            camera.position + (12.0F + static_cast<float>(i)) * camera.forward() + sideways * right,
            size);
    }
    return geometry;
}

// Catches ghosts where something has left, shadows that are missing where it has come to, and ways
// of the device that are not those of the host.
TEST_F(ShadowRenderer, ShadowsOfWhatMovesAreThoseOfAFreshFit) {
    const Film film = city_film(4000);
    const Camera camera = film.flight.at(3.3F);
    const Geometry geometry = with_boxes(film, camera, 8, 6.0F);
    Studio moving(geometry, SMALL_PICTURE, MOVING_BASE);
    Studio fresh(geometry, SMALL_PICTURE, MOVING_BASE);
    FrameSettings settings{.camera = camera, .lights = {side_sun(), spot_at(camera)}};
    std::vector<std::uint32_t> before;
    std::uint32_t kept_frames = 0;
    for (int frame = 0; frame < 8; ++frame) {
        SCOPED_TRACE(frame);
        settings.second = 1.3F * static_cast<float>(frame);
        moving.draw(settings);
        fresh.forget(settings, 1.0F);
        const double wrong = share_wrong(fresh.compare(settings));
        const ShadowHeader header = moving.fit().header;
        kept_frames += frame > 0 && 4 * header.render_count < 3 * header.tiles ? 1U : 0U;
        // Slots elsewhere are drawn with other roundings.
        EXPECT_LT(share_that_differs(moving.mask(), fresh.mask()), 0.001);
        EXPECT_NEAR(share_wrong(moving.compare(settings)), wrong, 0.001);
        EXPECT_TRUE(frame == 0 || share_that_differs(moving.mask(), before) > 0.004);
        before = moving.mask();
    }
    EXPECT_GE(kept_frames, 6U);  // else there was nothing to compare
}

// Boxes around what moves, at a time.
std::vector<ShadowChange> bounds_at(const Geometry& geometry, float second) {
    std::vector<ShadowChange> changes;
    for (const MovingBox& box : geometry.moving) {
        glm::vec3 low(1e30F);
        glm::vec3 high(-1e30F);
        for (std::uint32_t corner = 0; corner < MOVING_BOX_CORNERS; ++corner) {
            const MaskVector at = moving_corner(box, corner, second);
            low = glm::min(low, glm::vec3(at.x, at.y, at.z));
            high = glm::max(high, glm::vec3(at.x, at.y, at.z));
        }
        changes.push_back({.low = {low.x, low.y, low.z},
                           .light_mask = 3,
                           .high = {high.x, high.y, high.z},
                           .reserved = 0});
    }
    return changes;
}

bool shows(const ShadowTile& tile, const ShadowFrame& frame,
           const std::vector<ShadowChange>& changes) {
    const ShadowParameters parameters = shadow_parameters(MOVING_BASE);
    return std::ranges::any_of(changes, [&](const ShadowChange& change) {
        return shadow_overlaps(
            parameters, shadow_bounds(parameters, frame.lights[tile.node >> 16U], change), tile);
    });
}

// Catches slots that something has left or come to and that are not drawn, and slots that are drawn
// although nothing in them has moved.
TEST_F(ShadowRenderer, DrawsTheSlotsThatWhatMovesTouches) {
    const Film film = city_film(4000);
    const Camera camera = film.flight.at(3.3F);
    std::uint32_t last_count = 0;
    for (const int count : {1, 4, 16}) {
        SCOPED_TRACE(count);
        const Geometry geometry = with_boxes(film, camera, count, 2.0F);
        Studio studio(geometry, SMALL_PICTURE, MOVING_BASE);
        FrameSettings settings{.camera = camera, .lights = {side_sun(), spot_at(camera)}};
        studio.draw(settings);
        studio.draw(settings);
        const Studio::Fit last = studio.fit();
        EXPECT_EQ(last.header.render_count, 0U);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> last_slots;
        for (const ShadowTile& tile : last.tiles) {
            last_slots[{tile.node, tile.position}] = tile.slot;
        }
        settings.second = 1.3F;
        studio.draw(settings);
        const ShadowFrame frame = studio.renderer().shadow_frame(settings);
        const std::vector<ShadowChange> before = bounds_at(geometry, 0.0F);
        const std::vector<ShadowChange> now = bounds_at(geometry, settings.second);
        const Studio::Fit fit = studio.fit();
        std::uint32_t drawn_again = 0;
        for (const ShadowTile& tile : fit.tiles) {
            const auto slot = last_slots.find({tile.node, tile.position});
            if (slot == last_slots.end() || slot->second != tile.slot) {
                continue;
            }
            const bool is_drawn = ((tile.state >> 8U) & SHADOW_RENDER) != 0;
            EXPECT_EQ(is_drawn, shows(tile, frame, before) || shows(tile, frame, now));
            drawn_again += is_drawn ? 1U : 0U;
        }
        EXPECT_GT(drawn_again, last_count);
        EXPECT_LT(drawn_again, fit.header.tiles / 2);
        last_count = drawn_again;
    }
}

}  // namespace
}  // namespace quadtile::shadow
