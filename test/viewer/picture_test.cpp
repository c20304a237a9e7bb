// Pictures of the viewer, against pictures made from the reference's tiles, pixel by pixel.

#include "apps/app_gpu_test.hpp"
#include "canvas.hpp"
#include "colour_maps.hpp"
#include "support/pfm.hpp"
#include "swapchain.hpp"
#include "viewer.hpp"

#include "support/temporary_directory.hpp"

#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

namespace quadtile::viewer {
namespace {

using quadtile::test::TemporaryDirectory;

constexpr vk::Format PICTURE_FORMAT = vk::Format::eR8G8B8A8Unorm;
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();
constexpr float INFINITE = std::numeric_limits<float>::infinity();

// ---- A picture as it should be

using Colour = std::array<double, 3>;

Colour colour_of(const app::Rgb& rgb) {
    return {static_cast<double>(rgb[0]), static_cast<double>(rgb[1]), static_cast<double>(rgb[2])};
}

double brightness_of(const Colour& colour) {
    return 0.25 * colour[0] + 0.625 * colour[1] + 0.125 * colour[2];
}

Colour mix(const Colour& a, const Colour& b, double weight) {
    return {std::lerp(a[0], b[0], weight), std::lerp(a[1], b[1], weight),
            std::lerp(a[2], b[2], weight)};
}

const ColourTable& table(bool of_importance, ColourMap map) {
    static std::map<std::pair<bool, ColourMap>, ColourTable> tables;
    const auto [place, is_new] = tables.try_emplace({of_importance, map});
    if (is_new) {
        place->second = of_importance ? importance_colours(map) : colour_table(map);
    }
    return place->second;
}

// Entry at a position from 0 to 1. Logarithms differ by a rounding, so a neighbour is allowed.
Colour entry(const ColourTable& colours, double position, int neighbour) {
    const int at = static_cast<int>(std::floor(std::clamp(position, 0.0, 1.0) * 256.0)) + neighbour;
    return colour_of(colours[static_cast<std::size_t>(std::clamp(at, 0, 255))]);
}

struct Scene {
    std::vector<float> texels;
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    TileList tiles;
    reference::Pyramid pyramid;
    DrawingSettings drawing;
    Range range{};
    View view;
};

float importance_at(const Scene& scene, std::uint32_t level, std::uint32_t x, std::uint32_t y) {
    if (level == 0) {
        return scene.texels[std::size_t{y} * scene.width + x];
    }
    return scene.pyramid.levels[level].at(x, y);
}

// The largest of the nodes that a pixel touches, or that of its centre.
float importance_of_pixel(const Scene& scene, std::uint32_t column, std::uint32_t row) {
    const double zoom = scene.view.zoom;
    const double x = (column - double{scene.view.origin_x}) / zoom;
    const double y = (row - double{scene.view.origin_y}) / zoom;
    std::uint32_t level = scene.drawing.level;
    while (std::ldexp(zoom, static_cast<int>(level)) <= 0.5) {
        ++level;
    }
    if (std::ldexp(zoom, static_cast<int>(level)) >= 1.0) {
        return importance_at(scene, level, static_cast<std::uint32_t>(x + 0.5 / zoom) >> level,
                             static_cast<std::uint32_t>(y + 0.5 / zoom) >> level);
    }
    float largest = -INFINITE;
    for (std::uint32_t j = 0; j < scene.pyramid.levels[level].height; ++j) {
        for (std::uint32_t i = 0; i < scene.pyramid.levels[level].width; ++i) {
            const double side = std::ldexp(1.0, static_cast<int>(level));
            const bool touches = i * side < x + 1 / zoom && (i + 1) * side > x &&
                                 j * side < y + 1 / zoom && (j + 1) * side > y;
            const float importance = importance_at(scene, level, i, j);
            if (touches && !std::isnan(largest) &&
                (std::isnan(importance) || importance > largest)) {
                largest = importance;
            }
        }
    }
    return largest;
}

Colour map_colour(const Scene& scene, float importance, int neighbour) {
    if (std::isnan(importance)) {
        return {0, 220, 70};
    }
    if (importance < 0) {
        return {74, 88, 120};
    }
    if (std::isinf(importance)) {
        return {255, 255, 255};
    }
    if (importance == 0) {
        return {0, 0, 0};
    }
    const auto value = [&](double v) { return scene.drawing.logarithmic ? std::log2(v) : v; };
    const double low = value(scene.range.low);
    const double position = (value(importance) - low) / (value(scene.range.high) - low);
    return entry(table(true, scene.drawing.colour_map), position, neighbour);
}

Colour fill_colour(const Scene& scene, const Tile& tile, std::size_t index, int neighbour) {
    switch (scene.drawing.fill) {
        case Fill::level:
            return entry(table(false, ColourMap::turbo),
                         (tile.level() + 0.5) / scene.tiles.levels(), neighbour);
        case Fill::ratio:
            return entry(table(false, ColourMap::viridis),
                         tile.clamped() ? 1.0 : tile.importance / tile.threshold, neighbour);
        case Fill::order:
            return entry(
                table(false, ColourMap::turbo),
                (static_cast<double>(index) + 0.5) / static_cast<double>(scene.tiles.tiles.size()),
                neighbour);
        case Fill::none:
            break;
    }
    return {};
}

// Where a pixel's centre lies; null: outside the map.
const Tile* tile_of_pixel(const Scene& scene, std::uint32_t column, std::uint32_t row) {
    const double x = (column + 0.5 - double{scene.view.origin_x}) / scene.view.zoom;
    const double y = (row + 0.5 - double{scene.view.origin_y}) / scene.view.zoom;
    for (const Tile& tile : scene.tiles.tiles) {
        const TexelRect rect = texels_of(tile, scene.width, scene.height);
        if (x >= rect.left && x < rect.right && y >= rect.top && y < rect.bottom) {
            return &tile;
        }
    }
    return nullptr;
}

struct Expected {
    std::vector<Colour> any_of;  // by the neighbours in the tables
    bool is_outline = false;
    bool is_to_coarser = false;
    bool is_striped = false;
};

Expected expected_pixel(const Scene& scene, std::uint32_t column, std::uint32_t row) {
    const Tile* const tile = tile_of_pixel(scene, column, row);
    if (tile == nullptr) {
        return {
            {{app::BACKGROUND[0] * 255.0, app::BACKGROUND[1] * 255.0, app::BACKGROUND[2] * 255.0}}};
    }
    const auto index = static_cast<std::size_t>(tile - scene.tiles.tiles.data());
    const double side = std::ldexp(scene.view.zoom, static_cast<int>(tile->level()));
    const TexelRect rect = texels_of(*tile, scene.width, scene.height);
    const double from_left =
        column + 0.5 - (scene.view.origin_x + double{scene.view.zoom} * rect.left);
    const double from_top = row + 0.5 - (scene.view.origin_y + double{scene.view.zoom} * rect.top);
    const double width = scene.drawing.outlines ? scene.drawing.outline_width : 0.0;

    Expected expected;
    const double to_right =
        scene.view.origin_x + double{scene.view.zoom} * rect.right - column - 0.5;
    const double to_bottom =
        scene.view.origin_y + double{scene.view.zoom} * rect.bottom - row - 0.5;
    expected.is_to_coarser = (from_left < width && tile->coarser_left()) ||
                             (to_right < width && tile->coarser_right()) ||
                             (from_top < width && tile->coarser_top()) ||
                             (to_bottom < width && tile->coarser_bottom());
    expected.is_outline = from_left < width || from_top < width || expected.is_to_coarser;
    expected.is_striped =
        scene.drawing.mark_clamped && tile->clamped() && (side < 8 || (column + row) % 8 < 3);
    const float importance = importance_of_pixel(scene, column, row);
    for (const int map_neighbour : {0, -1, 1}) {
        for (const int fill_neighbour : {0, -1, 1}) {
            Colour colour = map_colour(scene, importance, map_neighbour);
            if (scene.drawing.fill != Fill::none) {
                const double grey = 0.3 * 255 + 0.5 * brightness_of(colour);
                colour = mix({grey, grey, grey}, fill_colour(scene, *tile, index, fill_neighbour),
                             scene.drawing.fill_opacity);
            }
            if (expected.is_striped) {
                colour = {255, 0, 80};
            }
            if (expected.is_outline) {
                const double brightness = brightness_of(colour);
                const double opacity = std::clamp((side / width - 1) / 11, 0.0, 0.75);
                const Colour line = expected.is_to_coarser     ? Colour{255, 80, 255}
                                    : brightness < 0.588 * 255 ? Colour{120, 235, 255}
                                                               : Colour{20, 40, 90};
                colour = mix(colour, line, opacity);
            }
            expected.any_of.push_back(colour);
        }
    }
    return expected;
}

bool is_close(const app::Rgb& pixel, const Colour& colour) {
    constexpr double ROUNDING = 1.01;
    return std::ranges::equal(pixel, colour,
                              [](double a, double b) { return std::abs(a - b) <= ROUNDING; });
}

// ---- The viewer

class ViewerPicture : public app::test::AppGpuTest {
 protected:
    // Values between 2^-6 and 2^6, some zeros, and what has no place on a scale.
    static std::vector<float> make_texels(std::uint32_t width, std::uint32_t height) {
        std::mt19937 random(7);
        std::uniform_real_distribution<float> exponent(-6.0F, 2.0F);
        std::vector<float> texels(std::size_t{width} * height);
        for (float& texel : texels) {
            texel = random() % 5 == 0 ? 0.0F : std::exp2(exponent(random));
        }
        texels[3] = 64.0F;
        texels[texels.size() / 2] = NOT_A_NUMBER;
        texels[texels.size() / 3] = INFINITE;
        texels[texels.size() - 1] = -1.0F;
        return texels;
    }

