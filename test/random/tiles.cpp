// Tile lists: each strategy and each way to ask for a list against the reference, to the bit.

#include "engine.hpp"
#include "support/definition.hpp"
#include "support/glsl.hpp"
#include "support/maps.hpp"
#include "support/variants.hpp"
#include "support/workspace.hpp"

#include <quadtile/budget.h>
#include <quadtile/kernel_parameters.h>

#include <recording/kernel_constants.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

namespace quadtile::test {

namespace {

// ---- Comparing --------------------------------------------------------------------------------

std::string difference_in(Order order, TileList actual, const TileList& expected) {
    if (order == Order::any) {
        sort_canonical(actual.tiles);
    }
    return difference(actual, expected);
}

// ---- Thresholds -------------------------------------------------------------------------------

struct AskedThreshold {
    Threshold threshold;
    Threshold twin;  // for the reference
    bool is_monotone;
};

// Tells whether a variant of the device can address thresholds per node.
bool reaches_node_thresholds(const Variant& variant, const MapShape& shape) {
    const std::uint64_t reach = variant.limits.max_storage_buffer_range_bytes;
    return reach == 0 || threshold_map_size_bytes(shape) <= reach;
}

AskedThreshold random_threshold(Choices& choices, const Variant& variant, const MapShape& shape,
                                const std::vector<float>& palette) {
    std::vector<std::string> kinds = {"constant", "falling", "any_levels"};
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    if (texels <= 1U << 16U && reaches_node_thresholds(variant, shape)) {  // slow to make
        kinds.insert(kinds.end(), {"memory", "monotone_map", "any_map"});
    }
    if (texels <= 1U << 12U && can_compile_glsl()) {
        kinds.emplace_back("function");
    }
    const std::string kind = kinds[choices.one_of("threshold", kinds)];
    Random random = choices.random("thresholds");
    const auto same = [](const Threshold& threshold, bool is_monotone) {
        return AskedThreshold{threshold, threshold, is_monotone};
    };
    if (kind == "constant") {
        return same(Threshold::constant(threshold_value(random, palette)), true);
    }
    if (kind == "falling") {
        return same(level_threshold(random, shape, palette), true);
    }
    if (kind == "any_levels") {
        std::vector<float> values(top_level(shape.width, shape.height) + 1);
        for (float& level : values) {
            level = threshold_value(random, palette);
        }
        const Threshold threshold = Threshold::per_level(values);
        return same(threshold,
                    threshold.is_monotone(static_cast<std::uint32_t>(values.size()) - 1));
    }
    if (kind == "memory") {
        const MapShape fragment_shape{shape.width, shape.height, shape.layers};
        const std::vector<std::byte> fragments =
            random_texels(choices, fragment_shape, {0.0F, 3.0F, 8.0F}, true);
        return same(Threshold::memory(4.0F * threshold_value(random, palette),
                                      static_cast<float>(1 + random.below(1000)),
                                      {fragments.data(), fragment_shape}),
                    true);
    }
    if (kind == "monotone_map") {
        NodeThresholds nodes(shape.width, shape.height, shape.layers);
        for_each_node(shape, [&](auto level, auto x, auto y, auto layer) {
            float value = std::numeric_limits<float>::infinity();
            for (std::uint32_t child = 0; level > 0 && child < 4; ++child) {
                const std::uint32_t child_x = 2 * x + child % 2;
                const std::uint32_t child_y = 2 * y + child / 2;
                if (child_x < level_extent(shape.width, level - 1) &&
                    child_y < level_extent(shape.height, level - 1)) {
                    value = std::min(value, nodes.at(level - 1, child_x, child_y, layer));
                }
            }
            nodes.at(level, x, y, layer) = level == 0         ? threshold_value(random, palette)
                                           : random.one_in(4) ? value * 0.5F
                                                              : value;
        });
        return same(Threshold::map(nodes), true);
    }
    if (kind == "any_map") {
        const Threshold threshold = Threshold::map(
            make_thresholds(shape, [&](auto...) { return threshold_value(random, palette); }));
        return same(threshold, threshold.is_monotone(top_level(shape.width, shape.height)));
    }
    const float scale = palette[1] + 0.5F;
    return {Threshold::function(THRESHOLD_FUNCTION_GLSL, {scale}),
            threshold_function_twin(shape, scale), false};
}

// ---- Ways to ask for a list -------------------------------------------------------------------

struct Case {
    MapShape shape;
    std::vector<std::byte> texels;
    std::vector<float> palette;

