// The definition of a frame, docs/shadows_definition.md, in plain loops and sets and without the
// twin's code.

#pragma once

#include <quadtile/shadow.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

namespace quadtile::test {

using ShadowResult = reference::ShadowFitter::Result;

// A node: light, level, x, y.
using Node = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

inline Node node_of(const ShadowTile& tile) {
    return {tile.node >> 16U, tile.node & 0xffU, tile.position & 0xffffU, tile.position >> 16U};
}

inline std::uint32_t class_of(const ShadowTile& tile) {
    return tile.state & 0xffU;
}

// ---- Steps

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

// ---- Boxes

// Tells whether a slot shows a part of a ShadowChange or ShadowObject; nullopt where rounding
// decides.
inline std::optional<bool> shows(const ShadowOptions& options, const ShadowFrame& frame,
                                 const ShadowTile& tile, const auto& box) {
    const auto [light, level, x, y] = node_of(tile);
    for (int axis = 0; axis < 3; ++axis) {
        if (box.low[axis] > box.high[axis]) {
            return false;
        }
    }
    constexpr double ROUNDING = 1e-6;
    const float* const m = frame.lights[light].clip_from_world;
    const double half_extent = 0.5 * options.map_extent;
    std::array<double, 2> low{INFINITY, INFINITY};
    std::array<double, 2> high{-INFINITY, -INFINITY};
    double slack = 2e-5;
    int behind = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
        std::array<double, 4> clip{m[12], m[13], m[14], m[15]};
        std::array<double, 4> size{};  // of what it is a sum of
        for (std::size_t row = 0; row < 4; ++row) {
            size[row] = std::abs(clip[row]);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double part = double{m[4 * axis + row]} *
                                    ((corner >> axis & 1U) != 0 ? box.high[axis] : box.low[axis]);
                clip[row] += part;
                size[row] += std::abs(part);
            }
        }
        if (std::abs(clip[3]) <= ROUNDING * size[3]) {
            return std::nullopt;
        }
        behind += clip[3] < 0.0 ? 1 : 0;
        for (std::size_t i = 0; i < 2; ++i) {
            const double place = clip[i] / clip[3];
            low[i] = std::min(low[i], (place + 1.0) * half_extent);
            high[i] = std::max(high[i], (place + 1.0) * half_extent);
            slack = std::max(slack, ROUNDING * (size[i] + size[3] * std::abs(place)) /
                                        std::abs(clip[3]) * half_extent);
        }
    }
    if (behind > 0) {
        return behind < 8;
    }
    // Texels of the map on each side of a tile that its slot shows, cut ones too.
    const double core = (options.tile_extent >> (4 - class_of(tile))) - 2.0 * options.gutter;
    const double gutter = std::ceil(options.gutter * std::exp2(level) / core) + 0.01;
    const double extent = std::exp2(level);
    const double left = x * extent;
    const double top = y * extent;
    const auto meets = [&](double margin) {
        return low[0] <= left + extent + margin && high[0] >= left - margin &&
               low[1] <= top + extent + margin && high[1] >= top - margin;
    };
    return meets(gutter + slack) == meets(gutter - slack) ? std::optional(meets(gutter))
                                                          : std::nullopt;
}

// ---- Tiles and slots

struct Listed {
    Node node;
    std::uint32_t slot_class;
    float importance;
};

// Cores in texels, times the ratio for what is kept, over the level's texels and times the factor.
inline float threshold_of(const ShadowOptions& options, std::uint32_t level,
                          std::uint32_t core_class, bool is_kept, std::uint32_t factor) {
    auto core = static_cast<float>((options.tile_extent >> (4 - core_class)) - 2 * options.gutter);
    core *= is_kept ? 0.8F : 1.0F;
    return std::ldexp(core, -static_cast<int>(level)) * budget_factor(factor);
}

// A frame by definition.
class Definition {
 public:
    Definition(const ShadowOptions& options, const ShadowFrame& last_frame,
               const ShadowResult& last, const ShadowFrame& frame,
               const std::vector<float>& importance)
        : options_(options),
          importance_(importance),
          frame_(frame),
          step_(options, last_frame, frame) {
        for (const ShadowTile& tile : last.tiles) {
            auto [light, level, x, y] = node_of(tile);
            last_tiles_[node_of(tile)] = tile;
            while (1U << level < options.map_extent) {
                last_split_.insert({light, ++level, x /= 2, y /= 2});
            }
        }
    }

