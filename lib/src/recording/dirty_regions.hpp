// Blocks of an image that rectangles touch, for dispatches from the host.

#pragma once

#include <quadtile/dirty_blocks.h>
#include <quadtile/kernel_parameters.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace quadtile::detail {

// Touched blocks that form a rectangle within one group of blocks: one dispatch.
struct DirtyRegion {
    std::uint32_t layer;
    std::uint32_t first_x;  // blocks
    std::uint32_t first_y;
    std::uint32_t columns;
    std::uint32_t rows;
    // Touched blocks in the group, in all regions; then touched groups in the group's own group;
    // and so on.
    std::array<std::uint32_t, MAX_HANDOVERS> expected;
};

// Returns disjoint regions of exactly the blocks that the rectangles touch, layer after layer.
// Throws Error(invalid_argument) for a rectangle that is empty or not inside the image.
[[nodiscard]] std::vector<DirtyRegion> dirty_regions(std::uint32_t width, std::uint32_t height,
                                                     std::uint32_t layers, std::uint32_t top_level,
                                                     std::uint32_t edge_rule,
                                                     std::span<const DirtyRectangle> rectangles);

}  // namespace quadtile::detail
