// Importance maps from image files: OpenEXR, PFM, and PNG of 8 or 16 bits.

#pragma once

#include "load_image.hpp"

#include <quadtile/map.hpp>

#include <filesystem>
#include <string>

namespace quadtile::app {

// A map and its texels. They are in the file's own format where quadtile has it: half and
// float channels, and the grey levels of a PNG; anything else becomes r32_float.
struct LoadedMap : LoadedImage {
    std::string channel;  // where the importance came from: a channel's name, or "luminance"
};

// Loads the map in a file; the file's first bytes say which format it has.
//
// `channel` names the channel to take. Empty: Y, else the luminance of R, G and B, else the first
// one. Grey PFM and PNG images have a channel Y, colour images R, G and B; alpha is ignored.
// Importance is data: no transfer function is removed, PNG values are taken as linear. An OpenEXR
// data window is moved to (0, 0); of several parts the first one that has the channel is read, of
// several resolutions the full one.
//
// Throws std::runtime_error with the file, what is wrong with it and what to do; std::bad_alloc.
[[nodiscard]] LoadedMap load_map(const std::filesystem::path& path,
                                 const std::string& channel = {});

}  // namespace quadtile::app
