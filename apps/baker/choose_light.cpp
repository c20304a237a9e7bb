#include "choose_light.hpp"

#include "platform.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace quadtile::baker {

namespace {

constexpr float FARTHEST_LIGHT = 10000.0F;  // times the scene's size; floats have room for 1e6

bool shines(const glm::vec3& colour) {
    return greatest_of(colour) > 0.0F;
}

class LightChoice {
 public:
    LightChoice(const Options& options, const std::string& generator, Scene& scene,
                const std::function<void(const std::string&)>& warn)
        : options_(options), generator_(generator), scene_(scene), warn_(warn) {}

    [[nodiscard]] Sky choose() {
        const LightKinds& lights = options_.lights;
        const bool has_units = options_.quantity != Quantity::shadow_mask;
        if (has_units) {
            convert_lights();
        }
        keep_lights();
        if (has_units) {
            compare_lights_with_emission();
        }
        if (options_.sun && lights.suns) {
            scene_.suns = {*options_.sun};
        }
        if (!has_units) {
            make_channels();
        }
        for (PointLight& light : scene_.point_lights) {
            light.radius = light.radius > 0.0F ? light.radius : options_.light_radius;
        }
        if (lights.sky && !options_.sky_picture.empty()) {
            const LoadedImage image = load_image(options_.sky_picture);
            sky_.extent = {image.shape.width, image.shape.height};
            sky_.turn_degrees = options_.sky_turn_degrees;
            for (const reference::Texel& texel : reference::decode_texels(image.view())) {
                const glm::vec3 radiance(texel[0], texel[1], texel[2]);
                for (int i = 0; i < 3; ++i) {
                    if (!std::isfinite(radiance[i]) || radiance[i] < 0.0F) {
                        throw std::runtime_error(
                            "sky '" + app::text_of(options_.sky_picture) +
                            "' has pixels that are negative or not finite; correct them");
                    }
                }
                sky_.texels.push_back(radiance);
            }
        }
        // A picture alone is taken unchanged.
        sky_.distance = options_.occlusion_distance.value_or(sky_.distance);
        sky_.radiance = options_.sky.value_or(glm::vec3(sky_.texels.empty() ? 0.0F : 1.0F)) *
                        (lights.sky ? 1.0F : 0.0F);
        const bool is_lit =
            (shines(sky_.radiance) &&
             (sky_.texels.empty() || std::ranges::any_of(sky_.texels, shines))) ||
            std::ranges::any_of(scene_.suns,
                                [&](const Sun& sun) { return shines(sun.irradiance); }) ||
            std::ranges::any_of(scene_.point_lights,
                                [&](const PointLight& light) { return shines(light.intensity); }) ||
            std::ranges::any_of(scene_.triangles, [&](const Triangle& triangle) {
                return shines(scene_.materials[triangle.material].emission);
            });
        if (!is_lit && traces(options_)) {
            throw std::runtime_error(
                "the scene '" + app::text_of(options_.scene) +
                "' has no light: no surface emits light, no light is on (Blender does not export "
                "area lights), and sky and sun are black; give light by --sky, --sky-image or "
                "--sun-direction" +
                (lights.sky && lights.suns && lights.points && lights.emission
                     ? ""
                     : ", or name more lights in --lights"));
        }
        check_light();
        return std::move(sky_);
    }

 private:
    // Converts lights: by default, Blender's exporter writes watts times 683 for lights, not for
    // emission.
    void convert_lights() {
        const bool divides = options_.light_units == LightUnits::blender ||
                             (options_.light_units == LightUnits::automatic && is_in_lumens());
        if ((scene_.suns.empty() && scene_.point_lights.empty()) || !divides) {
            return;
        }
        constexpr float LUMENS_PER_WATT = 683.0F;
        for (Sun& sun : scene_.suns) {
            sun.irradiance /= LUMENS_PER_WATT;
        }
        for (PointLight& light : scene_.point_lights) {
            light.intensity /= LUMENS_PER_WATT;
        }
    }

    // Returns whether Blender exported the lights as 'Standard', not as 'Unitless' or 'Raw'. The
    // brightest sun tells, or else the brightest other light.
    [[nodiscard]] bool is_in_lumens() const {
        // Standard suns are hundreds and more, unitless ones 0.1 to 20. Other lights have powers of
        // 10 W and more: 543 in candela, where 1000 W without unit are 80.
        struct Limits {
            float between;  // where the light may be of either
            float standard;
            float end;
        };
        constexpr Limits OF_SUNS{20.0F, 60.0F, 200.0F};
        constexpr Limits OF_POINTS{40.0F, 200.0F, 1000.0F};
        if (generator_.find("Blender") == std::string::npos) {
            return false;
        }
        const float sun = brightest(scene_.suns, &Sun::irradiance);
        const float light =
            sun > 0.0F ? sun : brightest(scene_.point_lights, &PointLight::intensity);
        const auto [between, standard, end] = sun > 0.0F ? OF_SUNS : OF_POINTS;
        const bool is_standard = light >= standard;
        const bool is_sure = light < between || light >= end;
        if (is_standard || !is_sure) {
            warn_("the scene is from Blender, and its brightest " +
                  std::string(sun > 0.0F ? "sun" : "light") + " is " + app::text_of(light) +
                  (is_standard ? ": lights count as exported in lux and candela ('Standard'), and "
                                 "are divided by 683 to be in the unit of emission"
                               : ": lights count as exported 'Unitless', and stay as they are") +
                  (is_sure ? "" : ". This is not sure") + "; --light-units " +
                  (is_standard ? "photometric" : "blender") + " does otherwise");
        }
        return is_standard;
    }

