// Denoising of lightmaps by the measured noise.

#pragma once

#include "light_map.hpp"
#include "surface_map.hpp"

#include <vector>

namespace quadtile::baker {

// Returns a number per triangle, equal for triangles that are connected by points which are equal
// in the scene and in the lightmap.
[[nodiscard]] std::vector<std::uint32_t> charts_of(const Scene& scene);

// Replaces known texels by weighted means of texels of the same chart (charts_of) that face the
// same way and whose light, with that of their neighbours, differs by no more than noise explains.
// `error` is the error of each texel's light, grey, estimated from two halves of the directions; it
// becomes the remaining error. Spherical harmonics get the weights of the irradiance. Call it
// before dilate. The result does not depend on the number of threads (0: see set_threads). Returns
// the share of the error that is left, as the root of its mean square.
double denoise(LightMap& map, std::vector<float>& error, const SurfaceMap& surface,
               const std::vector<std::uint32_t>& charts, std::uint32_t threads = 0);

}  // namespace quadtile::baker
