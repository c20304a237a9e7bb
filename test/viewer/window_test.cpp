// The program as its user runs it: once in a window, and without one.

#include "window.hpp"

#include "settings.hpp"
#include "support/pfm.hpp"

#include "apps/program_test.hpp"

#include <quadtile/images.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::pfm;

namespace fs = std::filesystem;
using app::test::Arguments;
using app::test::operator+;
using quadtile::test::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::Not;

// Catches a window that does not open, follow mouse, keys and its size, or end well, and messages
// of the validation layer.
TEST(ViewerWindow, ShowsMapsChangesThemAndSavesTheLook) {
    if (!XServer::is_installed()) {
        GTEST_SKIP() << "Xvfb or xdotool is not installed";
    }
    const TemporaryDirectory directory;
    const XServer server;
    const auto add = [&](const char* name, std::uint32_t side, float value) {
        return directory.add(name, pfm(std::vector(std::size_t{side} * side, value), side));
    };
    const std::vector<std::string> files{add("a.pfm", 300, 0.3F), add("b.pfm", 17, 2.0F)};
    ProgramWindow window(server, directory.path(), files);
    EXPECT_THAT(window.title(), HasSubstr("a.pfm - "));
    window.act("key Right");
    EXPECT_THAT(window.wait_for("map "), HasSubstr("17 x 17"));
    window.wait_for("on screen after");
    add("b.pfm", 30, 2.0F);  // it is read again
    EXPECT_THAT(window.wait_for("map "), HasSubstr("30 x 30"));
    window.wait_for("on screen after");
    window.act("key bracketright");
    window.wait_for(" tiles, resolution");
    window.wait_for("on screen after");
    window.act("mousemove --window %w 500 400 click --repeat 3 4");  // zooms in
    window.act("mousedown 1 mousemove_relative 120 60 mouseup 1");
    for (const char* const size : {"330 200", "1500 950", "640 480"}) {
        window.act(std::string("windowsize --sync %w ") + size);
        window.act("key bracketleft");
        window.wait_for("on screen after");
    }
    window.act("windowunmap --sync %w");
    window.act("windowmap --sync %w");
    window.act("windowfocus --sync %w");
    window.act("key g");  // fills the tiles by level
    window.act("key bracketleft");
    window.wait_for("on screen after");
    window.act("key ctrl+e");
    std::this_thread::sleep_for(std::chrono::seconds(1));  // until the field has the focus
    window.act("type " + (directory.path() / "saved.json").string());
    window.act("key Return");
    window.wait_for("settings saved to");
    window.act("key ctrl+q");
    EXPECT_EQ(window.exit_status(), 0) << window.log();
    EXPECT_THAT(window.log(), Not(HasSubstr("problem")));
    const Settings saved = load_settings(directory.path() / "saved.json");
    EXPECT_GT(saved.view.zoom, 0.0F);
    const Settings kept = load_settings(directory.path() / "quadtile/viewer.json");
    EXPECT_EQ(kept, appearance(saved));
    EXPECT_EQ(kept.drawing.fill, Fill::level);
    EXPECT_EQ(kept.window_width, 640U);
}

class ViewerProgram : public app::test::ProgramTest {
 protected:
    const TemporaryDirectory home_;
    const app::test::ProgramOptions options_{.environment = {{"DISPLAY", ""},
                                                             {"WAYLAND_DISPLAY", ""},
                                                             {"XDG_CONFIG_HOME", home_.path()},
                                                             {"XDG_CACHE_HOME", home_.path()}}};
};

TEST_F(ViewerProgram, DrawsIntoAFile) {
    directory_.add("s.json", R"({"drawing": {"fill": "order"}, "window_width": 640,
                                 "window_height": 480, "ui_scale": 0.5})");
    const auto result =
        run({"--settings", "s.json", "--max-tiles", "100", "--screenshot", "o.png", "--validation"},
            options_);
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.error, HasSubstr(" tiles by fused on "));
    EXPECT_LE(std::stoul(result.error.substr(result.error.find(": ") + 2)), 100U) << result.error;
    const LoadedImage image = load_image(directory_.path() / "o.png");
    EXPECT_EQ(std::pair(image.shape.width, image.shape.height), std::pair(640U, 480U));
}

TEST_F(ViewerProgram, Refuses) {
    directory_.add("damaged.exr", "\x76\x2f\x31\x01 and nothing");
    directory_.add("junk.json", "{\"drawing\": {\"fil\": 1}}");
    directory_.add("fused.json", R"({"subdivision": {"order": "canonical",
                                     "threshold": {"kind": "per-level", "levels": [0, 1]}}})");
    directory_.add("nan.pfm", pfm(std::vector<float>(64, NAN), 8));
    const auto drawn = [](const Arguments& more) {
        return more + Arguments{"--screenshot", "o.png"};
    };
    expect_refused({{{}, 1, "there is no window system"},
                    {{}, 1, "--screenshot OUT.png"},
                    {{"--find-tiles", "1", "--max-resolution", "1"}, 2, "exclude each other"},
                    {{"--screenshot", "a.jpg"}, 2, "a.jpg"},
                    {{"--settings", "junk.json"}, 1, "junk.json': there is no setting drawing.fil"},
                    {drawn({"damaged.exr"}), 1, "damaged.exr"},
                    {drawn({"--device", "no such"}), 1, "no such"},
                    {drawn({"nan.pfm", "--find-tiles", "9"}), 1, "fewer than 64 tiles"},
                    {drawn({"--settings", "fused.json"}), 1, "do not grow with"}},
                   options_);
}

}  // namespace
}  // namespace quadtile::viewer::test
