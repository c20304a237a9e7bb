/// \file
/// A threshold for each node of the quadtrees over a map.

#pragma once

#include <quadtile/export.h>
#include <quadtile/image.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadtile {

/// Thresholds of all nodes of all layers, from level 0 (the texels) to the root; without Vulkan.
class QUADTILE_API NodeThresholds {
 public:
    /// Makes thresholds of 0 for maps of this size in texels. Throws Error(invalid_argument) for a
    /// size that no map has (check_shape).
    NodeThresholds(std::uint32_t width, std::uint32_t height, std::uint32_t layers = 1);

    /// Returns the width of the map in texels.
    [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
    /// Returns the height of the map in texels.
    [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
    /// Returns the number of layers.
    [[nodiscard]] std::uint32_t layers() const noexcept { return layers_; }
    /// Returns the level of the root.
    [[nodiscard]] std::uint32_t top() const noexcept { return top_level(width_, height_); }

    /// Returns the threshold of a node inside the map: x < level_extent(width(), level); y alike.
    [[nodiscard]] float& at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                            std::uint32_t layer = 0) {
        return values_[place(level, x, y, layer)];
    }
    /// Returns the threshold of a node inside the map.
    [[nodiscard]] float at(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                           std::uint32_t layer = 0) const {
        return values_[place(level, x, y, layer)];
    }

 private:
    friend class Threshold;
    struct LevelPlace {
        std::size_t first;  // node of the first layer
        std::size_t layer_pitch;
        std::size_t row_pitch;
    };

    [[nodiscard]] std::size_t place(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                    std::uint32_t layer) const noexcept {
        const LevelPlace& nodes = places_[level];
        return nodes.first + layer * nodes.layer_pitch + y * nodes.row_pitch + x;
    }

    std::uint32_t width_;
    std::uint32_t height_;
    std::uint32_t layers_;
    std::vector<LevelPlace> places_;
    std::vector<float> values_;  // as kernels read them: threshold_map_index in quadtree.h
};

}  // namespace quadtile
