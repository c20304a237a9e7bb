#include "draw_scene.hpp"
#include "light_map.hpp"

#include "output_file.hpp"
#include "parallel.hpp"
#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quadtile::baker {

namespace {

constexpr std::uint32_t SAMPLES_PER_AXIS = 2;  // of a pixel
constexpr app::Rgb UNKNOWN_COLOUR = {40, 40, 40};
// Automatic exposure: so much of what is lit is darker than EXPOSED_AS.
constexpr double EXPOSED_PART = 0.96;
constexpr float EXPOSED_AS = 0.8F;

float luminance(const glm::vec3& colour) {
    return 0.2126F * colour.x + 0.7152F * colour.y + 0.0722F * colour.z;
}

// Radiance that is shown as 1 before the curve. Of luminances; not only finite ones are expected.
float automatic_exposure(std::vector<float> lit) {
    std::erase_if(lit, [](float value) { return !(value > 0.0F) || !std::isfinite(value); });
    if (lit.empty()) {
        return 1.0F;
    }
    const auto place = static_cast<std::size_t>(EXPOSED_PART * static_cast<double>(lit.size() - 1));
    const auto nth = lit.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(lit.begin(), nth, lit.end());
    return *nth / EXPOSED_AS;
}

// A film's curve (K. Narkowicz' fit of ACES): 0..1 of any radiance, 1 becomes 0.8.
glm::vec3 tone_mapped(const glm::vec3& radiance, float exposure) {
    glm::vec3 shown(0.0F);
    for (int c = 0; c < 3; ++c) {
        // Beyond the most, the curve is white all the same; what is not a number is black.
        const float x = radiance[c] > 0.0F ? std::min(radiance[c] / exposure, 1e3F) : 0.0F;
        shown[c] = std::min(x * (2.51F * x + 0.03F) / (x * (2.43F * x + 0.59F) + 0.14F), 1.0F);
    }
    return shown;
}

app::Rgb srgb(const glm::vec3& colour) {
    app::Rgb codes{};
    for (std::size_t c = 0; c < codes.size(); ++c) {
        const float value = colour[static_cast<int>(c)];
        const float curved =
            value <= 0.0031308F ? 12.92F * value : 1.055F * std::pow(value, 1.0F / 2.4F) - 0.055F;
        codes[c] = static_cast<std::uint8_t>(std::lround(255.0F * curved));
    }
    return codes;
}

void write_picture(app::OutputFile& file, const app::Picture& picture) {
    file.write(app::encode_png(picture));
    file.commit();
}

}  // namespace

void write_atlas_preview(const std::filesystem::path& path, const LightMap& map) {
    app::OutputFile file(path);  // first: what cannot be written is known at once
    std::vector<float> lit;
    for (std::size_t i = 0; i < map.irradiance.size(); ++i) {
        if (map.known[i] != 0) {
            lit.push_back(luminance(map.irradiance[i]));
        }
    }
    const float exposure = automatic_exposure(std::move(lit));
    app::Picture picture(map.extent.width, map.extent.height);
    parallel_for(picture.height, 0, [&](std::size_t y) {
        for (std::size_t i = y * picture.width; i < (y + 1) * picture.width; ++i) {
            picture.pixels[i] =
                map.known[i] != 0 ? srgb(tone_mapped(map.irradiance[i], exposure)) : UNKNOWN_COLOUR;
        }
    });
    write_picture(file, picture);
}

void write_scene_preview(const std::filesystem::path& path, const Scene& scene, const LightMap& map,
                         const PreviewOptions& options) {
    app::OutputFile file(path);
    const float aspect = static_cast<float>(options.width) / static_cast<float>(options.height);
    const Camera camera = options.camera ? *options.camera
                          : scene.camera ? *scene.camera
                                         : camera_that_sees(scene, aspect);
    const Extent samples{options.width * SAMPLES_PER_AXIS, options.height * SAMPLES_PER_AXIS};
    const DrawnScene drawn = draw_scene(scene, map, camera, samples, options.sky, options.threads);

    std::vector<float> lit;
    for (std::size_t i = 0; i < drawn.hit.size() && !options.exposure; ++i) {
        if (drawn.hit[i] != 0) {
            lit.push_back(luminance(drawn.radiance[i]));
        }
    }
    const float exposure =
        options.exposure ? *options.exposure : automatic_exposure(std::move(lit));
    app::Picture picture(options.width, options.height);
    parallel_for(options.height, options.threads, [&](std::size_t y) {
        for (std::size_t x = 0; x < options.width; ++x) {
            // After the curve: edges of bright surfaces are smooth, too.
            glm::vec3 sum(0.0F);
            for (std::size_t v = 0; v < SAMPLES_PER_AXIS; ++v) {
                for (std::size_t u = 0; u < SAMPLES_PER_AXIS; ++u) {
                    sum += tone_mapped(drawn.radiance[(y * SAMPLES_PER_AXIS + v) * samples.width +
                                                      x * SAMPLES_PER_AXIS + u],
                                       exposure);
                }
            }
            picture.pixels[y * options.width + x] =
                srgb(sum / static_cast<float>(SAMPLES_PER_AXIS * SAMPLES_PER_AXIS));
        }
    });
    write_picture(file, picture);
}

}  // namespace quadtile::baker
