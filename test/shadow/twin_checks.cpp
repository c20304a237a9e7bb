#include "twin_checks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace quadtile::test {

namespace {

// A node: light, level, x, y.
using Node = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Node node_of(const ShadowTile& tile) {
    return {tile.node >> 16U, tile.node & 0xffU, tile.position & 0xffffU, tile.position >> 16U};
}

std::uint32_t class_of(const ShadowTile& tile) {
    return tile.state & 0xffU;
}

bool has(const ShadowTile& tile, std::uint32_t state) {
    return (tile.state >> 8U & state) != 0;
}

std::map<Node, ShadowTile> by_node(const std::vector<ShadowTile>& tiles) {
    std::map<Node, ShadowTile> result;
    for (const ShadowTile& tile : tiles) {
        result[node_of(tile)] = tile;
    }
    return result;
}

// A frame beside the one before it.
class Step {
 public:
    Step(const ShadowOptions& options, const ShadowFrame& last, const ShadowFrame& frame)
        : options_(options), last_(last), frame_(frame) {}

    // Tells whether a light's clip space is the last one, but for a shift by whole texels.
    [[nodiscard]] bool is_same_light(std::uint32_t light) const {
        const float* const before = last_.lights[light].clip_from_world;
        const float* const now = frame_.lights[light].clip_from_world;
        const bool may_step = now[3] == 0 && now[7] == 0 && now[11] == 0 && now[15] == 1;
        for (std::size_t i = 0; i < 16; ++i) {
            const bool is_shift =
                may_step && (i == 12 || i == 13) && is_whole(before[i]) && is_whole(now[i]);
            if (!is_shift && std::memcmp(before + i, now + i, sizeof(float)) != 0) {
                return false;
            }
        }
        return true;
    }

    // Returns the node of the last frame that showed the same; one that no frame has if none did.
    [[nodiscard]] Node before(const Node& node) const {
        const auto [light, level, x, y] = node;
        const std::array now{x, y};
        std::array then{x, y};
        for (std::size_t i = 0; i < 2 && is_same_light(light); ++i) {
            const double shift = texels(last_.lights[light].clip_from_world[12 + i]) -
                                 texels(frame_.lights[light].clip_from_world[12 + i]);
            const double place = now[i] + std::ldexp(shift, -static_cast<int>(level));
            if (place != std::floor(place) || place < 0 || place >= options_.map_extent >> level) {
                return {light, level, options_.map_extent, 0};
            }
            then[i] = static_cast<std::uint32_t>(place);
        }
        return {light, level, then[0], then[1]};
    }

 private:
    [[nodiscard]] double texels(double clip) const { return 0.5 * clip * options_.map_extent; }
    [[nodiscard]] bool is_whole(double clip) const {
        return texels(clip) == std::floor(texels(clip));
    }

    const ShadowOptions& options_;
    const ShadowFrame& last_;
    const ShadowFrame& frame_;
};

// Texels of the map on each side of a tile that its slot shows, cut ones too.
std::int64_t shown_around(const ShadowOptions& options, const ShadowTile& tile) {
    const double extent = options.tile_extent / std::exp2(4 - static_cast<int>(class_of(tile)));
    const double core = extent - 2.0 * options.gutter;
    return static_cast<std::int64_t>(
        std::ceil(options.gutter * std::exp2(tile.node & 0xffU) / core));
}

// Tells whether a slot shows a part of a box, in doubles.
bool is_changed(const ShadowOptions& options, const ShadowFrame& frame, const ShadowTile& tile,
                const ShadowChange& change) {
    const auto [light, level, x, y] = node_of(tile);
    if ((change.light_mask >> light & 1U) == 0) {
        return false;
    }
    for (int axis = 0; axis < 3; ++axis) {
        if (!(change.low[axis] <= change.high[axis])) {
            return !(change.low[axis] > change.high[axis]);  // NaN may be anywhere
        }
    }
    std::array<double, 2> low{INFINITY, INFINITY};
    std::array<double, 2> high{-INFINITY, -INFINITY};
    int behind = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
        std::array<double, 4> clip{};
        for (std::size_t row = 0; row < 4; ++row) {
            const float* const m = frame.lights[light].clip_from_world;
            clip[row] = m[12 + row];
            for (std::size_t axis = 0; axis < 3; ++axis) {
                clip[row] += double{m[4 * axis + row]} *
                             ((corner >> axis & 1U) != 0 ? change.high[axis] : change.low[axis]);
            }
        }
        behind += clip[3] <= 0.0 ? 1 : 0;
        for (std::size_t i = 0; i < 2; ++i) {
            const double texel = (clip[i] / clip[3] + 1.0) * 0.5 * options.map_extent;
            low[i] = std::min(low[i], texel);
            high[i] = std::max(high[i], texel);
        }
    }
    if (behind > 0) {
        return behind < 8;
    }
    const double around = static_cast<double>(shown_around(options, tile)) + 0.01;
    return low[0] <= (std::int64_t{x + 1} << level) + around &&
           high[0] >= (std::int64_t{x} << level) - around &&
           low[1] <= (std::int64_t{y + 1} << level) + around &&
           high[1] >= (std::int64_t{y} << level) - around;
}

