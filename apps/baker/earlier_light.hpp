// The light of an earlier bake of a scene, for bakes of a part of it. Without --reuse there is
// none, and these functions do nothing.

#pragma once

#include "light_map.hpp"
#include "options.hpp"
#include "scene.hpp"
#include "surface_map.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quadtile::baker {

// Reads --reuse. Throws std::runtime_error if it is no lightmap of this program, has values that
// are no light, or holds something else than --output shall.
[[nodiscard]] EarlierLight read_earlier_light(const Options& options);

// Gives the surface the light of all texels but those of --only. Returns by triangle whether it
// belongs to --only; empty without --reuse. Throws std::runtime_error if --only names no object or
// one without texels, if the light is that of other lightmap coordinates, and if it is missing.
[[nodiscard]] std::vector<std::uint8_t> reuse_light(
    const Options& options, const Scene& scene, const EarlierLight& earlier, SurfaceMap& surface,
    const std::function<void(const std::string&)>& warn);

// Completes a lightmap, not yet dilated, by the earlier light of the texels that the surface keeps.
// Sets EarlierLight::kept: also texels without a chart or a ray are kept, unless `rings` of
// dilate() fill them with the light of baked texels.
void complete(LightMap& map, const SurfaceMap& surface, std::uint32_t rings, EarlierLight& earlier);

}  // namespace quadtile::baker
