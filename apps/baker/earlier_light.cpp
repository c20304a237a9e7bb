#include "earlier_light.hpp"

#include "load_scene.hpp"
#include "parallel.hpp"
#include "platform.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace quadtile::baker {

namespace {

// An object with so many well covered texels, none of which is known, was not there when the
// lightmap was baked. Fewer may all be inside of other objects.
constexpr std::size_t MANY_TEXELS = 16;
constexpr float ENOUGH_COVERAGE = 0.5F;

[[noreturn]] void refuse(const Options& options, const std::string& what) {
    throw std::runtime_error("--reuse '" + app::text_of(options.reuse) + "' " + what);
}

std::string size_text(const Extent& extent) {
    return std::to_string(extent.width) + " x " + std::to_string(extent.height) + " texels";
}

// Checks that values are finite, and light not negative.
void check_values(const Options& options, const EarlierLight& light) {
    for (std::size_t i = 0; i < light.map.known.size(); ++i) {
        bool is_right = glm::all(glm::greaterThanEqual(light.map.irradiance[i], glm::vec3(0.0F)));
        const auto check = [&](const std::vector<glm::vec3>& plane) {
            const glm::vec3 none = plane.empty() ? glm::vec3(0.0F) : plane[i] - plane[i];
            is_right = is_right && none == glm::vec3(0.0F);  // not of infinities and NaN
        };
        check(light.map.irradiance);
        std::ranges::for_each(light.map.radiance_sh, check);
        if (!is_right) {
            const std::uint32_t width = light.map.extent.width;
            refuse(options, "has a value that is negative or not finite at texel (" +
                                std::to_string(i % width) + ", " + std::to_string(i / width) +
                                "); bake it again");
        }
    }
}

// Returns by triangle whether it belongs to an object of --only.
std::vector<std::uint8_t> triangles_of_only(const Options& options, const Scene& scene) {
    std::vector<std::uint8_t> is_of_only(scene.triangles.size());
    std::vector<std::string> unknown = options.only;
    for (std::size_t i = 0; i < is_of_only.size(); ++i) {
        const ScenePart& part = part_of(scene, i);
        const std::string& name = part.object.empty() ? part.name : part.object;
        if (std::ranges::count(options.only, name) > 0) {
            is_of_only[i] = 1;
            std::erase(unknown, name);
        }
    }
    if (!unknown.empty()) {
        std::vector<std::uint32_t> all(scene.triangles.size());
        std::iota(all.begin(), all.end(), 0U);
        throw std::runtime_error("--only '" + unknown.front() + "': the scene '" +
                                 app::text_of(options.scene) + "' has no such object; it has " +
                                 names_of(scene, all));
    }
    return is_of_only;
}

// Checks that light is where the surface is.
void check_coverage(const Options& options, const Scene& scene, const EarlierLight& earlier,
                    const SurfaceMap& surface) {
    struct Object {
        std::uint32_t triangle = 0;
        std::size_t texels = 0;
        std::size_t known = 0;
    };
    std::map<std::size_t, Object> objects;  // that keep their light, by instance
    std::size_t without_surface = 0;
    for (std::size_t i = 0; i < earlier.map.known.size(); ++i) {
        const std::uint32_t number = surface.texels[i];
        if (number == surface.texels.count()) {
            without_surface += earlier.map.known[i];
        } else if (surface.keeps(number) && surface.coverage[number] >= ENOUGH_COVERAGE) {
            const std::uint32_t triangle = surface.triangle[number];
            Object& object = objects[part_of(scene, triangle).instance];
            object = {triangle, object.texels + 1, object.known + earlier.map.known[i]};
        }
    }
    if (without_surface > 0) {
        refuse(options, "has light at " + app::counted(without_surface, "texel") +
                            " where the scene has no surface, so it is of other lightmap "
                            "coordinates; give the scene and options of that bake, or bake the "
                            "whole scene");
    }
    std::vector<std::uint32_t> unlit;
    for (const auto& [instance, object] : objects) {
        if (object.texels >= MANY_TEXELS && object.known == 0) {
            unlit.push_back(object.triangle);
        }
    }
    if (!unlit.empty()) {
        refuse(options, "has no light of " + names_of(scene, unlit) +
                            "; bake these objects, too, with --only, or bake the whole scene");
    }
}

}  // namespace

