// Thresholds in GLSL of the user's: the tiles are those of the same thresholds given node by node.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/temporary_directory.hpp"
#include "support/workspace.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <vector>

namespace quadtile::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
    const ThresholdFunction function = ThresholdFunction::from_glsl(FUNCTION);
    const ThresholdFunction compiled =
        ThresholdFunction::from_compiled(compile_threshold(FUNCTION));
    for (const Variant& variant : tile_variants()) {
        const bool is_whole = variant.name == all_variants().front().name;
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
            expect(Threshold::function(is_whole ? compiled : function, other), twin(shape, other));
        }
    }
}

TEST_F(UserThresholds, TakeTheServiceAndAutomaticStrategies) {
    const MapShape shape{130, 70};
    const std::vector<float> texels = importances(shape);
    const MapView map{texels.data(), shape};
    const Threshold threshold =
        Threshold::function(ThresholdFunction::from_glsl(FUNCTION), PARAMETERS);
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
        EXPECT_EQ(
            difference(tiler.subdivide(map, Threshold::function(ThresholdFunction::from_glsl(text),
                                                                PARAMETERS)),
                       expected),
            "");
    }
}

TEST_F(UserThresholds, ReadResourcesOfTheirOwn) {
    Gpu gpu(device_for());
    const Pyramid pyramid(gpu.device());
    const MapShape shape{200, 120};
    const std::vector<float> texels = random_map(shape);
    const MapView view = view_of(texels, shape.width, shape.height);
    const PyramidWorkspace map(gpu, pyramid, view);
    const std::vector<float> table{0.9F, 0.99F, 0.97F, 0.95F, 0.5F, 0.999F, 0.3F, 0.8F};
    const Buffer buffer = gpu.make_buffer(table.size() * sizeof(float),
                                          VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, Memory::host_visible);
    std::memcpy(buffer.mapped(), table.data(), table.size() * sizeof(float));
    const Descriptors at_3{.binding = 3, .buffers = {{buffer.handle(), 0, VK_WHOLE_SIZE}}};
    const DescriptorSet resources(gpu.device(), {&at_3, 1});
    const auto function = ThresholdFunction::from_glsl(R"(
        layout(set = 1, binding = 3, std430) readonly buffer Table { float table[]; };
        float threshold(uint level, uvec2 position, uint layer) { return table[level]; }
    )");
    std::vector<float> levels = table;
    levels.resize(9, 0.0F);  // reads behind the table are the user's own fault: there are none
    levels[8] = table[0];
    const auto bounded = ThresholdFunction::from_glsl(R"(
        layout(set = 1, binding = 3, std430) readonly buffer Table { float table[]; };
        float threshold(uint level, uvec2 position, uint layer) { return table[level % 8]; }
    )");
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::subtree,
                                               .threshold_function = bounded,
                                               .threshold_resources = resources.layout()});
    SubdivisionWorkspace list(gpu, subdivider, map, texels.size());
    const auto recording = [&](const Threshold& threshold) {
        list.run(gpu, pyramid, map, subdivider, threshold);
    };
    EXPECT_THAT([&] { recording(Threshold::function(bounded)); }, is_refused("no descriptor set"));
    Subdivider::Resources bound = list.resources(map, texels.size());
    bound.threshold_resources = resources.handle();
    list.binding = subdivider.bind(shape, bound);
    const auto expect_tiles_of = [&](const Threshold& recorded, const Threshold& expected) {
        recording(recorded);
        EXPECT_TRUE(list.read_sorted(gpu) == reference::subdivide(view, expected).tiles);
    };
    expect_tiles_of(Threshold::function(bounded), Threshold::per_level(levels));
    expect_tiles_of(Threshold::constant(0.95F), Threshold::constant(0.95F));
    EXPECT_THAT([&] { recording(Threshold::function(function)); },
                is_refused("the Subdivider was made with another threshold function"));
}

