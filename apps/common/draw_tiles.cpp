#include "draw_tiles.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace quadtile::app {

ColourScale::ColourScale(const MapView& map)
    : range_(automatic_range(measure(map), true)), table_(importance_colours(ColourMap::inferno)) {}

Rgb ColourScale::colour(float importance) const noexcept {
    if (std::isnan(importance)) {
        return nan;
    }
    if (importance <= 0.0F) {
        return importance < 0.0F ? negative : zero;
    }
    if (std::isinf(importance)) {
        return infinite;
    }
    // Quotients of floats may overflow, and a range may have one value.
    const float width = std::log2(range_.high) - std::log2(range_.low);
    const float position = (std::log2(importance) - std::log2(range_.low)) / width;
    const float entry = width > 0.0F ? position * static_cast<float>(table_.size()) : 0.0F;
    return table_[static_cast<std::size_t>(
        std::clamp(entry, 0.0F, static_cast<float>(table_.size() - 1)))];
}

namespace {

constexpr std::uint32_t SMALLEST_SIDE = 1024;
constexpr std::uint32_t LARGEST_SIDE = 4096;

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) {
    return (a + b - 1) / b;
}

// Conversion between texels and pixels; one of the two factors is 1.
struct Scale {
    std::uint32_t pixels_per_texel;
    std::uint32_t texels_per_pixel;

    explicit Scale(std::uint32_t longer_side)
        : pixels_per_texel(std::max(1U, divide_up(SMALLEST_SIDE, longer_side))),
          texels_per_pixel(divide_up(longer_side, LARGEST_SIDE)) {}

    // Returns the first pixel of a texel, and the number of pixels of a number of texels.
    [[nodiscard]] std::uint32_t pixels(std::uint32_t texels) const {
        return divide_up(texels * pixels_per_texel, texels_per_pixel);
    }
};

bool shows_above(float a, float b) {
    return std::isnan(a) || a > b;
}

// Returns the texels as pixels without enlargement.
std::vector<float> reduce(const std::vector<float>& texels, const MapShape& shape,
                          std::uint32_t factor) {
    const std::uint32_t width = divide_up(shape.width, factor);
    std::vector<float> reduced(std::size_t{width} * divide_up(shape.height, factor),
                               -std::numeric_limits<float>::infinity());
    for (std::uint32_t y = 0; y < shape.height; ++y) {
        for (std::uint32_t x = 0; x < shape.width; ++x) {
            float& pixel = reduced[std::size_t{y / factor} * width + x / factor];
            const float texel = texels[std::size_t{y} * shape.width + x];
            if (!std::isnan(pixel) && shows_above(texel, pixel)) {
                pixel = texel;
            }
        }
    }
    return reduced;
}

// Share of the outline's colour in a pixel.
constexpr float LARGEST_OPACITY = 0.75F;

float outline_opacity(std::uint32_t tile_side_pixels) {
    return std::clamp((static_cast<float>(tile_side_pixels) - 1.0F) / 11.0F, 0.0F, LARGEST_OPACITY);
}

// Draws light on dark pixels and dark on light ones.
void draw_outline_pixel(Rgb& pixel, float opacity) {
    constexpr Rgb LIGHT{120, 235, 255};
    constexpr Rgb DARK{20, 40, 90};
    const int brightness = (2 * pixel[0] + 5 * pixel[1] + pixel[2]) / 8;
    pixel = mix(pixel, brightness < 150 ? LIGHT : DARK, opacity);
}

// Draws a rectangle of pixels that lies inside the picture.
void draw_outline_pixels(Picture& picture, std::uint32_t left, std::uint32_t top,
                         std::uint32_t right, std::uint32_t bottom, float opacity) {
    for (std::uint32_t y = top; y < bottom; ++y) {
        for (std::uint32_t x = left; x < right; ++x) {
            draw_outline_pixel(picture.at(x, y), opacity);
        }
    }
}

// Draws the top row and the left column of a tile; its neighbours draw the other sides.
void draw_outline(Picture& picture, const Scale& scale, const TexelRect& rect, float opacity) {
    const std::uint32_t left = scale.pixels(rect.left);
    const std::uint32_t top = scale.pixels(rect.top);
    const std::uint32_t right = scale.pixels(rect.right);
    const std::uint32_t bottom = scale.pixels(rect.bottom);
    if (left < right && top < bottom) {  // else smaller than a pixel
        draw_outline_pixels(picture, left, top, right, top + 1, opacity);
        draw_outline_pixels(picture, left, top + 1, left + 1, bottom, opacity);
    }
}

}  // namespace

Picture draw_tiles(const MapView& map, const std::vector<Tile>& tiles) {
    const Scale scale(std::max(map.shape.width, map.shape.height));
    std::vector<float> values = reference::decode(map);
    if (scale.texels_per_pixel > 1) {
        values = reduce(values, map.shape, scale.texels_per_pixel);
    }
    const std::uint32_t columns = divide_up(map.shape.width, scale.texels_per_pixel);
    const ColourScale colours(
        view_of(values, columns, divide_up(map.shape.height, scale.texels_per_pixel)));

    Picture picture(scale.pixels(map.shape.width), scale.pixels(map.shape.height));
    std::vector<Rgb> row(columns);
    for (std::uint32_t y = 0; y < picture.height; ++y) {
        if (y % scale.pixels_per_texel == 0) {
            const float* value = values.data() + std::size_t{y / scale.pixels_per_texel} * columns;
            for (Rgb& colour : row) {
                colour = colours.colour(*value++);
            }
        }
        for (std::uint32_t x = 0; x < picture.width; ++x) {
            picture.at(x, y) = row[x / scale.pixels_per_texel];
        }
    }
    for (const Tile& tile : tiles) {
        const float opacity = outline_opacity(scale.pixels(1U << tile.level()));
        draw_outline(picture, scale, texels_of(tile, map.shape.width, map.shape.height), opacity);
    }
    const auto [width, height] = std::pair(picture.width, picture.height);
    draw_outline_pixels(picture, width - 1, 0, width, height, LARGEST_OPACITY);
    draw_outline_pixels(picture, 0, height - 1, width - 1, height, LARGEST_OPACITY);
    return picture;
}

}  // namespace quadtile::app
