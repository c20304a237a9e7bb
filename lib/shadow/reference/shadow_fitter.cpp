// CPU twin of kernels/shadow: docs/shadows_definition.md step by step, in plain loops.

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/shadow.hpp>

#include "shadow_picture.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace quadtile::reference {

namespace {

using Result = ShadowFitter::Result;

std::uint32_t level_of(const ShadowTile& tile) {
    return tile.node & 0xffU;
}

std::uint32_t light_of(const ShadowTile& tile) {
    return tile.node >> 16U;
}

std::uint32_t x_of(const ShadowTile& tile) {
    return tile.position & 0xffffU;
}

std::uint32_t y_of(const ShadowTile& tile) {
    return tile.position >> 16U;
}

std::uint32_t class_of(const ShadowTile& tile) {
    return tile.state & 0xffU;
}

bool has(const ShadowTile& tile, std::uint32_t state) {
    return ((tile.state >> 8U) & state) != 0;
}

// ---- 1. Importance

// Steps of the maps of a frame, by layer.
using Steps = std::vector<ShadowStep>;

// Returns the importance at the begin of a frame, left from the last one.
std::vector<float> faded_importance(const ShadowParameters& parameters, const ShadowFrame& frame,
                                    const ShadowFrame& last_frame, const Steps& steps,
                                    const Result& last) {
    const std::uint32_t extent = 1U << parameters.map_levels;
    std::vector<float> importance(std::size_t{extent} * extent * parameters.lights);
    for (std::size_t i = 0; i < last.importance.size(); ++i) {
        const auto x = static_cast<std::uint32_t>(i % extent);
        const auto y = static_cast<std::uint32_t>(i / extent % extent);
        const std::size_t light = i / extent / extent;
        // Place of the last frame's texel in an image that turns with the map.
        const auto then = [&](std::uint32_t axis, std::uint32_t place) {
            const std::int32_t turned = shadow_origin(parameters, frame.lights[light], axis) -
                                        shadow_origin(parameters, last_frame.lights[light], axis);
            return shadow_importance_texel(parameters, turned, place);
        };
        if (shadow_was_inside(parameters, steps[light], x, y)) {
            importance[i] =
                shadow_faded(last.importance[(light * extent + then(1, y)) * extent + then(0, x)]);
        }
    }
    return importance;
}

// Returns the layer of a light that has a pixel.
std::uint32_t layer_of(const ShadowParameters& parameters, const ShadowFrame& frame,
                       std::uint32_t light, std::uint32_t column, std::uint32_t row, float depth) {
    std::uint32_t layer = light;
    float most = shadow_claim(parameters, frame.lights[light], column, row, depth);
    for (std::uint32_t i = light + 1; i < light + frame.lights[light].layers; ++i) {
        const float claim = shadow_claim(parameters, frame.lights[i], column, row, depth);
        if (claim > most) {
            layer = i;
            most = claim;
        }
    }
    return layer;
}

// `factor` is that of the last frame.
void scatter_importance(const ShadowParameters& parameters, const ShadowFrame& frame,
                        const DepthBuffer& depths, const SeenAround& seen, float factor,
                        std::vector<float>& importance) {
    const std::size_t extent = std::size_t{1} << parameters.map_levels;
    const std::size_t blocks = extent / SHADOW_ASKED_BLOCK;
    std::vector<bool> is_asked(blocks * blocks * parameters.lights);
    for (std::uint32_t row = 0; row < frame.depth_height; ++row) {
        for (std::uint32_t column = 0; column < frame.depth_width; ++column) {
            const std::optional<float> here = depths.at(column, row);
            if (!here || !takes_pixel(column, row)) {
                continue;
            }
            const float by_column = depths.step(column, row, 1, 0);
            const float by_row = depths.step(column, row, 0, 1);
            for (std::uint32_t light = 0; light < frame.layers;
                 light += std::max(1U, frame.lights[light].layers)) {
                const std::uint32_t layer = layer_of(parameters, frame, light, column, row, *here);
                const ShadowLight& of_layer = frame.lights[layer];
                const ShadowMapping mapping =
                    shadow_mapping(parameters, of_layer, column, row, *here, by_column, by_row);
                if (mapping.inside != 0) {
                    const auto x = static_cast<std::uint32_t>(mapping.at[0]);
                    const auto y = static_cast<std::uint32_t>(mapping.at[1]);
                    is_asked[(layer * blocks + y / SHADOW_ASKED_BLOCK) * blocks +
                             x / SHADOW_ASKED_BLOCK] = true;
                    float& texel = importance[(layer * extent + y) * extent + x];
                    texel = std::max(
                        texel, shadow_beside_edge(shadow_request(parameters, of_layer, mapping),
                                                  seen.words(column, row, mapping, layer)));
                }
            }
        }
    }
    for (std::size_t i = 0; factor > 1.0F && i < importance.size(); ++i) {
        const std::size_t row = i / extent;  // of all lights
        if (!is_asked[row / SHADOW_ASKED_BLOCK * blocks + i % extent / SHADOW_ASKED_BLOCK] &&
            importance[i] > 0.0F) {
            importance[i] = shadow_unasked(importance[i], factor);
        }
    }
}

// ---- The last frame

// State of nodes in the last frame.
class LastFrame {
 public:
    LastFrame(const ShadowParameters& parameters, const Steps& steps, const Result& result)
        : parameters_(parameters), steps_(steps), result_(result) {}

