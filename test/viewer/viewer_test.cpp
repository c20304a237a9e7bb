// Actions of the viewer's user, and its panels, without the window.

#include "viewer.hpp"
#include "apps/app_gpu_test.hpp"
#include "canvas.hpp"
#include "colour_maps.hpp"
#include "panels.hpp"
#include "support/pfm.hpp"
#include "swapchain.hpp"

#include "support/temporary_directory.hpp"

#include <quadtile/reference.hpp>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gmock/gmock.h>
#include <imgui.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

namespace quadtile::viewer {
namespace {

namespace fs = std::filesystem;
using app::Rgb;
using quadtile::test::pfm;
using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;
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
        viewer->files().wait();
        viewer->update(AREA);
        return viewer;
    }

    // As a window does, until what was asked for is there.
    static void update_until_loaded(Viewer& viewer) {
        while (viewer.files().is_loading()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            viewer.update(AREA);
        }
        viewer.update(AREA);
    }

    static std::string notice(const Viewer& viewer) {
        return viewer.notice() ? viewer.notice()->text : "";
    }

    static void expect_reference_list(const Viewer& viewer) {
        TileList list = viewer.tiles().list();
        sort_canonical(list.tiles);
        const SubdivisionSettings& knobs = viewer.settings.subdivision;
        EXPECT_TRUE(list.tiles ==
                    reference::subdivide(viewer.frame()->map.view(),
                                         make_threshold(knobs.threshold, list.shape),
                                         {.max_tiles = knobs.budget(), .balance = knobs.balance})
                        .tiles);
    }

    TemporaryDirectory directory_;
};

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
    EXPECT_EQ(viewer->summary().header.written, 512U * 512U);
}

// Catches searches that end early, switch the budget off, or forget how many tiles were wanted.
TEST_F(ViewerTest, FindsTheThresholdForANumberOfTiles) {
    for (const float size : {1e-30F, 1e30F}) {
        std::vector<float> texels = hill(100, 70);
        std::ranges::transform(texels, texels.begin(), [=](float texel) { return size * texel; });
        const MapView map = quadtile::view_of(texels, 100, 70);
        const auto viewer = show(texels, 100);
        ThresholdSettings& threshold = viewer->settings.subdivision.threshold;
        threshold.constant = 0.0F;  // typed by the user
        for (const auto& [kind, wanted] : {std::pair(ThresholdKind::max_resolution, 500U),
                                           {ThresholdKind::constant, 1U},
                                           {ThresholdKind::constant, 7000U}}) {
            threshold.kind = kind;
            viewer->find_threshold(wanted);
            viewer->update(AREA);
            const std::uint64_t tiles = viewer->summary().header.written;
            expect_reference_list(*viewer);
            EXPECT_THAT(viewer->title(), HasSubstr("map.pfm - " + std::to_string(tiles)));
            EXPECT_LE(tiles, wanted);
            EXPECT_THAT(notice(*viewer), HasSubstr("gives " + std::to_string(tiles) + " tile"));
            const Threshold smaller = make_threshold(scaled(threshold, 0.9999), map.shape);
            EXPECT_TRUE(tiles == texels.size() ||
                        reference::subdivide(map, smaller).tiles.size() > wanted);
        }
    }
    // Users need not wonder why there are more or fewer tiles than they wanted.
    std::vector<float> texels(64, 1.0F);
    const auto told = [&](std::uint64_t wanted) {
        const auto viewer = show(texels, 8);
        viewer->find_threshold(wanted);
        return notice(*viewer);
    };
    EXPECT_THAT(told(3), HasSubstr("gives 1 tile, not 3: the next smaller threshold gives 4"));
    EXPECT_THAT(told(4), ::testing::EndsWith("gives 4 tiles"));
    texels[9] = std::numeric_limits<float>::infinity();
    EXPECT_THAT(told(3), HasSubstr("no threshold gives fewer than 10 tiles here, not 3"));
    Options options;
    options.tile_count = 500;
    options.settings.subdivision.has_budget = true;
    options.settings.subdivision.max_tiles = 40;
    const auto viewer = show(hill(100, 70), 100, options);
    EXPECT_LE(viewer->summary().header.written, 40U);
    expect_reference_list(*viewer);
    EXPECT_TRUE(viewer->settings.subdivision.has_budget);
    EXPECT_EQ(viewer->tiles_wanted, 500U);
}

