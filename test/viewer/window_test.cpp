// The viewer in a real window: what its user does with mouse and keys.

#include "window.hpp"
#include "pfm.hpp"

#include "apps/program_test.hpp"

#include <quadtile/images.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace quadtile::viewer::test {
namespace {

namespace fs = std::filesystem;
using app::test::Arguments;
using quadtile::test::read_file;
using app::test::operator+;
using quadtile::test::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::Not;

// The number that a line begins with.
std::uint64_t number_of(const std::string& line) {
    std::uint64_t number = 0;
    std::from_chars(line.data(), line.data() + line.size(), number);
    return number;
}

// Waits until what was done before has been seen, and panels have settled in the frames that follow
// it: turns the threshold up and down again, each in a frame of its own.
void settle(ProgramWindow& window) {
    for (const char* const key : {"bracketright", "bracketleft", "bracketright", "bracketleft"}) {
        window.act(std::string("key ") + key);
        window.wait_for(" tiles, resolution");
        window.wait_for("on screen after");
    }
}

struct Place {
    int left = 0;
    int top = 0;
    int width = 0;  // 0: the control is not drawn
    int height = 0;
};

// Where --log-places says that a control of the panel is.
Place place_of(const ProgramWindow& window, const std::string& control) {
    Place place;
    std::istringstream lines(window.log());
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        Place read;
        std::string name;
        if (words >> word >> read.left >> read.top >> read.width >> read.height &&
            word == "place" && std::getline(words >> std::ws, name) && name == control) {
            place = read;
        }
    }
    return place;
}

