// Camera's picture, as read by the CPU twin of kernels/shadow.

#pragma once

#include <quadtile/shadow.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace quadtile::reference {

class DepthBuffer {
 public:
    DepthBuffer(const ShadowFrame& frame, std::span<const float> depth)
        : frame_(frame), depth_(depth) {}

    // Depth of a pixel; nullopt for background and outside the picture.
    [[nodiscard]] std::optional<float> at(std::int64_t column, std::int64_t row) const {
        if (column < 0 || row < 0 || column >= frame_.depth_width || row >= frame_.depth_height) {
            return std::nullopt;
        }
        const float depth =
            shadow_depth(depth_[static_cast<std::size_t>(row * frame_.depth_width + column)]);
        return depth == frame_.background_depth ? std::nullopt : std::optional(depth);
    }

    // Change of depth to the next pixel in a direction.
    [[nodiscard]] float step(std::int64_t column, std::int64_t row, std::int64_t right,
                             std::int64_t down) const {
        const float here = *at(column, row);
        const std::optional<float> last = at(column - right, row - down);
        const std::optional<float> next = at(column + right, row + down);
        if (last && next) {
            return shadow_depth_step(here - *last, *next - here);
        }
        if (last) {
            return here - *last;
        }
        return next ? *next - here : 0.0F;
    }

 private:
    const ShadowFrame& frame_;
    std::span<const float> depth_;
};

// Returns whether a pixel is the one of its square that is read. The place alternates between
// squares, so that thin lines are met.
inline bool takes_pixel(std::uint32_t column, std::uint32_t row) {
    return column % SHADOW_SQUARE == SHADOW_SQUARE / 2 * (row / SHADOW_SQUARE % 2) &&
           row % SHADOW_SQUARE == SHADOW_SQUARE / 2 * (column / SHADOW_SQUARE % 2);
}

// What a pixel tells of a light, by the last frame's maps.
struct SeenPixel {
    // Returns whether the pixel counts for a request that is beside it in the picture.
    [[nodiscard]] bool is_near(const ShadowMapping& mapping, std::uint32_t of_layer) const {
        return layer == of_layer && shadow_is_near(mapping, x, y);
    }

    std::uint32_t word;  // SHADOW_LIT or SHADOW_SHADED
    std::uint32_t layer;
    float x;  // of the layer's map
    float y;
};

// Lookups in the last frame's maps around each pixel.
class SeenAround {
 public:
    // `look_up` returns a pixel's SeenPixels, one per light; it is called once per square.
    template <typename LookUp>
    SeenAround(const ShadowFrame& frame, const LookUp& look_up)
        : columns_(squares_of(frame.depth_width)), rows_(squares_of(frame.depth_height)) {
        seen_.resize(columns_ * rows_);
        for (std::uint32_t row = 0; row < frame.depth_height; ++row) {
            for (std::uint32_t column = 0; column < frame.depth_width; ++column) {
                if (takes_pixel(column, row)) {
                    std::ranges::copy(
                        look_up(column, row),
                        std::back_inserter(
                            seen_[row / SHADOW_SQUARE * columns_ + column / SHADOW_SQUARE]));
                }
            }
        }
    }

    // Returns the words around a pixel that count for its request, joined.
    [[nodiscard]] std::uint32_t words(std::uint32_t column, std::uint32_t row,
                                      const ShadowMapping& mapping, std::uint32_t layer) const {
        const std::size_t square_x = column / SHADOW_SQUARE;
        const std::size_t square_y = row / SHADOW_SQUARE;
        std::uint32_t joined = 0;
        for (std::size_t y = square_y == 0 ? 0 : square_y - 1;
             y <= std::min(square_y + 1, rows_ - 1); ++y) {
            for (std::size_t x = square_x == 0 ? 0 : square_x - 1;
                 x <= std::min(square_x + 1, columns_ - 1); ++x) {
                for (const SeenPixel& pixel : seen_[y * columns_ + x]) {
                    joined |= pixel.is_near(mapping, layer) ? pixel.word : 0;
                }
            }
        }
        return joined;
    }

 private:
    static std::size_t squares_of(std::uint32_t pixels) {
        return (pixels + SHADOW_SQUARE - 1) / SHADOW_SQUARE;
    }

    std::size_t columns_;  // of squares
    std::size_t rows_;
    std::vector<std::vector<SeenPixel>> seen_;  // by square
};

}  // namespace quadtile::reference
