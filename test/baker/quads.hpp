// Scenes that are ready to bake, and the bits of a bake.

#pragma once

#include "small_scenes.hpp"

#include "bake.hpp"
#include "light_map.hpp"
#include "reference_tracer.hpp"

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

    // Bakes only these triangles. All others keep an irradiance.
    void bake_only(const std::vector<std::uint8_t>& triangles, const glm::vec3& irradiance,
                   float pixels_per_texel) {
        keep_light(surface, triangles, std::vector(surface.texels.extent().texels(), irradiance));
        traced = make_traced_scene(scene, surface.texels, pixels_per_texel, triangles);
    }

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

inline BakeResult bake_by_reference(const Prepared& what, const BakeOptions& options,
                                    const BakeWatcher& watcher = {}) {
    return bake_with(*make_reference_tracer(what.traced, what.tiles, 2), what, options, watcher);
}

// A room with a window, a lamp, a block and a panel: 13 of 4 by `rows` cells.
inline Quads small_room(std::uint32_t rows = 4) {
    Quads room(4, rows, 6);
    room.add_material({.albedo = {0.7F, 0.6F, 0.5F}});
    const std::uint32_t red = room.add_material({.albedo = {0.6F, 0.1F, 0.1F}});
    const std::uint32_t lamp =
        room.add_material({.albedo = glm::vec3(0.0F), .emission = glm::vec3(4.0F)});
    const std::uint32_t panel =
        room.add_material({.albedo = {0.2F, 0.7F, 0.3F}, .double_sided = true});
    room.add({0, 0, 0}, 3.0F * Z, 3.0F * X);
    room.add({0, 2, 0}, 3.0F * X, 3.0F * Z);
    room.add({0, 0, 0}, 3.0F * X, 2.0F * Y);
    room.add({0, 0, 0}, 2.0F * Y, 3.0F * Z, red);
    room.add({3, 0, 0}, 3.0F * Z, 2.0F * Y);
    room.add({1, 1.75F, 1}, X, Z, lamp);
    room.add_block({0.5F, 0.125F, 1.5F}, {0.75F, 0.75F, 0.75F}, red);
    room.add({2, 0.25F, 1}, glm::vec3(0.25F, 0, 1.5F), glm::vec3(0.25F, 1.25F, 0), panel);
    return room;
}

}  // namespace quadtile::baker::test
