// What is shown: a scene, its lights, a flight through it.

#pragma once

#include "options.hpp"

namespace quadtile::shadow {

struct Show {
    std::string name;
    Geometry geometry;
    Flight flight;
    std::vector<Light> lights;  // the sun first
    std::vector<std::string> warnings;
    std::vector<std::filesystem::path> files;  // that the scene's file names
};

// Prints the warnings. Throws std::runtime_error with the file and what is wrong with it,
// UsageError where a file of the scene is to be written.
[[nodiscard]] Show load_show(const Options& options);

// Where the camera begins.
[[nodiscard]] Camera first_camera(const Options& options, const Show& show);

}  // namespace quadtile::shadow
