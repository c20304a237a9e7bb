// The whole pipeline against the reference: the list is the same, tile for tile, bit for bit.

#include "gpu_test.hpp"
#include "support/maps.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace quadtile::test {
namespace {

constexpr float INF = std::numeric_limits<float>::infinity();

class Subdivision : public GpuTest {};
class LargeMaps : public GpuTest {};

struct Content {
    std::string name;
    std::vector<float> texels;
    Threshold threshold;
    bool monotone = true;
};

std::vector<Content> contents_of(const MapShape& shape) {
    std::vector<Content> contents{
        {"constant, split", constant_map(shape, 2.0F), Threshold::constant(1.0F)},
        {"constant at the threshold", constant_map(shape, 1.0F), Threshold::constant(1.0F)},
        {"random", random_map(shape), Threshold::constant(0.99F)},
        {"random, by resolution", random_map(shape), Threshold::max_resolution(16.0F)},
        {"smooth", smooth_map(shape), Threshold::max_resolution(32.0F)},
        {"special values", with_special_values(random_map(shape), 32), Threshold::constant(0.9F)},
        {"special values, none split but infinity", with_special_values(random_map(shape), 32),
         Threshold::constant(INF)},
        {"denormal threshold", with_special_values(constant_map(shape, -0.0F), 8),
         Threshold::constant(std::numeric_limits<float>::denorm_min())},
    };
    const MapAndThreshold all = all_split(shape);
    contents.push_back({"all split", all.texels, all.threshold});
    const MapAndThreshold none = none_split(shape);
    contents.push_back({"none split", none.texels, none.threshold});
    for (const Corner corner :
         {Corner::top_left, Corner::top_right, Corner::bottom_left, Corner::bottom_right}) {
        contents.push_back({"peak in corner " + std::to_string(static_cast<int>(corner)),
                            corner_peak_map(shape, corner), Threshold::constant(1.0F)});
    }
    // Not monotone: a threshold that grows with the level, one level that is never split.
    const std::uint32_t top = top_level(shape.width, shape.height);
    std::vector<float> growing;
    for (std::uint32_t level = 0; level <= top; ++level) {
        growing.push_back(0.9F + 0.1F * static_cast<float>(level) / static_cast<float>(top + 1));
    }
    contents.push_back(
        {"growing thresholds", random_map(shape), Threshold::per_level(growing), top == 0});
    return contents;
}

const std::vector<MapShape>& shapes() {
    static const std::vector<MapShape> all{
        {1, 1},        {2, 1},   {1, 2},     {2, 2},     {3, 3},    {1, 100},
        {129, 1},      {31, 33}, {63, 64},   {64, 64},   {65, 65},  {100, 37, 3},
        {128, 127, 2}, {257, 5}, {255, 256}, {1023, 65}, {1, 3000}, {7, 7, 70},
    };
    return all;
}

// Layers, odd extents, hand-overs, a thin one.
const std::vector<MapShape>& few_shapes() {
    static const std::vector<MapShape> few{{65, 65}, {100, 37, 3}, {1023, 65}, {1, 3000}};
    return few;
}

std::string text_of(const MapShape& shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.layers);
}

void expect_same_as_reference(const MapShape& shape, const Variant& variant, Strategy strategy,
                              std::uint32_t subtree_levels) {
    Tiler& tiler = tiler_for(variant, strategy, subtree_levels);
    for (const Content& content : contents_of(shape)) {
        if (strategy == Strategy::fused && !content.monotone) {
            continue;
        }
        const MapView map = view_of(content.texels, shape.width, shape.height, shape.layers);
        const TileList expected = reference::subdivide(map, content.threshold);
        if (expected.tiles.size() > device_for(variant).info().max_tiles) {
            EXPECT_THROW((void)tiler.subdivide(map, content.threshold), Error);
            continue;
        }
        const auto check = [&](const TileList& list, const char* order) {
            EXPECT_EQ(difference(list, expected), "")
                << text_of(shape) << ", " << content.name << ", " << variant.name << ", strategy "
                << static_cast<int>(strategy) << ", " << subtree_levels << " subtree levels, "
                << order;
        };
        check(tiler.subdivide(map, content.threshold), "canonical order");
        if (strategy ==
            Strategy::fused) {  // other kernels; the others' lists are sorted afterwards
            TileList list = tiler.subdivide(map, content.threshold, Order::any);
            sort_canonical(list.tiles);
            check(list, "any order");
        }
    }
}