TEST_F(ViewerTest, ProbesTexels) {
    const std::vector<float> texels = hill(100, 70);
    const auto viewer = show(texels, 100);
    const reference::Pyramid pyramid = reference::build_pyramid(view_of(texels, 100, 70));
    for (const app::TexelPosition texel : {app::TexelPosition{0, 0}, {50, 33}, {99, 69}}) {
        viewer->hover(texel);
        viewer->update(AREA);
        ASSERT_TRUE(viewer->hovered());
        const ProbedTexel& probed = *viewer->hovered();
        const TexelRect rect = texels_of(probed.tile.value(), 100, 70);
        EXPECT_TRUE(texel.x >= rect.left && texel.x < rect.right && texel.y >= rect.top &&
                    texel.y < rect.bottom);
        EXPECT_EQ(probed.value, texels[texel.y * 100 + texel.x]);
        ASSERT_EQ(probed.thresholds.size(), 8U);
        for (std::uint32_t level = 1; level < 8; ++level) {
            EXPECT_EQ(probed.importance[level],
                      pyramid.levels[level].at(texel.x >> level, texel.y >> level));
            EXPECT_EQ(probed.thresholds[level], std::ldexp(16.0F, -static_cast<int>(level)));
        }
    }
    viewer->hover(app::TexelPosition{100, 0});
    viewer->update(AREA);
    EXPECT_FALSE(viewer->hovered());
}

// Catches zooms that lose the place under the mouse, and views that do not follow the window.
TEST_F(ViewerTest, ShowsPartsOfTheMap) {
    Options options;
    options.settings.view = {4.0F, 20.5F, 30.5F};
    std::vector<float> texels = hill(100, 70);
    texels[1234] = -1.0F;
    const auto viewer = show(texels, 100, options);
    const auto texel_at = [&](float x, float y) {
        const auto texel = viewer->texel_at(x, y);
        return texel ? std::pair(texel->x, texel->y) : std::pair(~0U, ~0U);
    };
    EXPECT_EQ(texel_at(200.0F, 150.0F), std::pair(20U, 30U));
    viewer->pan(8.0F, -4.0F);
    EXPECT_EQ(texel_at(200.0F, 150.0F), std::pair(18U, 31U));
    viewer->show_all();
    EXPECT_EQ(viewer->view().zoom, 4.0F);
    EXPECT_EQ(texel_at(200.0F, 299.0F), std::pair(~0U, ~0U));  // below the map, which is wider
    const auto before = texel_at(321.0F, 123.0F);
    for (const float factor : {8.0F, 0.3F, 0.5F, 40.0F}) {
        viewer->zoom_at(321.0F, 123.0F, factor);
        EXPECT_EQ(texel_at(321.0F, 123.0F), before);
    }
    viewer->show_one_to_one();
    EXPECT_EQ(viewer->view().zoom, 1.0F);
    viewer->go_to(35, 12, 50.0F);
    viewer->update(AREA);
    EXPECT_EQ(viewer->settings.view, (ViewSettings{50.0F, 35.5F, 12.5F}));
    ASSERT_TRUE(viewer->pinned());
    EXPECT_EQ(std::pair(viewer->pinned()->x, viewer->pinned()->y), std::pair(35U, 12U));
    for (const auto& [x, y] : {std::pair(100, 0), {0, 70}, {-1, 3}}) {
        viewer->go_to(x, y, 50.0F);
        EXPECT_THAT(notice(*viewer), HasSubstr("the map has 100 x 70 texels"));
    }
    viewer->show_next_odd_texel();
    viewer->update(AREA);
    EXPECT_EQ(viewer->pinned()->value, -1.0F);
    EXPECT_EQ(texel_at(200.0F, 150.0F), std::pair(34U, 12U));
}

