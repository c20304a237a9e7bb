// The whole pipeline against the reference: the list is the same, tile for tile, bit for bit.

#include "gpu_test.hpp"
#include "support/maps.hpp"

#include <gmock/gmock.h>

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
};

// Returns contents at the edge of something. Random cases (test/random) have all combinations.
std::vector<Content> contents_of(const MapShape& shape) {
    const std::vector<float> special = with_special_values(random_map(shape), 32);
    const std::vector<float> fragments = random_fragments(shape);
    const MapAndThreshold all = all_split(shape);
    const MapAndThreshold none = none_split(shape);
    std::vector<float> growing;
    for (std::uint32_t level = 0; level <= top_level(shape.width, shape.height); ++level) {
        growing.push_back(0.9F + 0.005F * static_cast<float>(level));
    }
    return {
        {"special values", special, Threshold::constant(0.9F)},
        {"special values, none split but infinity", special, Threshold::constant(INF)},
        {"denormal threshold", with_special_values(constant_map(shape, -0.0F), 8),
         Threshold::constant(std::numeric_limits<float>::denorm_min())},
        {"all split", all.texels, all.threshold},
        {"none split", none.texels, none.threshold},
        {"peak in the first corner", corner_peak_map(shape, Corner::top_left),
         Threshold::constant(1.0F)},
        {"peak in the last corner", corner_peak_map(shape, Corner::bottom_right),
         Threshold::constant(1.0F)},
        {"growing thresholds", random_map(shape), Threshold::per_level(growing)},
        {"random thresholds, scaled", special,
         Threshold::map(random_thresholds(shape, 7)).scaled(1.03125F)},
        {"memory", smooth_map(shape), Threshold::memory(24.0F, 300.0F, {fragments.data(), shape})},
    };
}

void expect_same_as_reference(const MapShape& shape, const Variant& variant, Strategy strategy,
                              std::uint32_t subtree_levels = 6) {
    SCOPED_TRACE(variant.name + ", " + std::to_string(subtree_levels) + " subtree levels");
    Tiler& tiler = tiler_for(variant, strategy, subtree_levels);
    const std::uint64_t reach = variant.limits.max_storage_buffer_range_bytes;
    for (const Content& content : contents_of(shape)) {
        SCOPED_TRACE(content.name);
        const MapView map{content.texels.data(), shape};
        const Threshold& threshold = content.threshold;
        if (strategy == Strategy::fused &&
            !threshold.is_monotone(top_level(shape.width, shape.height))) {
            continue;
        }
        const TileList expected = reference::subdivide(map, threshold);
        if (expected.tiles.size() > device_for(variant).info().max_tiles ||
            (reach != 0 && threshold.is_by_node() && threshold_map_size_bytes(shape) > reach)) {
            EXPECT_THROW((void)tiler.subdivide(map, threshold), Error);
        } else {
            expect_reference(tiler, map, threshold, expected);
        }
    }
}

// Catches errors of one variant; on the device as it is also those of the least map, of edges of
// blocks, of hand-overs and of many layers. Drivers compile for each shape anew.
TEST_F(Subdivision, EveryStrategyEqualsTheReference) {
    for (const Variant& variant : tile_variants()) {
        std::vector<MapShape> shapes{{100, 37, 3}};
        if (variant.name == all_variants().front().name) {
            shapes.insert(shapes.end(), {{1, 1}, {65, 65}, {1, 3000}, {7, 7, 70}});
        }
        for (const MapShape& shape : shapes) {
            for (const Strategy strategy : STRATEGIES) {
                expect_same_as_reference(shape, variant, strategy);
            }
        }
    }
}

// Catches errors of thin maps, and of those just beside a power of two.
TEST_F(Subdivision, EveryStrategyEqualsTheReferenceOnMoreShapes) {
    for (const MapShape& shape : {MapShape{2, 1}, MapShape{3, 3}, MapShape{129, 1},
                                  MapShape{64, 64}, MapShape{128, 127, 2}, MapShape{1023, 65}}) {
        for (const Strategy strategy : STRATEGIES) {
            expect_same_as_reference(shape, all_variants().front(), strategy);
        }
    }
}