// The maximum of a node's texels.
float importance_of(const ShadowOptions& options, const std::vector<float>& importance,
                    const Node& node) {
    const auto [light, level, x, y] = node;
    float maximum = 0.0F;
    for (std::size_t row = y << level; row < std::size_t{y + 1} << level; ++row) {
        for (std::size_t column = x << level; column < std::size_t{x + 1} << level; ++column) {
            maximum = std::max(
                maximum,
                importance[(light * options.map_extent + row) * options.map_extent + column]);
        }
    }
    return maximum;
}

void check_tiles(const ShadowOptions& options, const ShadowResult& result) {
    std::vector<Tile> listed;
    for (const ShadowTile& tile : result.tiles) {
        listed.push_back({tile.position, tile.node, tile.importance, 0.0F});
    }
    EXPECT_EQ(check_partition(listed, {options.map_extent, options.map_extent, options.lights}),
              "");
    std::vector<Tile> sorted = listed;
    sort_canonical(sorted);
    EXPECT_EQ(sorted, listed);
    for (const ShadowTile& tile : result.tiles) {
        EXPECT_EQ(tile.importance, importance_of(options, result.importance, node_of(tile)));
    }
}

// Slots lie in the atlas, apart from each other, and show their tiles.
void check_slots(const ShadowOptions& options, const ShadowResult& result) {
    const std::uint32_t cell_extent = options.tile_extent / 16;
    std::set<std::pair<std::uint32_t, std::uint32_t>> cells;
    std::size_t expected_cells = 0;
    for (const ShadowTile& tile : result.tiles) {
        const auto [light, level, x, y] = node_of(tile);
        ASSERT_LT(class_of(tile), 5U);
        const std::uint32_t extent = cell_extent << class_of(tile);
        const std::uint32_t column = tile.slot & 0xffffU;
        const std::uint32_t row = tile.slot >> 16U;
        EXPECT_EQ(column % extent, 0U);
        EXPECT_EQ(row % extent, 0U);
        EXPECT_LE(column + extent, options.atlas_extent);
        EXPECT_LE(row + extent, options.atlas_extent);
        for (std::uint32_t r = row; r < row + extent; r += cell_extent) {
            for (std::uint32_t c = column; c < column + extent; c += cell_extent) {
                cells.insert({c, r});
            }
        }
        expected_cells += std::size_t{1} << (2 * class_of(tile));

        // The crop matrix takes the tile's corners to the core's, exactly.
        const auto atlas_texel = [&](std::uint32_t map_texel, float offset) {
            const double clip = 2.0 * map_texel / options.map_extent - 1.0;
            return (tile.crop_scale * clip + offset + 1.0) * 0.5 * options.atlas_extent;
        };
        EXPECT_EQ(atlas_texel(x << level, tile.crop_x), column + options.gutter);
        EXPECT_EQ(atlas_texel((x + 1) << level, tile.crop_x), column + extent - options.gutter);
        EXPECT_EQ(atlas_texel(y << level, tile.crop_y), row + options.gutter);
        EXPECT_EQ(atlas_texel((y + 1) << level, tile.crop_y), row + extent - options.gutter);
    }
    EXPECT_EQ(cells.size(), expected_cells);  // none twice
    EXPECT_EQ(result.header.used_cells, expected_cells);
}

