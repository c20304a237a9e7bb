// Materials of glTF files.

#pragma once

#include "parse_gltf.hpp"

namespace quadtile::baker {

// Reads the materials of a file, with their textures, into the scene, in their order. Warns of what
// changes light and is not read. Throws std::runtime_error.
void read_materials(const GltfFile& gltf, FileScene& file);

// Returns the only set of texture coordinates of a material. Sets `has_another` if its emission
// texture has another one.
[[nodiscard]] int texture_set(const Json& material, bool& has_another);

}  // namespace quadtile::baker
