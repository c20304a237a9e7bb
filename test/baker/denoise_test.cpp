// The denoiser on lightmaps whose truth is known.

#include "denoise.hpp"

#include "small_scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace quadtile::baker::test {
namespace {

constexpr Extent EXTENT{48, 40};

// A chart on the left and one on the right, with nothing between them. The one on the left is of
// two triangles that have no vertex in common, but the same places.
Scene two_charts(bool is_bent = false) {
    Scene scene;
    scene.materials.emplace_back();
    const auto left = rectangle({0, 0}, {0.5F, 1});
    const auto at = square(0.0F);
    const glm::vec3 last = is_bent ? glm::vec3(0, 0, 1) : at[3];
    add_triangle(scene, {at[0], at[1], at[2]}, {left[0], left[1], left[2]});
    add_triangle(scene, {at[0], at[2], last}, {left[0], left[2], left[3]});
    add_quad(scene, square(0.5F), rectangle({0.5F, 0}, {1, 1}));
    return scene;
}

void denoise(LightMap& map, std::vector<float>& error, const Scene& scene,
             std::uint32_t threads = 0) {
    baker::denoise(map, error, make_surface_map(scene, EXTENT), scene, threads);
}

// Lit from the left and in shadow above, with noise of a part of the light.
struct Noisy {
    LightMap truth = uniform_light_map(EXTENT, glm::vec3(0.0F));
    LightMap map = truth;
    std::vector<float> error;

    explicit Noisy(float noise) {
        std::mt19937 random(7);
        const auto bell = [&] {
            double sum = -6.0;
            for (int i = 0; i < 12; ++i) {
                sum += static_cast<double>(random()) / 4294967296.0;
            }
            return static_cast<float>(sum);
        };
        for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
            const auto x = static_cast<float>(i % EXTENT.width);
            const float light = i / EXTENT.width < 20 ? 0.2F : 1.0F;
            truth.irradiance[i] = light * (1.0F + 0.01F * x) * glm::vec3(1.0F, 0.5F, 0.25F);
            const float one = noise * bell();
            const float other = noise * bell();  // of the two halves
            map.irradiance[i] = truth.irradiance[i] * (1.0F + 0.5F * (one + other));
            error.push_back(grey(truth.irradiance[i]) * 0.5F * (one - other));
        }
    }
};

double rms(const LightMap& map, const LightMap& truth, std::size_t first_row, std::size_t end_row) {
    double squares = 0.0;
    for (std::size_t i = first_row * EXTENT.width; i < end_row * EXTENT.width; ++i) {
        const double difference = grey(map.irradiance[i]) / grey(truth.irradiance[i]) - 1.0;
        squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>((end_row - first_row) * EXTENT.width));
}

// Catches a filter that does nothing, that smears the edge of a shadow into it, that tells less
// noise than is left, that changes light without noise, or depends on threads.
TEST(Denoise, TakesNoiseAndLeavesShadows) {
    Noisy noisy(0.1F);
    LightMap& map = noisy.map;
    map.radiance_sh[1] = map.irradiance;
    const double before = rms(map, noisy.truth, 0, EXTENT.height);
    std::vector<float> error = noisy.error;
    denoise(map, error, two_charts());
    EXPECT_LT(rms(map, noisy.truth, 0, EXTENT.height), 0.3 * before);
    EXPECT_LT(rms(map, noisy.truth, 18, 20), 0.5 * before);  // in the shadow, along its edge
    double squares = 0.0;
    for (std::size_t i = 0; i < error.size(); ++i) {
        squares += std::pow(error[i] / grey(noisy.truth.irradiance[i]), 2.0);
    }
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(error.size())) /
                    rms(map, noisy.truth, 0, EXTENT.height),
                0.85, 0.25);
    EXPECT_TRUE(map.radiance_sh[1] == map.irradiance);  // by the same weights
    for (const std::uint32_t threads : {1U, 3U}) {
        Noisy again(0.1F);
        denoise(again.map, again.error, two_charts(), threads);
        EXPECT_TRUE(again.map.irradiance == map.irradiance && again.error == error);
    }
    Noisy exact(0.0F);
    denoise(exact.map, exact.error, two_charts());
    for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
        EXPECT_NEAR(exact.map.irradiance[i].x, exact.truth.irradiance[i].x, 1e-6F) << i;
    }
}

// Catches light that crosses from one chart to the next, over a fold, or from unknown texels.
TEST(Denoise, StaysWithinCharts) {
    const auto bytes_of_left = [](bool is_bent, auto&& change) {
        Noisy noisy(0.1F);
        for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
            const std::size_t x = i % EXTENT.width;
            const std::size_t y = i / EXTENT.width;
            change(noisy, i, x, y);
            // Texels on the fold face a bit of both ways.
            const bool is_on_fold = 5 * x + 3 * y <= 120 && 5 * (x + 1) + 3 * (y + 1) >= 120;
            noisy.map.known[i] = noisy.map.known[i] != 0 && !(is_bent && is_on_fold) ? 1 : 0;
        }
        denoise(noisy.map, noisy.error, two_charts(is_bent), 3);
        std::vector<float> left;
        for (std::size_t i = 0; i < EXTENT.texels(); ++i) {
            const std::size_t x = i % EXTENT.width;
            const std::size_t y = i / EXTENT.width;
            const bool is_first = x < 24 && 5 * x + 3 * y > 120;  // triangle
            if (is_first && noisy.map.known[i] != 0) {
                left.push_back(noisy.map.irradiance[i].y);
                left.push_back(noisy.error[i]);
            }
        }
        return left;
    };
    const auto none = [](auto&&...) {};
    const auto right = [](Noisy& noisy, std::size_t i, std::size_t x, std::size_t) {
        if (x >= 24) {
            noisy.map.irradiance[i] *= 1.1F;
            noisy.error[i] *= 5.0F;
        }
    };
    const auto above = [](Noisy& noisy, std::size_t i, std::size_t x, std::size_t y) {
        if (x < 24 && 5 * (x + 1) + 3 * (y + 1) < 120) {
            noisy.map.irradiance[i] *= 1.02F;
        }
    };
    EXPECT_TRUE(bytes_of_left(false, none) == bytes_of_left(false, right));
    EXPECT_FALSE(bytes_of_left(false, none) == bytes_of_left(false, above));
    EXPECT_TRUE(bytes_of_left(true, none) == bytes_of_left(true, above));
    const auto unknown = [](float light) {
        return [light](Noisy& noisy, std::size_t i, std::size_t x, std::size_t) {
            if (x == 5) {
                noisy.map.known[i] = 0;
                noisy.map.irradiance[i] = glm::vec3(light);
                noisy.error[i] = light;
            }
        };
    };
    EXPECT_TRUE(bytes_of_left(false, unknown(1.0F)) ==
                bytes_of_left(false, unknown(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace quadtile::baker::test
