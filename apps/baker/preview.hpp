// Pictures of the lightmap and of the lit scene.

#pragma once

#include "directions.hpp"
#include "light_map.hpp"

#include "picture.hpp"

namespace quadtile::baker {

// Draws the lightmap, tone mapped like white surfaces; unknown texels are dark grey.
[[nodiscard]] app::Picture draw_atlas(const LightMap& map);

// Whether this build has draw_preview.
constexpr bool HAS_PREVIEW = QUADTILE_HAS_PREVIEW != 0;

struct PreviewOptions {
    std::uint32_t width = 1280;
    std::uint32_t height = 720;
    std::optional<Camera> camera;   // none: the scene's, else one that sees all
    std::optional<float> exposure;  // radiance that is shown almost white; none: automatic
    std::uint32_t threads = 0;      // 0: as many as processors
};

// Draws the lit scene: albedo * irradiance / pi + emission with bilinear filtering of
// the lightmap, tone mapped, with the sky behind. Only front faces are drawn, so rooms can be seen
// from outside; 2 x 2 samples per pixel.
[[nodiscard]] app::Picture draw_preview(const Scene& scene, const LightMap& map, const Sky& sky,
                                        const PreviewOptions& options);

}  // namespace quadtile::baker
