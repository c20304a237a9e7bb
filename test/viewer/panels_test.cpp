// The panels under a mouse and keys of the test's own, without a window.

#include "panels.hpp"
#include "apps/app_gpu_test.hpp"
#include "support/pfm.hpp"

#include "support/temporary_directory.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gmock/gmock.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <window.hpp>  // not the test's

#include <cfloat>
#include <cmath>
#include <random>

namespace quadtile::viewer {
namespace {

using ::testing::HasSubstr;

class PanelsTest : public app::test::AppGpuTest {
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
        Options options;
        options.files = {directory_.add("map.pfm", quadtile::test::pfm(texels, 64))};
        viewer_ = std::make_unique<Viewer>(options, [] {});
        viewer_->attach(*gpu_, vk::Format::eR8G8B8A8Unorm);
        viewer_->files().wait();
        viewer_->update(AREA);
        panels_ = std::make_unique<Panels>(*viewer_);
        frames(3);
    }
    void TearDown() override {
        panels_.reset();
        viewer_.reset();
        ImGui::DestroyContext();
        app::test::AppGpuTest::TearDown();
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
    [[nodiscard]] std::string notice() const {
        return viewer_->notice() ? viewer_->notice()->text : "";
    }

    quadtile::test::TemporaryDirectory directory_;
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
    const std::filesystem::path file = directory_.path() / "look [1].json";
    const Settings before = viewer_->settings;
    const auto save = [&](const char* name) {
        press(GLFW_KEY_E, GLFW_MOD_CONTROL);
        frames(3);  // until the field has the focus
        type((directory_.path() / name).string());
        press(GLFW_KEY_ENTER);
    };
    save("look [1].json");
    EXPECT_THAT(notice(), HasSubstr("settings saved to " + file.string()));
    EXPECT_EQ(load_settings(file), before);
    directory_.add("look [1].json", "mine");
    save("look [1].json");
    EXPECT_EQ(quadtile::test::read_file(file), "mine");
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
