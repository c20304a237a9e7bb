// Tiles of a lightmap, and the triangles that may cover a part of each.

#pragma once

#include "parallel.hpp"
#include "sampling.hpp"
#include "scene.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace quadtile::baker {

// Edge of the tiles that threads take, whose sums stay in a processor's cache.
constexpr std::uint32_t TILE = 64;

// A range of texels, the last one excluded.
struct TexelRange {
    std::uint32_t left = 0;
    std::uint32_t top = 0;
    std::uint32_t right = 0;
    std::uint32_t bottom = 0;
};

inline TexelRange bounds_of(const Corners& corners) {
    const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x});
    const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y});
    return {static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(top),
            static_cast<std::uint32_t>(std::ceil(right)),
            static_cast<std::uint32_t>(std::ceil(bottom))};
}

inline TexelRange intersection(const TexelRange& a, const TexelRange& b) {
    return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
            std::min(a.bottom, b.bottom)};
}

// Triangles of each tile, in their order.
class TileTriangles {
 public:
    TileTriangles(const Scene& scene, const Extent& extent, std::uint32_t threads)
        : columns_((extent.width + TILE - 1) / TILE), rows_((extent.height + TILE - 1) / TILE) {
        struct Tiles {
            std::uint16_t left = 0;
            std::uint16_t top = 0;
            std::uint16_t right = 0;
            std::uint16_t bottom = 0;
        };
        std::vector<Tiles> tiles_of(scene.triangles.size());
        const auto find_tiles = [&](std::size_t i) {
            if (const auto corners = corners_of(scene, scene.triangles[i], extent)) {
                const TexelRange bounds = bounds_of(*corners);
                tiles_of[i] = {static_cast<std::uint16_t>(bounds.left / TILE),
                               static_cast<std::uint16_t>(bounds.top / TILE),
                               static_cast<std::uint16_t>((bounds.right + TILE - 1) / TILE),
                               static_cast<std::uint16_t>((bounds.bottom + TILE - 1) / TILE)};
            }
        };
        parallel_for(tiles_of.size(), threads, find_tiles, SHORT_CALLS);
        const auto visit = [&](const auto& entry) {
            for (std::size_t i = 0; i < tiles_of.size(); ++i) {
                for (std::size_t y = tiles_of[i].top; y < tiles_of[i].bottom; ++y) {
                    for (std::size_t x = tiles_of[i].left; x < tiles_of[i].right; ++x) {
                        entry(y * columns_ + x, static_cast<std::uint32_t>(i));
                    }
                }
            }
        };
        ends_.resize(count());
        std::size_t total = 0;
        visit([&](std::size_t tile, std::uint32_t) {
            ++ends_[tile];
            ++total;
        });
        triangles_.resize(total);
        std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::size_t{0});
        // The start of each tile becomes its end.
        visit([&](std::size_t tile, std::uint32_t triangle) {
            triangles_[ends_[tile]++] = triangle;
        });
    }

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::size_t count() const { return columns_ * rows_; }
    [[nodiscard]] TexelRange texels(std::size_t tile, const Extent& extent) const {
        const auto left = static_cast<std::uint32_t>(tile % columns_) * TILE;
        const auto top = static_cast<std::uint32_t>(tile / columns_) * TILE;
        return {left, top, std::min(left + TILE, extent.width),
                std::min(top + TILE, extent.height)};
    }
    [[nodiscard]] std::span<const std::uint32_t> triangles(std::size_t tile) const {
        const std::size_t begin = tile == 0 ? 0 : ends_[tile - 1];
        return std::span(triangles_).subspan(begin, ends_[tile] - begin);
    }

 private:
    std::size_t columns_;
    std::size_t rows_;
    std::vector<std::size_t> ends_;  // by tile, in triangles_
    std::vector<std::uint32_t> triangles_;
};

}  // namespace quadtile::baker