std::vector<Content> contents_by_node(const MapShape& shape) {
    const std::vector<float> fragments = random_fragments(shape);
    const Threshold memory = Threshold::memory(
        24.0F, 300.0F, view_of(fragments, shape.width, shape.height, shape.layers));
    const std::vector<float> special = with_special_values(random_map(shape), 32);
    return {
        {"random thresholds", random_map(shape, 2), Threshold::map(random_thresholds(shape, 5))},
        {"special values, random thresholds", special, Threshold::map(random_thresholds(shape, 6))},
        {"random thresholds, scaled", special,
         Threshold::map(random_thresholds(shape, 7)).scaled(1.03125F)},
        {"memory", smooth_map(shape), memory},
        {"memory, scaled", random_map(shape, 3), memory.scaled(1.5F)}};
}

void expect_same_as_reference_by_node(const MapShape& shape, const Variant& variant,
                                      Strategy strategy, std::uint32_t subtree_levels) {
    Tiler& tiler = tiler_for(variant, strategy, subtree_levels);
    const std::uint64_t reach = variant.limits.max_storage_buffer_range_bytes;
    for (const Content& content : contents_by_node(shape)) {
        const MapView map = view_of(content.texels, shape.width, shape.height, shape.layers);
        const TileList expected = reference::subdivide(map, content.threshold);
        const bool monotone = content.threshold.is_monotone(top_level(shape.width, shape.height));
        if (strategy == Strategy::fused && !monotone) {
            continue;
        }
        if (expected.tiles.size() > device_for(variant).info().max_tiles ||
            (reach != 0 && threshold_map_size_bytes(shape) > reach)) {
            EXPECT_THROW((void)tiler.subdivide(map, content.threshold), Error);
            continue;
        }
        EXPECT_EQ(difference(tiler.subdivide(map, content.threshold), expected), "")
            << text_of(shape) << ", " << content.name << ", " << variant.name << ", strategy "
            << static_cast<int>(strategy) << ", " << subtree_levels << " subtree levels";
    }
}

// All shapes on the device as it is, a few on each variant of it.
const std::vector<MapShape>& shapes_for(const Variant& variant) {
    return variant.name == all_variants().front().name ? shapes() : few_shapes();
}

TEST_F(Subdivision, EveryStrategyEqualsTheReference) {
    for (const Variant& variant : tile_variants()) {
        for (const MapShape& shape : shapes_for(variant)) {
            for (const Strategy strategy : STRATEGIES) {
                expect_same_as_reference(shape, variant, strategy, 6);
            }
        }
    }
}

TEST_F(Subdivision, SubtreeEqualsTheReferenceWithEveryNumberOfLevels) {
    for (std::uint32_t levels = 1; levels <= MAX_SUBTREE_LEVELS; ++levels) {
        for (const MapShape& shape : few_shapes()) {
            expect_same_as_reference(shape, all_variants().front(), Strategy::subtree, levels);
            expect_same_as_reference_by_node(shape, all_variants().front(), Strategy::subtree,
                                             levels);
        }
    }
}

// Finite importances of many magnitudes, some of them equal: budgets that stop anywhere, ties
// included.
std::vector<float> finite_map(const MapShape& shape) {
    std::vector<float> texels(std::size_t{shape.width} * shape.height * shape.layers);
    std::mt19937 random(7);
    std::ranges::generate(texels, [&] {
        return std::ldexp(static_cast<float>(1 + random() % 97),
                          static_cast<int>(random() % 20) - 16);
    });
    return texels;
}

