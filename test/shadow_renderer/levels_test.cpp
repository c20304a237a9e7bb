// A sun of levels in a large world: texels beside the camera are as fine as in a small one, and
// steps of the levels leave right shadows.

#include "studio.hpp"

namespace quadtile::shadow {
namespace {

// A city, and a triangle so far away that the scene is so many times as large.
Geometry city_in_a_world(const Film& film, float size) {
    Geometry geometry = film.geometry;
    for (std::size_t axis : {0U, 2U}) {
        geometry.bounds.low[axis] *= size;
        geometry.bounds.high[axis] *= size;
    }
    return geometry;
}

// Catches levels that are looked up elsewhere than asked for, and borders of levels without
// shadows.
TEST_F(ShadowRenderer, LevelsOfASunDoNotDependOnTheWorld) {
    const Film film = city_film(4000);
    const ShadowOptions options{.lights = 6,
                                .map_extent = 64,
                                .atlas_extent = 1024,
                                .tile_extent = 64,
                                .gutter = 1,
                                .max_tiles = 600};
    const auto mean_share_wrong = [&](float size, Light sun) {
        ShadowOptions used = options;
        used.lights = sun.layers();
        Studio studio(city_in_a_world(film, size), SMALL_PICTURE, used);
        double sum = 0.0;
        for (const Camera& camera : film.cameras(6)) {
            const FrameSettings settings{.camera = camera, .lights = {sun}};
            studio.draw(settings);
            sum += share_wrong(studio.compare(settings));
        }
        return sum / 6.0;
    };
    Light levels = side_sun();
    levels.nearest_extent = 40.0F;
    levels.levels = 6;
    const double in_the_city = mean_share_wrong(1.0F, levels);
    EXPECT_LT(in_the_city, 0.01);
    EXPECT_NEAR(mean_share_wrong(64.0F, levels), in_the_city, 0.002);
    EXPECT_LT(in_the_city, 0.5 * mean_share_wrong(64.0F, side_sun()));
}

// Catches slots that are kept for another place than they show, or with the crop matrix of the
// place where they were, and steps that draw all.
TEST_F(ShadowRenderer, StepsOfLevelsLeaveTheShadowsOfAFreshFit) {
    const Film film = city_film(4000);
    const ShadowOptions options{.lights = 4,
                                .map_extent = 64,
                                .atlas_extent = 4096,
                                .tile_extent = 64,
                                .gutter = 1,
                                .max_tiles = 3000,
                                .merge_ratio = 1.0F,
                                .importance_decay = 0.0F,
                                .resolution_scale = 2.0F,
                                .edge_scale = 1.0F};
    Studio walking(film.geometry, SMALL_PICTURE, options);
    Studio fresh(film.geometry, SMALL_PICTURE, options);
    FrameSettings settings{.lights = {side_sun()}};
    settings.lights[0].nearest_extent = 16.0F;
    settings.lights[0].levels = 4;
    std::uint32_t steps = 0;
    std::array<float, 2> last_place{};
    for (int frame = 0; frame < 20; ++frame) {
        SCOPED_TRACE(frame);
        settings.camera = film.flight.at(3.3F + 0.1F * static_cast<float>(frame));
        walking.draw(settings);
        const ShadowHeader header = walking.fit().header;
        const ShadowMatrix finest = walking.renderer().projections(settings)[0].clip_from_world;
        const std::array place{finest[12], finest[13]};
        if (frame > 0 && place != last_place) {
            ++steps;
            EXPECT_LT(header.render_count, header.tiles / 2);
        }
        last_place = place;
        fresh.forget(settings, 1.0F);
        const double wrong = share_wrong(fresh.compare(settings));
        // Slots elsewhere are drawn with other roundings.
        EXPECT_LT(share_that_differs(walking.mask(), fresh.mask()), 0.001);
        EXPECT_NEAR(share_wrong(walking.compare(settings)), wrong, 0.001);
    }
    EXPECT_GT(steps, 2U);
}

}  // namespace
}  // namespace quadtile::shadow