    [[nodiscard]] const Step& step() const { return step_; }

    // The last frame's tile that was this node; null if there was none.
    [[nodiscard]] const ShadowTile* before(const Node& node) const {
        const auto found = last_tiles_.find(step_.before(node));
        return found != last_tiles_.end() ? &found->second : nullptr;
    }

    // From each root down, in canonical order.
    [[nodiscard]] std::vector<Listed> tiles(std::uint32_t factor) const {
        std::vector<Listed> listed;
        const std::function<void(const Node&)> visit = [&](const Node& node) {
            const auto [light, level, x, y] = node;
            const float maximum = maximum_of(node);
            const bool was_split = last_split_.contains(step_.before(node));
            if (level > 0 && maximum >= threshold_of(options_, level, 4, was_split, factor)) {
                for (std::uint32_t child = 0; child < 4; ++child) {
                    visit({light, level - 1, 2 * x + child % 2, 2 * y + child / 2});
                }
                return;
            }
            const ShadowTile* const tile = before(node);
            std::uint32_t slot_class = 0;
            for (std::uint32_t c = 1; c < 5; ++c) {
                const bool was_above = tile != nullptr && class_of(*tile) >= c;
                const float least = threshold_of(options_, level, c - 1, was_above, factor);
                slot_class += maximum >= least ? 1 : 0;
            }
            listed.push_back({node, slot_class, maximum});
        };
        for (std::uint32_t light = 0; light < options_.lights; ++light) {
            if (std::ranges::all_of(frame_.lights[light].clip_from_world,
                                    [](float element) { return element == 0.0F; })) {
                continue;  // unused
            }
            visit({light, static_cast<std::uint32_t>(std::log2(options_.map_extent)), 0, 0});
        }
        return listed;
    }

    [[nodiscard]] bool fits(std::uint32_t factor) const {
        const std::vector<Listed> listed = tiles(factor);
        std::size_t cells = 0;
        for (const Listed& tile : listed) {
            cells += cells_of(tile.slot_class);
        }
        const std::size_t most = side() * side() * 7 / 8;
        return listed.size() <= options_.max_tiles && cells <= std::max(most, cells_of(4));
    }

