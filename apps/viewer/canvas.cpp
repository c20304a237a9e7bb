#include "canvas.hpp"

#include "quadtile_viewer_gpu_shaders.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace quadtile::viewer {

namespace {

using ShaderStage = vk::ShaderStageFlagBits;

constexpr float LEAST_NORMAL = std::numeric_limits<float>::min();

void write_table(std::byte* colours, std::uint32_t table, const app::ColourTable& from) {
    std::array<std::uint32_t, COLOUR_TABLE_SIZE> words;
    std::ranges::transform(from, words.begin(), [](const app::Rgb& colour) {
        return colour[0] | std::uint32_t{colour[1]} << 8U | std::uint32_t{colour[2]} << 16U;
    });
    std::memcpy(colours + std::size_t{table} * sizeof(words), words.data(), sizeof(words));
}

}  // namespace

View view_in(const ViewSettings& settings, const MapShape& shape, const vk::Rect2D& area) {
    ViewSettings shown = settings;
    if (shown.zoom == 0.0F) {  // the largest zoom that shows the whole map
        const auto width = static_cast<float>(shape.width);
        const auto height = static_cast<float>(shape.height);
        shown.zoom = std::min(static_cast<float>(area.extent.width) / width,
                              static_cast<float>(area.extent.height) / height);
        shown.centre_x = width / 2.0F;
        shown.centre_y = height / 2.0F;
    }
    // Rounds to whole pixels, so that texels are pixels at 1:1.
    const auto origin = [&](std::int32_t offset, std::uint32_t extent, float centre) {
        return std::round(static_cast<float>(offset) + static_cast<float>(extent) / 2.0F -
                          centre * shown.zoom);
    };
    return {shown.zoom, origin(area.offset.x, area.extent.width, shown.centre_x),
            origin(area.offset.y, area.extent.height, shown.centre_y)};
}

Drawing make_drawing(const MapShape& shape, const DrawingSettings& settings,
                     const app::Range& range, const View& view, vk::Extent2D target,
                     float pixel_scale) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    // Nodes of this level take from one pixel to two.
    const auto smallest =
        static_cast<std::uint32_t>(std::max(0.0F, std::floor(-std::log2(view.zoom))));
    const std::uint32_t level = std::min(std::max(settings.level, smallest), top);
    const auto value = [&](float importance) {
        return settings.logarithmic ? std::log2(importance) : importance;
    };
    return {.target_width = static_cast<float>(target.width),
            .target_height = static_cast<float>(target.height),
            .origin_x = view.origin_x,
            .origin_y = view.origin_y,
            .zoom = view.zoom,
            .map_width = shape.width,
            .map_height = shape.height,
            .top_level = top,
            .level = level,
            .is_minified = std::ldexp(view.zoom, static_cast<int>(level)) < 1.0F ? 1U : 0U,
            .is_logarithmic = settings.logarithmic ? 1U : 0U,
            .range_low = value(range.low),
            // The logarithms may be equal.
            .range_scale = 1.0F / std::max(value(range.high) - value(range.low), LEAST_NORMAL),
            .fill = static_cast<std::uint32_t>(settings.fill),
            .fill_opacity = settings.fill_opacity,
            .outline_pixels = settings.outlines ? settings.outline_width * pixel_scale : 0.0F,
            .mark_clamped = settings.mark_clamped ? 1U : 0U};
}

static_assert(static_cast<std::uint32_t>(Fill::none) == FILL_NONE &&
              static_cast<std::uint32_t>(Fill::level) == FILL_LEVEL &&
              static_cast<std::uint32_t>(Fill::ratio) == FILL_RATIO &&
              static_cast<std::uint32_t>(Fill::order) == FILL_ORDER);
static_assert(app::COLOUR_MAP_SIZE == COLOUR_TABLE_SIZE);

// ---- Drawing

Canvas::Canvas(app::Gpu& gpu, vk::RenderPass render_pass)
    : gpu_(gpu),
      colours_(gpu.make_buffer(3 * COLOUR_TABLE_SIZE * sizeof(std::uint32_t),
                               vk::BufferUsageFlagBits::eStorageBuffer, app::MemoryUse::upload)),
      interface_(gpu.make_interface(
          ShaderStage::eVertex | ShaderStage::eFragment,
          {vk::DescriptorType::eSampledImage, vk::DescriptorType::eStorageBuffer,
           vk::DescriptorType::eStorageBuffer, vk::DescriptorType::eStorageBuffer},
          sizeof(Drawing))),
      map_pipeline_(
          gpu.make_draw_pipeline(*interface_.layout, render_pass, {app::MAP_VERT, app::MAP_FRAG})),
      tiles_pipeline_(gpu.make_draw_pipeline(*interface_.layout, render_pass,
                                             {app::TILES_VERT, app::TILES_FRAG})) {
    write_table(colours_.mapped, LEVEL_COLOURS, app::colour_table(ColourMap::turbo));
    write_table(colours_.mapped, RATIO_COLOURS, app::colour_table(ColourMap::viridis));
}

void Canvas::set_colours(ColourMap map_colours) {
    if (map_colours_ != map_colours) {
        gpu_.wait_idle();
        write_table(colours_.mapped, MAP_COLOURS, app::importance_colours(map_colours));
        map_colours_ = map_colours;
    }
}

void Canvas::set_map(const MapTiles& map) {
    if (bound_generation_ == map.generation()) {
        return;
    }
    gpu_.wait_idle();  // a frame may still use the descriptors
    interface_.write(0, map.map_view());
    interface_.write(1, std::array{map.pyramid(), map.tile_list(), *colours_.handle});
    bound_generation_ = map.generation();
}

void Canvas::draw(vk::CommandBuffer commands, const MapTiles& map, const Drawing& drawing,
                  const vk::Rect2D& area) {
    // The tiles cover the map. If they show nothing, one rectangle draws it.
    const bool shows_tiles =
        map.has_tiles() &&
        (drawing.outline_pixels > 0.0F || drawing.fill != FILL_NONE || drawing.mark_clamped != 0);
    interface_.bind(commands, shows_tiles ? *tiles_pipeline_ : *map_pipeline_, drawing);
    commands.setViewport(
        0, vk::Viewport{
               .width = drawing.target_width, .height = drawing.target_height, .maxDepth = 1.0F});
    commands.setScissor(0, area);
    if (shows_tiles) {
        commands.drawIndirect(map.tile_list(), offsetof(TileListHeader, draw_vertex_count), 1, 0);
    } else {
        commands.draw(4, 1, 0, 0);
    }
}

}  // namespace quadtile::viewer
