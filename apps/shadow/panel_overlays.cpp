// Overlays of the picture, and the picked tile.

#include "panels.hpp"

#include <algorithm>
#include <cmath>

namespace quadtile::shadow {

namespace {

constexpr float OVERLAY_MARGIN = 12.0F;
constexpr ImU32 INSET_COLOUR = IM_COL32(220, 225, 235, 255);
constexpr ImU32 PICKED_COLOUR = IM_COL32(255, 230, 60, 255);
constexpr float GRIP = 8.0F;  // half width of the wipe's grip

// Returns the side of a window's pixel in Dear ImGui's unit.
float unit() {
    return 1.0F / std::max(1.0F, ImGui::GetIO().DisplayFramebufferScale.x);
}

ImVec2 low_corner(const vk::Rect2D& area) {
    return {unit() * static_cast<float>(area.offset.x), unit() * static_cast<float>(area.offset.y)};
}

ImVec2 high_corner(const vk::Rect2D& area) {
    return {unit() * (static_cast<float>(area.offset.x) + static_cast<float>(area.extent.width)),
            unit() * (static_cast<float>(area.offset.y) + static_cast<float>(area.extent.height))};
}

bool contains(const vk::Rect2D& area, const ImVec2& point) {
    const ImVec2 low = low_corner(area);
    const ImVec2 high = high_corner(area);
    return point.x >= low.x && point.y >= low.y && point.x < high.x && point.y < high.y;
}

// Part of the map that the light view shows: its first place and its extent, as in Compositor.
struct ShownMap {
    glm::vec2 low;
    float extent;
};

ShownMap shown_map(const Insets& insets) {
    const float extent = 1.0F / insets.zoom;
    return {glm::clamp(insets.centre - 0.5F * extent, 0.0F, 1.0F - extent), extent};
}

bool is_same(const Camera& a, const Camera& b) {
    return a.position == b.position && a.yaw_degrees == b.yaw_degrees &&
           a.pitch_degrees == b.pitch_degrees;
}

}  // namespace

// ---- Picking

std::optional<glm::vec2> Panels::pixel_of_picked(const Session& session) const {
    return controls_.picked_point
               ? session.pixel_of(controls_.settings.camera, *controls_.picked_point)
               : std::nullopt;
}

// Finds the tile that the picked place is in, for the next frame to mark.
void Panels::follow_picked(const Session& session) {
    if (controls_.picked_point) {
        controls_.picked_place =
            session.place_on_map(controls_.settings, controls_.light, *controls_.picked_point);
    }
    controls_.settings.marked_tile.reset();
    picked_text_.clear();
    if (!controls_.picked_place || !statistics_.header) {
        return;
    }
    const ShadowOptions& options = session.shadows();
    const ShadowTile* const tile =
        tile_at(session.tiles(), controls_.light, *controls_.picked_place, options.map_extent);
    if (tile != nullptr) {
        controls_.settings.marked_tile = name_of(*tile);
        picked_text_ = "light " + std::to_string(tile->node >> 16U) + ", level " +
                       std::to_string(tile->node & 0xffU) + ", slot " +
                       std::to_string(tile->slot & 0xffffU) + " " +
                       std::to_string(tile->slot >> 16U);
    }
}

void Panels::pick_in_light_view(const glm::vec2& place) {
    controls_.picked_point.reset();
    controls_.picked_place = place;
}

void Panels::follow_mouse(const Session& session) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool is_wiped = controls_.other && controls_.display != Display::sides;
    const float wide = unit() * static_cast<float>(picture_.width);
    if (!io.MouseDown[0]) {
        drags_wipe_ = false;
    }
    if (drags_wipe_) {
        controls_.wipe = std::clamp(io.MousePos.x / wide, 0.0F, 1.0F);
        return;
    }
    const bool is_on_picture = io.MousePos.x >= 0.0F && io.MousePos.y >= 0.0F &&
                               io.MousePos.x < wide && io.MousePos.y < io.DisplaySize.y;
    if (!io.MouseClicked[0] || io.WantCaptureMouse || !is_on_picture) {
        return;
    }
    if (is_wiped && std::abs(io.MousePos.x - controls_.wipe * wide) <= GRIP * scale_) {
        drags_wipe_ = true;
        return;
    }
    if (insets_.light_view && contains(*insets_.light_view, io.MousePos)) {
        const ImVec2 low = low_corner(*insets_.light_view);
        const ImVec2 high = high_corner(*insets_.light_view);
        const ShownMap shown = shown_map(insets_);
        pick_in_light_view(shown.low +
                           shown.extent * glm::vec2((io.MousePos.x - low.x) / (high.x - low.x),
                                                    (io.MousePos.y - low.y) / (high.y - low.y)));
        return;
    }
    const vk::Extent2D extent = session.picture_extent();
    const glm::uvec2 pixel(static_cast<std::uint32_t>(io.MousePos.x / unit()) % extent.width,
                           static_cast<std::uint32_t>(io.MousePos.y / unit()));
    const auto point = session.point_at(controls_.settings.camera, pixel);
    if (point) {
        controls_.picked_point = point;
    } else {
        unpick();
    }
}

