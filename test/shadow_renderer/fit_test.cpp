// Results of the fitter within the renderer, against the CPU twin with the drawn depth buffer and
// the atlas of the frame before.

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
        const std::vector<float> atlas = studio_.atlas();
        studio_.draw(settings);
        Studio::Fit fit = studio_.fit();
        const Studio::Fit& expected =
            twin_.next(studio_.renderer().shadow_frame(settings), studio_.depth(), atlas);
        // Culling, which the twin does apart, counts into the header.
        fit.header.instances = expected.header.instances;
        // The importance map is not read back.
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

}  // namespace
}  // namespace quadtile::shadow
