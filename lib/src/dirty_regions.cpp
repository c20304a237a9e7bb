#include "dirty_regions.hpp"

#include <quadtile/kernel_parameters.h>
#include <quadtile/error.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace quadtile::detail {

namespace {

// The touched blocks of one layer.
class Layer {
 public:
    Layer(std::uint32_t columns, std::uint32_t rows)
        : columns_(columns), rows_(rows), touched_(std::size_t{columns} * rows) {}

    void touch(std::uint32_t x, std::uint32_t y) { touched_[index(x, y)] = true; }
    [[nodiscard]] bool is_touched(std::uint32_t x, std::uint32_t y) const {
        return touched_[index(x, y)];
    }

    // Takes the largest run to the right and down from a touched block that stays in its group.
    DirtyRegion take(std::uint32_t x, std::uint32_t y, std::uint32_t end_x, std::uint32_t end_y) {
        std::uint32_t columns = 1;
        while (x + columns < end_x && is_touched(x + columns, y)) {
            ++columns;
        }
        const auto whole_row = [&](std::uint32_t row) {
            for (std::uint32_t i = 0; i < columns; ++i) {
                if (!is_touched(x + i, row)) {
                    return false;
                }
            }
            return true;
        };
        std::uint32_t rows = 1;
        while (y + rows < end_y && whole_row(y + rows)) {
            ++rows;
        }
        for (std::uint32_t row = y; row < y + rows; ++row) {
            for (std::uint32_t i = 0; i < columns; ++i) {
                touched_[index(x + i, row)] = false;
            }
        }
        return {.first_x = x, .first_y = y, .columns = columns, .rows = rows};
    }

    [[nodiscard]] std::uint32_t columns() const { return columns_; }
    [[nodiscard]] std::uint32_t rows() const { return rows_; }

 private:
    [[nodiscard]] std::size_t index(std::uint32_t x, std::uint32_t y) const {
        return std::size_t{y} * columns_ + x;
    }

    std::uint32_t columns_;
    std::uint32_t rows_;
    std::vector<bool> touched_;
};

// The groups that blocks are handed over to, as the kernel counts them.
struct Groups {
    std::uint32_t width;
    std::uint32_t height;
    std::uint32_t edge_rule;
    std::uint32_t levels;  // that are made of a group

    [[nodiscard]] std::uint32_t columns() const {
        return blocks_along(width, BLOCK_LEVELS, levels, edge_rule);
    }
    [[nodiscard]] std::uint32_t rows() const {
        return blocks_along(height, BLOCK_LEVELS, levels, edge_rule);
    }
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> of_block(std::uint32_t x,
                                                                   std::uint32_t y) const {
        return {block_of(x, levels, columns()), block_of(y, levels, rows())};
    }
    // Whether texel (x, y) of a level exists.
    [[nodiscard]] bool exists(std::uint32_t level, std::uint32_t x, std::uint32_t y) const {
        return x < mip_extent(width, level, edge_rule) && y < mip_extent(height, level, edge_rule);
    }
    // The end of a group's blocks along an axis.
    [[nodiscard]] std::uint32_t end(std::uint32_t group, std::uint32_t groups,
                                    std::uint32_t blocks) const {
        return group + 1 == groups ? blocks : (group + 1) << levels;
    }
};

void check_rectangle(const DirtyRectangle& rectangle, std::uint32_t width, std::uint32_t height,
                     std::uint32_t layers) {
    const std::string text = "a rectangle of " + std::to_string(rectangle.width) + " x " +
                             std::to_string(rectangle.height) + " texels at (" +
                             std::to_string(rectangle.x) + ", " + std::to_string(rectangle.y) +
                             ") of layer " + std::to_string(rectangle.layer);
    if (rectangle.width == 0 || rectangle.height == 0) {
        throw Error(ErrorCode::invalid_argument, text + " is empty");
    }
    if (rectangle.layer >= layers || rectangle.x >= width || rectangle.y >= height ||
        rectangle.width > width - rectangle.x || rectangle.height > height - rectangle.y) {
        throw Error(ErrorCode::invalid_argument, text + " is not inside the image of " +
                                                     std::to_string(width) + " x " +
                                                     std::to_string(height) + " texels and " +
                                                     std::to_string(layers) + " layers");
    }
}

}  // namespace

std::vector<DirtyRegion> dirty_regions(std::uint32_t width, std::uint32_t height,
                                       std::uint32_t layers, std::uint32_t top_level,
                                       std::uint32_t edge_rule,
                                       std::span<const DirtyRectangle> rectangles) {
    const std::uint32_t columns = blocks_along(width, 0, BLOCK_LEVELS, edge_rule);
    const std::uint32_t rows = blocks_along(height, 0, BLOCK_LEVELS, edge_rule);
    const bool hands_over = top_level > BLOCK_LEVELS;
    // Without any, all blocks are one group.
    const Groups groups{width, height, edge_rule,
                        hands_over ? step_levels(BLOCK_LEVELS, top_level) : MAX_TOP_LEVEL};
    std::map<std::uint32_t, Layer> touched;
    for (const DirtyRectangle& rectangle : rectangles) {
        check_rectangle(rectangle, width, height, layers);
        Layer& layer = touched.try_emplace(rectangle.layer, columns, rows).first->second;
        const std::uint32_t last_x =
            block_of(rectangle.x + rectangle.width - 1, BLOCK_LEVELS, columns);
        const std::uint32_t last_y =
            block_of(rectangle.y + rectangle.height - 1, BLOCK_LEVELS, rows);
        for (std::uint32_t y = block_of(rectangle.y, BLOCK_LEVELS, rows); y <= last_y; ++y) {
            for (std::uint32_t x = block_of(rectangle.x, BLOCK_LEVELS, columns); x <= last_x; ++x) {
                layer.touch(x, y);
            }
        }
    }

    std::vector<DirtyRegion> regions;
    for (auto& [number, layer] : touched) {
        // What arrives: blocks and groups whose texel above exists.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> arriving;
        std::uint32_t arriving_groups = 0;
        if (hands_over) {
            for (std::uint32_t y = 0; y < rows; ++y) {
                for (std::uint32_t x = 0; x < columns; ++x) {
                    if (!layer.is_touched(x, y) || !groups.exists(BLOCK_LEVELS, x, y)) {
                        continue;
                    }
                    const std::pair group = groups.of_block(x, y);
                    if (++arriving[group] == 1 &&
                        groups.exists(BLOCK_LEVELS + groups.levels, group.first, group.second)) {
                        ++arriving_groups;
                    }
                }
            }
        }
        for (std::uint32_t y = 0; y < rows; ++y) {
            for (std::uint32_t x = 0; x < columns; ++x) {
                if (!layer.is_touched(x, y)) {
                    continue;
                }
                const std::pair group = groups.of_block(x, y);
                DirtyRegion region =
                    layer.take(x, y, groups.end(group.first, groups.columns(), columns),
                               groups.end(group.second, groups.rows(), rows));
                region.layer = number;
                region.expected_blocks = arriving[group];
                region.expected_groups = arriving_groups;
                regions.push_back(region);
            }
        }
    }
    return regions;
}

}  // namespace quadtile::detail