    // The importance from which on a node is split with a factor.
    [[nodiscard]] float threshold(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                  std::uint32_t light, std::uint32_t factor) const {
        const std::optional<std::uint32_t> last = page(level, x, y, light);
        const bool was_split = last && shadow_page_level(*last) < level;
        return scaled_threshold(shadow_threshold(parameters_, level, SHADOW_CLASSES - 1, was_split),
                                factor);
    }

    // Null if the node was no tile.
    [[nodiscard]] const ShadowTile* tile(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                         std::uint32_t light) const {
        const std::optional<std::uint32_t> last = page(level, x, y, light);
        if (!last || shadow_page_level(*last) != level) {
            return nullptr;
        }
        return &result_.tiles[shadow_page_tile(*last)];
    }

    [[nodiscard]] std::uint32_t tile_class(std::uint32_t level, std::uint32_t x, std::uint32_t y,
                                           std::uint32_t light) const {
        const ShadowTile* const last = tile(level, x, y, light);
        return last != nullptr ? class_of(*last) : 0;
    }

 private:
    // Page of the node's first texel; nullopt if it was no node.
    [[nodiscard]] std::optional<std::uint32_t> page(std::uint32_t level, std::uint32_t x,
                                                    std::uint32_t y, std::uint32_t light) const {
        const ShadowStep& step = steps_[light];
        if (result_.header.tiles == 0 || !shadow_keeps_level(step, level) ||
            !shadow_was_inside(parameters_, step, x << level, y << level)) {
            return std::nullopt;
        }
        const std::size_t extent = std::size_t{1} << parameters_.map_levels;
        const std::size_t column = (x << level) + static_cast<std::uint32_t>(step.x);
        const std::size_t row = (y << level) + static_cast<std::uint32_t>(step.y);
        return result_.page_table[(light * extent + row) * extent + column];
    }

