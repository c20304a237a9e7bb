// Actions of the viewer's user, without the window.

#include "viewer.hpp"
#include "apps/app_gpu_test.hpp"
#include "pfm.hpp"

#include "support/maps.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/reference.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

namespace quadtile::viewer {
namespace {

namespace fs = std::filesystem;
using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;
using test::pfm;
using ::testing::HasSubstr;

constexpr vk::Format FORMAT = vk::Format::eR8G8B8A8Unorm;
constexpr vk::Rect2D AREA{.extent = {400, 300}};

// Every texel another value, the largest in the middle.
std::vector<float> hill(std::uint32_t width, std::uint32_t height) {
    std::vector<float> texels;
    for (std::uint32_t y = 0; y < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) {
            const float dx = static_cast<float>(x) - static_cast<float>(width) / 2.0F;
            const float dy = static_cast<float>(y) - static_cast<float>(height) / 2.1F;
            texels.push_back(16.0F / (1.0F + dx * dx + dy * dy));
        }
    }
    return texels;
}

class ViewerTest : public app::test::AppGpuTest {
 protected:
    // With a map of these texels on the device.
    std::unique_ptr<Viewer> show(const std::vector<float>& texels, std::uint32_t width,
                                 Options options = {}) {
        options.files = {directory_.add("map.pfm", pfm(texels, width))};
        return show(options);
    }
    std::unique_ptr<Viewer> show(const Options& options) {
        auto viewer = std::make_unique<Viewer>(options, [] {});
        viewer->attach(*gpu_, FORMAT);
        viewer->wait_for_map(AREA);
        viewer->update(AREA);
        return viewer;
    }

    // As a window does, until what was asked for is there.
    static void update_until_loaded(Viewer& viewer) {
        while (viewer.sequence().is_loading()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            viewer.update(AREA);
        }
        viewer.update(AREA);
    }

    static std::string notice(const Viewer& viewer) {
        return viewer.notice() ? viewer.notice()->text : "";
    }

    static void expect_reference_list(Viewer& viewer) {
        viewer.check_list();
        EXPECT_THAT(notice(viewer), HasSubstr("equal the CPU reference's"));
    }