void Panels::find_next_error(const Session& session) {
    if (!controls_.wants_next_error) {
        return;
    }
    if (controls_.display != Display::error && controls_.display != Display::sides) {
        controls_.display = Display::error;
    }
    if (!statistics_.difference) {
        return;  // after the next frame
    }
    if (!is_same(search_.camera, controls_.settings.camera) ||
        search_.technique != controls_.settings.technique) {
        search_ = {.camera = controls_.settings.camera,
                   .technique = controls_.settings.technique,
                   .next = 0,
                   .steps = search_.steps};
    }
    const std::vector<ErrorPlace> places = session.error_places();
    if (search_.next < places.size()) {
        const ErrorPlace& place = places[search_.next++];
        search_.steps = 0;
        controls_.picked_point = session.point_at(controls_.settings.camera, {place.x, place.y});
        controls_.shows_magnifier = true;
        controls_.wants_next_error = false;
        return;
    }
    constexpr float STEP_SECONDS = 0.5F;
    const float seconds = show_.flight.seconds();
    if (static_cast<float>(search_.steps++) * STEP_SECONDS > seconds) {
        search_.steps = 0;
        controls_.wants_next_error = false;
        controls_.problem = "there are no errors in this view, and none along the flight";
        return;
    }
    controls_.flight_second += STEP_SECONDS;
    if (controls_.flight_second > seconds) {
        controls_.flight_second = 0.0F;
    }
    controls_.follows_flight = false;
    controls_.settings.camera = show_.flight.at(controls_.flight_second);
}

// ---- Drawing

void Panels::draw_overlays(const Session& session, float top) {
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    const float margin = OVERLAY_MARGIN * scale_;
    const float wide = unit() * static_cast<float>(picture_.width);
    const bool is_wiped = controls_.other && controls_.display != Display::sides;
    if (is_wiped) {
        draw_wipe(list, std::round(controls_.wipe * wide), ImGui::GetIO().DisplaySize.y,
                  app::name_in(TECHNIQUES, controls_.settings.technique).data(),
                  app::name_in(TECHNIQUES, *controls_.other).data(), scale_);
    }
    if (wide < 300.0F * scale_) {
        return;
    }
    const bool shows_errors = statistics_.difference.has_value();
    const bool shows_tiles = controls_.display == Display::tiles && statistics_.header;
    if (shows_errors) {
        draw_legend(list, {margin, margin + top}, error_legend(), scale_);
    } else if (shows_tiles && !(insets_.light_view && !controls_.shows_changes)) {
        draw_legend(list, {margin, margin + top}, level_legend(session.tiles()), scale_);
    }
    if (insets_.light_view) {
        const ImVec2 low = low_corner(*insets_.light_view);
        const ImVec2 high = high_corner(*insets_.light_view);
        draw_frame(list, low, high, INSET_COLOUR);
        Legend legend = controls_.shows_changes ? change_legend(session.tiles())
                                                : level_legend(session.tiles());
        draw_legend(list, {low.x, low.y - legend_extent(legend, scale_).y - 4.0F * scale_}, legend,
                    scale_);
        if (controls_.settings.marked_tile) {
            const TileName tile = *controls_.settings.marked_tile;
            const ShownMap shown = shown_map(insets_);
            const float texels = static_cast<float>(1U << (tile.node & 0xffU)) /
                                 static_cast<float>(session.shadows().map_extent);
            const glm::vec2 corner =
                texels * glm::vec2(tile.position & 0xffffU, tile.position >> 16U);
            const auto place = [&](const glm::vec2& on_map) {
                const glm::vec2 share = glm::clamp((on_map - shown.low) / shown.extent, 0.0F, 1.0F);
                return ImVec2(low.x + share.x * (high.x - low.x),
                              low.y + share.y * (high.y - low.y));
            };
            draw_frame(list, place(corner), place(corner + texels), PICKED_COLOUR);
        }
    }
    if (insets_.atlas) {
        draw_frame(list, low_corner(*insets_.atlas), high_corner(*insets_.atlas), INSET_COLOUR);
    }
    draw_picked(session, wide - margin, margin + top);
}

void Panels::draw_picked(const Session& session, float right, float top) {
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    const std::optional<glm::vec2> pixel = pixel_of_picked(session);
    if (pixel) {
        draw_ring(list, {unit() * (pixel->x + 0.5F), unit() * (pixel->y + 0.5F)}, 14.0F * scale_);
    }
    if (insets_.magnifier) {
        draw_frame(list, low_corner(insets_.magnifier->area), high_corner(insets_.magnifier->area),
                   PICKED_COLOUR);
    }
    if (!controls_.picked_place || !statistics_.header) {
        return;
    }
    const std::span<const ShadowTile> tiles = session.tiles();
    const ShadowTile* const tile =
        tile_at(tiles, controls_.light, *controls_.picked_place, session.shadows().map_extent);
    const Legend legend = picked_legend(
        tile, tile == nullptr ? std::nullopt : session.tile_ages().age_of(name_of(*tile)),
        shadow_parameters(session.shadows()), light_of_layer(controls_.settings.lights, controls_.light));
    draw_legend(list, {right - legend_extent(legend, scale_).x, top}, legend, scale_);
}

}  // namespace quadtile::shadow
