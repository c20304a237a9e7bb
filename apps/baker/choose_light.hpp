// Choice of the light among a scene's lights and those of the options.

#pragma once

#include "directions.hpp"
#include "options.hpp"
#include "scene.hpp"

#include <functional>
#include <string>

namespace quadtile::baker {

// Removes the lights that --lights leaves out from the scene, converts its lights to the unit of
// emission, and returns the sky. `generator` is that of LoadedScene. Throws std::runtime_error if
// there is no light, and for light that is too bright to be summed or too far away.
[[nodiscard]] Sky choose_light(const Options& options, const std::string& generator, Scene& scene,
                               const std::function<void(const std::string&)>& warn);

}  // namespace quadtile::baker
