// Camera's picture, as read by the CPU twin of kernels/shadow.

#pragma once

#include <quadtile/shadow.hpp>

#include <algorithm>
#include <cstddef>
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

// Words of the last picture's lit mask, or of the lookup in the last frame's maps, joined around
// each pixel.
class SeenAround {
 public:
    // `word_at` returns a pixel's word; it is called once per square of extent `stride`.
    template <typename WordAt>
    SeenAround(const ShadowFrame& frame, std::uint32_t stride, const WordAt& word_at)
        : columns_(blocks_of(frame.depth_width)), rows_(blocks_of(frame.depth_height)) {
        std::vector<std::uint32_t> seen(columns_ * rows_);
        for (std::uint32_t row = 0; row < frame.depth_height; ++row) {
            for (std::uint32_t column = 0; column < frame.depth_width; ++column) {
                if (shadow_takes_pixel(column, row, stride)) {
                    seen[row / SHADOW_EDGE_BLOCK * columns_ + column / SHADOW_EDGE_BLOCK] |=
                        word_at(column, row);
                }
            }
        }
        for (std::size_t row = 0; row < rows_; ++row) {
            for (std::size_t column = 0; column < columns_; ++column) {
                around_.push_back(with_neighbours(seen, column, row));
            }
        }
    }

    [[nodiscard]] std::uint32_t at(std::uint32_t column, std::uint32_t row) const {
        return around_[row / SHADOW_EDGE_BLOCK * columns_ + column / SHADOW_EDGE_BLOCK];
    }

 private:
    static std::size_t blocks_of(std::uint32_t pixels) {
        return (pixels + SHADOW_EDGE_BLOCK - 1) / SHADOW_EDGE_BLOCK;
    }

    [[nodiscard]] std::uint32_t with_neighbours(const std::vector<std::uint32_t>& seen,
                                                std::size_t column, std::size_t row) const {
        std::uint32_t all = 0;
        for (std::size_t y = row == 0 ? 0 : row - 1; y <= std::min(row + 1, rows_ - 1); ++y) {
            for (std::size_t x = column == 0 ? 0 : column - 1;
                 x <= std::min(column + 1, columns_ - 1); ++x) {
                all |= seen[y * columns_ + x];
            }
        }
        return all;
    }

    std::size_t columns_;  // of blocks
    std::size_t rows_;
    std::vector<std::uint32_t> around_;
};

}  // namespace quadtile::reference
