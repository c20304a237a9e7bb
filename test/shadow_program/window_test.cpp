// quadtile-shadow in a real window: what its user does with mouse and keys.

#include "viewer/window.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace quadtile::shadow::test {
namespace {

using quadtile::test::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::Not;
using viewer::test::ProgramWindow;
using viewer::test::XServer;

// All tests share one program, as each start takes a driver on the CPU seconds. Each test leaves it
// as it was at first, but for what the panel's sliders and the window's size are.
class ShadowWindow : public ::testing::Test {
 protected:
    static void SetUpTestSuite() {
        if (XServer::is_installed()) {
            directory_ = std::make_unique<TemporaryDirectory>();
            server_ = std::make_unique<XServer>();
            window_ = std::make_unique<ProgramWindow>(
                *server_, directory_->path(),
                std::vector<std::string>{"--city", "2000", "--size", "400x600", "--atlas", "1024",
                                         "--map-extent", "64"});
        }
    }

    // The validation layer has said nothing.
    static void TearDownTestSuite() {
        if (window_) {
            window_->act("key ctrl+q");
            EXPECT_EQ(window_->exit_status(), 0) << window_->log();
        }
        window_.reset();
        server_.reset();
        directory_.reset();
    }

    void SetUp() override {
        if (!window_) {
            GTEST_SKIP() << "Xvfb or xdotool is not installed";
        }
    }

    // A key, and what the window says that it shows then.
    static void expect_after(const std::string& key, const std::string& shown) {
        window_->act("key " + key);
        EXPECT_THAT(window_->wait_for("on screen: "), HasSubstr(shown)) << key;
    }

    static inline std::unique_ptr<TemporaryDirectory> directory_;
    static inline std::unique_ptr<XServer> server_;
    static inline std::unique_ptr<ProgramWindow> window_;
};

TEST_F(ShadowWindow, IsTurnedByKeys) {
    EXPECT_THAT(window_->title(), HasSubstr("city"));
    expect_after("2", "single, shaded, 3x3");
    expect_after("4", "stable-cascades, shaded, 3x3");
    expect_after("5", "rays, shaded, 3x3");
    expect_after("3", ": cascades, shaded, 3x3");
    expect_after("h", "cascades, shaded, soft");
    expect_after("h", "cascades, shaded, hard");
    expect_after("v", "beside fitted");
    expect_after("v", ": cascades, shaded, hard, steered, 70");
    expect_after("1", "fitted, shaded, hard");
    expect_after("t", "fitted, tiles, hard");
    expect_after("x", "fitted, error, hard");
    expect_after("b", "fitted, sides, hard");
    expect_after("b", "fitted, shaded, hard");
    expect_after("Tab", "400 x 600");  // without the panel
    expect_after("Tab", "70 x 600");
    for (const char* const key : {"l", "k", "m", "F1"}) {  // what lies over the picture
        window_->act(std::string("key ") + key);
    }
    expect_after("space", "paused");
    window_->act("key F1 key space");
    EXPECT_THAT(window_->wait_for("on screen: "), Not(HasSubstr("paused")));
    expect_after("h", "3x3");
}

// By a click into the picture, and by the next error, which shows errors, too.
TEST_F(ShadowWindow, PicksTiles) {
    window_->act("mousemove --window %w 35 400 sleep 0.5 mousedown 1 sleep 0.7 mouseup 1");
    EXPECT_THAT(window_->wait_for("picked: light"), HasSubstr("light 0, level "));
    window_->act("key Escape");
    window_->wait_for("picked: nothing");
    window_->act("key 2 key n");
    EXPECT_THAT(window_->wait_for("error, 3x3"), HasSubstr("single"));
    window_->act("key 1");
    EXPECT_THAT(window_->wait_for("picked: light"), HasSubstr("light 0, level "));
    window_->act("key Escape");
    window_->wait_for("picked: nothing");
    expect_after("x", "fitted, shaded, 3x3");
}

TEST_F(ShadowWindow, FollowsTheFlightUntilItIsSteered) {
    expect_after("f", "on the flight");
    window_->act("keydown w");
    EXPECT_THAT(window_->wait_for("on screen: "), HasSubstr("steered"));
    window_->act("keyup w");
}

TEST_F(ShadowWindow, IsSteeredByKeysAndMouse) {
    const auto camera = [this] {  // where it is, where it looks
        window_->act("key h");
        const std::string line = window_->wait_for("on screen: ");
        const std::size_t at = line.find(", at ");
        const std::size_t looking = line.find(", looking ");
        return std::pair(line.substr(at, looking - at), line.substr(looking));
    };
    const auto first = camera();
    EXPECT_EQ(camera(), first);
    window_->act("keydown w sleep 0.5 keyup w");
    const auto moved = camera();
    EXPECT_NE(moved.first, first.first);
    EXPECT_EQ(moved.second, first.second);
    window_->act("mousemove --window %w 60 60 mousedown 3 sleep 0.5 mousemove_relative 30 10");
    window_->act("sleep 0.5 mouseup 3");
    const auto turned = camera();
    EXPECT_EQ(turned.first, moved.first);
    const auto degrees = [](const std::string& looking) {
        std::pair<float, float> yaw_and_pitch;
        std::istringstream(looking.substr(std::string(", looking ").size())) >>
            yaw_and_pitch.first >> yaw_and_pitch.second;
        return yaw_and_pitch;
    };
    // To the right and down.
    EXPECT_LT(degrees(turned.second).first, degrees(moved.second).first - 1.0F);
    EXPECT_LT(degrees(turned.second).second, degrees(moved.second).second - 0.5F);
    window_->act("mousemove --window %w 90 90 sleep 0.3");  // without a button
    EXPECT_EQ(camera(), turned);
    expect_after("h", "3x3");
}

// By the panel's sliders. What the library refuses is told, and the rest goes on.
TEST_F(ShadowWindow, IsTurnedByThePanel) {
    const auto click = [](const std::string& place) {
        window_->act("mousemove --window %w " + place +
                     " sleep 0.3 mousedown 1 sleep 0.5 mouseup 1 sleep 0.3");
    };
    click("200 468");  // opens the sliders
    window_->act("mousemove --window %w 160 518 sleep 0.3 mousedown 1 sleep 0.3");
    window_->act("mousemove_relative -- -30 0 sleep 0.5 mouseup 1");
    EXPECT_THAT(window_->wait_for("on screen: "), Not(HasSubstr(", 2048 tiles")));
    // First the largest slots, then an atlas that is smaller.
    click("238 543");
    click("85 493");
    EXPECT_THAT(window_->wait_for("problem: "), HasSubstr("atlas_extent is 512"));
    expect_after("h", "soft");
}

TEST_F(ShadowWindow, FollowsTheSizeOfTheWindow) {
    window_->act("windowsize --sync %w 430 250");
    EXPECT_THAT(window_->wait_for("100 x 250"), HasSubstr("on screen: "));
    window_->act("windowsize --sync %w 380 200");
    window_->wait_for("50 x 200");
}

}  // namespace
}  // namespace quadtile::shadow::test