// Cells of the atlas that are taken, by column and row.
class TakenCells {
 public:
    explicit TakenCells(const ShadowOptions& options)
        : cell_extent_(options.tile_extent / 16),
          side_(options.atlas_extent / cell_extent_),
          taken_(side_ * side_) {}

    void take(const ShadowTile& tile) {
        for_each_cell((tile.slot & 0xffffU) / cell_extent_, (tile.slot >> 16U) / cell_extent_,
                      1U << class_of(tile), [&](std::size_t cell) { taken_[cell] = true; });
    }

    // The free squares of a class's size that are in no larger one, as words of slots in order.
    [[nodiscard]] std::vector<std::uint32_t> free_slots(std::uint32_t slot_class) const {
        const std::uint32_t size = 1U << slot_class;  // in cells
        std::vector<std::array<std::uint32_t, 2>> slots;
        for (std::uint32_t y = 0; y < side_; y += size) {
            for (std::uint32_t x = 0; x < side_; x += size) {
                const auto is_part = [&] {
                    return !is_taken(x & ~(2 * size - 1), y & ~(2 * size - 1), 2 * size);
                };
                if (!is_taken(x, y, size) && (slot_class == 4 || !is_part())) {
                    slots.push_back(
                        {morton_encode(x, y), x * cell_extent_ | y * cell_extent_ << 16U});
                }
            }
        }
        std::vector<std::uint32_t> ordered;
        std::ranges::sort(slots);
        for (const auto& [place, slot] : slots) {
            ordered.push_back(slot);
        }
        return ordered;
    }

    // The four slots of the class below in one of this class.
    [[nodiscard]] std::array<std::uint32_t, 4> quarters(std::uint32_t slot,
                                                        std::uint32_t slot_class) const {
        const std::uint32_t half = cell_extent_ << (slot_class - 1);
        return {slot, slot + half, slot + (half << 16U), slot + half + (half << 16U)};
    }

 private:
    template <typename Action>
    void for_each_cell(std::uint32_t x, std::uint32_t y, std::uint32_t size, Action action) const {
        for (std::uint32_t row = y; row < y + size; ++row) {
            for (std::uint32_t column = x; column < x + size; ++column) {
                action(std::size_t{row} * side_ + column);
            }
        }
    }
    [[nodiscard]] bool is_taken(std::uint32_t x, std::uint32_t y, std::uint32_t size) const {
        bool result = false;
        for_each_cell(x, y, size, [&](std::size_t cell) { result = result || taken_[cell]; });
        return result;
    }

    std::uint32_t cell_extent_;
    std::uint32_t side_;       // of the atlas, in cells
    std::vector<bool> taken_;  // row by row
};

// New slots are the first free ones; an atlas is laid out anew only where there are too few.
void check_new_slots(const ShadowOptions& options, const Step& step, const ShadowResult& last,
                     const ShadowResult& result) {
    const std::map<Node, ShadowTile> before = by_node(last.tiles);
    const auto has_its_slot = [&](const ShadowTile& tile) {
        const auto found = before.find(step.before(node_of(tile)));
        return found != before.end() && class_of(found->second) == class_of(tile);
    };
    const bool is_repacked = result.header.flags == SHADOW_REPACKED;
    TakenCells taken(options);
    for (const ShadowTile& tile : result.tiles) {
        if (has_its_slot(tile)) {
            taken.take(before.at(step.before(node_of(tile))));
        }
    }
    std::vector<std::uint32_t> left;  // of the larger class
    for (std::uint32_t slot_class = 5; slot_class-- > 0;) {
        std::vector<ShadowTile> news;
        std::ranges::copy_if(result.tiles, std::back_inserter(news), [&](const ShadowTile& tile) {
            return class_of(tile) == slot_class && !has_its_slot(tile);
        });
        std::vector<std::uint32_t> slots = taken.free_slots(slot_class);
        for (const std::uint32_t slot : left) {
            std::ranges::copy(taken.quarters(slot, slot_class + 1), std::back_inserter(slots));
        }
        if (news.size() > slots.size()) {
            EXPECT_TRUE(is_repacked);
            return;
        }
        for (std::size_t i = 0; i < news.size(); ++i) {
            if (!is_repacked) {
                EXPECT_EQ(news[i].slot, slots[i]);
            }
        }
        left.assign(slots.begin() + static_cast<std::ptrdiff_t>(news.size()), slots.end());
    }
    EXPECT_FALSE(is_repacked);
}

