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
        const ShadowParameters parameters = shadow_parameters(studio_.renderer().options());
        for (const float importance : expected.importance) {
            fit.importance.push_back(shadow_faded(parameters, importance));
        }
        EXPECT_EQ(test::difference(studio_.renderer().options(), fit, expected), "");
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

class LittleToSee : public ShadowRenderer {
 protected:
    LittleToSee() : film_(city_film(2000)), pair_(film_.geometry, two_lights(0.0F)) {}

    // Twice, since the second frame has a last one; then from where there is more to see.
    void expect_defined(const FrameSettings& settings) {
        for (const FrameSettings& frame : {settings, settings, ordinary(), settings}) {
            pair_.draw(frame);
            expect_mask_of_depth();
        }
    }

    [[nodiscard]] FrameSettings ordinary() const {
        const Camera camera = film_.flight.at(4.0F);
        return {.camera = camera, .lights = {side_sun(), spot_at(camera)}};
    }

    Film film_;
    Pair pair_;

 private:
    // Nothing where there is no depth, and no lights that do not exist.
    void expect_mask_of_depth() const {
        const std::vector<std::uint32_t> mask = pair_.studio().mask();
        const std::vector<float> depth = pair_.studio().depth();
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < mask.size(); ++i) {
            wrong += depth[i] == 0.0F ? mask[i] != 0 : (mask[i] & ~0x30003U) != 0;
        }
        EXPECT_EQ(wrong, 0U);
    }
};

TEST_F(LittleToSee, AlongTheLight) {
    FrameSettings settings = ordinary();
    settings.camera.pitch_degrees = -40.0F;
    settings.lights[0].direction = settings.camera.forward();
    expect_defined(settings);
    // Against it, too.
    settings.camera.pitch_degrees = 20.0F;
    settings.lights[0].direction = -settings.camera.forward();
    expect_defined(settings);
}

TEST_F(LittleToSee, WithinGeometry) {
    const Geometry& geometry = film_.geometry;
    FrameSettings settings = ordinary();
    settings.camera.position = geometry.vertices[geometry.indices[300]].position;  // on a corner
    expect_defined(settings);
    settings.camera.position.y = film_.geometry.bounds.low[1] - 5.0F;  // below the ground
    expect_defined(settings);
}

TEST_F(LittleToSee, TheSky) {
    FrameSettings settings = ordinary();
    settings.camera.position.y = film_.geometry.bounds.high[1] + 20.0F;
    settings.camera.pitch_degrees = 80.0F;
    expect_defined(settings);
    pair_.draw(settings);
    for (const float depth : pair_.studio().depth()) {
        ASSERT_EQ(depth, 0.0F);
    }
    // Nothing is asked for: a tile each for the two lights.
    EXPECT_EQ(pair_.draw(settings).header.tiles, 2U);
}

TEST_F(LittleToSee, ASpotThatSeesNothing) {
    FrameSettings settings = ordinary();
    settings.lights[1].position.y = film_.geometry.bounds.high[1] + 20.0F;
    settings.lights[1].direction = {0.0F, 1.0F, 0.0F};
    settings.lights[1].angle_degrees = 30.0F;
    expect_defined(settings);
    pair_.draw(settings);
    for (const std::uint32_t pixel : pair_.studio().mask()) {
        ASSERT_EQ(pixel & 2U, 0U);
    }
}

}  // namespace
}  // namespace quadtile::shadow