    template <typename Light>
    static float brightest(const std::vector<Light>& lights, glm::vec3 Light::*colour) {
        float most = 0.0F;
        for (const Light& light : lights) {
            most = std::max(most, greatest_of(light.*colour));
        }
        return most;
    }

    // Assigns red, green and blue of a shadow mask to a light each: suns first, then point and spot
    // lights.
    void make_channels() {
        const std::size_t lights = scene_.suns.size() + scene_.point_lights.size();
        if (lights == 0 || lights > 3) {
            throw std::runtime_error(
                "a shadow mask has room for one to three lights, not " + std::to_string(lights) +
                "; name some by --lights in several runs, or give a sun by --sun-direction");
        }
        int channel = 0;
        const auto assign = [&](glm::vec3& colour) {
            colour = glm::vec3(0.0F);
            colour[channel++] = 1.0F;
        };
        for (Sun& sun : scene_.suns) {
            assign(sun.irradiance);
        }
        for (PointLight& light : scene_.point_lights) {
            assign(light.intensity);
        }
    }

    // Compares lights with emission: those in other units differ by orders of magnitude.
    void compare_lights_with_emission() {
        constexpr float UNLIKELY = 300.0F;
        const float light = std::max(brightest(scene_.suns, &Sun::irradiance),
                                     brightest(scene_.point_lights, &PointLight::intensity));
        const float emission =
            brightest(scene_.materials, &Material::emission) * std::numbers::pi_v<float>;
        if (light > 0.0F && emission > 0.0F &&
            (light > UNLIKELY * emission || emission > UNLIKELY * light)) {
            warn_("the brightest light gives " + app::text_of(light) +
                  " (at a distance of 1), the brightest emission sends out " +
                  app::text_of(emission) + ": they may be in different units; see --light-units");
        }
    }

    // Removes the light that --lights leaves out, except the sky, and the suns that --sun-direction
    // replaces.
    void keep_lights() {
        const LightKinds& kinds = options_.lights;
        std::vector<std::string> unknown = kinds.names;
        const auto is_named = [&](const auto& thing) {
            std::erase(unknown, thing.name);
            return std::ranges::count(kinds.names, thing.name) > 0;
        };
        std::erase_if(scene_.suns, [&](const Sun& sun) {
            return options_.sun || (!is_named(sun) && !kinds.suns);
        });
        std::erase_if(scene_.point_lights,
                      [&](const PointLight& light) { return !is_named(light) && !kinds.points; });
        for (Material& material : scene_.materials) {
            if (!(shines(material.emission) && is_named(material)) && !kinds.emission) {
                material.emission = glm::vec3(0.0F);
            }
        }
        if (!unknown.empty()) {
            throw std::runtime_error("--lights: '" + unknown.front() +
                                     "' is neither sky, suns, points or emission nor the name of a "
                                     "light or of a material that emits light");
        }
    }

    // Options are in range; files, and a sky's product of both, may not be.
    void check_light() const {
        const auto check = [](const std::string& light, const glm::vec3& colour) {
            for (int i = 0; i < 3; ++i) {
                if (!(std::abs(colour[i]) <= BRIGHTEST)) {
                    throw std::runtime_error(
                        light + " is brighter than " + app::text_of(BRIGHTEST) +
                        ", which cannot be summed; use a larger unit of light");
                }
            }
        };
        for (const Material& material : scene_.materials) {
            check("material '" + material.name + "'", material.emission);
        }
        for (const Sun& sun : scene_.suns) {
            check("a sun", sun.irradiance);
        }
        const Box<glm::dvec3> box = box_around(scene_.positions);
        for (const PointLight& light : scene_.point_lights) {
            check("a point or spot light", light.intensity);
            const glm::dvec3 from_middle = glm::dvec3(light.position) - 0.5 * (box.low + box.high);
            if (!(glm::length(from_middle) <= FARTHEST_LIGHT * glm::length(box.size()))) {
                throw std::runtime_error("a point or spot light is farther away than " +
                                         app::text_of(FARTHEST_LIGHT) +
                                         " times the scene's size; make it a directional light");
            }
        }
        check("the sky", sky_.radiance);
        for (const glm::vec3& texel : sky_.texels) {
            check("the sky's picture", sky_.radiance * texel);
        }
    }

    const Options& options_;
    const std::string& generator_;
    Scene& scene_;
    const std::function<void(const std::string&)>& warn_;
    Sky sky_;
};

}  // namespace

Sky choose_light(const Options& options, const std::string& generator, Scene& scene,
                 const std::function<void(const std::string&)>& warn) {
    return LightChoice(options, generator, scene, warn).choose();
}

}  // namespace quadtile::baker
