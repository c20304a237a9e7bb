// Tile lists by Tilers against the reference, tile for tile, bit for bit. Random cases
// (test/random) have all combinations of shapes, formats, contents, thresholds, budgets, balances
// and layers. Here are both variants of the device on a few shapes, and what random cases do not
// reach: every value of a format, limits, refusals.

#include "gpu_test.hpp"
#include "support/glsl.hpp"
#include "support/maps.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

namespace quadtile::test {
namespace {

const Variant& AS_IS = all_variants().front();
const Variant& EVERYTHING_OFF = all_variants().back();

class Tiles : public GpuTest {};
class LargeMaps : public GpuTest {};

// Catches errors of this variant, on which random cases of the quick tests do not run: of edges of
// blocks, of layers, and of lists and pyramids in several chunks.
TEST_F(Tiles, EqualTheReferenceWithEverythingOff) {
    const MapShape shape{100, 37, 3};
    const std::vector<float> special = with_special_values(random_map(shape), 32);
    const std::vector<float> zeros = with_special_values(constant_map(shape, -0.0F), 8);
    const std::vector<float> fragments = random_fragments(shape);
    constexpr float DENORMAL = std::numeric_limits<float>::denorm_min();
    for (const auto& [texels, threshold] :
         {std::pair(&special, Threshold::constant(0.9F)),
          {&zeros, Threshold::constant(DENORMAL)},
          {&special, Threshold::map(random_thresholds(shape, 7)).scaled(1.03125F)},
          {&special, Threshold::memory(24.0F, 300.0F, {fragments.data(), shape})}}) {
        const MapView map{texels->data(), shape};
        expect_reference(tiler_for(EVERYTHING_OFF, Strategy::subtree), map, threshold);
        if (threshold.is_monotone(top_level(shape.width, shape.height))) {
            expect_reference(tiler_for(EVERYTHING_OFF, Strategy::fused), map, threshold);
        }
    }
    // A budget: one factor for all layers, also on the device as it is.
    const std::vector<float> texels = random_map(shape);
    const std::vector<Threshold> thresholds{Threshold::constant(0.25F), Threshold::constant(0.5F),
                                            Threshold::max_resolution(9.0F)};
    for (const Variant& variant : all_variants()) {
        expect_reference(tiler_for(variant, Strategy::fused), MapView{texels.data(), shape},
                         thresholds, std::uint64_t{700});
    }
}

// Each bit pattern of a texel in turn: all 256 and all 65536 are there. Zero splits everything: the
// list has every texel's value.
TEST_F(Tiles, EveryFormatIsReadExactly) {
    for (const TexelFormat format : {TexelFormat::r16_float, TexelFormat::r16_unorm,
                                     TexelFormat::r8_unorm, TexelFormat::d16_unorm}) {
        const MapShape shape{128, 128, 4, format};
        const std::size_t size = texel_size_bytes(format);
        std::vector<std::byte> texels(std::size_t{65536} * size);
        for (std::size_t i = 0; i < 65536; ++i) {
            const auto value = static_cast<std::uint16_t>(i * 40503U);  // odd: a permutation
            std::memcpy(texels.data() + i * size, &value, size);
        }
        SCOPED_TRACE(name_of(format));
        for (const float threshold : {0.0F, 0.9999F}) {
            for (const Strategy strategy : STRATEGIES) {
                expect_reference(tiler_for(AS_IS, strategy), MapView{texels.data(), shape},
                                 Threshold::constant(threshold));
            }
            // Pyramids read unorm texels by a sampler of maxima where there is one.
            expect_reference(tiler_for(EVERYTHING_OFF, Strategy::subtree),
                             MapView{texels.data(), {128, 64, 1, format}},
                             Threshold::constant(threshold));
        }
    }
}

// Also more tiles than come back with their header, whose rest is read behind them.
TEST_F(Tiles, FullTileBuffersGrowAndNothingIsLost) {
    const MapShape shape{200, 100, 2};
    const std::vector<float> texels = random_map(shape);
    const MapView map{texels.data(), shape};
    for (const Strategy strategy : STRATEGIES) {
        Tiler tiler(device_for(), {.strategy = strategy});
        std::uint64_t capacity = 4096;  // of the first list
        for (const float constant : {2.0F, 0.9F, 0.5F, 0.0F, 0.9F}) {
            const Threshold threshold = Threshold::constant(constant);
            const TileList expected = reference::subdivide(map, threshold);
            const TileList list = tiler.subdivide(map, threshold);
            EXPECT_EQ(difference(list, expected), "");
            const std::uint64_t needed = expected.tiles.size();
            EXPECT_EQ(list.report.buffer_repeats, capacity < needed ? 1U : 0U) << constant;
            capacity = std::max(capacity, needed);
        }
        EXPECT_EQ(capacity, texels.size());
    }
}

// Catches a wrong mask, row of bits, side or place: of one block, of more, and of two hand-overs,
// with peaks just beside edges and corners of blocks of 64 and groups of 1024 texels, where splits
// reach over.
TEST_F(Tiles, BalancedListsEqualTheReference) {
    const auto expect = [](const Variant& variant, const MapShape& shape, Balance balance) {
        std::vector<std::vector<float>> maps{with_special_values(smooth_map(shape), 1000),
                                             peaks_map(shape, 200)};
        for (const auto& [x, y] : {std::pair{64U, 63U}, {63U, 128U}, {1024U, 10U}, {1023U, 64U}}) {
            if (x < shape.width && y < shape.height) {
                maps.push_back(constant_map(shape, 0.0F));
                maps.back()[std::size_t{y} * shape.width + x] = PEAK_IMPORTANCE;
            }
        }
        for (const std::vector<float>& texels : maps) {
            const MapView map{texels.data(), shape};
            const Threshold threshold = Threshold::constant(1.0F);
            expect_reference(tiler_for(variant, Strategy::fused), map, threshold,
                             reference::subdivide(map, threshold, {.balance = balance}));
        }
    };
    expect(AS_IS, {37, 20}, Balance::edges);
    expect(AS_IS, {65, 129, 2}, Balance::corners);
    expect(AS_IS, {1100, 140}, Balance::edges);
    expect(AS_IS, {4097, 3}, Balance::edges);
    expect(EVERYTHING_OFF, {70, 90}, Balance::corners);
}

TEST_F(Tiles, AutomaticChoosesByThresholdAndSaysWhy) {
    const MapShape shape{300, 200};
    const std::vector<float> texels = random_map(shape);
    const MapView map{texels.data(), shape};
    std::vector<float> levels(top_level(shape.width, shape.height) + 1, 0.9F);
    levels.back() = 0.95F;
    const Threshold growing = Threshold::per_level(levels);
    const Threshold random = Threshold::map(random_thresholds(shape));
    const Threshold memory = Threshold::memory(9.0F, 50.0F, map);
    levels.assign(13, 1.0F);
    levels.back() = 2.0F;
    DeviceInfo gpu = device_for().info();
    gpu.type = "discrete GPU";
    const std::tuple<Threshold, MapShape, Strategy> rows[] = {
        {Threshold::constant(1.0F), shape, Strategy::fused},
        {random, shape, Strategy::subtree},
        {memory, shape, Strategy::fused},
        {Threshold::bound_map(), shape, Strategy::subtree},
        {Threshold::per_level(levels), {4096, 4096}, Strategy::subtree}};
    for (const auto& [threshold, of, strategy] : rows) {
        const StrategyChoice choice = choose_strategy(gpu, of, threshold);
        EXPECT_EQ(choice.strategy, strategy);
        EXPECT_EQ(choice.subtree_levels, of.width == 4096 ? 8U : choice.subtree_levels);
    }
    Tiler tiler(device_for());
    for (const Threshold& threshold : {growing, memory}) {
        const StrategyChoice choice = choose_strategy(device_for().info(), shape, threshold);
        const TileList list = tiler.subdivide(map, threshold);
        EXPECT_EQ(list.report.strategy, choice.strategy);
        EXPECT_EQ(list.report.strategy_reason, choice.reason);
    }
    EXPECT_THROW((void)choose_strategy(gpu, shape, growing, 100), Error);
    EXPECT_THROW((void)choose_strategy(gpu, {200, 300}, random), Error);
}

// ---- Thresholds in GLSL of the user's ----------------------------------------------------------

// More functions than are kept, in turn and by a service. Random cases have the same one.
TEST_F(Tiles, ThresholdsMayBeFunctionsInGlsl) {
    if (!can_compile_glsl()) {
        GTEST_SKIP() << "this build has no run-time GLSL compiler";
    }
    const std::string function = THRESHOLD_FUNCTION_GLSL;
    const MapShape shape{70, 61, 3};
    const std::vector<float> texels = random_map(shape);
    const MapView map{texels.data(), shape};
    const auto expected = [&](float parameter) {
        return reference::subdivide(map, threshold_function_twin(shape, parameter));
    };
    for (const Variant& variant : all_variants()) {
        Tiler& tiler = tiler_for(variant, Strategy::subtree);
        for (const float parameter : {0.5F, 1.0F}) {
            expect_reference(tiler, map, Threshold::function(function, {parameter}),
                             expected(parameter));
            expect_reference(tiler, map, Threshold::constant(0.9F));  // another kind in between
        }
    }
    Service service(device_for());
    for (int i = 0; i < 12; ++i) {
        const Threshold threshold =
            Threshold::function(function + "// " + std::to_string(i % 10), {1.0F});
        EXPECT_EQ(difference(service.submit({.map = map, .threshold = threshold}).result.get(),
                             expected(1.0F)),
                  "");
    }

    const std::string one = "float threshold(uint level, uvec2 position, uint layer) { return ";
    // It would be read through a null pointer.
    const std::string table =
        "layout(set = 1, binding = 3) readonly buffer Table { float table[]; };\n" + one +
        "table[level]; }\n";
    const auto asking = [&](const std::string& text, Strategy strategy = Strategy::automatic,
                            std::optional<std::uint64_t> budget = {}) {
        return [=] {
            (void)tiler_for(strategy).subdivide(map, Threshold::function(text),
                                                {.max_tiles = budget});
        };
    };
    const auto making = [](const std::string& text, Strategy strategy) {
        return [=] {
            const Subdivider made(device_for(), {.strategy = strategy, .threshold_function = text});
        };
    };
    const std::pair<std::function<void()>, const char*> rows[] = {
        {making(function, Strategy::fused), "monotone"},
        {making(one + "\nleve; }", Strategy::subtree),
         "the GLSL of threshold does not compile:\nthreshold:2: error: "},
        {making(std::string(70'000, ' '), Strategy::subtree),
         "the text has 70000 bytes, at most 65536"},
        {asking(table), "a resource at binding 3 of descriptor set 1, which is not bound"},
        {asking(function, Strategy::fused), "function"},
        {asking(function, Strategy::automatic, 10), "function"},
        {[&] { (void)reference::subdivide(map, Threshold::function(function)); },
         "made on the GPU"},
        {[&] { (void)Threshold::function(function, std::vector<float>(17)); },
         "at most 16 parameters"},
        {[] { (void)Threshold::function(""); }, "is empty"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, is_refused(text)) << text;
    }
}

// ---- Refusals ---------------------------------------------------------------------------------

// What the caller asks wrongly is refused by its name, by each strategy that the row names, the
// reference among them, and the next run is none the worse.
TEST_F(Tiles, WhatCannotWorkIsRefusedByName) {
    const MapShape shape{20, 30};
    const MapShape two{8, 8, 2};
    std::vector<float> texels = constant_map({32, 32}, 1.0F);
    texels[50] = INFINITY;  // split down to its texel, whatever the factor
    const Threshold one = Threshold::constant(1.0F);
    const Threshold growing = Threshold::per_level({1, 2, 3, 4});
    NodeThresholds growing_nodes(20, 30);
    growing_nodes.at(3, 1, 2) = 1.0F;
    constexpr auto AUTOMATIC = Strategy::automatic;
    constexpr auto FUSED = Strategy::fused;
    constexpr auto SUBTREE = Strategy::subtree;
    constexpr auto REFERENCE = Strategy::reference;
    struct Row {
        std::vector<Strategy> strategies;
        MapShape shape;
        std::vector<Threshold> thresholds;  // one, or one per layer of two
        const char* text;
        SubdivideOptions options = {};
        bool is_null = false;
    };
    const std::vector<Strategy> all{AUTOMATIC, FUSED, SUBTREE, REFERENCE};
    const std::vector<Row> rows{
        {all, {0, 4}, {one}, "is empty"},
        {all, {2, 2}, {one}, "null pointer", {}, true},
        {all, {2, 2}, {Threshold::per_level({1.0F})}, "1 level thresholds"},
        {{SUBTREE}, {30, 20}, {Threshold::map(NodeThresholds(20, 30))}, "20 x 30 texels"},
        {{SUBTREE}, shape, {Threshold::bound_map()}, "bound_map"},
        {{FUSED}, shape, {Threshold::bound_map()}, "bound_map"},
        {{FUSED}, shape, {Threshold::map(growing_nodes)}, "level 3"},
        {{FUSED}, {8, 8}, {growing}, "level 1"},
        {{FUSED}, {2, 2}, {Threshold::per_level({0.9F, std::nextafter(0.9F, 1.0F)})}, "level 1"},
        {{FUSED}, shape, {one}, "max_tiles is 5, but this map has at least ", {.max_tiles = 5}},
        {{REFERENCE}, {8, 8}, {growing}, "level 1 has 2", {.max_tiles = 48}},
        {{SUBTREE}, shape, {one}, "needs the strategy", {.max_tiles = 1000}},
        {all,
         shape,
         {one},
         "max_tiles is 9, but a balanced list cannot have a budget",
         {.max_tiles = 9, .balance = Balance::corners}},
        {{SUBTREE},
         shape,
         {one},
         "a balanced list needs the strategy",
         {.balance = Balance::edges}},
        {{AUTOMATIC, FUSED, REFERENCE},
         {8, 8},
         {Threshold::per_level({1, 1, 2, 1})},
         "level 2 has 2",
         {.balance = Balance::edges}},
        {all, two, {one, one, one}, "layers of the map (2) and their thresholds (3)"},
        {all, two, {one, Threshold::per_level({1.0F})}, "layer 1 does not fit"},
        {all, two, {Threshold::bound_map(), one}, "layer 0 does not fit"},
        // It fits the whole map, not its layer.
        {all, two, {Threshold::map(NodeThresholds(8, 8, 2)), one}, "layer 0 does not fit"},
        {all, two, {one, one}, "null pointer", {}, true},
        {{FUSED}, two, {one, growing}, "layer 1"},
        {{AUTOMATIC}, two, {one, growing}, "layer 1", {.max_tiles = 100}},
        {{SUBTREE}, two, {one, one}, "needs the strategy", {.max_tiles = 100}},
        {{AUTOMATIC}, two, {one, one}, "max_tiles is 1, but", {.max_tiles = 1}},
    };
    for (const Row& row : rows) {
        for (const Strategy strategy : row.strategies) {
            SCOPED_TRACE(row.text);
            const MapView map{row.is_null ? nullptr : texels.data(), row.shape};
            const auto by_strategy = [&](const auto& threshold) {
                return strategy == REFERENCE
                           ? reference::subdivide(map, threshold, row.options)
                           : tiler_for(strategy).subdivide(map, threshold, row.options);
            };
            const auto subdivide = [&] {
                return row.thresholds.size() == 1 ? by_strategy(row.thresholds.front())
                                                  : by_strategy(row.thresholds);
            };
            EXPECT_THAT(subdivide, is_refused(row.text)) << text_of(strategy);
        }
    }
    expect_reference(tiler_for(FUSED), MapView{texels.data(), shape}, one);
}

// What the device cannot hold, before a texel is read.
TEST_F(Tiles, WhatTheDeviceCannotHoldIsRefused) {
    const DeviceInfo& info = device_for().info();
    const std::vector<float> texels(std::size_t{1024} * 1024, 1.0F);
    const auto subdividing = [&](const Variant& variant, const MapShape& shape,
                                 const Threshold& threshold) {
        return [&, shape, threshold] {
            (void)tiler_for(variant, Strategy::subtree)
                .subdivide({texels.data(), shape}, threshold);
        };
    };
    const auto refuses = [](const char* text) { return fails(ErrorCode::unsupported, text); };
    const Threshold none = Threshold::constant(2.0F);
    const Threshold all = Threshold::constant(0.5F);
    if (info.max_map_extent < MAX_MAP_EXTENT) {
        EXPECT_THAT(subdividing(AS_IS, {info.max_map_extent + 1, 1}, none),
                    refuses("texels on a side"));
        EXPECT_THAT(subdividing(AS_IS, {1, info.max_map_extent + 1}, none),
                    refuses("texels on a side"));
    }
    if (info.max_layers < MAX_LAYERS) {
        EXPECT_THAT(subdividing(AS_IS, {1, 1, info.max_layers + 1}, none),
                    refuses("layers; cut it"));
    }
    ASSERT_EQ(device_for(EVERYTHING_OFF).info().max_tiles, 16384U);
    EXPECT_FALSE(device_for(EVERYTHING_OFF).info().features.subgroup_operations);
    EXPECT_FALSE(device_for(EVERYTHING_OFF).info().features.sampler_minmax);
    EXPECT_NO_THROW(subdividing(EVERYTHING_OFF, {128, 128}, all)());  // the longest list
    EXPECT_THAT(subdividing(EVERYTHING_OFF, {129, 128}, all),
                refuses("raise the threshold or cut the map into several"));
    EXPECT_THAT(subdividing(EVERYTHING_OFF, {1024, 1024}, none),
                refuses("cut the map into several"));
    // 256^2 floats alone are twice what a descriptor reaches.
    EXPECT_THAT(subdividing(EVERYTHING_OFF, {256, 256}, Threshold::map(NodeThresholds(256, 256))),
                refuses("the buffer of the thresholds of this map's nodes would have"));
}

// ---- Large maps -------------------------------------------------------------------------------

// As large as the device's images go: thin maps reach the top level, with two hand-overs. CPU
// drivers take long for more texels than these.
TEST_F(LargeMaps, EqualTheReferenceUpToTheDevicesLimit) {
    const std::uint32_t extent = device_for().info().max_map_extent;
    std::vector<MapShape> shapes{{1023, 2049}, {extent, 3}, {2, extent}};
    if (device_for().info().type != "CPU") {
        shapes.push_back({16384, 16384});
    }
    for (const MapShape& shape : shapes) {
        const std::vector<float> texels = with_special_values(peaks_map(shape, 512), 1U << 16U);
        const MapView map{texels.data(), shape};
        const TileList expected = reference::subdivide(map, Threshold::constant(1.0F));
        for (const Strategy strategy : STRATEGIES) {
            Tiler tiler(device_for(), {.strategy = strategy});  // its gigabytes go away again
            EXPECT_EQ(difference(tiler.subdivide(map, Threshold::constant(1.0F)), expected), "")
                << text_of(shape) << ", strategy " << text_of(strategy);
        }
    }
}

// The largest group of blocks, all of texels: the number of tiles below it overflows its counter.
// The list is read in several parts.
TEST_F(LargeMaps, CountTheTilesOfAFullGroup) {
    const MapShape shape{2048, 2048};
    const std::vector<float> texels = constant_map(shape, 1.0F);
    const MapView map{texels.data(), shape};
    const Threshold threshold = Threshold::constant(0.5F);
    TileList list = tiler_for(Strategy::fused).subdivide(map, threshold, {Order::any});
    ASSERT_EQ(list.tiles.size(), texels.size());
    sort_canonical(list.tiles);
    EXPECT_TRUE(list.tiles == reference::subdivide(map, threshold).tiles);
}

}  // namespace
}  // namespace quadtile::test
