// Draws a map and its tiles into a picture.

#pragma once

#include "colour_maps.hpp"
#include "gpu.hpp"
#include "map_statistics.hpp"
#include "map_tiles.hpp"
#include "settings.hpp"

#include <span>

namespace quadtile::viewer {

// Where the map lies on the picture.
struct View {
    float zoom = 1.0F;      // pixels per texel
    float origin_x = 0.0F;  // of the map's upper left corner, pixels
    float origin_y = 0.0F;

    friend bool operator==(const View&, const View&) = default;
};

// The largest view that shows all of the map within a rectangle of pixels, in its middle.
[[nodiscard]] View fit(const MapShape& shape, const vk::Rect2D& area);
// With the texel coordinates in the middle of the area.
[[nodiscard]] View centred(float texel_x, float texel_y, float zoom, const vk::Rect2D& area);

// The push constants of the shaders. A map that is drawn smaller than its texels shows the pyramid:
// each pixel the largest of the nodes it touches, at most three by three.
[[nodiscard]] Drawing make_drawing(const MapShape& shape, const DrawingSettings& settings,
                                   const Range& range, const View& view, vk::Extent2D target,
                                   float pixel_scale);

class Canvas {
 public:
    // Draws within render passes that are compatible with this one.
    Canvas(app::Gpu& gpu, vk::RenderPass render_pass);

    // The colours of its tables: writes them where they are others than the last time. Waits for
    // all frames that use them.
    void set_colours(ColourMap map_colours);

    // The map that is drawn: again after each change of it or its list. Waits for all frames that
    // use another one.
    void set_map(const MapTiles& map);

    // The marks of tiles that Drawing::mark_differences shows: a bit for each tile of the list.
    // Waits for all frames that use others.
    void set_marks(std::span<const std::uint32_t> marks);

    // Within a render pass: the map that was set, with the tiles where it has them. Uses the list's
    // header for an indirect draw. `pixel_scale` is what one pixel of a display of 96 dots per inch
    // has become.
    void draw(vk::CommandBuffer commands, const MapTiles& map, const Drawing& drawing,
              const vk::Rect2D& area);

 private:
    app::Gpu& gpu_;
    app::Buffer colours_;
    app::Buffer marks_;
    app::ProgramInterface interface_;
    vk::UniquePipeline map_pipeline_;
    vk::UniquePipeline tiles_pipeline_;
    std::optional<ColourMap> map_colours_;
    std::uint64_t bound_generation_ = 0;
};

}  // namespace quadtile::viewer