    const ShadowParameters& parameters_;
    const Steps& steps_;
    const Result& result_;
};

// ---- 1. Lookup of this frame's pixels in the last frame's maps

// Returns what a pixel tells of each light.
std::vector<SeenPixel> seen_by_lights(const ShadowParameters& parameters, const ShadowFrame& frame,
                                      const DepthBuffer& depths, const Steps& steps,
                                      const Result& last, std::span<const float> atlas,
                                      std::uint32_t column, std::uint32_t row) {
    const std::optional<float> depth = depths.at(column, row);
    if (!depth || last.header.tiles == 0) {
        return {};
    }
    const std::size_t map_extent = std::size_t{1} << parameters.map_levels;
    std::vector<SeenPixel> seen;
    for (std::uint32_t light = 0; light < frame.layers;
         light += std::max(1U, frame.lights[light].layers)) {
        const std::uint32_t layer = layer_of(parameters, frame, light, column, row, *depth);
        const ShadowMapping now =
            shadow_mapping(parameters, frame.lights[layer], column, row, *depth,
                           depths.step(column, row, 1, 0), depths.step(column, row, 0, 1));
        const ShadowSight sight = shadow_sight(parameters, frame.lights[layer], now, steps[layer]);
        if (sight.inside == 0) {
            continue;
        }
        const std::uint32_t page =
            last.page_table[(layer * map_extent + static_cast<std::size_t>(sight.y)) * map_extent +
                            static_cast<std::size_t>(sight.x)];
        const ShadowTile& tile = last.tiles[shadow_page_tile(page)];
        const std::uint32_t x =
            shadow_atlas_texel(parameters, tile, sight.x, x_of(tile), tile.slot & 0xffffU);
        const std::uint32_t y =
            shadow_atlas_texel(parameters, tile, sight.y, y_of(tile), tile.slot >> 16U);
        const float stored = atlas[(std::size_t{y} << parameters.atlas_levels) + x];
        seen.push_back(
            {shadow_is_reached(parameters, sight, tile, x, y, stored) ? SHADOW_LIT : SHADOW_SHADED,
             layer, now.at[0], now.at[1]});
    }
    return seen;
}

// ---- 2 to 4. Pyramid and factor

// What a list needs.
struct Needs {
    [[nodiscard]] bool are_kept(const ShadowParameters& parameters) const {
        return tiles <= parameters.max_tiles && cells <= shadow_max_cells(parameters);
    }