// Budgets from one tile a layer to all and beyond: the same list as the reference's, in both
// orders.
TEST_F(Subdivision, BudgetsEqualTheReference) {
    for (const Variant& variant :
         {all_variants().front(), variant_named("without subgroup operations")}) {
        Tiler& tiler = tiler_for(variant, Strategy::fused);
        for (const MapShape& shape :
             {MapShape{1, 1}, MapShape{3, 3}, MapShape{65, 65}, MapShape{100, 37, 3},
              MapShape{1023, 65}, MapShape{1, 3000}}) {
            const std::vector<float> random = finite_map(shape);
            const std::vector<float> smooth = smooth_map(shape);
            for (const auto& [texels, threshold] :
                 {std::pair{&random, Threshold::constant(0.25F)},
                  std::pair{&smooth, Threshold::max_resolution(4.0F)}}) {
                const MapView map = view_of(*texels, shape.width, shape.height, shape.layers);
                const std::uint64_t all = reference::subdivide(map, threshold).tiles.size();
                for (std::uint64_t budget = shape.layers; budget < 2 * all; budget += budget + 1) {
                    const TileList expected = reference::subdivide(map, threshold, {budget});
                    const auto check = [&](const TileList& list) {
                        EXPECT_EQ(difference(list, expected), "")
                            << text_of(shape) << ", " << variant.name << ", budget " << budget;
                        EXPECT_EQ(list.threshold_factor, expected.threshold_factor);
                    };
                    check(tiler.subdivide(map, threshold, Order::canonical, budget));
                    TileList list = tiler.subdivide(map, threshold, Order::any, budget);
                    sort_canonical(list.tiles);
                    check(list);
                }
            }
        }
    }
}

