// The lit scene from a camera, by a rasteriser on the CPU.

#pragma once

#include "light_map.hpp"

namespace quadtile::baker {

// A camera above the scene that sees all of it, a picture's width being `aspect` heights.
[[nodiscard]] Camera camera_that_sees(const Scene& scene, float aspect);

struct DrawnScene {
    std::vector<glm::vec3> radiance;  // by sample, row by row
    std::vector<std::uint8_t> hit;    // 0: the sky
};

// One sample in the middle of each of width x height.
[[nodiscard]] DrawnScene draw_scene(const Scene& scene, const LightMap& map, const Camera& camera,
                                    const Extent& samples, const glm::vec3& sky,
                                    std::uint32_t threads);

}  // namespace quadtile::baker
