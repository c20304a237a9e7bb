// What is shown: a scene with its lights and the first camera.

#pragma once

#include "options.hpp"
#include "renderer.hpp"

#include <string>
#include <vector>

namespace quadtile::shadow {

struct Show {
    std::string name;
    Geometry geometry;
    std::vector<Light> lights;
    Camera camera;
};

// Returns the options of the renderer: those of the library, with layers for all lights.
[[nodiscard]] ShadowOptions shadow_options(const Show& show);

[[nodiscard]] FrameSettings first_frame(const Options& options, const Show& show);

// Shows the scene in a window, until the user leaves. Returns the number of messages of the
// validation layer. Throws std::runtime_error if there is no window system or no device for it; the
// message names --screenshot.
[[nodiscard]] std::uint32_t run_window(const Options& options, const Show& show);

}  // namespace quadtile::shadow