    TemporaryDirectory directory_;
};

TEST_F(ViewerTest, SubdividesWhenASettingChanges) {
    const auto viewer = show(hill(100, 70), 100);
    const std::uint32_t before = viewer->summary().header.written;
    const std::uint64_t list = viewer->list_number();
    viewer->update(AREA);
    EXPECT_EQ(viewer->list_number(), list);  // nothing has changed
    viewer->settings.subdivision.threshold.max_resolution = 1.0F;
    viewer->update(AREA);
    EXPECT_GT(viewer->summary().header.written, before);
    expect_reference_list(*viewer);
    EXPECT_THAT(viewer->title(),
                HasSubstr("map.pfm - " + std::to_string(viewer->summary().header.written)));
}

// The random tests have all of their combinations.
TEST_F(ViewerTest, ListsEqualTheReferenceWhateverTheKnobs) {
    const auto viewer = show(hill(100, 70), 100);
    ThresholdSettings threshold{.max_resolution = 4.0F, .constant = 0.25F, .levels = {3.0F, 0.5F}};
    std::vector<SubdivisionSettings> all(4, {.threshold = threshold, .subtree_levels = 3});
    all[3].threshold.kind = ThresholdKind::constant;
    all[3].balance = Balance::corners;
    all[0].threshold.kind = ThresholdKind::constant;
    all[0].strategy = Strategy::subtree;
    all[1].threshold.kind = ThresholdKind::per_level;
    all[1].strategy = Strategy::subtree;
    all[2].strategy = Strategy::fused;
    all[2].order = Order::canonical;
    all[2].has_budget = true;
    all[2].max_tiles = 40;
    for (const SubdivisionSettings& knobs : all) {
        viewer->settings.subdivision = knobs;
        viewer->update(AREA);
        expect_reference_list(*viewer);
        EXPECT_TRUE(!knobs.has_budget || viewer->summary().header.written <= knobs.max_tiles);
    }
}

PFN_vkGetPhysicalDeviceProperties real_properties = nullptr;

void VKAPI_PTR properties_with_small_buffers(VkPhysicalDevice device,
                                             VkPhysicalDeviceProperties* properties) {
    real_properties(device, properties);
    properties->limits.maxStorageBufferRange = 2U << 20U;
}

TEST_F(ViewerTest, RefusesListsThatAreTooLongAndMakesOthersThen) {
    const auto viewer = show(hill(512, 512), 512);
    auto& properties = VULKAN_HPP_DEFAULT_DISPATCHER.vkGetPhysicalDeviceProperties;
    real_properties = std::exchange(properties, properties_with_small_buffers);
    ThresholdSettings& threshold = viewer->settings.subdivision.threshold;
    threshold.kind = ThresholdKind::constant;
    threshold.constant = 0.0F;
    viewer->update(AREA);
    properties = real_properties;
    EXPECT_THAT(viewer->problem(), HasSubstr("a list of 262144 tiles is longer than the 131"));
    EXPECT_FALSE(viewer->tiles().has_tiles());
    threshold.constant = 1.0F;
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    expect_reference_list(*viewer);
    // It grows until it has room.
    threshold.constant = 0.0F;
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    EXPECT_EQ(viewer->summary().header.written, 512U * 512U);
    EXPECT_EQ(viewer->summary().covered_texels, 512U * 512U);
    EXPECT_EQ(viewer->summary().tally.clamped, 512U * 512U);
    EXPECT_GE(viewer->summary().repeats, 1U);
}

TEST_F(ViewerTest, FindsTheThresholdForANumberOfTiles) {
    const std::vector<float> texels = hill(100, 70);
    const auto viewer = show(texels, 100);
    for (const ThresholdKind kind : {ThresholdKind::max_resolution, ThresholdKind::constant}) {
        viewer->settings.subdivision.threshold.kind = kind;
        viewer->settings.subdivision.threshold.constant = 0.0F;  // typed by the user
        for (const std::uint64_t wanted : {1U, 500U, 7000U}) {
            viewer->find_threshold(wanted);
            viewer->update(AREA);
            const std::uint64_t tiles = viewer->summary().header.written;
            EXPECT_LE(tiles, wanted);
            // The smallest threshold: a smaller one gives more tiles.
            const ThresholdSettings smaller =
                scaled(viewer->settings.subdivision.threshold, 0.9999F);
            const MapView map = view_of(texels, 100, 70);
            const TileList more =
                reference::subdivide(map, make_threshold(smaller, map.shape, nullptr));
            EXPECT_TRUE(more.tiles.size() > wanted || tiles == texels.size());
            EXPECT_THAT(notice(*viewer), HasSubstr("gives " + std::to_string(tiles) + " tile"));
        }
    }
}

// Catches a search that switches the budget off, or that forgets how many tiles were wanted.
TEST_F(ViewerTest, FindsNoMoreTilesThanTheBudget) {
    for (const std::optional<std::uint64_t> wanted :
         {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(500)}) {
        Options options;
        options.chooses_threshold = !wanted;
        options.tile_count = wanted;
        options.settings.subdivision.has_budget = true;
        options.settings.subdivision.max_tiles = 40;
        const auto viewer = show(hill(100, 70), 100, options);
        EXPECT_LE(viewer->summary().header.written, 40U);
        EXPECT_TRUE(viewer->settings.subdivision.has_budget);
        EXPECT_EQ(viewer->tiles_wanted, wanted.value_or(1000));
    }
}

// Catches a search that ends before the threshold that the values need.
TEST_F(ViewerTest, FindsThresholdsForValuesOfAnySize) {
    for (const float size : {1e-30F, 1e30F}) {
        std::vector<float> texels = hill(100, 70);
        std::ranges::transform(texels, texels.begin(), [=](float texel) { return size * texel; });
        const auto viewer = show(texels, 100);
        viewer->find_threshold(100);
        viewer->update(AREA);
        EXPECT_LE(viewer->summary().header.written, 100U);
        EXPECT_GT(viewer->summary().header.written, 50U);
    }
}

// Catches ranges that one mode of the program repairs, and another draws as they are.
TEST_F(ViewerTest, RepairsRangesOfColours) {
    const auto viewer = show(hill(100, 70), 100);
    DrawingSettings& drawing = viewer->settings.drawing;
    const float values[] = {
        -std::numeric_limits<float>::max(), -5.0F,        -1.0F, 0.0F, 1e-40F, 2.0F,
        std::numeric_limits<float>::max(),  std::nanf("")};
    for (const bool logarithmic : {false, true}) {
        for (const float low : values) {
            for (const float high : values) {
                drawing.automatic_range = false;
                drawing.logarithmic = logarithmic;
                drawing.range_low = low;
                drawing.range_high = high;
                const bool is_valid = low < high && !(logarithmic && low < 1e-30F);
                viewer->apply_settings(AREA);
                EXPECT_LT(drawing.range_low, drawing.range_high) << low << " to " << high;
                EXPECT_TRUE(!logarithmic || drawing.range_low > 0.0F) << low << " to " << high;
                EXPECT_TRUE(!is_valid || (drawing.range_low == low && drawing.range_high == high));
                EXPECT_EQ(viewer->range().low, drawing.range_low);
            }
        }
    }
}

TEST_F(ViewerTest, SaysWhenNoThresholdLeavesSoFewTiles) {
    std::vector<float> texels(64, 1.0F);
    texels[9] = std::numeric_limits<float>::infinity();
    const auto viewer = show(texels, 8);
    viewer->find_threshold(3);
    EXPECT_TRUE(viewer->notice()->is_problem);
    EXPECT_THAT(notice(*viewer), HasSubstr("no threshold gives fewer than 10 tiles here, not 3"));
}

// Catches a search that leaves users to wonder why there are fewer tiles than they wanted.
TEST_F(ViewerTest, SaysWhyThereAreFewerTilesThanWanted) {
    const auto viewer = show(std::vector<float>(64, 1.0F), 8);
    viewer->find_threshold(3);  // all four squares of the root split together
    EXPECT_THAT(notice(*viewer), HasSubstr("gives 1 tile, not 3: the next smaller threshold "
                                           "gives 4"));
    viewer->find_threshold(4);
    EXPECT_THAT(notice(*viewer), HasSubstr("gives 4 tiles"));
    EXPECT_THAT(notice(*viewer), ::testing::Not(HasSubstr("not 4")));
}

TEST_F(ViewerTest, GoesToATexel) {
    const auto viewer = show(hill(100, 70), 100);
    viewer->go_to(34, 12, 50.0F);
    viewer->update(AREA);
    EXPECT_EQ(viewer->view(), centred(34.5F, 12.5F, 50.0F, AREA));
    ASSERT_TRUE(viewer->pinned());
    EXPECT_EQ(std::pair(viewer->pinned()->x, viewer->pinned()->y), std::pair(34U, 12U));
    for (const auto& [x, y] : {std::pair(100, 0), {0, 70}, {-1, 3}}) {
        viewer->go_to(x, y, 50.0F);
        EXPECT_THAT(notice(*viewer), HasSubstr("the map has 100 x 70 texels"));
        EXPECT_EQ(viewer->view(), centred(34.5F, 12.5F, 50.0F, AREA));
    }
}

// Catches differences of an older list, and marks of other tiles than those that differ.
TEST_F(ViewerTest, ComparesListsOfThresholdsAndMaps) {
    Options options;
    options.files = {directory_.add("a.pfm", pfm(hill(64, 64), 64)),
                     directory_.add("b.pfm", pfm(std::vector<float>(64 * 64, 1.0F), 64)),
                     directory_.add("c.pfm", pfm(hill(20, 20), 20))};
    const auto viewer = show(options);
    viewer->keep_list();
    viewer->update(AREA);
    ASSERT_TRUE(viewer->difference());
    EXPECT_EQ(viewer->difference()->only_shown + viewer->difference()->only_kept, 0U);
    const std::uint64_t tiles = viewer->summary().header.written;

    viewer->settings.subdivision.threshold.max_resolution *= 2.0F;
    viewer->settings.drawing.outlines = false;
    viewer->update(AREA);
    ASSERT_TRUE(viewer->difference());
    EXPECT_GT(viewer->difference()->only_shown, 0U);
    EXPECT_EQ(viewer->difference()->in_both + viewer->difference()->only_kept, tiles);
    EXPECT_EQ(viewer->difference()->in_both + viewer->difference()->only_shown,
              viewer->summary().header.written);
    viewer->export_picture(directory_.path() / "marks.png", true);
    const LoadedImage picture = load_image(directory_.path() / "marks.png");
    std::uint64_t orange = 0;
    for (std::size_t i = 0; i < std::size_t{64} * 64; ++i) {
        const std::byte* const texel = &picture.texels[i * texel_size_bytes(picture.shape.format)];
        orange += std::to_integer<int>(texel[0]) > 160 && std::to_integer<int>(texel[2]) < 100;
    }
    EXPECT_GT(orange, 0U);

    viewer->swap_with_kept();
    viewer->update(AREA);
    EXPECT_EQ(viewer->summary().header.written, tiles);
    EXPECT_GT(viewer->difference()->only_kept, 0U);

    viewer->sequence().step(1);  // to another map
    update_until_loaded(*viewer);
    ASSERT_TRUE(viewer->difference());
    EXPECT_EQ(viewer->frame()->name, "b.pfm");
    EXPECT_EQ(viewer->difference()->in_both + viewer->difference()->only_shown,
              viewer->summary().header.written);
    viewer->swap_with_kept();
    update_until_loaded(*viewer);
    EXPECT_EQ(viewer->frame()->name, "a.pfm");
    viewer->sequence().step(2);  // of another size
    update_until_loaded(*viewer);
    EXPECT_FALSE(viewer->difference());
    viewer->forget_kept();
    viewer->swap_with_kept();
    EXPECT_THAT(notice(*viewer), HasSubstr("keep one as A first"));
}

TEST_F(ViewerTest, ProbesTexels) {
    const std::vector<float> texels = hill(100, 70);
    const auto viewer = show(texels, 100);
    const reference::Pyramid pyramid = reference::build_pyramid(view_of(texels, 100, 70));
    const TileList list =
        reference::subdivide(view_of(texels, 100, 70), Threshold::max_resolution(16));
    for (const TexelPosition texel : {TexelPosition{0, 0}, {50, 33}, {99, 69}, {48, 31}}) {
        viewer->hover(texel);
        viewer->pin(texel);
        viewer->update(AREA);
        ASSERT_TRUE(viewer->hovered() && viewer->pinned());
        const ProbedTexel& probed = *viewer->hovered();
        EXPECT_EQ(probed.result.texel, texels[texel.y * 100 + texel.x]);
        const auto expected = std::ranges::find_if(list.tiles, [&](const Tile& tile) {
            const TexelRect rect = texels_of(tile, 100, 70);
            return texel.x >= rect.left && texel.x < rect.right && texel.y >= rect.top &&
                   texel.y < rect.bottom;
        });
        ASSERT_NE(expected, list.tiles.end());
        EXPECT_EQ(probed.result.tile, *expected);
        ASSERT_EQ(probed.thresholds.size(), 8U);
        for (std::uint32_t level = 1; level < 8; ++level) {
            EXPECT_EQ(probed.result.importance_of_level[level],
                      pyramid.levels[level].at(texel.x >> level, texel.y >> level));
            EXPECT_EQ(probed.thresholds[level], std::ldexp(16.0F, -static_cast<int>(level)));
        }
    }
    viewer->hover({});
    viewer->update(AREA);
    EXPECT_FALSE(viewer->hovered());
    for (const TexelPosition texel : {TexelPosition{100, 0}, {0, 70}, {4000000000U, 5}}) {
        viewer->hover(texel);
        viewer->pin(texel);
        viewer->update(AREA);
        EXPECT_FALSE(viewer->hovered() || viewer->pinned());
    }
}

TEST_F(ViewerTest, ZoomsToTheCursor) {
    const auto viewer = show(hill(100, 70), 100);
    const auto before = viewer->texel_at(321.0F, 123.0F);
    ASSERT_TRUE(before);
    viewer->zoom_at(321.0F, 123.0F, 8.0F);
    const auto after = viewer->texel_at(321.0F, 123.0F);
    ASSERT_TRUE(after);
    EXPECT_EQ(std::pair(after->x, after->y), std::pair(before->x, before->y));
    viewer->show_all();
    viewer->update(AREA);
    EXPECT_FALSE(viewer->texel_at(-1.0F, 5.0F));
    EXPECT_FALSE(viewer->texel_at(200.0F, 299.0F));  // below the map, which is wider
}

TEST_F(ViewerTest, ZoomsFromWhereTheWholeMapIsSeen) {
    const auto viewer = show({1.0F}, 1);
    const float whole = viewer->view().zoom;  // more than others are enlarged
    EXPECT_EQ(whole, 300.0F);
    for (const float factor : {2.0F, 0.5F, 2.0F}) {
        viewer->zoom_at(200.0F, 150.0F, factor);
        EXPECT_EQ(viewer->view().zoom, factor < 1.0F ? factor * whole : whole);
    }
}

TEST_F(ViewerTest, ShowsWhatOptionsAsk) {
    Options options;
    options.zoom = 4.0F;
    options.centre = TexelPosition{20, 30};
    const auto viewer = show(hill(100, 70), 100, options);
    EXPECT_EQ(viewer->view(), centred(20.5F, 30.5F, 4.0F, AREA));
    viewer->show_all();
    viewer->update(AREA);
    EXPECT_EQ(viewer->view(), fit({100, 70}, AREA));
}

// The list is that of the last update() until the next one.
TEST_F(ViewerTest, ChecksTheListAgainstTheSettingsItWasMadeWith) {
    const auto viewer = show(hill(100, 70), 100);
    viewer->settings.subdivision.has_budget = true;
    viewer->settings.subdivision.max_tiles = 10;
    expect_reference_list(*viewer);
    viewer->settings.subdivision.threshold.max_resolution = 2.0F;
    viewer->compare_strategies();
    expect_reference_list(*viewer);
}

TEST_F(ViewerTest, ExportsListsPicturesAndSettings) {
    const auto viewer = show(hill(100, 70), 100);
    viewer->export_list(directory_.path() / "list.json");
    const auto json = nlohmann::json::parse(read_file(directory_.path() / "list.json"));
    EXPECT_EQ(json.at("tiles").size(), viewer->summary().header.written);
    viewer->export_list(directory_.path() / "list.csv");
    const std::string csv = read_file(directory_.path() / "list.csv");
    EXPECT_EQ(static_cast<std::uint32_t>(std::ranges::count(csv, '\n')),
              viewer->summary().header.written + 1);
    viewer->export_list(directory_.path() / "no folder" / "list.json");
    EXPECT_TRUE(viewer->notice()->is_problem);
    EXPECT_THAT(notice(*viewer), HasSubstr("no folder"));
    viewer->export_picture(directory_.path() / "view.png", false);
    viewer->export_picture(directory_.path() / "map.png", true);
    const auto extent = [&](const std::string& name) {
        const LoadedImage image = load_image(directory_.path() / name);
        return std::pair(image.shape.width, image.shape.height);
    };
    EXPECT_EQ(extent("view.png"), std::pair(400U, 300U));
    EXPECT_EQ(extent("map.png"), std::pair(100U, 70U));
    viewer->settings.drawing.fill = Fill::order;
    viewer->export_settings(directory_.path() / "settings.json");
    EXPECT_EQ(load_settings(directory_.path() / "settings.json"), viewer->settings);
}

TEST_F(ViewerTest, TellsWhatTheLibraryRefuses) {
    const auto viewer = show(hill(100, 70), 100);
    SubdivisionSettings& knobs = viewer->settings.subdivision;
    knobs.threshold.kind = ThresholdKind::per_level;
    knobs.threshold.levels = {0.1F, 5.0F};
    knobs.strategy = Strategy::fused;
    viewer->update(AREA);
    EXPECT_THAT(viewer->problem(), HasSubstr("do not grow with the level"));
    EXPECT_FALSE(viewer->tiles().has_tiles());
    viewer->check_list();
    EXPECT_THAT(notice(*viewer), HasSubstr("no list"));
    knobs.strategy = Strategy::subtree;
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    knobs.threshold.kind = ThresholdKind::memory;
    viewer->update(AREA);
    EXPECT_THAT(viewer->problem(), HasSubstr("channel"));
}

TEST_F(ViewerTest, TakesThresholdsInGlsl) {
    const auto viewer = show(hill(100, 70), 100);
    SubdivisionSettings& knobs = viewer->settings.subdivision;
    knobs.threshold.max_resolution = 8.0F;
    knobs.threshold.kind = ThresholdKind::glsl;
    viewer->update(AREA);
    EXPECT_THAT(viewer->problem(), HasSubstr("needs a file; choose one"));
    const fs::path file =
        directory_.add("threshold.glsl",
                       "float threshold(uint level, uvec2 position, uint layer) {\n"
                       "    return threshold_parameter(0) / float(1U << level);\n}\n");
    knobs.threshold.glsl_file = file.string();
    knobs.threshold.glsl_parameters = {8.0F};
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    const std::uint32_t tiles = viewer->summary().header.written;
    viewer->check_list();
    EXPECT_THAT(notice(*viewer), HasSubstr("the tiles cover the map"));
    viewer->pin(TexelPosition{3, 3});
    viewer->update(AREA);
    EXPECT_TRUE(viewer->pinned()->thresholds.empty());
    viewer->find_threshold(500);
    EXPECT_TRUE(viewer->notice()->is_problem);
    knobs.threshold.kind = ThresholdKind::max_resolution;
    viewer->update(AREA);
    EXPECT_EQ(viewer->summary().header.written, tiles);

    knobs.threshold.kind = ThresholdKind::glsl;
    directory_.add("threshold.glsl",
                   "float threshold(uint level, uvec2 position, uint layer) {\n    nonsense;\n}\n");
    viewer->reload_threshold();
    viewer->update(AREA);
    EXPECT_THAT(viewer->problem(), HasSubstr("threshold.glsl:2:"));
}

TEST_F(ViewerTest, KeepsTheMapWhereTheNextFileCannotBeRead) {
    const auto viewer = show(hill(100, 70), 100);
    viewer->open({directory_.add("damaged.pfm", "Pf\n10 10\n-1\n123")});
    update_until_loaded(*viewer);
    EXPECT_THAT(viewer->problem(), HasSubstr("damaged.pfm"));
    EXPECT_EQ(viewer->frame()->name, "map.pfm");
    // Too large for any device.
    viewer->open({directory_.add("wide.pfm", pfm(std::vector<float>(65535, 1.0F), 65535))});
    update_until_loaded(*viewer);
    EXPECT_THAT(viewer->problem(), HasSubstr("too large"));
    EXPECT_EQ(viewer->frame()->name, "map.pfm");
    expect_reference_list(*viewer);
    viewer->open({directory_.add("small.pfm", pfm(hill(5, 3), 5))});
    update_until_loaded(*viewer);
    EXPECT_EQ(viewer->problem(), "");
    EXPECT_EQ(viewer->tiles().shape().width, 5U);
    expect_reference_list(*viewer);
}

TEST_F(ViewerTest, PlaysASequence) {
    Options options;
    for (int i = 0; i < 3; ++i) {
        std::vector<float> texels(64, 0.1F);
        std::fill_n(texels.begin(), i, 8.0F);
        options.files.push_back(directory_.add(std::to_string(i) + ".pfm", pfm(texels, 8)));
    }
    const auto viewer = show(options);
    viewer->settings.playback_frames_per_second = 1000.0F;
    viewer->is_playing = true;
    std::vector<std::uint32_t> tiles;
    std::string name = "0.pfm";
    while (tiles.size() < 4) {
        viewer->update(AREA);
        if (viewer->frame()->name != name) {
            name = viewer->frame()->name;
            tiles.push_back(viewer->summary().header.written);
        }
    }
    EXPECT_EQ(viewer->frame()->name, "1.pfm");  // 1, 2, 0, 1
    EXPECT_EQ(tiles[0], tiles[3]);
    EXPECT_NE(tiles[0], tiles[2]);
}

TEST_F(ViewerTest, ComparesStrategies) {
    const auto viewer = show(hill(100, 70), 100);
    const std::uint32_t tiles = viewer->summary().header.written;
    viewer->compare_strategies();
    ASSERT_EQ(viewer->strategy_times().size(), 2U);
    for (const StrategyTime& time : viewer->strategy_times()) {
        EXPECT_EQ(time.problem, "");
        EXPECT_GT(time.milliseconds.value_or(1.0), 0.0);
    }
    EXPECT_EQ(viewer->summary().header.written, tiles);
}

VkResult VKAPI_PTR lose_device(VkQueue /*queue*/, std::uint32_t /*count*/,
                               const VkSubmitInfo* /*submissions*/, VkFence /*fence*/) {
    return VK_ERROR_DEVICE_LOST;
}

// Within a frame of Dear ImGui nothing may be thrown.
TEST_F(ViewerTest, ThrowsLossesOfTheDeviceFromUpdateAlone) {
    const auto viewer = show(hill(100, 70), 100);
    auto& submit = VULKAN_HPP_DEFAULT_DISPATCHER.vkQueueSubmit;
    const auto real_submit = std::exchange(submit, lose_device);
    EXPECT_NO_THROW(viewer->check_list());
    EXPECT_NO_THROW(viewer->compare_strategies());
    EXPECT_NO_THROW(viewer->find_threshold(50));
    EXPECT_NO_THROW(viewer->export_picture(directory_.path() / "view.png", false));
    submit = real_submit;
    EXPECT_THROW(viewer->update(AREA), vk::DeviceLostError);
    // As a window goes on.
    viewer->detach();
    viewer->attach(*gpu_, FORMAT);
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    expect_reference_list(*viewer);
}

TEST_F(ViewerTest, ShowsOddTexels) {
    std::vector<float> texels = hill(100, 70);
    texels[1234] = -1.0F;
    const auto viewer = show(texels, 100);
    viewer->show_next_odd_texel();
    viewer->update(AREA);
    ASSERT_TRUE(viewer->pinned());
    EXPECT_EQ(viewer->pinned()->result.texel, -1.0F);
    const auto middle = viewer->texel_at(200.0F, 150.0F);
    ASSERT_TRUE(middle);
    EXPECT_EQ(std::pair(middle->x, middle->y), std::pair(34U, 12U));
}

TEST_F(ViewerTest, SubdividesByMemoryWhereTheFileHasFragments) {
    const auto data = quadtile::test::data_directory();
    if (!data) {
        GTEST_SKIP() << "the shared data are not there";
    }
    const fs::path file = *data / "importance" / "zdm2_diag.exr";
    Options options;
    options.files = {file};
    const auto viewer = show(options);
    ThresholdSettings& threshold = viewer->settings.subdivision.threshold;
    threshold.kind = ThresholdKind::memory;
    threshold.max_resolution = 256.0F;
    threshold.nodes = 65536.0F;
    threshold.fragments_channel = "count";
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    expect_reference_list(*viewer);
    viewer->pin(TexelPosition{512, 512});
    viewer->update(AREA);
    EXPECT_EQ(viewer->pinned()->result.tile.threshold,
              viewer->pinned()->thresholds[viewer->pinned()->result.tile.level()]);
}

}  // namespace
}  // namespace quadtile::viewer
