// Pictures of the viewer, by the pixel, on a map whose tiles are known.

#include "apps/app_gpu_test.hpp"
#include "canvas.hpp"
#include "colour_maps.hpp"
#include "support/pfm.hpp"
#include "swapchain.hpp"
#include "viewer.hpp"

#include "support/temporary_directory.hpp"

#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadtile::viewer {
namespace {

using app::Rgb;

constexpr vk::Format PICTURE_FORMAT = vk::Format::eR8G8B8A8Unorm;

// 16 x 16 texels of importance 1 that need few tiles, but for (3, 2); at the corners and in the
// middle is what has no place on a scale of 0 to 4.
class ViewerPicture : public app::test::AppGpuTest {
 protected:
    ViewerPicture() {
        texels_[2 * 16 + 3] = 4.0F;
        texels_[8 * 16 + 8] = 0.0F;
        texels_[15] = -1.0F;
        texels_[15 * 16] = std::numeric_limits<float>::infinity();
        texels_[255] = std::numeric_limits<float>::quiet_NaN();
        subdivision_.threshold.kind = ThresholdKind::constant;
        subdivision_.threshold.constant = 2.0F;
        drawing_ = {.logarithmic = false,
                    .automatic_range = false,
                    .range_high = 4.0F,
                    .outlines = false,
                    .mark_clamped = false};
    }

    // From the map's left upper corner on, with some pixels beyond it.
    app::Picture draw(float zoom = 8.0F) {
        const auto side = static_cast<std::uint32_t>(16.0F * zoom) + 8;
        const vk::Extent2D extent{side, side};
        const vk::Rect2D area{.extent = extent};
        const float middle = 0.5F * static_cast<float>(side) / zoom;
        Options options;
        options.files = {directory_.add("map.pfm", quadtile::test::pfm(texels_, 16))};
        options.settings.subdivision = subdivision_;
        options.settings.drawing = drawing_;
        options.settings.view = {zoom, middle, middle};
        Viewer viewer(options, [] {});
        viewer.attach(*gpu_, PICTURE_FORMAT);
        viewer.wait_for_map(area);
        viewer.update(area);
        EXPECT_EQ(viewer.problem(), "");
        return app::render_picture(*gpu_, PICTURE_FORMAT, extent, [&](vk::CommandBuffer commands) {
            viewer.draw(commands, extent);
        });
    }
    static Rgb mixed(const Rgb& a, const Rgb& b, double weight) {
        Rgb colour{};
        for (std::size_t i = 0; i < 3; ++i) {
            colour[i] = static_cast<std::uint8_t>(std::lround(std::lerp(a[i], b[i], weight)));
        }
        return colour;
    }

    quadtile::test::TemporaryDirectory directory_;
    std::vector<float> texels_ = std::vector<float>(256, 1.0F);
    SubdivisionSettings subdivision_;
    DrawingSettings drawing_;
};

struct Pixel {
    std::uint32_t x;
    std::uint32_t y;
    Rgb colour;
};

void expect_pixels(app::Picture picture, const std::vector<Pixel>& pixels) {
    for (const auto& [x, y, colour] : pixels) {
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(picture.at(x, y)[i], colour[i], 1) << x << ", " << y << ", " << i;
        }
    }
}

// Catches texels at another place or of another colour, ranges that are not heeded, levels of the
// pyramid that are shifted, and bright texels that are lost in small pictures.
TEST_F(ViewerPicture, ShowsTexelsAndLevelsOfThem) {
    const ColourTable colours = importance_colours(ColourMap::inferno);
    const Rgb one = colours[64];
    const Rgb white{255, 255, 255};
    Rgb background{};
    for (std::size_t i = 0; i < 3; ++i) {
        background[i] = static_cast<std::uint8_t>(std::lround(255.0F * app::BACKGROUND[i]));
    }
    expect_pixels(draw(), {{23, 16, one},
                           {24, 16, colours[255]},
                           {31, 23, colours[255]},
                           {32, 23, one},
                           {64, 64, {0, 0, 0}},
                           {127, 0, {74, 88, 120}},
                           {0, 127, white},
                           {127, 127, {0, 220, 70}},
                           {128, 127, background}});
    drawing_.logarithmic = true;
    drawing_.range_low = 0.5F;
    expect_pixels(draw(), {{40, 40, colours[85]}});
    drawing_.level = 3;
    expect_pixels(draw(), {{0, 0, colours[255]},
                           {63, 63, colours[255]},
                           {64, 63, colours[85]},
                           {63, 64, white},
                           {64, 64, white}});  // what is no number needs most
    drawing_.level = 0;
    expect_pixels(draw(0.125F), {{0, 0, colours[255]}, {1, 0, colours[85]}, {0, 1, white}});
}

// Catches fills, marks and outlines of other tiles, or beside them, and sides of coarser neighbours
// that are swapped.
TEST_F(ViewerPicture, ShowsTiles) {
    const ColourTable turbo = colour_table(ColourMap::turbo);
    const ColourTable viridis = colour_table(ColourMap::viridis);
    const Rgb one = importance_colours(ColourMap::inferno)[64];
    drawing_.fill_opacity = 1.0F;
    drawing_.fill = Fill::level;                 // of 5
    expect_pixels(draw(), {{28, 20, turbo[25]},  // level 0
                           {20, 20, turbo[25]},
                           {8, 8, turbo[76]},
                           {40, 8, turbo[128]},
                           {64, 0, turbo[179]}});
    drawing_.fill = Fill::ratio;
    expect_pixels(draw(), {{28, 20, viridis[255]}, {64, 0, viridis[128]}});
    drawing_.fill = Fill::order;
    subdivision_.order = Order::canonical;
    const auto tiles = reference::subdivide(view_of(texels_, 16, 16), Threshold::constant(2)).tiles;
    const auto tile =
        std::ranges::find(tiles, std::pair(3U, tile_position(1, 0)),
                          [](const Tile& t) { return std::pair(t.level(), t.position); });
    const auto index = static_cast<std::size_t>(tile - tiles.begin());
    expect_pixels(draw(), {{64, 0, turbo[(2 * index + 1) * 128 / tiles.size()]}});
    drawing_.fill = Fill::none;
    drawing_.mark_clamped = true;
    expect_pixels(draw(), {{28, 20, {255, 0, 80}}, {28, 22, {255, 0, 80}}, {20, 20, one}});
    drawing_.mark_clamped = false;
    drawing_.outlines = true;
    drawing_.outline_width = 2.0F;
    const Rgb line = mixed(one, {120, 235, 255}, 0.75);
    expect_pixels(draw(), {{64, 30, line},
                           {65, 30, line},
                           {66, 30, one},
                           {63, 30, one},
                           {90, 1, line},
                           {90, 2, one}});
    subdivision_.balance = Balance::corners;
    const Rgb coarser = mixed(one, {255, 80, 255}, 7.0 / 11.0);  // of level 1
    expect_pixels(draw(), {{63, 10, coarser}, {64, 10, line}, {10, 63, coarser}});
}

}  // namespace
}  // namespace quadtile::viewer
