// Frames that follow each other: what stays is kept, what moves is drawn, and shadows are those of
// a fit that has seen no other frame.

#include "scenes.hpp"

#include <algorithm>
#include <functional>

namespace quadtile::shadow {
namespace {

// Without memory and hysteresis frames have the same tiles whatever came before.
constexpr ShadowOptions FRAMES_BASE{.lights = 2,
                                    .map_extent = 128,
                                    .atlas_extent = 2048,
                                    .max_tiles = 600,
                                    .merge_ratio = 1.0F,
                                    .importance_decay = 0.0F,
                                    .edge_scale = 1.0F};

FrameSettings two_lights(Random& random) {
    return {.camera = random_camera(random),
            .lights = {random_light(random, Light::Kind::sun),
                       random_light(random, Light::Kind::spot)}};
}

// Draws frames with one rig, and each of them anew with another one: the shadows are the same, but
// for roundings of slots that are drawn elsewhere, and as near to rays. Most frames draw less than
// this share of their tiles, else there was nothing to compare.
void expect_as_fresh(Machine& machine, const Geometry& geometry, const ShadowOptions& options,
                     FrameSettings settings, int frames, double most_drawn,
                     const std::function<void(FrameSettings&, int)>& next) {
    Rig rig(machine, geometry, SMALL_PICTURE, options);
    Rig fresh(machine, geometry, SMALL_PICTURE, options);
    int few_drawn = 0;
    for (int frame = 0; frame < frames; ++frame) {
        SCOPED_TRACE(frame);
        next(settings, frame);
        const Comparison comparison = rig.compare(settings);
        const ShadowHeader header = rig.renderer().header();
        few_drawn += header.render_count < most_drawn * header.tiles ? 1 : 0;
        if (frame == 0) {
            fresh.draw(settings);
        }
        forget(machine, fresh, 1.0F);
        const Comparison expected = fresh.compare(settings);
        EXPECT_EQ(header.tiles, fresh.renderer().header().tiles);
        EXPECT_LT(share_that_differs(comparison.receivers, expected.receivers), 0.001);
        EXPECT_NEAR(comparison.difference().share_wrong(), expected.difference().share_wrong(),
                    0.001);
    }
    EXPECT_GE(few_drawn, frames - 3);
}

// Catches ghosts where something has left, shadows that are missing where it has come to, and ways
// of the device that are not those of the host.
TEST_F(Shadows, OfWhatMovesAreThoseOfAFreshFit) {
    Random random(2);
    Geometry geometry = random_room(random);
    for (int i = 0; i < 8; ++i) {
        add_moving_box(geometry, random.between({-8.0F, 2.0F, -8.0F}, {8.0F, 6.0F, 8.0F}), 2.0F);
    }
    expect_as_fresh(*machine_, geometry, FRAMES_BASE, two_lights(random), 6, 0.9,
                    [&](FrameSettings& settings, int frame) {
                        settings.second = 1.3F * static_cast<float>(frame);
                    });
}

// Catches slots that are kept for another place than they show when a level steps.
TEST_F(Shadows, OfSteppingSunLevelsAreThoseOfAFreshFit) {
    Random random(3);
    const Geometry geometry = random_room(random);
    FrameSettings settings{.camera = random_camera(random),
                           .lights = {random_light(random, Light::Kind::sun)}};
    settings.lights[0].nearest_extent = 8.0F;
    settings.lights[0].levels = 4;
    ShadowOptions options = FRAMES_BASE;
    options.lights = 4;
    options.map_extent = 64;
    options.atlas_extent = 4096;
    options.max_tiles = 3000;
    expect_as_fresh(*machine_, geometry, options, settings, 12, 0.6,
                    [](FrameSettings& next, int) { next.camera.position.x += 0.12F; });
}

}  // namespace
}  // namespace quadtile::shadow
