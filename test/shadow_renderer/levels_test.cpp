// A sun of levels in a large world: texels beside the camera are as fine as in a small one.

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

}  // namespace
}  // namespace quadtile::shadow