EarlierLight read_earlier_light(const Options& options) {
    EarlierLight light;
    if (options.reuse.empty()) {
        return light;
    }
    const LoadedImage image = load_image(options.reuse);
    const std::vector<std::string> channels = channels_of(options.reuse);
    const auto has = [&](const char* channel) {
        return std::ranges::find(channels, channel) != channels.end();
    };
    const std::string quantity = quantity_in(options.reuse);
    if (!has("R") || !has("A") || quantity.empty()) {
        refuse(options,
               "is no lightmap of quadtile-bake, which has the channels R, G, B and A and the "
               "attribute 'quantity'; give an .exr that it has written with --output");
    }
    const bool is_radiance = quantity == name_of(Quantity::radiance);
    if (!is_radiance && quantity != name_of(Quantity::irradiance)) {
        refuse(options, "holds " + quantity +
                            ", which is not the light of a scene; give a lightmap with irradiance "
                            "or radiance");
    }
    const std::string ending = ending_of(options.output);
    const bool writes_exr = !options.output.empty() && ending != ".glb" && ending != ".png";
    if (writes_exr && quantity != name_of(options.quantity)) {
        refuse(options, "holds " + quantity + ", but --output shall hold " +
                            name_of(options.quantity) + "; give --quantity " + quantity);
    }
    if (writes_exr && has("sh0.R") != options.bake.directional) {
        refuse(options, options.bake.directional
                            ? "has no layers sh0 to sh3; leave out --directional, or bake the "
                              "whole scene with it"
                            : "has the layers sh0 to sh3; give --directional, too");
    }
    light.unit = is_radiance ? std::numbers::pi_v<float> : 1.0F;
    light.map.extent = {image.shape.width, image.shape.height};
    for (const auto& [red, green, blue, alpha] : reference::decode_texels(image.view())) {
        light.map.irradiance.emplace_back(red, green, blue);
        light.map.known.push_back(alpha > 0.5F ? 1 : 0);
    }
    for (std::size_t i = 0; i < 12 && writes_exr && options.bake.directional; ++i) {
        const std::string channel = "sh" + std::to_string(i / 3) + "." + "RGB"[i % 3];
        std::vector<glm::vec3>& band = light.map.radiance_sh[i / 3];
        band.resize(light.map.known.size());
        const LoadedMap values = load_map(options.reuse, channel);
        std::ranges::transform(reference::decode(values.view()), band, band.begin(),
                               [&](float value, glm::vec3 texel) {
                                   texel[static_cast<int>(i % 3)] = value;
                                   return texel;
                               });
    }
    check_values(options, light);
    return light;
}

std::vector<std::uint8_t> reuse_light(const Options& options, const Scene& scene,
                                      const EarlierLight& earlier, SurfaceMap& surface,
                                      const std::function<void(const std::string&)>& warn) {
    if (options.reuse.empty()) {
        return {};
    }
    if (earlier.map.extent != surface.texels.extent()) {
        const bool excludes = std::ranges::any_of(scene.parts, &ScenePart::excluded);
        refuse(options,
               "has " + size_text(earlier.map.extent) + ", but the lightmap has " +
                   size_text(surface.texels.extent()) + "; " +
                   (excludes ? "leave out extras.lightmap_exclude, since no file has such light"
                             : "give the scene and options of that bake"));
    }
    std::vector<std::uint8_t> baked = triangles_of_only(options, scene);
    std::vector<glm::vec3> irradiance = earlier.map.irradiance;
    std::ranges::for_each(irradiance, [&](glm::vec3& value) { value *= earlier.unit; });
    keep_light(surface, baked, irradiance);
    check_coverage(options, scene, earlier, surface);
    if (!options.only.empty() && surface.keeps_all()) {
        throw std::runtime_error(
            "--only: these objects have no texels in the lightmap; give them a place in it, and "
            "bake the whole scene");
    }
    if (traces(options) && std::ranges::count(surface.double_sided, 1) > 0) {
        warn("backs of double-sided surfaces send the light of their fronts, since '" +
             app::text_of(options.reuse) + "' has none of backs");
    }
    return baked;
}

void complete(LightMap& map, const SurfaceMap& surface, std::uint32_t rings,
              EarlierLight& earlier) {
    if (surface.kept.empty()) {
        return;
    }
    const std::size_t texels = earlier.map.known.size();
    earlier.kept.assign(texels, 1);
    if (surface.keeps_all()) {
        map = earlier.map;
        return;
    }
    LightMap baked{.extent = map.extent, .irradiance = std::vector<glm::vec3>(texels)};
    const auto join = [&](std::size_t i) {
        const std::uint32_t number = surface.texels[i];
        if (number != surface.texels.count() && !surface.keeps(number)) {
            earlier.kept[i] = 0;
            baked.irradiance[i] = glm::vec3(1.0F);
        } else {
            map.known[i] = earlier.map.known[i];
        }
    };
    parallel_for(texels, 0, join, SHORT_CALLS);
    earlier.keep_in(map, earlier.unit);
    baked.known = map.known;
    dilate(baked, rings);
    const auto free_filled = [&](std::size_t i) {
        earlier.kept[i] = earlier.kept[i] != 0 && baked.irradiance[i].x == 0.0F ? 1 : 0;
    };
    parallel_for(texels, 0, free_filled, SHORT_CALLS);
}

}  // namespace quadtile::baker