TEST_F(UserThresholds, AreRefusedWhereTheyDoNotFit) {
    const Device& device = device_for();
    const auto function = ThresholdFunction::from_glsl(FUNCTION);
    const auto making = [&](const ThresholdFunction& made, Strategy strategy) {
        return [&device, made, strategy] {
            const Subdivider subdivider(device, {.strategy = strategy, .threshold_function = made});
        };
    };
    EXPECT_THAT(making(function, Strategy::fused), is_refused("monotone"));
    const auto typo = making(ThresholdFunction::from_glsl("float threshold(uint level, uvec2 "
                                                          "position, uint layer) {\n"
                                                          "    return leve;\n}\n"),
                             Strategy::subtree);
    EXPECT_THAT(typo, is_refused("the GLSL of threshold does not compile:\n"
                                 "threshold:2: error: ",
                                 "leve"));
    EXPECT_THAT([] { (void)compile_threshold("float threshold("); },
                is_refused("threshold:1: error: "));

    // Resources of which no layout was given, whether it is compiled here, was before for others
    // (with a layout, by compile_threshold), or ahead. They were read through a null pointer.
    const std::string with_resource =
        "\nlayout(set = 1, binding = 3) readonly buffer Table { float table[]; };\n"
        "float threshold(uint level, uvec2 position, uint layer) { return table[level]; }\n";
    const std::string of_resource = "at binding 3 of descriptor set 1, which is not bound";
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(making(ThresholdFunction::from_glsl(with_resource), Strategy::subtree),
                    is_refused("threshold:2: error: 'Table' is " + of_resource));
        const auto ahead = ThresholdFunction::from_compiled(compile_threshold(with_resource));
        EXPECT_THAT(making(ahead, Strategy::subtree),
                    is_refused("the compiled threshold function cannot be used: ", of_resource));
    }
    EXPECT_THAT(
        [&] {
            Tiler tiler(device);
            const std::vector<float> texel(1);
            (void)tiler.subdivide(view_of(texel, 1, 1),
                                  Threshold::function(ThresholdFunction::from_glsl(with_resource)));
        },
        is_refused(of_resource));

    // Compiled ahead, but cut, changed, of something else.
    std::vector<std::byte> code = compile_threshold(FUNCTION);
    std::vector<std::byte> cut(code.begin(), code.end() - 4);
    EXPECT_THAT(making(ThresholdFunction::from_compiled(cut), Strategy::subtree),
                is_refused("is damaged"));
    std::vector<std::byte> changed = code;
    changed[code.size() / 2] ^= std::byte{1};
    EXPECT_THAT(making(ThresholdFunction::from_compiled(changed), Strategy::subtree),
                is_refused("is damaged"));
    std::vector<std::byte> other_version = code;
    other_version[16] ^= std::byte{1};
    EXPECT_THAT(making(ThresholdFunction::from_compiled(other_version), Strategy::subtree),
                is_refused("another version of quadtile"));
    EXPECT_THAT(
        making(ThresholdFunction::from_compiled(std::vector(100, std::byte{7})), Strategy::subtree),
        is_refused("its first bytes are wrong"));
    const std::vector<std::byte> reduction =
        compile_reduction("float reduce(float a, float b, float c, float d) { return a; }", 1);
    EXPECT_THAT(making(ThresholdFunction::from_compiled(reduction), Strategy::subtree),
                is_refused("compiled for another use"));

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
    EXPECT_THAT([] { (void)ThresholdFunction::from_glsl(""); }, is_refused());
    EXPECT_THAT([] { (void)compile_reduction("x", 3); }, is_refused());
}

// ---- What is kept from run to run --------------------------------------------------------------

class CacheDirectories : public GpuTest {
 protected:
    // A device like the tests', but with a cache directory; what it warns of goes to warnings_.
    Device device_with(const std::string& directory) {
        return Device::create({.log =
                                   [this](Severity severity, std::string_view message) {
                                       const std::lock_guard lock(mutex_);
                                       if (severity != Severity::info) {
                                           warnings_.emplace_back(message);
                                       }
                                   },
                               .cache_directory = directory});
    }

    void expect_tiles(const std::string& directory) {
        const MapShape shape{97, 61};
        const std::vector<float> texels = importances(shape);
        const MapView map{texels.data(), shape};
        Tiler tiler(device_with(directory));
        EXPECT_EQ(difference(tiler.subdivide(map, Threshold::constant(1.5F)),
                             reference::subdivide(map, Threshold::constant(1.5F))),
                  "");
        if (can_compile_glsl()) {
            const Threshold by_function =
                Threshold::function(ThresholdFunction::from_glsl(FUNCTION), PARAMETERS);
            EXPECT_EQ(difference(tiler.subdivide(map, by_function),
                                 reference::subdivide(map, twin(shape))),
                      "");
        }
    }

    std::mutex mutex_;
    std::vector<std::string> warnings_;
};

TEST_F(CacheDirectories, KeepPipelines) {
    const TemporaryDirectory directory;
    const std::string path = (directory.path() / "new" / "cache").string();
    expect_tiles(path);
    std::vector<std::filesystem::path> pipelines;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        if (entry.path().filename().string().starts_with("pipelines-")) {
            pipelines.push_back(entry.path());
        }
        EXPECT_EQ(entry.path().string().find(".new."), std::string::npos);
    }
    ASSERT_THAT(pipelines, SizeIs(1));
    expect_tiles(path);
    EXPECT_THAT(warnings_, IsEmpty());

    // Damaged: a warning, and the right tiles; then it is whole again.
    std::string bytes = read_file(pipelines[0]);
    bytes[bytes.size() - 1] = static_cast<char>(bytes.back() + 1);
    for (const std::string& damaged : {bytes, bytes.substr(0, 50), std::string()}) {
        std::ofstream(pipelines[0], std::ios::binary | std::ios::trunc) << damaged;
        warnings_.clear();
        expect_tiles(path);
        EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr("damaged")));
        warnings_.clear();
        expect_tiles(path);
        EXPECT_THAT(warnings_, IsEmpty());
    }
}

TEST_F(CacheDirectories, AreSavedOnRequest) {
    const TemporaryDirectory directory;
    const Device device = device_with(directory.path().string());
    const Subdivider subdivider(device, {.strategy = Strategy::fused});
    EXPECT_THAT(directory.names(), IsEmpty());
    device.save_pipeline_cache();
    EXPECT_THAT(directory.names(), SizeIs(1));
}

}  // namespace
}  // namespace quadtile::test
