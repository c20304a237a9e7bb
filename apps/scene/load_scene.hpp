// Scenes from files, or made here.

#pragma once

#include "scene.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::baker {

struct LoadedScene {
    Scene scene;
    // What is not as it should be and was handled, or is ignored: a sentence each, for the user.
    std::vector<std::string> warnings;
    // Those that the scene's file names: buffers, materials, pictures.
    std::vector<std::filesystem::path> files;
    std::string generator;  // glTF: the program that wrote the file, as it calls itself
};

// Of a file's name, in lower case: ".glb".
[[nodiscard]] std::string ending_of(const std::filesystem::path& path);

// By the file's name: .glb or .gltf.
[[nodiscard]] bool is_gltf(const std::filesystem::path& path);

// Those of the file; a scene that is to be unwrapped does without them, whatever they are. Or those
// that are there, also outside 0..1; where none are, they are not a number.
enum class LightMapCoordinates { read, ignore, where_given };

// glTF 2.0 (.glb, .gltf) or OBJ (.obj), by the file's name. Throws std::runtime_error with the
// file, the place in it and the remedy.
//
// glTF: the meshes of the default scene, node transforms applied, without skins and morph targets.
// Light map coordinates are TEXCOORD_1; either all meshes have them, or none. Directional lights
// become suns, whose irradiance is color * intensity; point and spot lights have that as their
// intensity. Of the extras, asset.extras.lightmap_size is read, [width, height], the
// extras.radius of point and spot lights, and extras.lightmap_density and extras.lightmap_exclude
// of nodes.
//
// OBJ: light map coordinates are `vt`, its only ones, which textures have, too; as OBJ has it, v
// goes up: (u, v) becomes (u, 1 - v). Kd is the albedo, Ke the emission.
//
// Triangles that no light map can hold are left out and counted in a warning: those with a vertex
// or light map coordinates that are not finite, and those without area, which block no light. So
// all that is left is finite, has an area and a normal: vertices without a usable one get that of
// the triangle's plane. Albedo is clamped to 0..1. What is refused: no triangles at all, light map
// coordinates outside 0..1, and triangles with an area that 32-bit floats cannot hold the square
// of.
[[nodiscard]] LoadedScene load_scene(const std::filesystem::path& path,
                                     LightMapCoordinates coordinates = LightMapCoordinates::read);

// A scene that exercises everything and looks good: for tools/demo.sh bake and the tests.
[[nodiscard]] Scene demo_scene();

// A city of about so many triangles, 2,000 at least, on both sides of a street grid, unwrapped so
// that a light map of `extent` is well filled. The same on every machine. Throws std::runtime_error
// where `extent` has no room for so many triangles.
[[nodiscard]] Scene city_scene(std::uint64_t triangles, const Extent& extent);

}  // namespace quadtile::baker
