#include "draw_tiles.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace quadtile::app {

namespace {

// "inferno" by S. van der Walt and N. Smith (CC0) at equal distances, without its darkest part, so
// that low importance differs from none.
constexpr std::array<Rgb, 9> INFERNO{{{27, 12, 66},
                                      {75, 12, 107},
                                      {120, 28, 109},
                                      {165, 44, 96},
                                      {207, 68, 70},
                                      {237, 105, 37},
                                      {251, 154, 6},
                                      {247, 208, 60},
                                      {252, 255, 164}}};

}  // namespace

ColourScale::ColourScale(const std::vector<float>& importance) {
    // A million samples are enough for two percentiles.
    const std::size_t stride = importance.size() / 1'000'000 + 1;
    std::vector<float> samples;
    for (std::size_t i = 0; i < importance.size(); i += stride) {
        if (importance[i] > 0.0F && std::isfinite(importance[i])) {
            samples.push_back(std::log2(importance[i]));
        }
    }
    if (samples.empty()) {
        return;
    }
    const auto percentile = [&](double fraction) {
        const auto rank = samples.begin() + static_cast<std::ptrdiff_t>(
                                                fraction * static_cast<double>(samples.size() - 1));
        std::ranges::nth_element(samples, rank);
        return *rank;
    };
    const float low = percentile(0.005);
    const float high = percentile(0.995);
    // A map of nearly one value is drawn in nearly one colour, from the middle of the scale.
    constexpr float LEAST_RANGE = 2.0F;
    const float margin = std::max(0.0F, LEAST_RANGE - (high - low)) / 2.0F;
    log_low_ = low - margin;
    log_range_ = high - low + 2.0F * margin;
}

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
    const float position = std::clamp((std::log2(importance) - log_low_) / log_range_, 0.0F, 1.0F) *
                           static_cast<float>(INFERNO.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(position), INFERNO.size() - 2);
    return mix(INFERNO[below], INFERNO[below + 1], position - static_cast<float>(below));
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
    const ColourScale colours(values);

    Picture picture(scale.pixels(map.shape.width), scale.pixels(map.shape.height));
    const std::uint32_t columns = divide_up(map.shape.width, scale.texels_per_pixel);
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
