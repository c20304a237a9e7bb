// Takes noise out of light maps, by the noise that was measured.

#pragma once

#include "light_map.hpp"

#include <vector>

namespace quadtile::baker {

// Gives known texels weighted means of texels of the same chart that face the same way and whose
// light, with that of their neighbours, differs by no more than noise explains. `error` is that of
// each texel's light, grey, as far as two halves of the directions tell it; it becomes what is left
// of it. Spherical harmonics get the weights of the irradiance. Call it before dilate. The result
// does not depend on the number of threads (0: as many as there are processors).
void denoise(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
             const Scene& scene, std::uint32_t threads = 0);

}  // namespace quadtile::baker
