// Thresholds in GLSL of the user's: the tiles are those of the same thresholds given node by node.

#include "gpu_test.hpp"
#include "support/glsl.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <vector>

namespace quadtile::test {
namespace {

using testing::HasSubstr;

class UserThresholds : public GpuTest {
 protected:
    void SetUp() override {
        if (!can_compile_glsl()) {
            GTEST_SKIP() << "this build has no run-time GLSL compiler";
        }
    }
};

// Another threshold for every node, some NaN, -0 and denormal, in exact arithmetic.
constexpr const char* FUNCTION = R"(
#include "quadtile/quadtree.h"

float threshold(uint level, uvec2 position, uint layer) {
    const uint number = (position.x * 7 + position.y * 13 + level * 5 + layer * 3) % 32;
    if (number < 3) {
        return uintBitsToFloat(number == 0 ? 0x7FC00000U : number == 1 ? 0x80000000U : 1U);
    }
    const bool at_edge = position.x + 1 == level_extent(map_extent().x, level);
    return float(number) * threshold_parameter(0) +
           (at_edge ? threshold_parameter(1) : 0) + float(map_layers());
}
)";

const std::vector<float> PARAMETERS{0.125F, -1.0F};

// The same on the host.
Threshold twin(const MapShape& shape, const std::vector<float>& parameters = PARAMETERS) {
    return Threshold::map(make_thresholds(shape, [&](auto level, auto x, auto y, auto layer) {
        const std::uint32_t number = (x * 7 + y * 13 + level * 5 + layer * 3) % 32;
        const bool at_edge = x + 1 == level_extent(shape.width, level);
        return number == 0 ? std::numeric_limits<float>::infinity()
               : number < 3
                   ? 0.0F
                   : static_cast<float>(number) * parameters[0] + (at_edge ? parameters[1] : 0.0F) +
                         static_cast<float>(shape.layers);
    }));
}

// Importances about as large as its thresholds, most of them small.
std::vector<float> importances(const MapShape& shape) {
    std::vector<float> texels = random_map(shape);
    for (float& texel : texels) {
        const float squared = texel * texel;
        texel = static_cast<float>(shape.layers) + 4.0F * squared * squared;
    }
    return texels;
}

TEST_F(UserThresholds, GiveTheTilesOfTheSameThresholdsByNode) {
    const std::string function = FUNCTION;
    for (const Variant& variant : tile_variants()) {
        Tiler tiler(device_for(variant), {.strategy = Strategy::subtree});
        for (const MapShape& shape : {MapShape{1, 1}, MapShape{70, 61, 3}}) {
            const std::vector<float> texels = importances(shape);
            const MapView map{texels.data(), shape};
            const auto expect = [&](const Threshold& threshold, const Threshold& same) {
                expect_reference(tiler, map, threshold, reference::subdivide(map, same));
            };
            expect(Threshold::function(function, PARAMETERS), twin(shape));
            // Another kind in between.
            expect(Threshold::constant(2.0F), Threshold::constant(2.0F));
            const std::vector<float> other{0.25F, 0.5F};
            expect(Threshold::function(function, other), twin(shape, other));
        }
    }
}

TEST_F(UserThresholds, TakeTheServiceAndAutomaticStrategies) {
    const MapShape shape{130, 70};
    const std::vector<float> texels = importances(shape);
    const MapView map{texels.data(), shape};
    const Threshold threshold = Threshold::function(FUNCTION, PARAMETERS);
    const TileList expected = reference::subdivide(map, twin(shape));
    Service service(device_for());
    EXPECT_EQ(
        difference(service.submit({.map = map, .threshold = threshold}).result.get(), expected),
        "");
    DeviceInfo gpu = device_for().info();
    gpu.type = "discrete GPU";
    EXPECT_EQ(choose_strategy(gpu, shape, threshold).strategy, Strategy::subtree);
    // More functions than are kept.
    Tiler tiler(device_for());
    for (int i = 0; i < 12; ++i) {
        const std::string text = FUNCTION + std::string("// ") + std::to_string(i % 10);
        EXPECT_EQ(difference(tiler.subdivide(map, Threshold::function(text, PARAMETERS)), expected),
                  "");
    }
}

TEST_F(UserThresholds, AreRefusedWhereTheyDoNotFit) {
    const Device& device = device_for();
    const std::string function = FUNCTION;
    const auto making = [&](const std::string& made, Strategy strategy) {
        return [&device, made, strategy] {
            const Subdivider subdivider(device, {.strategy = strategy, .threshold_function = made});
        };
    };
    EXPECT_THAT(making(function, Strategy::fused), is_refused("monotone"));
    const auto typo = making(
        "float threshold(uint level, uvec2 "
        "position, uint layer) {\n"
        "    return leve;\n}\n",
        Strategy::subtree);
    EXPECT_THAT(typo, is_refused("the GLSL of threshold does not compile:\n"
                                 "threshold:2: error: ",
                                 "leve"));

    // Resources would be read through a null pointer.
    const std::string with_resource =
        "\nlayout(set = 1, binding = 3) readonly buffer Table { float table[]; };\n"
        "float threshold(uint level, uvec2 position, uint layer) { return table[level]; }\n";
    const std::string of_resource = "at binding 3 of descriptor set 1, which is not bound";
    EXPECT_THAT(making(with_resource, Strategy::subtree),
                is_refused("threshold: error: the text has a resource " + of_resource));
    EXPECT_THAT(
        [&] {
            Tiler tiler(device);
            const std::vector<float> texel(1);
            (void)tiler.subdivide(view_of(texel, 1, 1), Threshold::function(with_resource));
        },
        is_refused(of_resource));

    const std::vector<float> texels(64, 1.0F);
    const MapView map = view_of(texels, 8, 8);
    Tiler fused(device, {.strategy = Strategy::fused});
    EXPECT_THAT([&] { (void)fused.subdivide(map, Threshold::function(function)); }, is_refused());
    Tiler tiler(device);
    EXPECT_THAT(
        [&] { (void)tiler.subdivide(map, Threshold::function(function), {.max_tiles = 10}); },
        is_refused());
    EXPECT_THAT([&] { (void)reference::subdivide(map, Threshold::function(function)); },
                is_refused("made on the GPU"));
    EXPECT_THAT([&] { (void)Threshold::function(function, std::vector<float>(17)); },
                is_refused("at most 16 parameters"));
    EXPECT_THAT([] { (void)Threshold::function(""); }, is_refused());
    const auto long_text = making(std::string(70'000, ' '), Strategy::subtree);
    EXPECT_THAT(long_text, is_refused("the text has 70000 bytes, at most 65536"));
}

}  // namespace
}  // namespace quadtile::test
