// Which of a scene's lights, and of those of the options, shine.

#pragma once

#include "directions.hpp"
#include "options.hpp"
#include "scene.hpp"

#include <functional>
#include <string>

namespace quadtile::baker {

// Takes out of the scene what --lights leaves out, converts its lights to the unit of emission, and
// returns the sky. `generator` is LoadedScene's. Throws std::runtime_error where nothing shines,
// and for light that is too bright to be summed or too far away.
[[nodiscard]] Sky choose_light(const Options& options, const std::string& generator, Scene& scene,
                               const std::function<void(const std::string&)>& warn);

}  // namespace quadtile::baker