    // The first cell of each tile's slot along the Z-order curve, and whether all are new ones.
    [[nodiscard]] std::pair<std::vector<std::uint32_t>, bool> slots(
        const std::vector<Listed>& listed) const {
        std::vector<bool> taken(side() * side());
        const auto is_free = [&](std::size_t first, std::uint32_t slot_class) {
            const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(first);
            return std::find(begin, begin + static_cast<std::ptrdiff_t>(cells_of(slot_class)),
                             true) == begin + static_cast<std::ptrdiff_t>(cells_of(slot_class));
        };
        std::vector<std::uint32_t> cells(listed.size(), SHADOW_NONE);
        for (std::size_t i = 0; i < listed.size(); ++i) {
            const ShadowTile* const tile = before(listed[i].node);
            if (tile != nullptr && class_of(*tile) == listed[i].slot_class) {
                cells[i] = cell_of(tile->slot);
                std::fill_n(taken.begin() + cells[i], cells_of(listed[i].slot_class), true);
            }
        }
        std::vector<std::uint32_t> left;  // places of the larger class
        for (std::uint32_t c = 5; c-- > 0;) {
            const auto size = static_cast<std::uint32_t>(cells_of(c));
            std::vector<std::uint32_t> places;
            for (std::uint32_t first = 0; first < taken.size(); first += size) {
                if (is_free(first, c) && (c == 4 || !is_free(first & ~(4 * size - 1), c + 1))) {
                    places.push_back(first);
                }
            }
            for (const std::uint32_t larger : left) {
                for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
                    places.push_back(larger + quarter * size);
                }
            }
            std::size_t next = 0;
            for (std::size_t i = 0; i < listed.size(); ++i) {
                if (listed[i].slot_class == c && cells[i] == SHADOW_NONE) {
                    if (next == places.size()) {
                        return {laid_out_anew(listed), true};
                    }
                    cells[i] = places[next++];
                }
            }
            left.assign(places.begin() + static_cast<std::ptrdiff_t>(next), places.end());
        }
        return {cells, false};
    }

    // Of a slot's word.
    [[nodiscard]] std::uint32_t cell_of(std::uint32_t slot) const {
        const std::uint32_t extent = options_.tile_extent / 16;
        return morton_encode((slot & 0xffffU) / extent, (slot >> 16U) / extent);
    }

    static std::size_t cells_of(std::uint32_t slot_class) {
        return std::size_t{1} << (2 * slot_class);
    }

 private:
    static std::vector<std::uint32_t> laid_out_anew(const std::vector<Listed>& listed) {
        std::vector<std::uint32_t> cells(listed.size());
        std::uint32_t cell = 0;
        for (std::uint32_t c = 5; c-- > 0;) {
            for (std::size_t i = 0; i < listed.size(); ++i) {
                if (listed[i].slot_class == c) {
                    cells[i] = cell;
                    cell += static_cast<std::uint32_t>(cells_of(c));
                }
            }
        }
        return cells;
    }

    [[nodiscard]] std::size_t side() const {  // of the atlas, in cells
        return 16 * options_.atlas_extent / options_.tile_extent;
    }

    [[nodiscard]] float maximum_of(const Node& node) const {
        const auto [light, level, x, y] = node;
        const std::size_t extent = options_.map_extent;
        float maximum = 0.0F;
        for (std::size_t row = y << level; row < std::size_t{y + 1} << level; ++row) {
            const auto begin =
                importance_.begin() + static_cast<std::ptrdiff_t>((light * extent + row) * extent +
                                                                  (std::size_t{x} << level));
            maximum = std::max(maximum, *std::max_element(begin, begin + (1 << level)));
        }
        return maximum;
    }

    const ShadowOptions& options_;
    const std::vector<float>& importance_;
    const ShadowFrame& frame_;
    Step step_;
    std::map<Node, ShadowTile> last_tiles_;
    std::set<Node> last_split_;
};

// Tells whether a tile's crop takes the corners of its part of the map to those of its core.
inline bool is_cropped(const ShadowOptions& options, const ShadowTile& tile) {
    const auto [light, level, x, y] = node_of(tile);
    const auto is_at = [&, level = level](std::uint32_t place, float offset, std::uint32_t slot) {
        const std::uint32_t extent = options.tile_extent >> (4 - class_of(tile));
        const auto in_atlas = [&](std::uint32_t map_texel) {
            const double clip = 2.0 * map_texel / options.map_extent - 1.0;
            return (tile.crop_scale * clip + offset + 1.0) * 0.5 * options.atlas_extent;
        };
        return in_atlas(place << level) == slot + options.gutter &&
               in_atlas((place + 1) << level) == slot + extent - options.gutter;
    };
    return is_at(x, tile.crop_x, tile.slot & 0xffffU) && is_at(y, tile.crop_y, tile.slot >> 16U);
}

