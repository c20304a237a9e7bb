/// \file
/// A threshold for each node of the quadtrees over a map.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadtile {

/// The thresholds of all nodes of all layers, level 0 (the texels) to the root. Owns its values, no
/// Vulkan.
class QUADTILE_API NodeThresholds {
 public:
    /// For maps of this size, in texels; every threshold is 0 until it is set.
    /// Throws Error(invalid_argument) for a size that no map has (check_shape).
    NodeThresholds(std::uint32_t width, std::uint32_t height, std::uint32_t layers = 1);

    /// Of the map, texels.
    [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
    /// Of the map, texels.
    [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
    /// Of the map.
    [[nodiscard]] std::uint32_t layers() const noexcept { return layers_; }
    /// The level of the root.
    [[nodiscard]] std::uint32_t top() const noexcept { return top_level(width_, height_); }

    /// The threshold of a node inside the map: x < level_extent(width(), level), y alike.
    [[nodiscard]] float& at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                            std::uint32_t layer = 0) {
        return values_[place(level, x, y, layer)];
    }
    /// The same of one that is not changed.
    [[nodiscard]] float at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t layer = 0) const {
        return values_[place(level, x, y, layer)];
    }

 private:
    [[nodiscard]] std::size_t place(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                    std::uint32_t layer) const noexcept;

    std::uint32_t width_;
    std::uint32_t height_;
    std::uint32_t layers_;
    std::vector<std::size_t> level_starts_;  // in a layer
    std::size_t layer_size_;
    std::vector<float> values_;  // layer by layer, level by level, row by row
};

}  // namespace quadtile
