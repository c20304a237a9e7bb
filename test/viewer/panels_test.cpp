// The panels under a mouse and keys of the test's own, without a window.

#include "panels.hpp"
#include "apps/app_gpu_test.hpp"
#include "pfm.hpp"
#include "ui.hpp"

#include "support/temporary_directory.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gmock/gmock.h>
#include <imgui.h>

#include <cfloat>
#include <cmath>
#include <random>
#include <set>

namespace quadtile::viewer {
namespace {

using ::testing::HasSubstr;

class PanelsTest : public app::test::AppGpuTest {
 protected:
    static constexpr vk::Rect2D AREA{.extent = {900, 720}};

    void SetUp() override {
        app::test::AppGpuTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) {
            return;
        }
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
        options.files = {directory_.add("map.pfm", test::pfm(texels, 64))};
        viewer_ = std::make_unique<Viewer>(options, [] {});
        viewer_->attach(*gpu_, vk::Format::eR8G8B8A8Unorm);
        viewer_->wait_for_map(AREA);
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
    void move_to(const std::string& control, float part) {
        const Place& place = panels_->places().at(control);
        ImGui::GetIO().MousePos = {place.first.x + part * (place.end.x - place.first.x),
                                   (place.first.y + place.end.y) / 2.0F};
        frames();
    }
    void click(const std::string& control, float part = 0.5F) {
        move_to(control, part);
        ImGui::GetIO().MouseDown[0] = true;
        frames();
        ImGui::GetIO().MouseDown[0] = false;
        frames(3);
    }
    void press(int key, int modifiers = 0) {
        panels_->press({key, modifiers, false});
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

// Catches panels in which one of them is switched on and the list is refused.
TEST_F(PanelsTest, BudgetAndBalanceKeepEachOtherOff) {
    subdivides_ = false;  // CPU drivers compile pipelines of budgets for seconds
    SubdivisionSettings& settings = viewer_->settings.subdivision;
    click("Map");  // closes it: the section of the subdivision must lie within the window
    click("Threshold");
    click("Subdivision");
    settings.balance = Balance::edges;
    frames(2);
    click("Subdivision/Budget", 0.04F);
    press(GLFW_KEY_B);
    EXPECT_FALSE(settings.has_budget);
    EXPECT_THAT(notice(), HasSubstr("a budget cannot count the tiles that balancing adds; U"));
    settings.balance = Balance::none;
    frames(2);
    click("Subdivision/Budget", 0.04F);
    EXPECT_TRUE(settings.has_budget);
    click("Subdivision/Balance");
    click("Subdivision/Balance/1");
    EXPECT_EQ(settings.balance, Balance::none);
    press(GLFW_KEY_ESCAPE);  // closes the list
    EXPECT_FALSE(panels_->places().contains("Subdivision/Balance/1"));
    press(GLFW_KEY_U);
    EXPECT_EQ(settings.balance, Balance::none);
    EXPECT_THAT(notice(), HasSubstr("a budget cannot count the tiles that balancing adds; B"));
    click("Subdivision/Budget", 0.04F);
    EXPECT_FALSE(settings.has_budget);
}

// Catches sliders that change when they are let go, values between the steps, and a drag that is
// undone in pieces.
TEST_F(PanelsTest, SliderGoesInStepsThatAreOneChange) {
    float& resolution = viewer_->settings.subdivision.threshold.max_resolution;
    const float before = resolution;
    std::set<float> seen;
    move_to("Threshold/Resolution", 0.05F);
    ImGui::GetIO().MouseDown[0] = true;
    for (float part = 0.05F; part < 0.5F; part += 0.02F) {
        move_to("Threshold/Resolution", part);
        seen.insert(resolution);
    }
    EXPECT_GT(seen.size(), 5U);
    for (const float value : seen) {
        const float steps = 8.0F * std::log2(value);
        EXPECT_NEAR(steps, std::round(steps), 0.01F) << value;
    }
    ImGui::GetIO().MouseDown[0] = false;
    frames(3);
    const float after = resolution;
    ASSERT_NE(after, before);
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    EXPECT_EQ(resolution, before);
    press(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    EXPECT_EQ(resolution, after);
    press(GLFW_KEY_T, GLFW_MOD_SHIFT);
    EXPECT_EQ(resolution, before);
}

// Catches an inspector that lies below the window's end or over the pinned tile.
TEST_F(PanelsTest, InspectorOfThePinnedTileIsInView) {
    EXPECT_FALSE(panels_->places().contains("Pinned tile/Ratio"));
    for (const std::uint32_t x : {2U, 61U}) {
        viewer_->pin(TexelPosition{x, 30});
        frames();
        EXPECT_TRUE(panels_->is_animated());  // until it has its size
        frames(3);
        ASSERT_TRUE(panels_->places().contains("Pinned tile/Ratio"));
        const Place place = panels_->places().at("Pinned tile/Ratio");
        EXPECT_LT(place.end.y, 720.0F);
        EXPECT_EQ(place.first.x<450.0F, x> 32);
        viewer_->pin(std::nullopt);
        frames(2);
        EXPECT_FALSE(panels_->places().contains("Pinned tile/Ratio"));
    }
}

// Catches fields that cut off the end of a number, which may be its exponent.
TEST(Fields, HaveRoomForEveryNumber) {
    const app::Ui ui;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> exponent(-30.0, 38.0);
    for (int i = 0; i < 1000; ++i) {
        const std::string text = number_text(std::pow(10.0, exponent(random)), 6);
        const ImFont& font = *ImGui::GetIO().Fonts->Fonts[0];
        const float width = font.CalcTextSizeA(font.FontSize, FLT_MAX, 0.0F, text.c_str()).x;
        EXPECT_LE(width + 2.0F * ImGui::GetStyle().FramePadding.x, FIELD_WIDTH) << text;
    }
}

// Catches values that are missing where texels are large, or drawn where they have no room.
TEST_F(PanelsTest, WritesValuesIntoLargeTexels) {
    const auto vertices = [&](float zoom) {
        viewer_->show_texel(32, 32, zoom);
        frames();
        return ImGui::GetBackgroundDrawList()->VtxBuffer.Size;
    };
    const int without = vertices(VALUE_SIDE - 1.0F);
    EXPECT_GT(vertices(VALUE_SIDE), without + 900 / 44 * (720 / 44) * 4);
    viewer_->settings.drawing.level = 1;
    EXPECT_LE(vertices(VALUE_SIDE), without + 50);
}

}  // namespace
}  // namespace quadtile::viewer