TEST_F(Subdivision, SubtreeEqualsTheReferenceWithEveryNumberOfLevels) {
    for (std::uint32_t levels = 1; levels <= MAX_SUBTREE_LEVELS; ++levels) {
        expect_same_as_reference({100, 37, 3}, all_variants().front(), Strategy::subtree, levels);
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

// Budgets from one tile a layer to all and beyond. Drivers compile for each shape, threshold and
// variant anew; random cases have all combinations.
void expect_budgets(const MapShape& shape, const Variant& variant, bool by_node) {
    const std::vector<float> texels = finite_map(shape);
    const std::vector<float> fragments = smooth_map(shape);
    const MapView map{texels.data(), shape};
    const Threshold threshold = by_node ? Threshold::memory(4.0F, 9.0F, {fragments.data(), shape})
                                        : Threshold::constant(0.25F);
    const std::uint64_t all = reference::subdivide(map, threshold).tiles.size();
    for (std::uint64_t budget = shape.layers; budget < 8 * all; budget *= 8) {
        SCOPED_TRACE(variant.name + ", budget " + std::to_string(budget));
        expect_reference(tiler_for(variant, Strategy::fused), map, threshold, budget);
    }
}

TEST_F(Subdivision, BudgetsEqualTheReference) {
    const Variant& as_is = all_variants().front();
    expect_budgets({3, 3}, as_is, false);
    expect_budgets({1, 300}, as_is, true);
    expect_budgets({100, 37, 3}, as_is, true);
    expect_budgets({100, 37, 3}, variant_named("without subgroup operations"), false);
}

TEST_F(Subdivision, BudgetsThatCannotBeKeptAreRefused) {
    const MapShape shape{100, 70, 2};
    std::vector<float> texels = smooth_map(shape);
    texels[50] = INF;  // split down to its texel, whatever the factor
    const MapView map{texels.data(), shape};
    const Threshold one = Threshold::constant(1.0F);
    const auto subdivide = [&](Strategy strategy, std::uint64_t budget) {
        return [&, strategy, budget] {
            (void)tiler_for(strategy).subdivide(map, one, {Order::any, budget});
        };
    };
    const std::string message =
        refusal_of([&] { return reference::subdivide(map, one, {.max_tiles = 5}); });
    EXPECT_THAT(message, testing::HasSubstr("max_tiles is 5, but this map has at least "));
    EXPECT_THAT(subdivide(Strategy::fused, 5), is_refused(message));
    EXPECT_THAT(subdivide(Strategy::subtree, 1000), is_refused("needs the strategy"));
    // And the next run is none the worse.
    expect_reference(tiler_for(Strategy::fused), map, one);
}

TEST_F(Subdivision, AutomaticChoosesByThresholdAndSaysWhy) {
    const MapShape shape{300, 200};
    const std::vector<float> texels = random_map(shape);
    const MapView map{texels.data(), shape};
    std::vector<float> levels(top_level(shape.width, shape.height) + 1, 0.9F);
    levels.back() = 0.95F;
    const Threshold growing = Threshold::per_level(levels);
    const Threshold random = Threshold::map(random_thresholds(shape));
    const Threshold memory = Threshold::memory(9.0F, 50.0F, map);
    Tiler tiler(device_for());
    for (const Threshold& threshold : {Threshold::constant(0.9F), growing, random, memory}) {
        const StrategyChoice choice = choose_strategy(device_for().info(), shape, threshold);
        const TileList list = tiler.subdivide(map, threshold);
        EXPECT_EQ(difference(list, reference::subdivide(map, threshold)), "");
        EXPECT_EQ(list.report.strategy, choice.strategy);
        EXPECT_EQ(list.report.strategy_reason, choice.reason);
    }
    EXPECT_EQ(tiler.subdivide(map, memory, {.max_tiles = 60'000}).report.strategy, Strategy::fused);

    DeviceInfo gpu = device_for().info();
    gpu.type = "discrete GPU";
    const auto chosen = [&](const Threshold& threshold) {
        return choose_strategy(gpu, shape, threshold).strategy;
    };
    EXPECT_EQ(chosen(Threshold::constant(1.0F)), Strategy::fused);
    EXPECT_EQ(chosen(random), Strategy::subtree);
    EXPECT_EQ(chosen(memory), Strategy::fused);
    EXPECT_EQ(chosen(Threshold::bound_map()), Strategy::subtree);
    levels.assign(13, 1.0F);
    levels.back() = 2.0F;
    const StrategyChoice large = choose_strategy(gpu, {4096, 4096}, Threshold::per_level(levels));
    EXPECT_EQ(large.strategy, Strategy::subtree);
    EXPECT_EQ(large.subtree_levels, 8U);
    EXPECT_THROW((void)choose_strategy(gpu, shape, growing, 100), Error);
    EXPECT_THROW((void)choose_strategy(gpu, {200, 300}, random), Error);
}

// Monotone up to one level: at the edge, and beyond it by the least float.
TEST_F(Subdivision, FusedRefusesThresholdsThatGrowWithTheLevel) {
    const MapShape shape{100, 70};
    const std::vector<float> texels = random_map(shape);
    const MapView map{texels.data(), shape};
    Tiler& tiler = tiler_for(Strategy::fused);
    for (std::uint32_t level = 1; level <= top_level(shape.width, shape.height); ++level) {
        std::vector<float> values(top_level(shape.width, shape.height) + 1, 0.9F);
        values[level] = std::nextafter(0.9F, 1.0F);
        EXPECT_THAT([&] { (void)tiler.subdivide(map, Threshold::per_level(values)); },
                    is_refused("level " + std::to_string(level)));
    }
}

TEST_F(Subdivision, ThresholdsByNodeThatDoNotFitAreRefused) {
    const auto subdividing = [](const Variant& variant, Strategy strategy, const MapShape& shape,
                                const Threshold& threshold) {
        return [=, &variant] {
            const std::vector<float> texels = constant_map(shape, 0.0F);
            (void)tiler_for(variant, strategy).subdivide({texels.data(), shape}, threshold);
        };
    };
    const Variant& device = all_variants().front();
    const Threshold threshold = Threshold::map(NodeThresholds(20, 30));
    EXPECT_THAT(subdividing(device, Strategy::subtree, {30, 20}, threshold),
                is_refused("20 x 30 texels"));
    EXPECT_THAT(subdividing(device, Strategy::subtree, {20, 30}, Threshold::bound_map()),
                is_refused("bound_map"));
    // 256^2 floats alone are twice what a descriptor of this variant reaches.
    EXPECT_THAT(subdividing(variant_named("short chunks"), Strategy::subtree, {256, 256},
                            Threshold::map(NodeThresholds(256, 256))),
                fails(ErrorCode::unsupported, "thresholds of this map's nodes"));
    NodeThresholds growing(20, 30);
    growing.at(3, 1, 2) = 1.0F;
    EXPECT_THAT(subdividing(device, Strategy::fused, {20, 30}, Threshold::map(growing)),
                is_refused("level 3"));
    EXPECT_THAT(subdividing(device, Strategy::fused, {20, 30}, Threshold::bound_map()),
                is_refused());
}

// ---- Formats, lists, shapes --------------------------------------------------------------------

// Each bit pattern of a texel in turn: all 256 and all 65536 are there. Zero splits everything: the
// list has every texel's value.
void expect_exact_reads(TexelFormat format, const Variant& variant, Strategy strategy) {
    const MapShape shape{256, 256, 1, format};
    const std::size_t size_bytes = texel_size_bytes(format);
    std::vector<std::byte> texels(std::size_t{256} * 256 * size_bytes);
    for (std::size_t i = 0; i < texels.size() / size_bytes; ++i) {
        const auto value = static_cast<std::uint16_t>(i * 40503U);  // odd: a permutation
        std::memcpy(texels.data() + i * size_bytes, &value, size_bytes);
    }
    SCOPED_TRACE(std::string(name_of(format)) + ", " + variant.name);
    for (const float threshold : {0.0F, 0.9999F}) {
        expect_reference(tiler_for(variant, strategy), MapView{texels.data(), shape},
                         Threshold::constant(threshold));
    }
}

TEST_F(Subdivision, EveryFormatIsReadExactly) {
    for (const TexelFormat format : {TexelFormat::r16_float, TexelFormat::r16_unorm,
                                     TexelFormat::r8_unorm, TexelFormat::d16_unorm}) {
        expect_exact_reads(format, all_variants().front(), Strategy::subtree);
        expect_exact_reads(format, all_variants().front(), Strategy::fused);
        // Pyramids read unorm texels by a sampler of maxima where there is one.
        if (format != TexelFormat::r16_float) {
            expect_exact_reads(format, variant_named("without MAX samplers"), Strategy::subtree);
        }
    }
}

// Catches staging that is too short for the gaps between layers of 1089 bytes.
TEST_F(Subdivision, ManySmallLayersFitTheStaging) {
    const MapShape shape{33, 33, 60, TexelFormat::r8_unorm};
    const std::vector<std::uint8_t> texels(33 * 33 * 60, 10);
    expect_reference(tiler_for(Strategy::subtree), MapView{texels.data(), shape},
                     Threshold::constant(0.5F));
}

TEST_F(Subdivision, FullTileBuffersGrowAndNothingIsLost) {
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

TEST_F(Subdivision, BadInputIsRefused) {
    const std::vector<float> texels(4, 1.0F);
    const auto subdividing = [](const MapView& map, const Threshold& threshold) {
        return [=] { (void)tiler_for(Strategy::subtree).subdivide(map, threshold); };
    };
    const Threshold one = Threshold::constant(1.0F);
    EXPECT_THAT(subdividing({texels.data(), {0, 4}}, one), is_refused());
    EXPECT_THAT(subdividing({nullptr, {2, 2}}, one), is_refused());
    EXPECT_THAT(subdividing({texels.data(), {2, 2}}, Threshold::per_level({1.0F})), is_refused());
    // Larger than any image of the device: refused before a texel is read.
    const std::uint32_t too_wide = device_for().info().max_map_extent + 1;
    if (too_wide <= MAX_MAP_EXTENT) {
        EXPECT_THAT(subdividing({texels.data(), {too_wide, 1}}, one),
                    fails(ErrorCode::unsupported));
    }
    EXPECT_THAT(subdividing({texels.data(), {1, 1, device_for().info().max_layers + 1}}, one),
                fails(ErrorCode::unsupported));
}

void expect_peaks_to_equal_the_reference(const MapShape& shape) {
    const std::vector<float> texels = with_special_values(peaks_map(shape, 512), 1U << 16U);
    const MapView map{texels.data(), shape};
    const Threshold threshold = Threshold::constant(1.0F);
    const TileList expected = reference::subdivide(map, threshold);
    for (const Strategy strategy : STRATEGIES) {
        Tiler tiler(device_for(), {.strategy = strategy});  // its gigabytes go away again
        EXPECT_EQ(difference(tiler.subdivide(map, threshold), expected), "")
            << text_of(shape) << ", strategy " << text_of(strategy);
    }
}

TEST_F(LargeMaps, EqualTheReferenceWithOneAndTwoHandOvers) {
    expect_peaks_to_equal_the_reference({1023, 2049});
    expect_peaks_to_equal_the_reference({4097, 300});
}

// As large as the device's images go: thin maps reach the top level. CPU drivers take long for
// more texels than these.
TEST_F(LargeMaps, EqualTheReferenceAtTheDevicesLimit) {
    const std::uint32_t extent = device_for().info().max_map_extent;
    expect_peaks_to_equal_the_reference({extent, 3});
    expect_peaks_to_equal_the_reference({2, extent});
    if (device_for().info().type != "CPU") {
        expect_peaks_to_equal_the_reference({16384, 16384});
    }
}

// The largest group of blocks, all of texels: the number of tiles below it overflows its counter.
TEST_F(LargeMaps, CountTheTilesOfAFullGroup) {
    const MapShape shape{2048, 2048};
    const MapAndThreshold all = all_split(shape);
    TileList list = tiler_for(all_variants().front(), Strategy::fused)
                        .subdivide({all.texels.data(), shape}, all.threshold, {Order::any});
    ASSERT_EQ(list.tiles.size(), all.texels.size());
    sort_canonical(list.tiles);
    EXPECT_TRUE(list.tiles ==
                reference::subdivide({all.texels.data(), shape}, all.threshold).tiles);
}

}  // namespace
}  // namespace quadtile::test