TEST_F(ViewerTest, ExportsListsAndPictures) {
    const auto viewer = show(hill(100, 70), 100);
    viewer->export_list(directory_.path() / "list.json");
    const auto json = nlohmann::json::parse(read_file(directory_.path() / "list.json"));
    EXPECT_EQ(json.at("tiles").size(), viewer->summary().header.written);
    viewer->export_list(directory_.path() / "no folder" / "list.csv");
    EXPECT_THAT(notice(*viewer), HasSubstr("no folder"));
    for (const bool is_map : {false, true}) {
        viewer->export_picture(directory_.path() / "view.png", is_map);
        EXPECT_EQ(load_image(directory_.path() / "view.png").shape.width, is_map ? 100U : 400U);
    }
}

TEST_F(ViewerTest, TakesThresholdsInGlsl) {
    const auto viewer = show(hill(100, 70), 100);
    SubdivisionSettings& knobs = viewer->settings.subdivision;
    knobs.threshold.max_resolution = 8.0F;
    knobs.threshold.kind = ThresholdKind::glsl;
    viewer->update(AREA);
    EXPECT_THAT(viewer->problem(), HasSubstr("needs a file; choose one"));
    EXPECT_FALSE(viewer->tiles().has_tiles());
    const fs::path file =
        directory_.add("threshold.glsl",
                       "float threshold(uint level, uvec2 position, uint layer) {\n"
                       "    return threshold_parameter(0) / float(1U << level);\n}\n");
    knobs.threshold.glsl_file = file.string();
    knobs.threshold.glsl_parameters = {8.0F};
    viewer->update(AREA);
    EXPECT_EQ(viewer->problem(), "");
    const std::uint32_t tiles = viewer->summary().header.written;
    viewer->pin(app::TexelPosition{3, 3});
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

// Within a frame of Dear ImGui nothing may be thrown.
TEST_F(ViewerTest, ThrowsLossesOfTheDeviceFromUpdateAlone) {
    const auto viewer = show(hill(100, 70), 100);
    auto& submit = VULKAN_HPP_DEFAULT_DISPATCHER.vkQueueSubmit;
    const auto real_submit = std::exchange(submit, [](auto...) { return VK_ERROR_DEVICE_LOST; });
    EXPECT_NO_THROW(viewer->find_threshold(50));
    EXPECT_NO_THROW(viewer->export_picture(directory_.path() / "view.png", false));
    EXPECT_THROW(viewer->update(AREA), vk::DeviceLostError);
    submit = real_submit;
}

// ---- Pictures, by the pixel

struct Pixel {
    std::uint32_t x;
    std::uint32_t y;
    Rgb colour;
};

// 16 x 16 texels of importance 1 that need few tiles, but for (3, 2); at the corners and in the
// middle is what has no place on a scale of 0 to 4.
class ViewerPicture : public ViewerTest {
 protected:
    ViewerPicture() {
        texels_[2 * 16 + 3] = 4.0F;
        texels_[8 * 16 + 8] = 0.0F;
        texels_[15] = -1.0F;
        texels_[15 * 16] = std::numeric_limits<float>::infinity();
        texels_[255] = std::numeric_limits<float>::quiet_NaN();
        options_.settings.subdivision.threshold.kind = ThresholdKind::constant;
        options_.settings.subdivision.threshold.constant = 2.0F;
        drawing_ = {.logarithmic = false,
                    .automatic_range = false,
                    .range_high = 4.0F,
                    .outlines = false,
                    .mark_clamped = false};
    }

    // The map's left upper corner is that of the picture.
    void expect_pixels(const std::vector<Pixel>& pixels, float zoom = 8.0F) {
        options_.settings.view = {zoom, 200.0F / zoom, 150.0F / zoom};
        const auto viewer = show(texels_, 16, options_);
        EXPECT_EQ(viewer->problem(), "");
        app::Picture picture = app::render_picture(
            *gpu_, FORMAT, AREA.extent,
            [&](vk::CommandBuffer commands) { viewer->draw(commands, AREA.extent); });
        for (const auto& [x, y, colour] : pixels) {
            for (std::size_t i = 0; i < 3; ++i) {
                EXPECT_NEAR(picture.at(x, y)[i], colour[i], 1) << x << ", " << y << ", " << i;
            }
        }
    }

    std::vector<float> texels_ = std::vector<float>(256, 1.0F);
    Options options_;
    DrawingSettings& drawing_ = options_.settings.drawing;
};

// Catches texels at another place or of another colour, ranges that are not heeded, levels of the
// pyramid that are shifted, and bright texels that are lost in small pictures.
TEST_F(ViewerPicture, ShowsTexelsAndLevelsOfThem) {
    const app::ColourTable colours = app::importance_colours(ColourMap::inferno);
    const Rgb white{255, 255, 255};
    expect_pixels({{23, 16, colours[64]},
                   {24, 16, colours[255]},
                   {31, 23, colours[255]},
                   {32, 23, colours[64]},
                   {64, 64, {0, 0, 0}},
                   {127, 0, {74, 88, 120}},
                   {0, 127, white},
                   {127, 127, {0, 220, 70}}});
    drawing_.logarithmic = true;
    drawing_.range_low = 0.5F;
    drawing_.level = 3;
    expect_pixels({{0, 0, colours[255]},
                   {63, 63, colours[255]},
                   {64, 63, colours[85]},
                   {64, 64, white}});  // what is no number needs most
    drawing_.level = 0;
    expect_pixels({{0, 0, colours[255]}, {1, 0, colours[85]}, {0, 1, white}}, 0.125F);
}

// Catches fills, marks and outlines of other tiles, or beside them.
TEST_F(ViewerPicture, ShowsTiles) {
    const app::ColourTable turbo = app::colour_table(ColourMap::turbo);
    const Rgb one = app::importance_colours(ColourMap::inferno)[64];
    drawing_.fill_opacity = 1.0F;
    drawing_.fill = Fill::level;         // of 5
    expect_pixels({{28, 20, turbo[25]},  // level 0
                   {20, 20, turbo[25]},
                   {8, 8, turbo[76]},
                   {40, 8, turbo[128]},
                   {64, 0, turbo[179]}});
    drawing_.fill = Fill::none;
    drawing_.mark_clamped = true;
    drawing_.outlines = true;
    drawing_.outline_width = 2.0F;
    Rgb line{120, 235, 255};
    for (std::size_t i = 0; i < 3; ++i) {
        line[i] = static_cast<std::uint8_t>(std::lround(std::lerp(one[i], line[i], 0.75)));
    }
    expect_pixels({{28, 20, {255, 0, 80}},
                   {20, 20, one},
                   {64, 30, line},
                   {65, 30, line},
                   {66, 30, one},
                   {63, 30, one},
                   {90, 1, line},
                   {90, 2, one}});
}

// ---- The panels under a mouse and keys of the test's own

class PanelsTest : public ViewerTest {
 protected:
    static constexpr vk::Rect2D AREA{.extent = {900, 720}};

    void SetUp() override {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {1280.0F, 720.0F};
        io.DeltaTime = 1.0F / 60.0F;
        unsigned char* pixels = nullptr;
        int width = 0;
        int height = 0;
        io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
        std::vector<float> texels;
        for (std::uint32_t i = 0; i < 64 * 64; ++i) {
            texels.push_back(static_cast<float>(i % 97 * (i / 64)) / 500.0F);
        }
        viewer_ = show(texels, 64);
        panels_ = std::make_unique<Panels>(*viewer_);
        frames(3);
    }
    void TearDown() override {
        panels_.reset();
        viewer_.reset();
        ImGui::DestroyContext();
        ViewerTest::TearDown();
    }

    void frames(int count = 1) {
        for (int i = 0; i < count; ++i) {
            if (subdivides_) {
                viewer_->update(AREA);
            }
            ImGui::NewFrame();
            panels_->draw(1.0F);
            ImGui::Render();
        }
    }
    void press(int key, int modifiers = 0) {
        panels_->press({key, modifiers});
        frames(2);
    }
    void type(const std::string& text) {
        for (const char character : text) {
            panels_->press({.character = static_cast<unsigned int>(character)});
        }
        ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
        frames(2);
    }

    bool subdivides_ = true;  // when settings change
    std::unique_ptr<Viewer> viewer_;
    std::unique_ptr<Panels> panels_;
};

// Catches keys of the table that are read wrongly, and a budget beside a balance, which the library
// refuses.
TEST_F(PanelsTest, KeysChangeSettings) {
    SubdivisionSettings& knobs = viewer_->settings.subdivision;
    press(GLFW_KEY_U);
    EXPECT_EQ(knobs.balance, Balance::edges);
    subdivides_ = false;  // CPU drivers compile pipelines of budgets for seconds
    press(GLFW_KEY_B);
    EXPECT_TRUE(knobs.has_budget && knobs.balance == Balance::none);
    press(GLFW_KEY_U);
    EXPECT_TRUE(!knobs.has_budget && knobs.balance == Balance::edges);
    press(GLFW_KEY_G, GLFW_MOD_SHIFT);  // no action's
    EXPECT_EQ(viewer_->settings.drawing.fill, Fill::none);
    press(GLFW_KEY_PAGE_UP);
    EXPECT_EQ(viewer_->settings.drawing.level, 1U);
}

// Catches changes that are lost if two come in a frame, and an undo that forgets.
TEST_F(PanelsTest, ThresholdGoesInStepsThatAreUndone) {
    const float& resolution = viewer_->settings.subdivision.threshold.max_resolution;
    const float before = resolution;
    type("]]");
    EXPECT_FLOAT_EQ(resolution, before * std::exp2(0.25F));
    type("}");
    const float after = resolution;
    EXPECT_FLOAT_EQ(after, before * std::exp2(1.25F));
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    EXPECT_EQ(resolution, before);
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    EXPECT_EQ(resolution, after);
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    type("[");  // in place of what was undone
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    EXPECT_LT(resolution, after);
    press(GLFW_KEY_T, GLFW_MOD_SHIFT);
    EXPECT_EQ(resolution, before);
}

// Catches typed characters that are actions, files that are replaced without a question, and
// settings that nothing can load.
TEST_F(PanelsTest, SavesToTheTypedPathAndAsksBeforeItReplaces) {
    const fs::path file = directory_.path() / "look [1].json";
    const Settings before = viewer_->settings;
    const auto save = [&](const char* name) {
        press(GLFW_KEY_E, GLFW_MOD_CONTROL);
        frames(3);  // until the field has the focus
        type((directory_.path() / name).string());
        press(GLFW_KEY_ENTER);
    };
    save("look [1].json");
    EXPECT_THAT(notice(*viewer_), HasSubstr("settings saved to " + file.string()));
    EXPECT_EQ(load_settings(file), before);
    directory_.add("look [1].json", "mine");
    save("look [1].json");
    EXPECT_EQ(read_file(file), "mine");
    press(GLFW_KEY_ESCAPE);
    save("look [1].json");
    press(GLFW_KEY_ENTER);
    EXPECT_EQ(load_settings(file), before);
    save("no folder/look.json");
    EXPECT_EQ(load_settings(directory_.path() / "no folder/look.json"), before);
    EXPECT_EQ(viewer_->settings, before);
}

}  // namespace
}  // namespace quadtile::viewer