// Names what a frame's result breaks of steps 3 to 10, given its importance and the frame before it
// (an empty one at first). Empty where it is right.
inline std::string broken_rule(const ShadowOptions& options, const ShadowFrame& last_frame,
                               const ShadowResult& last, const ShadowFrame& frame,
                               const ShadowResult& result, std::span<const ShadowChange> changes) {
    const Definition definition(options, last_frame, last, frame, result.importance);
    const ShadowHeader& header = result.header;
    const std::uint32_t factor = header.factor_index;
    if (!definition.fits(factor) || header.factor != budget_factor(factor)) {
        return "the factor does not keep the budgets";
    }
    for (const std::uint32_t less : {factor - 1, factor / 2, 0U}) {
        if (less < factor && definition.fits(less)) {
            return "a smaller factor keeps the budgets";
        }
    }
    const std::vector<Listed> listed = definition.tiles(factor);
    const auto [cells, is_repacked] = definition.slots(listed);
    if (listed.size() != result.tiles.size()) {
        return "the number of tiles is another one";
    }

    const std::set<std::uint32_t> whole(
        result.render.begin(),
        result.render.begin() + std::min(header.static_count, header.render_count));
    const auto either = [](std::optional<bool> a, std::optional<bool> b) {
        return a == true || b == true ? true : b ? a : b;
    };
    ShadowHeader expected{.factor_index = factor, .factor = header.factor};
    expected.tiles = static_cast<std::uint32_t>(listed.size());
    expected.flags = is_repacked ? SHADOW_REPACKED : 0;
    expected.render_vertex_count = 4;
    expected.static_vertex_count = 4;
    std::vector<std::uint32_t> render;  // first those that are drawn whole
    std::vector<std::uint32_t> only_moving;
    std::vector<std::uint32_t> pages(result.importance.size());  // 0 for unused layers
    for (std::uint32_t i = 0; i < listed.size(); ++i) {
        const ShadowTile& tile = result.tiles[i];
        const auto& [node, slot_class, importance] = listed[i];
        const std::string where = " of tile " + std::to_string(i);
        if (node_of(tile) != node || class_of(tile) != slot_class ||
            tile.importance != importance) {
            return "node, class or importance" + where;
        }
        if (definition.cell_of(tile.slot) != cells[i] || !is_cropped(options, tile)) {
            return "slot or crop" + where;
        }
        const ShadowTile* const before = definition.before(node);
        const bool has_its_slot =
            before != nullptr && !is_repacked && class_of(*before) == slot_class;
        const auto [light, level, x, y] = node;
        std::optional<bool> is_drawn = !has_its_slot || !definition.step().is_same_light(light);
        std::optional<bool> is_whole = is_drawn;
        for (const ShadowChange& change : changes) {
            const std::optional<bool> changed = shows(options, frame, tile, change);
            is_drawn = either(is_drawn, changed);
            is_whole = either(is_whole, change.is_static != 0 ? changed : false);
        }
        const std::uint32_t flags = tile.state >> 8U;
        if (((flags & SHADOW_KEPT) != 0) != (before != nullptr) ||
            (is_drawn && ((flags & SHADOW_RENDER) != 0) != *is_drawn) ||
            (is_whole && whole.contains(i) != *is_whole)) {
            return "kept or drawn" + where;
        }
        if ((flags & SHADOW_RENDER) != 0) {
            (whole.contains(i) ? render : only_moving).push_back(i);
        }
        expected.kept += before != nullptr ? 1 : 0;
        expected.resized += before != nullptr && !has_its_slot ? 1 : 0;
        expected.used_cells += static_cast<std::uint32_t>(Definition::cells_of(slot_class));
        for (std::uint32_t row = y << level; row < (y + 1) << level; ++row) {
            std::fill_n(pages.begin() + static_cast<std::ptrdiff_t>(
                                            (std::size_t{light} * options.map_extent + row) *
                                                options.map_extent +
                                            (std::size_t{x} << level)),
                        1U << level, i | level << 16U);
        }
    }
    expected.added = expected.tiles - expected.kept;
    expected.removed = static_cast<std::uint32_t>(last.tiles.size()) - expected.kept;
    expected.static_count = static_cast<std::uint32_t>(render.size());
    render.insert(render.end(), only_moving.begin(), only_moving.end());
    expected.render_count = static_cast<std::uint32_t>(render.size());
    return std::memcmp(&expected, &header, sizeof(header)) != 0 ? "the header"
           : render != result.render                            ? "the list of tiles to draw"
           : pages != result.page_table                         ? "the page table"
                                                                : "";
}

// The same for the tiles in which each object is drawn, of those in `render`; all ascending.
inline std::string broken_culling(const ShadowOptions& options, const ShadowFrame& frame,
                                  const ShadowResult& result,
                                  const std::vector<std::uint32_t>& render,
                                  std::span<const ShadowObject> objects,
                                  std::span<const std::vector<std::uint32_t>> drawn) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
        for (const std::uint32_t tile : render) {
            const std::optional<bool> expected =
                shows(options, frame, result.tiles[tile], objects[i]);
            if (expected && *expected != std::ranges::binary_search(drawn[i], tile)) {
                return "object " + std::to_string(i) + " in tile " + std::to_string(tile);
            }
        }
        if (!std::ranges::includes(render, drawn[i])) {
            return "object " + std::to_string(i) + " in tiles that are not drawn";
        }
    }
    return {};
}

}  // namespace quadtile::test