// From the largest class down, one behind the other along the curve.
void check_repacked(const ShadowOptions& options, const ShadowResult& result) {
    std::vector<ShadowTile> tiles = result.tiles;
    std::ranges::stable_sort(tiles, std::greater{}, class_of);
    std::uint32_t cell = 0;
    for (const ShadowTile& tile : tiles) {
        const std::uint32_t extent = options.tile_extent / 16;
        EXPECT_EQ(morton_encode((tile.slot & 0xffffU) / extent, (tile.slot >> 16U) / extent), cell);
        cell += 1U << (2 * class_of(tile));
    }
}

// States, counts and the list to draw against sets of nodes.
void check_states(const Step& step, const ShadowResult& last, const ShadowFrame& frame,
                  const ShadowResult& result, const ShadowOptions& options,
                  std::span<const ShadowChange> changes) {
    const std::map<Node, ShadowTile> before = by_node(last.tiles);
    std::set<Node> stay;
    const bool is_repacked = result.header.flags == SHADOW_REPACKED;
    std::vector<std::uint32_t> render;
    std::uint32_t kept = 0;
    std::uint32_t resized = 0;
    for (std::uint32_t i = 0; i < result.tiles.size(); ++i) {
        const ShadowTile& tile = result.tiles[i];
        const auto found = before.find(step.before(node_of(tile)));
        stay.insert(step.before(node_of(tile)));
        const bool is_kept = found != before.end();
        kept += is_kept ? 1 : 0;
        EXPECT_EQ(has(tile, SHADOW_KEPT), is_kept);
        const bool has_its_slot =
            is_kept && !is_repacked && class_of(found->second) == class_of(tile);
        resized += is_kept && !has_its_slot ? 1 : 0;
        if (has_its_slot) {
            EXPECT_EQ(tile.slot, found->second.slot);
        }
        if (!has_its_slot || !step.is_same_light(tile.node >> 16U) ||
            std::ranges::any_of(changes, [&](const ShadowChange& change) {
                return is_changed(options, frame, tile, change);
            })) {
            render.push_back(i);
        }
        EXPECT_EQ(has(tile, SHADOW_RENDER), !render.empty() && render.back() == i);
    }
    EXPECT_EQ(result.header.kept, kept);
    EXPECT_EQ(result.header.added, result.tiles.size() - kept);
    EXPECT_EQ(result.header.removed, std::ranges::count_if(last.tiles, [&](const auto& tile) {
                  return !stay.contains(node_of(tile));
              }));
    EXPECT_EQ(result.render, render);
    EXPECT_EQ(result.header.resized, resized);
}

void check_header(const ShadowOptions& options, const ShadowResult& result) {
    const ShadowHeader& header = result.header;
    EXPECT_EQ(header.tiles, result.tiles.size());
    EXPECT_EQ(header.render_count, result.render.size());
    EXPECT_EQ(header.render_vertex_count, 4U);
    EXPECT_EQ(header.render_first_vertex, 0U);
    EXPECT_EQ(header.render_first_instance, 0U);
    EXPECT_EQ(header.factor, budget_factor(header.factor_index));
    EXPECT_LE(header.tiles, options.max_tiles);
    EXPECT_GE(header.tiles, options.lights);
    const std::uint32_t side = options.atlas_extent / (options.tile_extent / 16);
    EXPECT_LE(header.used_cells, side * side);
}