    // Pixels of outlines, for the caller to see that there are some.
    struct Counts {
        std::size_t outlines = 0;
        std::size_t to_coarser = 0;
    };
    // Renders the scene, whose map and drawing are given, and compares.
    Counts compare(Scene& scene, const SubdivisionSettings& subdivision, vk::Extent2D extent) {
        Options options;
        options.files = {directory_.add("map.pfm", quadtile::test::pfm(scene.texels, scene.width))};
        options.settings.subdivision = subdivision;
        options.settings.drawing = scene.drawing;
        options.settings.view = {scene.view.zoom, static_cast<float>(scene.width / 2) + 0.5F,
                                 static_cast<float>(scene.height / 2) + 0.5F};
        Viewer viewer(options, [] {});
        viewer.attach(*gpu_, PICTURE_FORMAT);
        const vk::Rect2D area{.extent = extent};
        viewer.wait_for_map(area);
        viewer.update(area);
        EXPECT_EQ(viewer.problem(), "");
        scene.view = viewer.view();
        scene.range = viewer.range();
        const MapView map = view_of(scene.texels, scene.width, scene.height);
        scene.tiles = reference::subdivide(map, make_threshold(subdivision.threshold, map.shape),
                                           {.balance = subdivision.balance});
        scene.pyramid = reference::build_pyramid(map);

        const app::Picture picture =
            app::render_picture(*gpu_, PICTURE_FORMAT, extent,
                                [&](vk::CommandBuffer commands) { viewer.draw(commands, extent); });
        Counts counts;
        std::size_t differences = 0;
        for (std::uint32_t row = 0; row < extent.height; ++row) {
            for (std::uint32_t column = 0; column < extent.width; ++column) {
                const Expected expected = expected_pixel(scene, column, row);
                counts.outlines += expected.is_outline ? 1 : 0;
                counts.to_coarser += expected.is_to_coarser ? 1 : 0;
                const app::Rgb& pixel = picture.pixels[std::size_t{row} * extent.width + column];
                const bool equal = std::ranges::any_of(
                    expected.any_of, [&](const Colour& one) { return is_close(pixel, one); });
                if (!equal && ++differences <= 3) {
                    ADD_FAILURE() << "pixel (" << column << ", " << row << ") is "
                                  << ::testing::PrintToString(pixel) << " instead of "
                                  << ::testing::PrintToString(expected.any_of.front());
                }
            }
        }
        EXPECT_EQ(differences, 0U);
        return counts;
    }