    std::uint64_t tiles = 0;
    std::uint64_t cells = 0;
};

// Adds the needs of a node with a factor, until the budgets are exceeded.
void add_needs(const ShadowParameters& parameters, const LastFrame& last, const Pyramid& pyramid,
               std::uint32_t level, std::uint32_t x, std::uint32_t y, std::uint32_t light,
               std::uint32_t factor, Needs& needs) {
    const float importance = pyramid.levels[level].at(x, y);
    if (level > 0 && importance >= last.threshold(level, x, y, light, factor)) {
        for (std::uint32_t child = 0; child < 4 && needs.are_kept(parameters); ++child) {
            add_needs(parameters, last, pyramid, level - 1, 2 * x + child % 2, 2 * y + child / 2,
                      light, factor, needs);
        }
        return;
    }
    needs.tiles += 1;
    needs.cells += shadow_slot_cells(
        shadow_class(parameters, level, importance, last.tile_class(level, x, y, light), factor));
}

// Returns the index of the least factor that keeps the budgets. A linear search: with hysteresis
// fewer tiles may need more cells.
std::uint32_t least_factor(const ShadowParameters& parameters, const ShadowFrame& frame,
                           const LastFrame& last, const MapView& map) {
    std::vector<Pyramid> pyramids;
    for (std::uint32_t light = 0; light < frame.layers; ++light) {
        pyramids.push_back(build_pyramid(map, light));
    }
    for (std::uint32_t factor = 0;; ++factor) {
        Needs needs;
        for (std::uint32_t light = 0; light < frame.layers; ++light) {
            if (!shadow_is_unused(frame.lights[light])) {
                add_needs(parameters, last, pyramids[light], parameters.map_levels, 0, 0, light,
                          factor, needs);
            }
        }
        if (needs.are_kept(parameters)) {
            return factor;
        }
    }
}

// ---- 5. Thresholds

Threshold thresholds_of(const ShadowParameters& parameters, const LastFrame& last,
                        std::uint32_t factor) {
    const std::uint32_t extent = 1U << parameters.map_levels;
    NodeThresholds thresholds(extent, extent, parameters.lights);
    for (std::uint32_t light = 0; light < parameters.lights; ++light) {
        for (std::uint32_t level = 0; level <= parameters.map_levels; ++level) {
            for (std::uint32_t y = 0; y < extent >> level; ++y) {
                for (std::uint32_t x = 0; x < extent >> level; ++x) {
                    thresholds.at(level, x, y, light) =
                        level == 0 ? float_from_bits(BITS_INFINITY)
                                   : last.threshold(level, x, y, light, factor);
                }
            }
        }
    }
    return Threshold::map(std::move(thresholds));
}

// ---- 7. Kept tiles

// What of a tile is drawn.
enum class Drawn { nothing, moving_casters, all };

// Returns what is drawn because a tile's slot shows changes.
Drawn drawn_for(const ShadowParameters& parameters, const ShadowFrame& frame,
                std::span<const ShadowChange> changes, const ShadowTile& tile) {
    const ShadowLight& light = frame.lights[light_of(tile)];
    Drawn drawn = Drawn::nothing;
    for (const ShadowChange& change : changes) {
        if (shadow_overlaps(parameters, shadow_bounds(parameters, light, change.low, change.high),
                            tile)) {
            drawn = std::max(drawn, change.is_static != 0 ? Drawn::all : Drawn::moving_casters);
        }
    }
    return drawn;
}

// Makes a ShadowTile of a listed tile; its slot is SHADOW_NONE if it needs one.
ShadowTile classified(const ShadowParameters& parameters, const LastFrame& last, const Tile& listed,
                      std::uint32_t factor) {
    const ShadowTile* const before =
        last.tile(listed.level(), listed.x(), listed.y(), listed.layer());
    const std::uint32_t last_class = before != nullptr ? class_of(*before) : 0;
    const std::uint32_t slot_class =
        shadow_class(parameters, listed.level(), listed.importance, last_class, factor);
    ShadowTile tile{};
    tile.position = listed.position;
    tile.node = listed.node;
    tile.importance = listed.importance;
    tile.state = slot_class | (before != nullptr ? SHADOW_KEPT << 8U : 0);
    tile.slot = before != nullptr && last_class == slot_class ? before->slot : SHADOW_NONE;
    return tile;
}

// ---- 8. Slots

class Atlas {
 public:
    explicit Atlas(const ShadowParameters& parameters)
        : tile_extent_(parameters.tile_extent), occupied_(shadow_atlas_cells(parameters)) {}

    void occupy(std::uint32_t slot, std::uint32_t slot_class) {
        const std::uint32_t cell = shadow_cell_of_slot(tile_extent_, slot);
        std::fill_n(occupied_.begin() + cell, shadow_slot_cells(slot_class), true);
    }

    // First cells of a class's free slots that are not part of larger free slots.
    [[nodiscard]] std::vector<std::uint32_t> free_slots(std::uint32_t slot_class) const {
        const std::uint32_t cells = shadow_slot_cells(slot_class);
        const bool is_largest = slot_class == SHADOW_CLASSES - 1;
        std::vector<std::uint32_t> slots;
        for (std::uint32_t cell = 0; cell < occupied_.size(); cell += cells) {
            const std::uint32_t enclosing = cell - cell % (4 * cells);
            if (!any_occupied(cell, cells) && (is_largest || any_occupied(enclosing, 4 * cells))) {
                slots.push_back(cell);
            }
        }
        return slots;
    }

 private:
    [[nodiscard]] bool any_occupied(std::uint32_t cell, std::uint32_t cells) const {
        const auto first = occupied_.begin() + cell;
        return std::find(first, first + cells, true) != first + cells;
    }