    [[nodiscard]] MapView view() const { return {texels.data(), shape}; }
};

// Few different ones: for each a Tiler keeps its buffers.
std::uint32_t random_subtree_levels(Choices& choices) {
    constexpr std::uint32_t LEVELS[] = {6, 1, 2, 5, 8};
    return LEVELS[choices.one_of("subtree_levels", {"6", "1", "2", "5", "8"})];
}

// The marks of a balanced list lie in one buffer: long maps have too many for short chunks.
bool reaches_marks(const Variant& variant, const MapShape& shape) {
    const std::uint64_t reach = variant.limits.max_storage_buffer_range_bytes;
    return reach == 0 ||
           Subdivider(device_for(variant)).requirements(shape, 1).balance_size_bytes <= reach;
}

Balance random_balance(Choices& choices, const Variant& variant, const MapShape& shape) {
    if (!choices.one_in("with_balance", 3) || !reaches_marks(variant, shape)) {
        return Balance::none;
    }
    return choices.one_of("neighbours", {"edges", "corners"}) == 0 ? Balance::edges
                                                                   : Balance::corners;
}

// A budget between one tile and more than there are, or none.
std::optional<std::uint64_t> random_budget(Choices& choices, const AskedThreshold& asked,
                                           std::size_t tiles) {
    if (!asked.is_monotone || !choices.one_in("with_budget", 3)) {
        return std::nullopt;
    }
    return choices.number("budget", 1, static_cast<std::uint32_t>(tiles) + 1, [&](Random& random) {
        return 1 + static_cast<std::uint32_t>(random.unit() * random.unit() *
                                              static_cast<float>(tiles + 1));
    });
}

// Through Tilers, by all strategies that take the threshold.
std::string check_tilers(Choices& choices, const Variant& variant, const Case& test,
                         const AskedThreshold& asked, const TileList& expected) {
    const std::optional<std::uint64_t> budget =
        expected.balance == Balance::none ? random_budget(choices, asked, expected.tiles.size())
                                          : std::nullopt;
    const SubdivideOptions options{choices.one_in("any_order", 2) ? Order::any : Order::canonical,
                                   budget, expected.balance};
    const std::uint32_t subtree_levels = random_subtree_levels(choices);
    TileList wanted = expected;
    if (budget) {
        try {
            wanted = reference::subdivide(test.view(), asked.twin, options);
        } catch (const Error& error) {
            try {
                (void)tiler_for(variant, Strategy::fused)
                    .subdivide(test.view(), asked.threshold, options);
                return "fused keeps a budget that the reference cannot keep";
            } catch (const Error& same) {
                return same.code() == error.code() ? "" : std::string("by fused: ") + same.what();
            }
        }
    }
    std::vector<Strategy> strategies{Strategy::automatic};
    if (!budget && options.balance == Balance::none) {
        strategies.push_back(Strategy::subtree);
    }
    if (asked.is_monotone) {
        strategies.push_back(Strategy::fused);
    }
    for (const Strategy strategy : strategies) {
        Tiler& tiler =
            tiler_for(variant, strategy, strategy == Strategy::subtree ? subtree_levels : 6);
        const std::string wrong = difference_in(
            options.order, tiler.subdivide(test.view(), asked.threshold, options), wanted);
        if (!wrong.empty()) {
            return "by " + text_of(strategy) + ": " + wrong;
        }
    }
    return {};
}

// Checks the written tiles: the right list, or a part of it if the buffer is shorter.
std::string wrong_tiles(std::vector<Tile> tiles, std::span<const Tile> expected, Order order) {
    if (order == Order::canonical) {
        return difference(tiles, expected.first(std::min(tiles.size(), expected.size())));
    }
    sort_canonical(tiles);
    if (tiles.size() == expected.size()) {
        return difference(tiles, expected);
    }
    std::size_t next = 0;
    for (const Tile& tile : tiles) {
        while (next < expected.size() && std::memcmp(&tile, &expected[next], sizeof(Tile)) != 0) {
            ++next;
        }
        if (next++ == expected.size()) {
            return text_of(tile) + " is no tile of the list, or is there twice";
        }
    }
    return {};
}

// A list with its header, as it was read.
std::string wrong_list(Bytes bytes, std::uint64_t capacity, const TileList& expected, Order order) {
    const TileListHeader header = values_of<TileListHeader>(bytes.first(sizeof(TileListHeader)))[0];
    std::string wrong = wrong_header(header, expected.tiles.size(), capacity, expected.balance);
    if (!wrong.empty()) {
        return wrong;
    }
    const Bytes tiles = bytes.subspan(sizeof(TileListHeader), header.written * sizeof(Tile));
    return wrong_tiles(values_of<Tile>(tiles), expected.tiles, order);
}

// Buffers of a list that may be too small for it.
struct Recording {
    Subdivider::Requirements needed;
    Part scratch;
    Part list;
    Subdivider::Resources resources;
};

constexpr std::uint32_t GUARD_TILES = 4;  // behind the list: must stay as they are

Recording prepare(Engine& engine, const Subdivider& subdivider, const Case& test,
                  std::uint64_t capacity, Balance balance) {
    const Subdivider::Requirements needed = subdivider.requirements(test.shape, capacity);
    const auto part = [&](const std::string& name, VkDeviceSize size_bytes) {
        return engine.part(name, size_bytes, needed.alignment_bytes);
    };
    Recording made{needed,
                   part("scratch", needed.scratch_size_bytes),
                   part("list", needed.tile_list_size_bytes + GUARD_TILES * sizeof(Tile)),
                   {}};
    made.resources = {.map = engine.upload(test.view()).map_image(),
                      .scratch = made.scratch.range(),
                      .tile_list = made.list.range(),
                      .tile_capacity = capacity};
    if (balance != Balance::none) {  // may hold anything
        made.resources.balance = part("balance", needed.balance_size_bytes).range();
    }
    return made;
}

// Names the first word of a map's state that is not back at 0, among those that Pyramid and
// Strategy::fused keep after their own words (kernel_parameters.h); empty if all are 0.
std::string counter_not_at_rest(std::span<const std::uint32_t> state, const MapShape& shape,
                                bool fused) {
    const std::uint32_t top = top_level(shape.width, shape.height);
    const std::uint32_t per_layer =
        fused ? detail::fused_words_per_layer(shape.width, shape.height, top)
              : detail::state_words_per_layer(shape.width, shape.height, top, EDGE_ROUND_UP, 1, 1);
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        std::uint32_t word = shape.layers + layer * per_layer;
        if (state[word] != 0) {
            return "the NaN texels of layer " + std::to_string(layer);
        }
        if (fused && state[word + LAYER_ARRIVALS_WORD] != 0) {
            return "the counters of layer " + std::to_string(layer);
        }
        word += fused ? LAYER_WORDS : 1;
        for (std::uint32_t level = BLOCK_LEVELS; level < top; level += step_levels(level, top)) {
            const std::uint32_t levels = step_levels(level, top);
            const std::uint32_t groups = blocks_along(shape.width, level, levels, EDGE_ROUND_UP) *
                                         blocks_along(shape.height, level, levels, EDGE_ROUND_UP);
            const std::uint32_t nodes =
                level_extent(shape.width, level) * level_extent(shape.height, level);
            const std::uint32_t words =
                detail::handover_words(shape.width, shape.height, level, levels, EDGE_ROUND_UP,
                                       fused ? 0 : 1, fused ? FUSED_SLOT_WORDS : 1);
            // Skips node words, which stay: between counters and slots, or behind all layers.
            const std::uint32_t first_node = 2 * groups;
            const std::uint32_t end_of_nodes = first_node + (fused ? 0 : nodes);
            for (std::uint32_t i = 0; i < words; ++i) {
                if ((i < first_node || i >= end_of_nodes) && state[word + i] != 0) {
                    return "word " + std::to_string(i) + " of level " + std::to_string(level);
                }
            }
            word += words;
        }
    }
    return {};
}

// Records a list twice; then the counters are at rest: those of its pyramid, or of `fused`.
std::string check_runs(Engine& engine, const Recording& made, const TileList& expected,
                       const std::optional<Part>& pyramid_state, std::array<Order, 2> orders,
                       const std::function<void(VkCommandBuffer, Order)>& record) {
    const std::uint64_t capacity = made.resources.tile_capacity;
    const VkDeviceSize list_bytes =
        sizeof(TileListHeader) + (capacity + GUARD_TILES) * sizeof(Tile);
    const VkDeviceSize own = Subdivider::nan_texels_offset_bytes;
    const Part counters =
        pyramid_state.value_or(made.scratch.of<std::byte>(own, made.scratch.size_bytes - own));
    std::vector<Bytes> read;
    for (std::size_t run = 0; run < orders.size(); ++run) {
        read = engine.run(
            [&](VkCommandBuffer commands) {
                if (run == 0) {
                    engine.fill(commands, made.scratch);
                    engine.fill(commands, made.list, 0xabcdabcdU);
                    engine.gpu.barrier(commands);
                }
                record(commands, orders[run]);
            },
            {made.list.of<std::byte>(0, list_bytes), counters});
        const std::string where = "run " + std::to_string(run) + ": ";
        std::string wrong = wrong_list(read[0], capacity, expected, orders[run]);
        if (!wrong.empty()) {
            return where + wrong;
        }
        const auto guard = values_of<std::uint32_t>(read[0].last(GUARD_TILES * sizeof(Tile)));
        if (std::ranges::any_of(guard, [](std::uint32_t word) { return word != 0xabcdabcdU; })) {
            return where + "something was written behind the list";
        }
    }
    const std::string counter =
        counter_not_at_rest(values_of<std::uint32_t>(read[1]), expected.shape, !pyramid_state);
    return counter.empty() ? "" : "not back at 0: " + counter;
}

std::string check_recorded(Choices& choices, Engine& engine, const Case& test,
                           const AskedThreshold& asked, const TileList& expected) {
    const bool is_fused =
        expected.balance != Balance::none ||
        (asked.is_monotone && choices.one_of("strategy", {"subtree", "fused"}) == 1);
    const Strategy strategy = is_fused ? Strategy::fused : Strategy::subtree;
    const std::uint32_t subtree_levels = is_fused ? 6 : random_subtree_levels(choices);
    const auto tiles = static_cast<std::uint32_t>(expected.tiles.size());
    const std::uint64_t capacity = std::min<std::uint64_t>(
        choices.number("capacity", 1, tiles + 1,
                       [&](Random& random) {
                           return random.one_in(2) ? tiles + random.below(2)
                                                   : 1 + random.below(tiles);
                       }),
        engine.gpu.device().info().max_tiles);
    const Order order = is_fused && choices.one_in("canonical", 2) ? Order::canonical : Order::any;
    const Subdivider& subdivider = engine.subdivider(strategy, subtree_levels);
    Recording made = prepare(engine, subdivider, test, capacity, expected.balance);
    const Pyramid::Requirements needed = engine.pyramid.requirements(test.shape);
    const Part levels = engine.part("pyramid", needed.pyramid_size_bytes, needed.alignment_bytes);
    const Part state = engine.part("state", needed.state_size_bytes, needed.alignment_bytes);
    const Pyramid::Binding pyramid = engine.pyramid.bind(
        test.shape, {.map = made.resources.map, .pyramid = levels.range(), .state = state.range()});
    engine.gpu.run([&](VkCommandBuffer commands) { engine.fill(commands, state); });
    made.resources.pyramid = levels.range();
    Threshold recorded = asked.threshold;
    if (recorded.needs_threshold_map()) {
        std::vector<float> contents = threshold_map_contents(recorded, test.shape);
        if (choices.one_in("bound_map", 2)) {  // as a kernel might leave them
            constexpr auto NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();
            constexpr auto DENORMAL = std::numeric_limits<float>::denorm_min();
            Random random = choices.random("bound map");
            for (float& value : contents) {
                const bool is_other = random.one_in(2);
                value = std::isinf(value) ? (is_other ? NOT_A_NUMBER : -NOT_A_NUMBER)
                        : value == 0.0F   ? (is_other ? DENORMAL : -0.0F)
                                          : value;
            }
            recorded = asked.is_monotone ? Threshold::bound_monotone_map() : Threshold::bound_map();
        }
        made.resources.node_thresholds =
            engine.part("node thresholds", contents, made.needed.alignment_bytes).range();
    }
    const Subdivider::Binding binding = subdivider.bind(test.shape, made.resources);
    const std::string wrong =
        check_runs(engine, made, expected, is_fused ? std::nullopt : std::optional(state),
                   {order, order}, [&](VkCommandBuffer commands, Order) {
                       engine.pyramid.record(commands, pyramid);
                       if (!is_fused) {  // which only reads the map, as the pyramid does
                           engine.gpu.compute_barrier(commands);
                       }
                       subdivider.record(commands, binding, recorded,
                                         {.order = order, .balance = expected.balance});
                   });
    return wrong.empty() ? "" : "by " + text_of(strategy) + ", " + wrong;
}

// Layers with thresholds of their own.
std::string check_batch(Choices& choices, Engine& engine, const Variant& variant,
                        const Case& test) {
    const MapShape one{test.shape.width, test.shape.height, 1, test.shape.format};
    Random random = choices.random("layer thresholds");
    std::vector<Threshold> thresholds;
    for (std::uint32_t layer = 0; layer < test.shape.layers; ++layer) {
        thresholds.push_back(level_threshold(random, one, test.palette));
    }
    const SubdivideOptions options{.balance = random_balance(choices, variant, test.shape)};
    const TileList expected = reference::subdivide(test.view(), thresholds, options);
    std::vector<Strategy> strategies{Strategy::fused};
    if (options.balance == Balance::none && reaches_node_thresholds(variant, test.shape)) {
        strategies.push_back(Strategy::subtree);  // by thresholds by node
    }
    for (const Strategy strategy : strategies) {
        const std::string wrong = difference_in(
            Order::canonical,
            tiler_for(variant, strategy).subdivide(test.view(), thresholds, options), expected);
        if (!wrong.empty()) {
            return "layers by a Tiler with " + text_of(strategy) + ": " + wrong;
        }
    }

    const Subdivider& subdivider = engine.subdivider(Strategy::fused, 6);
    const std::uint64_t capacity = std::min<std::uint64_t>(
        choices.number("capacity", 1, static_cast<std::uint32_t>(expected.tiles.size()) + 1),
        engine.gpu.device().info().max_tiles);
    Recording made = prepare(engine, subdivider, test, capacity, options.balance);
    made.resources.layer_thresholds =
        engine
            .part("layer thresholds", Subdivider::layer_thresholds(test.shape, thresholds),
                  made.needed.alignment_bytes)
            .range();
    const Subdivider::Binding binding = subdivider.bind(test.shape, made.resources);
    const std::string wrong = check_runs(
        engine, made, expected, std::nullopt, {Order::any, Order::canonical},
        [&](VkCommandBuffer commands, Order order) {
            subdivider.record(commands, binding, {.order = order, .balance = options.balance});
        });
    return wrong.empty() ? "" : "a batch, " + wrong;
}

struct Kept {
    std::map<std::string, Engine> engines;  // by variant
    std::vector<Choices::Choice> last;      // choices of the last case
    std::uint64_t cases = 0;
};

// Lets a case take choices of the last one.
void keep_choices(Choices& choices, const RandomSettings& settings, Kept& kept) {
    std::vector<std::string> names;
    if (keeps_shape(choices)) {
        names = shape_choices();
        names.insert(names.end(), {"variant", "format"});
    }
    if (kept.cases++ % settings.stretch != 0) {
        // These decide which pipelines run, and how drivers compile them.
        names.insert(names.end(),
                     {"variant", "format", "way", "threshold", "any_order", "with_budget",
                      "subtree_levels", "strategy", "canonical", "with_balance", "neighbours"});
    }
    if (!names.empty()) {
        choices.prefer(given_of(kept.last, names));
    }
}

std::string check_case(Choices& choices, const RandomSettings& settings, Kept& kept) {
    // Drivers compile pipelines for each variant, which takes as long as thousands of cases.
    const auto variants = static_cast<std::uint32_t>(all_variants().size());
    const Variant& variant =
        all_variants()[choices.number("variant", 0, variants - 1, [&](Random& random) {
            return settings.is_short || !random.one_in(4) ? 0 : random.below(variants);
        })];
    const Device& device = device_for(variant);
    const bool has_short_chunks = variant.limits.max_storage_buffer_range_bytes != 0;

    Case test;
    test.shape = random_shape(
        choices, {.max_extent = device.info().max_map_extent,
                  .max_layers = has_short_chunks ? 64U : std::min(device.info().max_layers, 2048U),
                  .max_texels = has_short_chunks ? std::min(settings.max_texels, 1U << 14U)
                                                 : settings.max_texels});
    const MapShape& shape = test.shape;
    const std::uint64_t pyramid_size_bytes =
        std::uint64_t{4} * pyramid_pitch(shape.width) * pyramid_rows(shape.height) * shape.layers;
    if (has_short_chunks &&
        pyramid_size_bytes > 4 * variant.limits.max_storage_buffer_range_bytes) {
        return {};  // long maps: rows of pyramids are 16 floats or more
    }
    test.shape.format = random_map_format(choices, "format");
    test.palette = random_palette(choices);
    test.texels = random_texels(choices, test.shape, test.palette);
    Engine& engine = kept.engines.try_emplace(variant.name, device).first->second;
    const std::vector<std::string> ways{"tilers", "recorded", "batch"};
    const std::string way = ways[choices.one_of("way", ways)];
    if (way == "batch") {
        return check_batch(choices, engine, variant, test);
    }
    const AskedThreshold asked = random_threshold(choices, variant, test.shape, test.palette);
    const Balance balance =
        asked.is_monotone ? random_balance(choices, variant, test.shape) : Balance::none;
    const TileList expected = reference::subdivide(test.view(), asked.twin, {.balance = balance});
    if (way == "recorded" && asked.threshold.user_function() == nullptr) {
        return check_recorded(choices, engine, test, asked, expected);
    }
    return check_tilers(choices, variant, test, asked, expected);
}

std::string check_tiles(Choices& choices, const RandomSettings& settings, Kept& kept) {
    keep_choices(choices, settings, kept);
    std::string wrong = check_case(choices, settings, kept);
    kept.last = choices.made();
    return wrong;
}

// ---- The reference ----------------------------------------------------------------------------

// Each layer as a map of its own.
std::string check_layers(Choices& choices, const Case& test) {
    const MapShape one{test.shape.width, test.shape.height};
    Random random = choices.random("layer thresholds");
    std::vector<Threshold> thresholds;
    TileList expected{.shape = test.shape};
    for (std::uint32_t layer = 0; layer < test.shape.layers; ++layer) {
        thresholds.push_back(level_threshold(random, one, test.palette));
        const std::byte* const first =
            test.texels.data() + layer * (test.texels.size() / test.shape.layers);
        const TileList alone = reference::subdivide({first, one}, thresholds.back());
        expected.nan_texels += alone.nan_texels;
        for (Tile tile : alone.tiles) {
            tile.node |= layer << 16U;
            expected.tiles.push_back(tile);
        }
    }
    return difference(reference::subdivide(test.view(), thresholds), expected);
}

// Without a device. Catches all that kernels would be wrong in together with the reference.
std::string check_reference(Choices& choices) {
    Case test;
    test.shape = {choices.number("width", 1, 40), choices.number("height", 1, 40),
                  choices.number("layers", 1, 3)};
    if (choices.one_in("few_peaks", 3)) {  // beside large tiles
        choices.prefer({{"content", "peaks"}, {"period", "300"}});
    }
    test.palette = random_palette(choices);
    test.texels = random_texels(choices, test.shape, test.palette);
    if (choices.one_in("by_layers", 4)) {
        return check_layers(choices, test);
    }
    const MapView map = test.view();
    const Threshold threshold =
        random_threshold(choices, all_variants().front(), test.shape, test.palette).twin;
    const bool is_monotone = threshold.is_monotone(top_level(test.shape.width, test.shape.height));
    const SubdivideOptions options{
        .max_tiles =
            is_monotone && choices.one_in("with_budget", 2)
                ? std::optional(choices.number(
                      "budget", 0, 1 << 10,
                      [](Random& random) { return random.below(random.one_in(2) ? 8 : 1 << 10); }))
                : std::nullopt,
        .balance = is_monotone ? random_balance(choices, all_variants().front(), test.shape)
                               : Balance::none};
    TileList list;
    try {
        list = reference::subdivide(map, threshold, options);
    } catch (const Error& error) {
        if (!options.max_tiles || options.balance != Balance::none) {
            return options.max_tiles ? "" : error.what();
        }
        const float most = budget_factor(BUDGET_FACTORS - 1);
        const std::size_t least = reference::subdivide(map, threshold.scaled(most)).tiles.size();
        const std::string told = "at least " + std::to_string(least) + " tiles";
        return least > *options.max_tiles &&
                       std::string(error.what()).find(told) != std::string::npos
                   ? ""
                   : error.what();
    }
    return options.balance != Balance::none ? wrong_balance(map, threshold, list)
           : options.max_tiles              ? wrong_budget(map, threshold, list, *options.max_tiles)
                                            : wrong_by_definition(map, threshold, list);
}

}  // namespace

Subject tiles_subject(const RandomSettings& settings) {
    const auto kept = std::make_shared<Kept>();
    return {"tiles", 0.4, 60,
            [=](Choices& choices) { return check_tiles(choices, settings, *kept); }};
}

Subject reference_subject() {
    return {"reference", 0.05, 4000, check_reference};
}

}  // namespace quadtile::test
