// Draws a map and its tiles into a picture.

#pragma once

#include "colour_maps.hpp"
#include "gpu.hpp"
#include "map_statistics.hpp"
#include "map_tiles.hpp"
#include "settings.hpp"

#include "shaders/drawing.h"

namespace quadtile::viewer {

// Position of the map in the picture.
struct View {
    float zoom = 1.0F;      // pixels per texel
    float origin_x = 0.0F;  // the map's upper left corner, pixels
    float origin_y = 0.0F;
};

// Returns the view in this part of the picture.
[[nodiscard]] View view_in(const ViewSettings& settings, const MapShape& shape,
                           const vk::Rect2D& area);

// Returns the push constants of the shaders. If a texel is smaller than a pixel, each pixel shows
// the largest of the nodes that it touches, at most 3 x 3.
[[nodiscard]] Drawing make_drawing(const MapShape& shape, const DrawingSettings& settings,
                                   const app::Range& range, const View& view, vk::Extent2D target,
                                   float pixel_scale);

class Canvas {
 public:
    // The canvas draws within render passes that are compatible with `render_pass`.
    Canvas(app::Gpu& gpu, vk::RenderPass render_pass);

    // Sets the colours of the tables. If they differ from the last ones, waits for all frames that
    // use those.
    void set_colours(ColourMap map_colours);

    // Sets the map to draw. Call it after each change of the map or its list. Waits for all frames
    // that use another map.
    void set_map(const MapTiles& map);

    // Draws the map that was set, and its tiles if it has any. Call it within a render pass. An
    // indirect draw reads the list's header. `pixel_scale`: pixels of this display per pixel of a
    // display of 96 dots per inch.
    void draw(vk::CommandBuffer commands, const MapTiles& map, const Drawing& drawing,
              const vk::Rect2D& area);

 private:
    app::Gpu& gpu_;
    app::Buffer colours_;
    app::ProgramInterface interface_;
    vk::UniquePipeline map_pipeline_;
    vk::UniquePipeline tiles_pipeline_;
    std::optional<ColourMap> map_colours_;
    std::uint64_t bound_generation_ = 0;
};

}  // namespace quadtile::viewer