    std::uint32_t tile_extent_;
    std::vector<bool> occupied_;  // by cell along the Z-order curve
};

// Gives slots to tiles without one. Returns whether all found one.
bool place_new(const ShadowParameters& parameters, std::vector<ShadowTile>& tiles) {
    Atlas atlas(parameters);
    for (const ShadowTile& tile : tiles) {
        if (tile.slot != SHADOW_NONE) {
            atlas.occupy(tile.slot, class_of(tile));
        }
    }
    std::vector<std::uint32_t> quarters;  // of slots that the larger class leaves
    for (std::uint32_t slot_class = SHADOW_CLASSES; slot_class-- > 0;) {
        std::vector<std::uint32_t> places = atlas.free_slots(slot_class);
        places.insert(places.end(), quarters.begin(), quarters.end());
        std::size_t taken = 0;
        for (ShadowTile& tile : tiles) {
            if (class_of(tile) != slot_class || tile.slot != SHADOW_NONE) {
                continue;
            }
            if (taken == places.size()) {
                return false;
            }
            tile.slot = shadow_slot_of_cell(parameters.tile_extent, places[taken++]);
        }
        quarters.clear();
        for (; slot_class > 0 && taken < places.size(); ++taken) {
            for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
                quarters.push_back(places[taken] + quarter * shadow_slot_cells(slot_class - 1));
            }
        }
    }
    return true;
}

// ---- 9. The outcome

void set_crop(const ShadowParameters& parameters, ShadowTile& tile) {
    const std::uint32_t level = level_of(tile);
    const std::uint32_t slot_class = class_of(tile);
    tile.crop_scale = shadow_crop_scale(parameters, level, slot_class);
    tile.crop_x =
        shadow_crop_offset(parameters, level, slot_class, x_of(tile), tile.slot & 0xffffU);
    tile.crop_y = shadow_crop_offset(parameters, level, slot_class, y_of(tile), tile.slot >> 16U);
}

void count_tiles(const Result& last, const std::vector<Drawn>& drawn, Result& result) {
    ShadowHeader& header = result.header;
    header.tiles = static_cast<std::uint32_t>(result.tiles.size());
    for (std::uint32_t i = 0; i < header.tiles; ++i) {
        const ShadowTile& tile = result.tiles[i];
        header.kept += has(tile, SHADOW_KEPT) ? 1 : 0;
        header.used_cells += shadow_slot_cells(class_of(tile));
    }
    for (const Drawn part : {Drawn::all, Drawn::moving_casters}) {
        for (std::uint32_t i = 0; i < header.tiles; ++i) {
            if (drawn[i] == part) {
                result.render.push_back(i);
                header.static_count += part == Drawn::all ? 1 : 0;
            }
        }
    }
    header.added = header.tiles - header.kept;
    header.removed = last.header.tiles - header.kept;
    header.render_vertex_count = 4;
    header.static_vertex_count = 4;
    header.render_count = static_cast<std::uint32_t>(result.render.size());
}

// ---- 10. The page table

std::vector<std::uint32_t> page_table_of(const ShadowParameters& parameters,
                                         const std::vector<ShadowTile>& tiles) {
    const std::size_t extent = std::size_t{1} << parameters.map_levels;
    std::vector<std::uint32_t> pages(extent * extent * parameters.lights);
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
        const std::size_t size = std::size_t{1} << level_of(tiles[i]);
        const std::size_t column = x_of(tiles[i]) * size;
        for (std::size_t row = y_of(tiles[i]) * size; row < (y_of(tiles[i]) + 1) * size; ++row) {
            const std::size_t first = (light_of(tiles[i]) * extent + row) * extent + column;
            std::fill_n(pages.begin() + static_cast<std::ptrdiff_t>(first), size,
                        shadow_page(i, level_of(tiles[i])));
        }
    }
    return pages;
}

}  // namespace

ShadowFitter::ShadowFitter(const ShadowOptions& options)
    : parameters_(shadow_parameters(options)) {}

