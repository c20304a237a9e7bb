// The panel without a window. Catches statistics that begin or end below the edge of a small one.

#include "panels.hpp"

#include "ui.hpp"

#include <gmock/gmock.h>
#include <imgui.h>

namespace quadtile::shadow {
namespace {

TEST(ShadowPanel, HasAllStatisticsIn720Pixels) {
    Show show;
    show.name = "scene";
    show.flight.poses.resize(2);
    show.lights.resize(2);
    show.lights[1].kind = Light::Kind::spot;
    show.geometry.bounds = {{0.0F, 0.0F, 0.0F}, {1.0F, 1.0F, 1.0F}};
    Options options;
    options.other = Technique::rays;
    options.filter = Filter::soft;
    options.display = Display::error;
    Controls controls(options, show);
    Panels panels(controls, show, "device");
    const MaskDifference difference{.surface_pixels = 10, .wrong = 1};
    panels.add_frame({.header = ShadowHeader{},
                      .atlas_cells = 1,
                      .difference = difference,
                      .other_difference = difference},
                     16.0F);
    const app::Ui ui;
    ImGui::GetIO().DisplaySize = {1280.0F, 720.0F};
    for (int frame = 0; frame < 2; ++frame) {
        ImGui::NewFrame();
        panels.draw_panel(1.0F);
        ImGui::Render();
    }
    EXPECT_GT(panels.statistics_bottom(), 300.0F);
    EXPECT_LT(panels.statistics_bottom(), 600.0F);
}

}  // namespace
}  // namespace quadtile::shadow
