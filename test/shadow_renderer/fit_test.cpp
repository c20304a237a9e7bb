// What the fitter finds within the renderer, against its twin on the CPU, fed with the depth buffer
// that was drawn and the lit mask before: on flights, and where there is nothing to see or nothing
// sees it.

#include "../shadow/fitter_workspace.hpp"
#include "studio.hpp"

namespace quadtile::shadow {
namespace {

// A renderer beside the twin.
class Pair {
 public:
    Pair(const Geometry& geometry, const ShadowOptions& options)
        : studio_(geometry, SMALL_PICTURE, options), twin_(options) {}

    // Draws a frame, and expects both to have come to the same bits.
    Studio::Fit draw(const FrameSettings& settings) {
        const std::vector<std::uint32_t> lit = studio_.mask();
        studio_.draw(settings);
        Studio::Fit fit = studio_.fit();
        const Studio::Fit& expected =
            twin_.next(studio_.renderer().shadow_frame(settings), studio_.depth(), lit);
        // Culling, which the twin does apart, counts into the header.
        fit.header.instances = expected.header.instances;
        // Neither the importance map nor quadtile's list is read back.
        fit.tile_list = expected.tile_list;
        const ShadowParameters parameters = shadow_parameters(studio_.renderer().targets().options);
        for (const float importance : expected.importance) {
            fit.importance.push_back(shadow_faded(parameters, importance));
        }
        EXPECT_EQ(test::difference(studio_.renderer().targets().options, fit, expected), "");
        return fit;
    }

    [[nodiscard]] const Studio& studio() const { return studio_; }

 private:
    Studio studio_;
    reference::ShadowFitter twin_;
};

ShadowOptions two_lights(float importance_decay) {
    return {.lights = 2,
            .map_extent = 256,
            .atlas_extent = 1024,
            .tile_extent = 64,
            .gutter = 1,
            .max_tiles = 400,
            .importance_decay = importance_decay};
}

void expect_twins(const Film& film) {
    Pair pair(film.geometry, two_lights(0.8F));
    const std::vector<Camera> cameras = film.cameras(10);
    std::uint32_t kept = 0;
    for (std::size_t i = 0; i < cameras.size(); ++i) {
        SCOPED_TRACE(i);
        kept += pair.draw({.camera = cameras[i], .lights = {side_sun(), spot_at(cameras[5])}})
                    .header.kept;
    }
    EXPECT_GT(kept, 100U);
}

// Without the shared data, through a city.
TEST_F(ShadowRenderer, FitsAsTheTwinOnAFlight) {
    const std::optional<Film> film = zdm2_film();
    expect_twins(film ? *film : city_film(4000));
}

// ---- Where there is little to see

// Nothing where there is no depth, and no lights that do not exist.
void expect_mask_of_depth(const Studio& studio) {
    const std::vector<std::uint32_t> mask = studio.mask();
    const std::vector<float> depth = studio.depth();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
        wrong += depth[i] == 0.0F ? mask[i] != 0 : (mask[i] & ~0x30003U) != 0;
    }
    EXPECT_EQ(wrong, 0U);
}

TEST_F(ShadowRenderer, FitsAsTheTwinWhereThereIsLittleToSee) {
    const Film film = city_film(2000);
    const Geometry& geometry = film.geometry;
    Pair pair(geometry, two_lights(0.0F));
    const Camera camera = film.flight.at(4.0F);
    const FrameSettings ordinary{.camera = camera, .lights = {side_sun(), spot_at(camera)}};
    FrameSettings along_the_light = ordinary;
    along_the_light.camera.pitch_degrees = -40.0F;
    along_the_light.lights[0].direction = along_the_light.camera.forward();
    FrameSettings against_the_light = ordinary;
    against_the_light.camera.pitch_degrees = 20.0F;
    against_the_light.lights[0].direction = -against_the_light.camera.forward();
    FrameSettings on_a_corner = ordinary;
    on_a_corner.camera.position = geometry.vertices[geometry.indices[300]].position;
    FrameSettings below_the_ground = ordinary;
    below_the_ground.camera.position.y = geometry.bounds.low[1] - 5.0F;
    FrameSettings the_sky = ordinary;
    the_sky.camera.position.y = geometry.bounds.high[1] + 20.0F;
    the_sky.camera.pitch_degrees = 80.0F;
    FrameSettings a_spot_that_sees_nothing = ordinary;
    a_spot_that_sees_nothing.lights[1].position.y = geometry.bounds.high[1] + 20.0F;
    a_spot_that_sees_nothing.lights[1].direction = {0.0F, 1.0F, 0.0F};
    a_spot_that_sees_nothing.lights[1].angle_degrees = 30.0F;
    int place = 0;
    for (const FrameSettings& settings :
         {along_the_light, against_the_light, on_a_corner, below_the_ground}) {
        SCOPED_TRACE(place++);
        // Twice, since the second frame has a last one; then from where there is more to see.
        for (const FrameSettings& frame : {settings, settings, ordinary}) {
            pair.draw(frame);
            expect_mask_of_depth(pair.studio());
        }
    }
    pair.draw(the_sky);
    for (const float depth : pair.studio().depth()) {
        ASSERT_EQ(depth, 0.0F);
    }
    // Nothing is asked for: a tile each for the two lights.
    EXPECT_EQ(pair.draw(the_sky).header.tiles, 2U);
    pair.draw(a_spot_that_sees_nothing);
    for (const std::uint32_t pixel : pair.studio().mask()) {
        ASSERT_EQ(pixel & 2U, 0U);
    }
}

}  // namespace
}  // namespace quadtile::shadow