const ShadowFitter::Result& ShadowFitter::next(const ShadowFrame& frame,
                                               std::span<const float> depth,
                                               std::span<const float> atlas,
                                               std::span<const ShadowChange> changes) {
    const std::size_t pixels = std::size_t{frame.depth_width} * frame.depth_height;
    if (depth.size() != pixels) {
        detail::refuse("the depth buffer has ", depth.size(),
                       " values, but the frame's depth_width * depth_height is ", pixels,
                       "; give one for each pixel");
    }
    const std::size_t atlas_texels = std::size_t{1} << (2 * parameters_.atlas_levels);
    if (atlas.size() != atlas_texels) {
        detail::refuse("the atlas has ", atlas.size(),
                       " depths, but atlas_extent * atlas_extent is ", atlas_texels,
                       "; give one for each texel");
    }
    const DepthBuffer depths(frame, depth);
    Steps steps;
    for (std::uint32_t light = 0; light < parameters_.lights; ++light) {
        steps.push_back(shadow_step(parameters_, frame.lights[light], frame_.lights[light]));
    }
    const SeenAround seen(frame, [&](std::uint32_t column, std::uint32_t row) {
        return seen_by_lights(parameters_, frame, depths, steps, result_, atlas, column, row);
    });
    const LastFrame last(parameters_, steps, result_);
    Result result;
    result.importance = faded_importance(parameters_, frame, frame_, steps, result_);
    scatter_importance(parameters_, frame, depths, seen, result_.header.factor, result.importance);
    const std::uint32_t map_extent = 1U << parameters_.map_levels;
    const MapView map = view_of(result.importance, map_extent, map_extent, parameters_.lights);
    const std::uint32_t factor = least_factor(parameters_, frame, last, map);
    for (const Tile& tile : subdivide(map, thresholds_of(parameters_, last, factor)).tiles) {
        if (!shadow_is_unused(frame.lights[tile.layer()])) {
            result.tiles.push_back(classified(parameters_, last, tile, factor));
        }
    }

    std::vector<Drawn> drawn;
    for (const ShadowTile& tile : result.tiles) {
        const bool is_resized = has(tile, SHADOW_KEPT) && tile.slot == SHADOW_NONE;
        result.header.resized += is_resized ? 1 : 0;
        const bool is_other =
            tile.slot == SHADOW_NONE || steps[light_of(tile)].changed != SHADOW_SAME;
        drawn.push_back(is_other ? Drawn::all : drawn_for(parameters_, frame, changes, tile));
    }
    const bool is_repacked = !place_new(parameters_, result.tiles);
    if (is_repacked) {
        std::ranges::for_each(result.tiles, [](ShadowTile& tile) { tile.slot = SHADOW_NONE; });
        (void)place_new(parameters_, result.tiles);
        drawn.assign(drawn.size(), Drawn::all);
        result.header.flags = SHADOW_REPACKED;
    }
    for (std::size_t i = 0; i < result.tiles.size(); ++i) {
        set_crop(parameters_, result.tiles[i]);
        result.tiles[i].state |= drawn[i] != Drawn::nothing ? SHADOW_RENDER << 8U : 0;
    }

    count_tiles(result_, drawn, result);
    if (is_repacked) {
        result.header.resized = result.header.kept;
    }
    result.header.factor_index = factor;
    result.header.factor = budget_factor(factor);
    result.page_table = page_table_of(parameters_, result.tiles);
    frame_ = frame;
    result_ = std::move(result);
    return result_;
}

std::vector<std::vector<std::uint32_t>> ShadowFitter::cull(std::span<const ShadowObject> objects,
                                                           bool is_static) const {
    const std::span<const std::uint32_t> render =
        std::span(result_.render)
            .first(is_static ? result_.header.static_count : result_.header.render_count);
    std::vector<std::vector<std::uint32_t>> tiles_of_objects;
    for (const ShadowObject& object : objects) {
        std::vector<std::uint32_t>& drawn_in = tiles_of_objects.emplace_back();
        for (const std::uint32_t index : render) {
            const ShadowTile& tile = result_.tiles[index];
            if (shadow_overlaps(parameters_,
                                shadow_bounds(parameters_, frame_.lights[light_of(tile)],
                                              object.low, object.high),
                                tile)) {
                drawn_in.push_back(index);
            }
        }
    }
    return tiles_of_objects;
}

}  // namespace quadtile::reference
