#include "recording/dirty_regions.hpp"

#include <quadtile/error.hpp>

#include <map>
#include <string>
#include <utility>

namespace quadtile::detail {

namespace {

using Place = std::pair<std::uint32_t, std::uint32_t>;  // x, y

// Touched blocks of one layer.
class Layer {
 public:
    Layer(std::uint32_t columns, std::uint32_t rows)
        : columns_(columns), rows_(rows), touched_(std::size_t{columns} * rows) {}

    void touch(std::uint32_t x, std::uint32_t y) { touched_[index(x, y)] = true; }
    [[nodiscard]] bool is_touched(std::uint32_t x, std::uint32_t y) const {
        return touched_[index(x, y)];
    }

    // Takes the largest rectangle right and down from a touched block within its group.
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

// Groups in which texels of a level are handed over, counted as in the kernel.
class Groups {
 public:
    Groups(std::uint32_t width, std::uint32_t height, std::uint32_t level, std::uint32_t top_level,
           std::uint32_t edge_rule)
        : extent_{mip_extent(width, level, edge_rule), mip_extent(height, level, edge_rule)},
          // Without a hand-over all blocks are one group.
          levels_(level < top_level ? step_levels(level, top_level) : MAX_TOP_LEVEL),
          groups_{blocks_along(width, level, levels_, edge_rule),
                  blocks_along(height, level, levels_, edge_rule)} {}

    [[nodiscard]] bool exists(Place texel) const {
        return texel.first < extent_.first && texel.second < extent_.second;
    }
    [[nodiscard]] Place of(Place texel) const {
        return {block_of(texel.first, levels_, groups_.first),
                block_of(texel.second, levels_, groups_.second)};
    }
    // Returns the first place beyond a group in each direction, in a grid of `all`.
    [[nodiscard]] Place end(Place group, Place all) const {
        return {group.first + 1 == groups_.first ? all.first : (group.first + 1) << levels_,
                group.second + 1 == groups_.second ? all.second : (group.second + 1) << levels_};
    }
    [[nodiscard]] std::uint32_t levels() const { return levels_; }

 private:
    Place extent_;  // of the level, texels
    std::uint32_t levels_;
    Place groups_;
};

// One hand-over: the groups, and the number of touched texels that arrive in each.
struct Handover {
    Groups groups;
    std::map<Place, std::uint32_t> arriving;
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

    std::vector<Groups> groups;
    for (std::uint32_t level = BLOCK_LEVELS; groups.empty() || level < top_level;
         level += groups.back().levels()) {
        groups.emplace_back(width, height, level, top_level, edge_rule);
    }

    std::vector<DirtyRegion> regions;
    for (auto& [number, layer] : touched) {
        std::vector<Handover> handovers;
        for (const Groups& these : groups) {
            handovers.push_back({these, {}});
        }
        for (std::uint32_t y = 0; y < rows; ++y) {
            for (std::uint32_t x = 0; x < columns; ++x) {
                if (!layer.is_touched(x, y)) {
                    continue;
                }
                // The first texel to arrive in a group makes the group arrive in its own group.
                Place texel{x, y};
                for (Handover& handover : handovers) {
                    if (!handover.groups.exists(texel)) {
                        break;
                    }
                    texel = handover.groups.of(texel);
                    if (++handover.arriving[texel] > 1) {
                        break;
                    }
                }
            }
        }
        for (std::uint32_t y = 0; y < rows; ++y) {
            for (std::uint32_t x = 0; x < columns; ++x) {
                if (!layer.is_touched(x, y)) {
                    continue;
                }
                Place group = groups.front().of({x, y});
                const Place end = groups.front().end(group, {columns, rows});
                DirtyRegion region = layer.take(x, y, end.first, end.second);
                region.layer = number;
                for (std::size_t i = 0; i < handovers.size(); ++i) {
                    group = i == 0 ? group : handovers[i].groups.of(group);
                    region.expected[i] = handovers[i].arriving[group];
                }
                regions.push_back(region);
            }
        }
    }
    return regions;
}

}  // namespace quadtile::detail
