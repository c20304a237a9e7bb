// Scenes that are ready to bake, and the bits of a bake.

#pragma once

#include "small_scenes.hpp"

#include "bake.hpp"
#include "light_map.hpp"

#include <array>
#include <span>
#include <string>

namespace quadtile::baker::test {

inline LightMap uniform_light_map(const Extent& extent, const glm::vec3& irradiance) {
    LightMap map;
    map.extent = extent;
    map.irradiance.assign(extent.texels(), irradiance);
    map.known.assign(extent.texels(), 1);
    return map;
}

// Arguments of bake().
struct Prepared {
    Prepared(const Scene& of, const Extent& extent, float pixels_per_texel = 1.0F)
        : surface(make_surface_map(of, extent, 1)),
          traced(make_traced_scene(of, surface.texels, pixels_per_texel)),
          suns(of.suns),
          lights(of.point_lights),
          scene(of) {}

    [[nodiscard]] Lamps lamps(const BakeOptions& options) const {
        return find_lamps(scene, surface, options.lamp_points, MOST_DIRECTIONS);
    }

    SurfaceMap surface;
    TracedScene traced;
    std::vector<Sun> suns;
    std::vector<PointLight> lights;
    Scene scene;
    Sky sky;
    // So that also small scenes have many tiles of many sizes.
    TileOptions tiles{.map_extent = 32, .max_resolution = 16.0F, .max_nodes = 2048.0F};
};

inline BakeResult bake_with(std::span<Tracer* const> tracers, const Prepared& what,
                            const BakeOptions& options, const BakeWatcher& watcher = {}) {
    return bake(what.traced, what.surface, what.suns, what.lights, what.lamps(options), what.sky,
                what.tiles, options, tracers, watcher);
}

inline BakeResult bake_with(Tracer& tracer, const Prepared& what, const BakeOptions& options,
                            const BakeWatcher& watcher = {}) {
    return bake_with(std::array{&tracer}, what, options, watcher);
}

inline std::string bytes_of(const BakeResult& result) {
    std::string bytes;
    const auto add = [&](const auto& values) {
        bytes.append(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(values[0]));
    };
    add(result.map.irradiance);
    add(result.map.known);
    add(result.error);
    add(result.probes);
    for (const auto& band : result.map.radiance_sh) {
        add(band);
    }
    const double noise = result.noise.value_or(-1.0);
    bytes.append(reinterpret_cast<const char*>(&noise), sizeof(noise));
    return bytes + std::to_string(result.inside_texels);
}

}  // namespace quadtile::baker::test