    static Scene make_scene(std::uint32_t width, std::uint32_t height, float zoom) {
        Scene scene{.texels = make_texels(width, height), .width = width, .height = height};
        scene.view.zoom = zoom;
        return scene;
    }

    TemporaryDirectory directory_;
};

// Catches outlines, fills, marks, ranges and levels at another place or of another colour, sides of
// coarser neighbours that are swapped, and bright texels that are lost in small pictures.
TEST_F(ViewerPicture, EqualsTheReferenceWhateverTheSettings) {
    std::mt19937 random(3);
    const auto one_of = [&](auto... values) {
        return std::array{values...}[random() % sizeof...(values)];
    };
    std::size_t outlines = 0;
    std::size_t coarser = 0;
    for (int i = 0; i < 16; ++i) {
        // No edge of a pixel is one of a node, or all are exactly.
        const float zoom = one_of(0.125F, 0.30071F, 0.5F, 0.70033F, 2.0F, 3.0F, 7.0F, 16.0F);
        Scene scene = zoom < 1.0F ? make_scene(150, 101, zoom) : make_scene(37, 53, zoom);
        scene.drawing.colour_map = one_of(ColourMap::inferno, ColourMap::viridis, ColourMap::grey);
        scene.drawing.logarithmic = one_of(true, false);
        scene.drawing.automatic_range = one_of(true, false);
        scene.drawing.range_low = 0.5F;
        scene.drawing.range_high = 2.0F;
        scene.drawing.level = one_of(0U, 0U, 3U, 6U);
        scene.drawing.outlines = zoom > 1.0F && one_of(true, false);
        scene.drawing.outline_width = one_of(1.0F, 2.5F);
        scene.drawing.fill = one_of(Fill::none, Fill::level, Fill::ratio, Fill::order);
        scene.drawing.fill_opacity = one_of(0.6F, 1.0F);
        scene.drawing.mark_clamped = zoom > 1.0F && one_of(true, false);
        SubdivisionSettings subdivision;
        subdivision.threshold.kind = ThresholdKind::constant;
        subdivision.threshold.constant = 3.5F;
        if (scene.drawing.fill == Fill::order) {
            subdivision.order = Order::canonical;
        } else if (zoom > 1.0F && one_of(true, false)) {
            subdivision.balance = Balance::corners;
            scene.texels.assign(scene.texels.size(), 0.0F);
            scene.texels[20 * 37 + 17] = 4.0F;
        }
        SCOPED_TRACE(to_json({.subdivision = subdivision, .drawing = scene.drawing}));
        const Counts counts = compare(scene, subdivision, {100, 80});
        outlines += counts.outlines;
        coarser += counts.to_coarser;
    }
    EXPECT_GT(outlines, 2000U);
    EXPECT_GT(coarser, 200U);
}

}  // namespace
}  // namespace quadtile::viewer
