// Scenes from files.

#pragma once

#include "lit_gltf.hpp"
#include "scene.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace quadtile::baker {

struct LoadedScene {
    Scene scene;
    // Faults that were corrected or ignored, a sentence each, for the user.
    std::vector<std::string> warnings;
    // Files that the scene's file names: buffers, materials, pictures.
    std::vector<std::filesystem::path> files;
    std::string generator;          // glTF: the program that wrote the file, as it calls itself
    std::unique_ptr<LitGltf> gltf;  // the file itself, if it is to be written with its lightmap
};

// Returns the ending of a file's name, in lower case: ".glb".
[[nodiscard]] std::string ending_of(const std::filesystem::path& path);

// Returns whether the file's name ends in .glb or .gltf.
[[nodiscard]] bool is_gltf(const std::filesystem::path& path);

// Treatment of lightmap coordinates: `read` requires those of the file; `ignore` is for scenes
// that will be unwrapped; `where_given` takes existing ones, also outside 0..1, and NaN for missing
// ones.
enum class LightMapCoordinates { read, ignore, where_given };

// Loads glTF 2.0 (.glb, .gltf) or OBJ (.obj), by the file's name. Throws std::runtime_error with
// the file, the place in it and the remedy.
//
// glTF: the meshes of the default scene with node transforms applied, without skins and morph
// targets. Lightmap coordinates are TEXCOORD_1; all meshes have them, or none. Directional lights
// become suns, whose irradiance is color * intensity, which is also the intensity of point and spot
// lights. Of the extras these are read: asset.extras.lightmap_size, [width, height]; extras.radius
// of point and spot lights; extras.lightmap_density and extras.lightmap_exclude of nodes.
//
// OBJ: lightmap coordinates are `vt`, its only ones, which textures use too. v goes up in OBJ: (u,
// v) becomes (u, 1 - v). Kd is the albedo, Ke the emission.
//
// Triangles that no lightmap can hold are left out and counted in a warning: those with a vertex
// or lightmap coordinates that are not finite, and those without area, which block no light. So
// every remaining triangle is finite and has an area and a normal: vertices without a usable normal
// get that of the triangle's plane. Albedo is clamped to 0..1. Refused are files without triangles,
// lightmap coordinates outside 0..1, and triangles whose squared area exceeds 32-bit floats.
//
// `keeps_file`: LoadedScene::gltf is requested; false for OBJ.
[[nodiscard]] LoadedScene load_scene(const std::filesystem::path& path,
                                     LightMapCoordinates coordinates = LightMapCoordinates::read,
                                     bool keeps_file = false);

}  // namespace quadtile::baker