TEST_F(Subdivision, BudgetsThatCannotBeKeptAreRefused) {
    const MapShape shape{100, 70, 2};
    std::vector<float> texels = smooth_map(shape);
    texels[50] = INF;  // split down to its texel, whatever the factor
    const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
    const auto message_of = [&](Strategy strategy, std::uint64_t budget) {
        try {
            (void)tiler_for(all_variants().front(), strategy)
                .subdivide(map, Threshold::constant(1.0F), Order::any, budget);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    std::string expected;
    try {
        (void)reference::subdivide(map, Threshold::constant(1.0F), {5});
    } catch (const Error& error) {
        expected = error.what();
    }
    EXPECT_EQ(message_of(Strategy::fused, 5), expected);
    EXPECT_THAT(expected, testing::HasSubstr("max_tiles is 5, but this map has at least "));
    EXPECT_THAT(message_of(Strategy::subtree, 1000), testing::HasSubstr("needs the strategy"));
    // And the next run is none the worse.
    const TileList list = tiler_for(all_variants().front(), Strategy::fused)
                              .subdivide(map, Threshold::constant(1.0F));
    EXPECT_EQ(difference(list, reference::subdivide(map, Threshold::constant(1.0F))), "");
}

TEST_F(Subdivision, AutomaticChoosesByThresholdAndSaysWhy) {
    const MapShape shape{300, 200};
    const std::vector<float> texels = random_map(shape);
    const MapView map = view_of(texels, shape.width, shape.height);
    const std::uint32_t top = top_level(shape.width, shape.height);
    std::vector<float> growing(top + 1, 0.9F);
    growing[top] = 0.95F;
    Tiler tiler(device_for());
    for (const Threshold& threshold :
         {Threshold::constant(0.9F), Threshold::per_level(growing), Threshold::constant(0.95F)}) {
        const StrategyChoice choice = choose_strategy(device_for().info(), shape, threshold);
        const TileList list = tiler.subdivide(map, threshold);
        EXPECT_EQ(difference(list, reference::subdivide(map, threshold)), "");
        EXPECT_EQ(list.strategy, choice.strategy);
        EXPECT_EQ(list.strategy_reason, choice.reason);
    }
    const std::vector<float> smooth = smooth_map(shape);
    EXPECT_EQ(tiler
                  .subdivide(view_of(smooth, shape.width, shape.height), Threshold::constant(0.5F),
                             Order::any, 100)
                  .strategy,
              Strategy::fused);
    DeviceInfo gpu = device_for().info();
    gpu.type = "discrete GPU";
    EXPECT_EQ(choose_strategy(gpu, shape, Threshold::constant(1.0F)).strategy, Strategy::fused);
    const StrategyChoice subtree = choose_strategy(gpu, {4096, 4096}, Threshold::per_level([] {
                                                       std::vector<float> values(13, 1.0F);
                                                       values[12] = 2.0F;
                                                       return values;
                                                   }()));
    EXPECT_EQ(subtree.strategy, Strategy::subtree);
    EXPECT_EQ(subtree.subtree_levels, 8U);
    EXPECT_THROW((void)choose_strategy(gpu, shape, Threshold::per_level(growing), 100), Error);
}

// Monotone up to one level: at the edge, and beyond it by the least float.
TEST_F(Subdivision, FusedRefusesThresholdsThatGrowWithTheLevel) {
    const MapShape shape{100, 70};
    const std::vector<float> texels = random_map(shape);
    const MapView map = view_of(texels, shape.width, shape.height);
    Tiler& tiler = tiler_for(all_variants().front(), Strategy::fused);
    for (std::uint32_t level = 1; level <= top_level(shape.width, shape.height); ++level) {
        std::vector<float> values(top_level(shape.width, shape.height) + 1, 0.9F);
        EXPECT_EQ(difference(tiler.subdivide(map, Threshold::per_level(values)),
                             reference::subdivide(map, Threshold::per_level(values))),
                  "");
        values[level] = std::nextafter(0.9F, 1.0F);
        try {
            (void)tiler.subdivide(map, Threshold::per_level(values));
            ADD_FAILURE() << "level " << level << " was not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_THAT(error.what(), testing::HasSubstr("level " + std::to_string(level)));
        }
    }
}

// ---- Thresholds by node ------------------------------------------------------------------------

TEST_F(Subdivision, ThresholdsByNodeEqualTheReference) {
    for (const Variant& variant : tile_variants()) {
        for (const MapShape& shape : shapes_for(variant)) {
            for (const Strategy strategy : STRATEGIES) {
                expect_same_as_reference_by_node(shape, variant, strategy, 6);
            }
        }
    }
}

TEST_F(Subdivision, BudgetsOfThresholdsByNodeEqualTheReference) {
    Tiler& tiler = tiler_for(all_variants().front(), Strategy::fused);
    for (const MapShape& shape :
         {MapShape{3, 3}, MapShape{65, 65}, MapShape{100, 37, 3}, MapShape{129, 300}}) {
        const std::vector<float> texels = finite_map(shape);
        const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
        const std::vector<float> fragments = smooth_map(shape);
        const Threshold threshold = Threshold::memory(
            4.0F, 9.0F, view_of(fragments, shape.width, shape.height, shape.layers));
        const std::uint64_t all = reference::subdivide(map, threshold).tiles.size();
        for (std::uint64_t budget = shape.layers; budget < 2 * all; budget += budget + 1) {
            const TileList expected = reference::subdivide(map, threshold, {budget});
            for (const Order order : {Order::canonical, Order::any}) {
                TileList list = tiler.subdivide(map, threshold, order, budget);
                sort_canonical(list.tiles);
                EXPECT_EQ(difference(list, expected), "") << text_of(shape) << ", " << budget;
                EXPECT_EQ(list.threshold_factor, expected.threshold_factor);
            }
        }
    }
}

// One binding serves both, also where it was made for thresholds by level and the list has grown.
TEST_F(Subdivision, OneTilerServesThresholdsByLevelAndByNodeInTurn) {
    for (const Strategy strategy : {Strategy::per_level, Strategy::subtree}) {
        Tiler tiler(device_for(), {.strategy = strategy, .initial_tile_capacity = 100});
        for (std::uint32_t run = 0; run < 40; ++run) {
            const std::uint32_t step = run / 8;
            const MapShape shape{50 + step * 31, 70 - step * 7, 1 + step % 2};
            const std::vector<float> texels = random_map(shape, run);
            const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
            const Threshold threshold = run % 3 == 0
                                            ? Threshold::constant(0.97F)
                                            : Threshold::map(random_thresholds(shape, run));
            ASSERT_EQ(
                difference(tiler.subdivide(map, threshold), reference::subdivide(map, threshold)),
                "")
                << "run " << run << ", " << text_of(shape);
        }
    }
}

TEST_F(Subdivision, ThresholdsByNodeThatDoNotFitAreRefused) {
    const auto error = [](const Variant& variant, Strategy strategy, const MapShape& shape,
                          const Threshold& threshold) {
        const std::vector<float> texels = constant_map(shape, 0.0F);
        try {
            (void)tiler_for(variant, strategy)
                .subdivide(view_of(texels, shape.width, shape.height, shape.layers), threshold);
        } catch (const Error& thrown) {
            return std::make_pair(thrown.code(), std::string(thrown.what()));
        }
        return std::make_pair(ErrorCode::vulkan, std::string("nothing was thrown"));
    };
    const Variant& device = all_variants().front();
    const Threshold threshold = Threshold::map(NodeThresholds(20, 30));
    for (const Strategy strategy : {Strategy::per_level, Strategy::subtree}) {
        const auto other_shape = error(device, strategy, {30, 20}, threshold);
        EXPECT_EQ(other_shape.first, ErrorCode::invalid_argument);
        EXPECT_THAT(other_shape.second, testing::HasSubstr("20 x 30 texels"));
        const auto bound = error(device, strategy, {20, 30}, Threshold::bound_map());
        EXPECT_EQ(bound.first, ErrorCode::invalid_argument);
        EXPECT_THAT(bound.second, testing::HasSubstr("bound_map"));
        // 256^2 floats alone are twice what a descriptor of this variant reaches.
        const auto large = error(variant_named("short chunks"), strategy, {256, 256},
                                 Threshold::map(NodeThresholds(256, 256)));
        EXPECT_EQ(large.first, ErrorCode::unsupported);
        EXPECT_THAT(large.second, testing::HasSubstr("thresholds of this map's nodes"));
    }
    NodeThresholds growing(20, 30);
    growing.at(3, 1, 2) = 1.0F;
    const auto fused = error(device, Strategy::fused, {20, 30}, Threshold::map(growing));
    EXPECT_EQ(fused.first, ErrorCode::invalid_argument);
    EXPECT_THAT(fused.second, testing::HasSubstr("level 3"));
    const auto bound = error(device, Strategy::fused, {20, 30}, Threshold::bound_map());
    EXPECT_EQ(bound.first, ErrorCode::invalid_argument);
}

TEST_F(Subdivision, AutomaticTakesThresholdsByNode) {
    const MapShape shape{60, 50};
    const std::vector<float> texels = random_map(shape);
    const MapView map = view_of(texels, shape.width, shape.height);
    Tiler tiler(device_for());
    DeviceInfo gpu = device_for().info();
    gpu.type = "discrete GPU";
    const Threshold random = Threshold::map(random_thresholds(shape));
    const Threshold memory = Threshold::memory(9.0F, 50.0F, map);
    for (const Threshold& threshold : {random, memory}) {
        EXPECT_EQ(difference(tiler.subdivide(map, threshold), reference::subdivide(map, threshold)),
                  "");
    }
    EXPECT_EQ(choose_strategy(gpu, shape, random).strategy, Strategy::subtree);
    EXPECT_EQ(choose_strategy(gpu, shape, memory).strategy, Strategy::fused);
    EXPECT_EQ(choose_strategy(gpu, shape, Threshold::bound_map()).strategy, Strategy::subtree);
    EXPECT_THROW((void)choose_strategy(gpu, {50, 60}, Threshold::map(random_thresholds(shape))),
                 Error);
}

// ---- Formats, lists, shapes --------------------------------------------------------------------

// Texels of each format with what decodes to many different values, NaN included for the floats.
std::vector<std::byte> raw_texels(const MapShape& shape) {
    const std::size_t texels = std::size_t{shape.width} * shape.height * shape.layers;
    const std::size_t size_bytes = texel_size_bytes(shape.format);
    std::vector<std::byte> bytes(texels * size_bytes);
    if (shape.format == TexelFormat::d32_float || shape.format == TexelFormat::r32_float) {
        const std::vector<float> values = random_map(shape);
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
    // Each bit pattern in turn: all 256 and all 65536 are there where the map is large enough.
    for (std::size_t i = 0; i < texels; ++i) {
        const auto value = static_cast<std::uint16_t>(i * 40503U);  // odd: a permutation
        std::memcpy(bytes.data() + i * size_bytes, &value, size_bytes);
    }
    return bytes;
}

void expect_exact_reads(TexelFormat format, const Variant& variant, Strategy strategy) {
    for (const MapShape& shape : {MapShape{256, 256, 1, format}, MapShape{99, 101, 2, format},
                                  MapShape{3, 4100, 1, format}}) {
        const std::vector<std::byte> texels = raw_texels(shape);
        const MapView map{texels.data(), shape};
        // Zero splits everything: the list then has every texel's value.
        for (const float t : {0.0F, 0.5F, 0.9999F}) {
            const Threshold threshold = Threshold::constant(t);
            EXPECT_EQ(difference(tiler_for(variant, strategy).subdivide(map, threshold),
                                 reference::subdivide(map, threshold)),
                      "")
                << "format " << name_of(format) << ", " << text_of(shape) << ", threshold " << t
                << ", " << variant.name << ", strategy " << static_cast<int>(strategy);
        }
    }
}

TEST_F(Subdivision, EveryFormatIsReadExactly) {
    for (const TexelFormat format :
         {TexelFormat::r32_float, TexelFormat::r16_float, TexelFormat::d32_float,
          TexelFormat::r16_unorm, TexelFormat::r8_unorm, TexelFormat::d16_unorm}) {
        for (const Strategy strategy : {Strategy::subtree, Strategy::fused}) {
            expect_exact_reads(format, all_variants().front(), strategy);
        }
    }
    // Pyramids read unorm texels by a sampler of maxima where there is one.
    for (const TexelFormat format :
         {TexelFormat::r16_unorm, TexelFormat::r8_unorm, TexelFormat::d16_unorm}) {
        expect_exact_reads(format, variant_named("without MAX samplers"), Strategy::subtree);
    }
}

TEST_F(Subdivision, FullTileBuffersGrowAndNothingIsLost) {
    const MapShape shape{200, 100, 2};
    const std::vector<float> texels = random_map(shape);
    const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
    const Threshold threshold = Threshold::constant(0.9F);
    const TileList expected = reference::subdivide(map, threshold);
    const std::uint64_t needed = expected.tiles.size();
    for (const Strategy strategy : STRATEGIES) {
        for (const std::uint64_t capacity : {std::uint64_t{1}, std::uint64_t{2}, needed - 1}) {
            Tiler tiler(device_for(), {.strategy = strategy, .initial_tile_capacity = capacity});
            const TileList list = tiler.subdivide(map, threshold);
            EXPECT_EQ(difference(list, expected), "");
            EXPECT_EQ(list.buffer_repeats, 1U);
        }
        Tiler tiler(device_for(), {.strategy = strategy, .initial_tile_capacity = needed});
        EXPECT_EQ(tiler.subdivide(map, threshold).buffer_repeats, 0U);
    }
}

TEST_F(Subdivision, ListsThatTheDeviceCannotAddressAreRefusedByName) {
    const Variant& variant = variant_named("short chunks");
    const MapShape shape{128, 129};
    const MapAndThreshold all = all_split(shape);
    try {
        (void)tiler_for(variant, Strategy::subtree)
            .subdivide(view_of(all.texels, shape.width, shape.height), all.threshold);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported);
        EXPECT_THAT(error.what(), testing::HasSubstr("16512 tiles"));
    }
}

TEST_F(Subdivision, OneTilerServesMapsOfChangingShapesAndRepeats) {
    Tiler& tiler = tiler_for(all_variants().front(), Strategy::subtree);
    for (std::uint32_t run = 0; run < 200; ++run) {
        const MapShape shape{1 + run * 37 % 300, 1 + run / 3 * 53 % 200, 1 + run % 3};
        const std::vector<float> texels = random_map(shape, run);
        const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
        const Threshold threshold = Threshold::max_resolution(static_cast<float>(1 + run % 40));
        ASSERT_EQ(difference(tiler.subdivide(map, threshold), reference::subdivide(map, threshold)),
                  "")
            << "run " << run << ", " << text_of(shape);
    }
}

// Buffers stay, but their parts lie elsewhere for other numbers of layers.
TEST_F(Subdivision, OneTilerServesMapsOfChangingLayers) {
    Tiler tiler(device_for(), {.strategy = Strategy::fused});
    for (std::uint32_t run = 0; run < 40; ++run) {
        const MapShape shape{130, 200, 1 + run * 7 % 12};
        const std::vector<float> texels = with_special_values(random_map(shape, run), 50, run);
        const MapView map = view_of(texels, shape.width, shape.height, shape.layers);
        const Threshold threshold = Threshold::constant(0.9F);
        ASSERT_EQ(difference(tiler.subdivide(map, threshold), reference::subdivide(map, threshold)),
                  "")
            << "run " << run << ", " << text_of(shape);
    }
}

TEST_F(Subdivision, AnyOrderHasTheSameTiles) {
    const MapShape shape{300, 200};
    const std::vector<float> texels = random_map(shape);
    const MapView map = view_of(texels, shape.width, shape.height);
    const Threshold threshold = Threshold::constant(0.95F);
    TileList list =
        tiler_for(all_variants().front(), Strategy::subtree).subdivide(map, threshold, Order::any);
    EXPECT_EQ(check_partition(list.tiles, shape), "");
    sort_canonical(list.tiles);
    EXPECT_EQ(difference(list, reference::subdivide(map, threshold)), "");
}

TEST_F(Subdivision, BadInputIsRefused) {
    Tiler& tiler = tiler_for(all_variants().front(), Strategy::subtree);
    const std::vector<float> texels(4, 1.0F);
    const auto code_of = [&](const MapView& map, const Threshold& threshold) {
        try {
            (void)tiler.subdivide(map, threshold);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::vulkan;
    };
    const Threshold one = Threshold::constant(1.0F);
    EXPECT_EQ(code_of({texels.data(), {0, 4}}, one), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of({nullptr, {2, 2}}, one), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of({texels.data(), {2, 2}}, Threshold::per_level({1.0F})),
              ErrorCode::invalid_argument);
    // Larger than any image of the device: refused before a texel is read.
    const std::uint32_t too_wide = device_for().info().max_map_extent + 1;
    if (too_wide <= MAX_MAP_EXTENT) {
        EXPECT_EQ(code_of({texels.data(), {too_wide, 1}}, one), ErrorCode::unsupported);
    }
    EXPECT_EQ(code_of({texels.data(), {1, 1, device_for().info().max_layers + 1}}, one),
              ErrorCode::unsupported);
}

TEST_F(LargeMaps, EqualTheReferenceWithOneAndTwoHandOvers) {
    for (const MapShape& shape : {MapShape{2047, 2049}, MapShape{4097, 300}}) {
        struct Case {
            std::string name;
            std::vector<float> texels;
            Threshold threshold;
        };
        const MapAndThreshold all = all_split(shape);
        for (const Case& test :
             {Case{"smooth", smooth_map(shape), Threshold::max_resolution(64.0F)},
              Case{"peaks", with_special_values(peaks_map(shape), 4096), Threshold::constant(1)},
              Case{"all split", all.texels, all.threshold}}) {
            const MapView map = view_of(test.texels, shape.width, shape.height);
            const TileList expected = reference::subdivide(map, test.threshold);
            for (const Strategy strategy : STRATEGIES) {
                Tiler& tiler = tiler_for(all_variants().front(), strategy);
                EXPECT_EQ(difference(tiler.subdivide(map, test.threshold), expected), "")
                    << text_of(shape) << ", " << test.name << ", strategy "
                    << static_cast<int>(strategy);
            }
        }
    }
}

// As large as the device's images go: thin maps reach the top level. CPU drivers take minutes for
// more texels than these.
TEST_F(LargeMaps, EqualTheReferenceAtTheDevicesLimit) {
    const std::uint32_t extent = device_for().info().max_map_extent;
    const bool is_cpu = device_for().info().type == "CPU";
    for (const MapShape& shape : {MapShape{extent, 3}, MapShape{2, extent},
                                  is_cpu ? MapShape{4200, 4100} : MapShape{16384, 16384}}) {
        const std::vector<float> texels = peaks_map(shape, 512);
        const MapView map = view_of(texels, shape.width, shape.height);
        const Threshold threshold = Threshold::constant(1.0F);
        const TileList expected = reference::subdivide(map, threshold);
        for (const Strategy strategy : STRATEGIES) {
            // Of its own, so that its gigabytes go away again.
            Tiler tiler(device_for(), {.strategy = strategy});
            EXPECT_EQ(difference(tiler.subdivide(map, threshold), expected), "")
                << text_of(shape) << ", strategy " << static_cast<int>(strategy);
        }
    }
}

}  // namespace
}  // namespace quadtile::test