// Moves the mouse to a part of a control's width, once the control is there and stays in its place.
void move_to(ProgramWindow& window, const std::string& control, float part = 0.5F) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (place_of(window, control).width == 0) {
        if (std::chrono::steady_clock::now() > end) {
            throw std::runtime_error("there is no " + control + ":\n" + window.log());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    settle(window);
    const Place at = place_of(window, control);
    window.act("mousemove --window %w " +
               std::to_string(at.left + static_cast<int>(part * static_cast<float>(at.width))) +
               " " + std::to_string(at.top + at.height / 2));
}

void click(ProgramWindow& window, const std::string& control) {
    move_to(window, control);
    window.act("click 1");
}

class ViewerWindowTest : public ::testing::Test {
 protected:
    void SetUp() override {
        if (!XServer::is_installed()) {
            GTEST_SKIP() << "Xvfb or xdotool is not installed";
        }
        server_ = std::make_unique<XServer>();
    }

    std::unique_ptr<ProgramWindow> open(const std::vector<std::string>& arguments = {}) {
        return std::make_unique<ProgramWindow>(*server_, directory_.path(), arguments);
    }

    // Everything was well until the end: the validation layer has said nothing.
    static void expect_good_end(ProgramWindow& window) {
        window.act("key ctrl+q");
        EXPECT_EQ(window.exit_status(), 0) << window.log();
        EXPECT_THAT(window.log(), Not(HasSubstr("problem")));
    }

    fs::path add_map(const std::string& name, std::uint32_t side, float value) const {
        return directory_.add(name, pfm(std::vector(std::size_t{side} * side, value), side));
    }

    TemporaryDirectory directory_;
    std::unique_ptr<XServer> server_;
};

TEST_F(ViewerWindowTest, TurnsTheThresholdAndComesBackWithItsLook) {
    auto window = open({"--log-places"});
    const std::uint64_t first =
        number_of(window->title().substr(std::string("demo map - ").size()));
    EXPECT_GT(first, 1000U);
    window->act("key bracketright");
    const std::uint64_t fewer = number_of(window->wait_for(" tiles, resolution"));
    EXPECT_LT(fewer, first);
    window->wait_for("on screen after");
    EXPECT_THAT(window->title(), HasSubstr(" " + std::to_string(fewer) + " tiles"));
    window->act("key --repeat 2 bracketleft");  // both act, however slowly frames are drawn
    EXPECT_EQ(number_of(window->wait_for(" tiles, resolution 16")), first);
    window->wait_for("on screen after");
    EXPECT_GT(number_of(window->wait_for(" tiles, resolution 14")), first);
    window->wait_for("on screen after");
    move_to(*window, "Threshold/Resolution", 0.3F);
    window->act("mousedown 1");
    std::string line = window->wait_for(" tiles, resolution");  // it goes there
    window->wait_for("on screen after");
    for (const char* const step : {"4", "16"}) {
        window->act(std::string("mousemove_relative ") + step + " 0");
        const std::string next = window->wait_for(" tiles, resolution");
        EXPECT_LT(number_of(next), number_of(line));
        line = next;
        window->wait_for("on screen after");
    }
    window->act("mouseup 1");
    window->act("key g");  // fills the tiles by level
    expect_good_end(*window);
    // The look comes back, the threshold does not.
    window = open();
    EXPECT_THAT(window->log(), HasSubstr(std::to_string(first) + " tiles, resolution 16"));
    expect_good_end(*window);
    EXPECT_THAT(read_file(directory_.path() / "quadtile/viewer.json"),
                HasSubstr(R"("fill": "level")"));
}

// Catches panels that are drawn before a map that has arrived is taken. The window gets no event,
// but its panel must show the values of the map that it shows.
TEST_F(ViewerWindowTest, ReadsAFileAgainThatChanges) {
    const fs::path file = add_map("map.pfm", 17, 2.0F);
    const auto window = open({file, "--log-places"});
    EXPECT_EQ(place_of(*window, "Map/Show next").width, 0);
    std::vector<float> texels(30 * 30, 2.0F);
    texels[5] = -1.0F;
    directory_.add("map.pfm", pfm(texels, 30));
    EXPECT_THAT(window->wait_for("map "), HasSubstr("30 x 30"));
    window->wait_for("on screen after");
    EXPECT_GT(place_of(*window, "Map/Show next").width, 0);
    expect_good_end(*window);
}

// Keys are pressed faster than frames are drawn: the prompts get all of them, in their order.
TEST_F(ViewerWindowTest, ExportsWhatItShows) {
    const auto window = open();
    window->act("mousemove --window %w 500 400 click --repeat 3 4");  // zooms in
    window->act("mousedown 1 mousemove_relative 120 60 mouseup 1");
    settle(*window);
    window->act("key ctrl+s");  // what it suggests is selected
    window->act("type " + (directory_.path() / "list.json").string());
    window->act("key Return");
    const std::uint64_t tiles = number_of(window->wait_for("tiles saved to"));
    const auto json = nlohmann::json::parse(read_file(directory_.path() / "list.json"));
    EXPECT_EQ(json.at("tiles").size(), tiles);
    window->act("key ctrl+p");
    window->act("type " + (directory_.path() / "view.png").string());
    window->act("key ctrl+a key ctrl+x key ctrl+v key Return");
    EXPECT_THAT(window->wait_for("saved to"), HasSubstr("view.png"));
    EXPECT_GT(load_image(directory_.path() / "view.png").shape.width, 100U);
    expect_good_end(*window);
}

// Catches lists that are written beside the map, and files that are replaced without a question.
TEST_F(ViewerWindowTest, SavesToTheCurrentDirectoryAndAsksBeforeItReplaces) {
    fs::create_directory(directory_.path() / "maps");
    const fs::path map = add_map("maps/map.pfm", 17, 2.0F);
    const fs::path list = directory_.path() / "map.tiles.json";
    const auto window = open();
    window->act("key o");
    window->act("type " + map.string());
    window->act("key Return");
    window->wait_for("map map.pfm");
    window->wait_for("on screen after");
    window->act("key ctrl+s key Return");
    EXPECT_THAT(window->wait_for("tiles saved to"), HasSubstr(list.string()));
    directory_.add("map.tiles.json", "mine");
    window->act("key ctrl+s key Return key Escape");
    settle(*window);
    EXPECT_EQ(read_file(list), "mine");
    window->act("key ctrl+s key Return key Return");
    window->wait_for("tiles saved to");
    EXPECT_NE(read_file(list), "mine");
    expect_good_end(*window);
}

TEST_F(ViewerWindowTest, FollowsItsSize) {
    const auto window = open();
    for (const char* const size : {"900 700", "330 200", "1500 950", "640 480"}) {
        window->act(std::string("windowsize --sync %w ") + size);
        window->act("key bracketright");
        window->wait_for("on screen after");
    }
    window->act("windowunmap --sync %w");
    window->act("windowmap --sync %w");
    window->act("windowfocus --sync %w");
    window->act("key bracketright");
    window->wait_for("on screen after");
    // Faster than it can draw.
    std::string storm;
    for (int i = 0; i < 40; ++i) {
        storm += "windowsize %w " + std::to_string(400 + 13 * i) + " " +
                 std::to_string(900 - 11 * i) + " ";
    }
    window->act(storm);
    window->act("key bracketright");
    window->wait_for("on screen after");
    expect_good_end(*window);
}

// The driver twice makes two devices.
TEST_F(ViewerWindowTest, ChangesTheDevice) {
    const fs::path drivers = "/usr/share/vulkan/icd.d";
    fs::path driver;
    for (const auto& entry : fs::directory_iterator(drivers)) {
        if (entry.path().filename().string().starts_with("lvp_icd")) {
            driver = entry.path();
        }
    }
    if (driver.empty()) {
        GTEST_SKIP() << "Mesa's CPU driver is not in " << drivers;
    }
    const fs::path copy = directory_.add("copy.json", read_file(driver));
    ProgramWindow window(*server_, directory_.path(), {"--log-places"},
                         {{"VK_ICD_FILENAMES", driver.string() + ":" + copy.string()}});
    click(window, "Subdivision");
    click(window, "Subdivision/Device");
    click(window, "Subdivision/Device/1");
    window.wait_for("device llvmpipe");
    window.wait_for("5758 tiles, resolution 16");
    window.wait_for("on screen after");
    expect_good_end(window);
}

TEST_F(ViewerWindowTest, PlaysMapsOfDifferentSizesAndEndsInTheMidstOfWork) {
    std::vector<std::string> files;
    for (const std::uint32_t side : {300U, 17U, 1000U, 1U}) {
        files.push_back(add_map(std::to_string(side) + ".pfm", side, 0.3F));
    }
    const auto window = open(files);
    for (const char* const size : {"17 x 17", "1000 x 1000", "1 x 1", "300 x 300"}) {
        window->act("key Right");
        EXPECT_THAT(window->wait_for("map "), HasSubstr(size));
        window->wait_for("on screen after");
    }
    window->act("key space");  // plays
    for (int round = 0; round < 2; ++round) {
        window->wait_for("map 1.pfm");
    }
    window->act("key bracketleft key ctrl+q");
    EXPECT_EQ(window->exit_status(), 0) << window->log();
}

TEST_F(ViewerWindowTest, CompletesPathsAndOpensAllThatMatch) {
    add_map("first one.pfm", 17, 2.0F);
    add_map("first two.pfm", 18, 2.0F);
    const auto window = open();
    const auto type = [&](const std::string& path, const std::string& keys) {
        window->act("key o");
        window->act("type '" + (directory_.path() / path).string() + "'");
        window->act(keys);
    };
    type("fi", "key Tab");  // both names continue it
    window->act("key t key Tab key Return");
    EXPECT_THAT(window->wait_for("map "), HasSubstr("first two.pfm"));
    window->wait_for("on screen after");
    type("*.pfm", "key Return");
    EXPECT_THAT(window->wait_for("map "), HasSubstr("first one.pfm"));
    window->wait_for("on screen after");
    window->act("key Right");
    EXPECT_THAT(window->wait_for("map "), HasSubstr("first two.pfm"));
    window->wait_for("on screen after");
    expect_good_end(*window);
}

TEST_F(ViewerWindowTest, TellsWhatItCannotOpen) {
    const fs::path damaged = directory_.add("damaged.pfm", "Pf\n10 10\n-1\n123");
    const auto window = open();
    window->act("key o");
    window->act("type " + damaged.string());
    window->act("key Return");
    EXPECT_THAT(window->wait_for("problem"), HasSubstr("damaged.pfm"));
    window->act("key ctrl+q");
    EXPECT_EQ(window->exit_status(), 0) << window->log();
}

// ---- Without a window

class ViewerProgram : public app::test::ProgramTest {
 protected:
    const TemporaryDirectory home_;
    const app::test::ProgramOptions options_{.environment = {{"DISPLAY", ""},
                                                             {"WAYLAND_DISPLAY", ""},
                                                             {"XDG_CONFIG_HOME", home_.path()},
                                                             {"XDG_CACHE_HOME", home_.path()}}};
};

TEST_F(ViewerProgram, NamesTheScreenshotWhereThereIsNoWindowSystem) {
    EXPECT_THAT(error_of({}, 1, options_), ::testing::AllOf(HasSubstr("there is no window system"),
                                                            HasSubstr("--screenshot OUT.png")));
}

TEST_F(ViewerProgram, DrawsIntoAFile) {
    const Arguments drawing{"--screenshot", "out.png", "--size",      "640x480",
                            "--list",       "l.csv",   "--validation"};
    for (const Arguments& more : {Arguments{"--fill", "order"}, {"--panel", "--pin", "100,200"}}) {
        const auto result = run(drawing + more, options_);
        EXPECT_EQ(result.status, 0) << result.error;
        const LoadedImage image = load_image(directory_.path() / "out.png");
        EXPECT_EQ(std::pair(image.shape.width, image.shape.height), std::pair(640U, 480U));
        EXPECT_FALSE(read_file(directory_.path() / "l.csv").empty());
    }
}

TEST_F(ViewerProgram, TellsWhatIsWrong) {
    directory_.add("damaged.exr", "\x76\x2f\x31\x01 and nothing");
    for (const auto& [arguments, status, part] :
         std::vector<std::tuple<Arguments, int, const char*>>{
             {{"damaged.exr", "--screenshot", "o.png"}, 1, "damaged.exr"},
             {{"missing.exr", "--screenshot", "o.png"}, 1, "missing.exr"},
             {{"--screenshot", "o.png", "--device", "no such"}, 1, "no such"},
             {{"--screenshot", "no/folder/o.png"}, 1, "no/folder"},
             {{"--screenshot", "o.png", "--pin", "5000,1"}, 1, "--pin"},
             {{"--nonsense"}, 2, "--nonsense"},
             {{"--screenshot", "o.png", "--strategy", "fused", "--level-thresholds",
               "0,1,0,0,0,0,0,0,0,0,0"},
              1,
              "do not grow with the level"}}) {
        EXPECT_THAT(error_of(arguments, status, options_), HasSubstr(part));
    }
}

}  // namespace
}  // namespace quadtile::viewer::test