// Each texel's page is the tile that covers it, and each tile has all of its texels.
void check_page_table(const ShadowOptions& options, const ShadowResult& result) {
    std::vector<std::size_t> texels(result.tiles.size());
    ASSERT_EQ(result.page_table.size(),
              std::size_t{options.lights} * options.map_extent * options.map_extent);
    for (std::size_t i = 0; i < result.page_table.size(); ++i) {
        const std::uint32_t page = result.page_table[i];
        ASSERT_LT(page & 0xffffU, result.tiles.size());
        const auto [light, level, x, y] = node_of(result.tiles[page & 0xffffU]);
        EXPECT_EQ(page >> 16U, level);
        EXPECT_EQ(i % options.map_extent >> level, x);
        EXPECT_EQ(i / options.map_extent % options.map_extent >> level, y);
        EXPECT_EQ(i / options.map_extent / options.map_extent, light);
        ++texels[page & 0xffffU];
    }
    for (std::size_t i = 0; i < texels.size(); ++i) {
        EXPECT_EQ(texels[i], std::size_t{1} << (2 * (result.tiles[i].node & 0xffU)));
    }
}

// Cores in texels, times the ratio for what is kept, over the level's texels and times the factor.
float threshold_of(const ShadowOptions& options, std::uint32_t level, std::uint32_t core_class,
                   bool is_kept, std::uint32_t factor) {
    auto core = static_cast<float>((options.tile_extent >> (4 - core_class)) - 2 * options.gutter);
    core *= is_kept ? options.merge_ratio : 1.0F;
    return std::ldexp(core, -static_cast<int>(level)) * budget_factor(factor);
}

constexpr std::size_t ONE_PAGE = 256;  // cells that are always allowed

}  // namespace

// From each root down.
bool fits_budgets(const ShadowOptions& options, const ShadowFrame& last_frame,
                  const ShadowResult& last, const ShadowFrame& frame,
                  const std::vector<float>& importance, std::uint32_t factor) {
    const Step step(options, last_frame, frame);
    std::set<Node> last_split;
    const std::map<Node, ShadowTile> last_tiles = by_node(last.tiles);
    for (const auto& [tile, record] : last_tiles) {
        auto [light, level, x, y] = tile;
        while (1U << level < options.map_extent) {
            last_split.insert({light, ++level, x /= 2, y /= 2});
        }
    }
    std::size_t tiles = 0;
    std::size_t cells = 0;
    const std::function<void(const Node&)> visit = [&](const Node& node) {
        const auto [light, level, x, y] = node;
        const float maximum = importance_of(options, importance, node);
        if (level > 0 && maximum >= threshold_of(options, level, 4,
                                                 last_split.contains(step.before(node)), factor)) {
            for (std::uint32_t child = 0; child < 4; ++child) {
                visit({light, level - 1, 2 * x + child % 2, 2 * y + child / 2});
            }
            return;
        }
        const auto before = last_tiles.find(step.before(node));
        std::uint32_t slot_class = 0;
        for (std::uint32_t c = 1; c < 5; ++c) {
            const bool was_above = before != last_tiles.end() && class_of(before->second) >= c;
            slot_class += maximum >= threshold_of(options, level, c - 1, was_above, factor) ? 1 : 0;
        }
        ++tiles;
        cells += std::size_t{1} << (2 * slot_class);
    };
    for (std::uint32_t light = 0; light < options.lights; ++light) {
        visit({light, static_cast<std::uint32_t>(std::log2(options.map_extent)), 0, 0});
    }
    const std::size_t side = 16 * options.atlas_extent / options.tile_extent;
    const auto most_cells =
        static_cast<std::size_t>(options.atlas_fill * static_cast<float>(side * side));
    return tiles <= options.max_tiles && cells <= std::max(most_cells, ONE_PAGE);
}

void check_shadow_frame(const ShadowOptions& options, const ShadowFrame& last_frame,
                        const ShadowResult& last, const ShadowFrame& frame,
                        const ShadowResult& result, std::span<const ShadowChange> changes) {
    check_tiles(options, result);
    check_slots(options, result);
    const Step step(options, last_frame, frame);
    check_new_slots(options, step, last, result);
    if (result.header.flags == SHADOW_REPACKED) {
        check_repacked(options, result);
    }
    check_states(step, last, frame, result, options, changes);
    check_header(options, result);
    check_page_table(options, result);
    const std::uint32_t factor = result.header.factor_index;
    EXPECT_TRUE(fits_budgets(options, last_frame, last, frame, result.importance, factor));
    if (factor > 0) {
        EXPECT_FALSE(fits_budgets(options, last_frame, last, frame, result.importance, factor - 1));
    }
}

}  // namespace quadtile::test
