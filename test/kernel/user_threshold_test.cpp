// Thresholds in GLSL of the user's: the tiles are those of the same thresholds given node by node.

#include "gpu_test.hpp"
#include "support/glsl.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
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
    for (const Variant& variant : all_variants()) {
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

// More functions than are kept, through a service.
TEST_F(UserThresholds, TakeTheService) {
    const MapShape shape{130, 70};
    const std::vector<float> texels = importances(shape);
    const MapView map{texels.data(), shape};
    const TileList expected = reference::subdivide(map, twin(shape));
    Service service(device_for());
    for (int i = 0; i < 12; ++i) {
        const auto function =
            std::string(FUNCTION + std::string("// ") + std::to_string(i % 10));
        const Threshold threshold = Threshold::function(function, PARAMETERS);
        EXPECT_EQ(
            difference(service.submit({.map = map, .threshold = threshold}).result.get(), expected),
            "");
    }
}

TEST_F(UserThresholds, AreRefusedWhereTheyDoNotFit) {
    const std::vector<float> texels(64, 1.0F);
    const MapView map = view_of(texels, 8, 8);
    const auto making = [](const std::string& text, Strategy strategy = Strategy::subtree) {
        return [=] {
            const Subdivider subdivider(
                device_for(),
                {.strategy = strategy, .threshold_function = std::string(text)});
        };
    };
    const auto subdividing = [&](const std::string& text, Strategy strategy = Strategy::automatic,
                                 const SubdivideOptions& options = {}) {
        return [=] {
            (void)tiler_for(strategy).subdivide(
                map, Threshold::function(std::string(text)), options);
        };
    };
    // Resources would be read through a null pointer.
    const std::string with_resource =
        "\nlayout(set = 1, binding = 3) readonly buffer Table { float table[]; };\n"
        "float threshold(uint level, uvec2 position, uint layer) { return table[level]; }\n";
    const auto function = std::string(FUNCTION);
    const std::pair<std::function<void()>, const char*> rows[] = {
        {making(FUNCTION, Strategy::fused), "monotone"},
        {making("float threshold(uint level, uvec2 position, uint layer) {\n    return leve;\n}\n"),
         "the GLSL of threshold does not compile:\nthreshold:2: error: "},
        {making(with_resource),
         "threshold: error: the text has a resource at binding 3 of descriptor set 1, which is not bound"},
        {making(std::string(70'000, ' ')), "the text has 70000 bytes, at most 65536"},
        {subdividing(with_resource), "at binding 3 of descriptor set 1, which is not bound"},
        {subdividing(FUNCTION, Strategy::fused), "function"},
        {subdividing(FUNCTION, Strategy::automatic, {.max_tiles = 10}), "function"},
        {[&] { (void)reference::subdivide(map, Threshold::function(function)); },
         "made on the GPU"},
        {[&] { (void)Threshold::function(function, std::vector<float>(17)); },
         "at most 16 parameters"},
        {[] { (void)Threshold::function(""); }, "is empty"}};
    for (const auto& [call, text] : rows) {
        EXPECT_THAT(call, is_refused(text)) << text;
    }
}

}  // namespace
}  // namespace quadtile::test
