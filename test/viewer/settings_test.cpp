// Settings: files of them, the thresholds that they make, and what the command line changes.

#include "settings.hpp"
#include "kept_pipelines.hpp"
#include "options.hpp"
#include "thresholds.hpp"

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr float LARGEST = std::numeric_limits<float>::max();

// Random settings that are possible.
class RandomSettings {
 public:
    Settings operator()() {
        const auto one_of = [this](const auto& table) {
            return table[whole(0, static_cast<std::uint32_t>(table.size() - 1))].value;
        };
        Settings s;
        s.subdivision = {{one_of(THRESHOLD_KINDS), number(), number(), numbers(), number(),
                          "Z \"\xc3\xa9\"", "t.glsl", numbers()},
                         one_of(ORDERS),
                         one_of(app::BALANCES),
                         flag(),
                         whole(1, 4294967295)};
        s.drawing = {
            one_of(COLOUR_MAPS), flag(), flag(), -number(), number(), whole(0, 16), flag(), part(),
            one_of(FILLS),       part(), flag()};
        s.drawing = repaired(s.drawing);
        s.view = {part() * 100.0F, number_below(1e6F), -number_below(1e6F)};
        s.panel = flag();
        s.ui_scale = flag() ? 0.0F : 0.25F + part();
        s.window_width = whole(1, 16384);
        s.window_height = whole(1, 16384);
        return s;
    }

 private:
    std::uint32_t whole(std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
    }
    bool flag() { return whole(0, 1) == 1; }
    float part() { return std::uniform_real_distribution<float>(0.0F, 1.0F)(random_); }
    float number() {  // of any bits
        const auto value = std::bit_cast<float>(whole(0, 0x7f7fffffU));
        return flag() ? value : flag() ? std::round(100.0F * part()) : 0x1.5c87fap-84F;
    }
    float number_below(float high) { return std::min(number(), high); }
    std::vector<float> numbers() {
        std::vector<float> values(whole(0, 16));
        std::ranges::generate(values, [&] { return number(); });
        return values;
    }

    std::mt19937 random_{1};
};

// Catches settings that are not written, not read, or that lose digits.
TEST(Settings, AreReadAsTheyWereWritten) {
    RandomSettings random;
    for (int i = 0; i < 300; ++i) {
        const Settings settings = random();
        ASSERT_EQ(settings_from_json(to_json(settings)), settings) << to_json(settings);
    }
    EXPECT_EQ(settings_from_json("{}"), Settings{});  // what is missing has its default
}

std::string error_of(const std::string& json) {
    return message_of([&] { return settings_from_json(json); });
}

// Catches values that are cut off, wrapped around or ignored, and errors that do not say where:
// each member of the settings in turn gets values of no type of its own, or beyond its range.
TEST(Settings, WrongMembersAreNamed) {
    using nlohmann::json;
    const json right = json::parse(to_json({}));
    std::size_t refused = 0;
    const std::function<void(const json::json_pointer&, const std::string&)> check =
        [&](const json::json_pointer& place, const std::string& name) {
            const json& value = right.at(place);
            for (const json& wrong : {json(nullptr), json("x"), json(json::array({nullptr})),
                                      json(true), json(json::object({{"other", 1}})), json(-1e30),
                                      json(std::uint64_t{1} << 40U), json(0.123)}) {
                const bool may_fit = (wrong.is_number() && value.is_number_float()) ||
                                     (wrong.is_string() && value.is_string()) ||
                                     (wrong.is_boolean() && value.is_boolean());
                json changed = right;
                changed.at(place) = wrong;
                const std::string error = error_of(changed.dump());
                const bool is_told = error.starts_with(name + ": ") ||
                                     error == "there is no setting " + name + ".other";
                EXPECT_TRUE(is_told || (may_fit && error.empty()))
                    << name << wrong << ": " << error;
                refused += is_told ? 1 : 0;
            }
            if (value.is_object()) {
                for (const auto& [member, unused] : value.items()) {
                    check(place / member, name + "." + member);
                }
            }
        };
    for (const auto& [member, unused] : right.items()) {
        check(json::json_pointer() / member, member);
    }
    EXPECT_GT(refused, 200U);
    for (const auto& [text, error] : std::vector<std::pair<const char*, const char*>>{
             {R"({"device": 1})", "there is no setting device"},
             {R"({"drawing": {"fill": "foo"}})",
              "drawing.fill: 'foo' is none of none, level, ratio"},
             {R"({"drawing": {"outline_width": 100.5}})", "100.5' is not a number from 0 to 100"},
             {R"({"drawing": {"automatic_range": false, "range_low": 0.6, "range_high": 0.6}})",
              "below range_high 0.6"},
             {R"({"drawing": {"automatic_range": false, "range_low": 0, "range_high": 0.6}})",
              "above 0 if the range is log"},
             {"{} {}", "not JSON"},
             {"", "not JSON"},
             {"[]", "no object"},
             {"null", "no object"}}) {
        EXPECT_THAT(error_of(text), HasSubstr(error)) << text;
    }
}

// Catches ranges that one mode of the program repairs, and another draws as they are.
TEST(Settings, RangesOfColoursAreRepaired) {
    const float values[] = {-LARGEST, -5.0F, -1.0F, 0.0F, 1e-40F, 2.0F, LARGEST, NAN};
    for (const bool logarithmic : {false, true}) {
        for (const float low : values) {
            for (const float high : values) {
                const DrawingSettings given{.logarithmic = logarithmic,
                                            .automatic_range = false,
                                            .range_low = low,
                                            .range_high = high};
                const DrawingSettings range = repaired(given);
                EXPECT_LT(range.range_low, range.range_high) << low << " to " << high;
                EXPECT_TRUE(!logarithmic || range.range_low > 0.0F) << low << " to " << high;
                EXPECT_EQ(range == given, low < high && (!logarithmic || low > 1.0F));
            }
        }
    }
}

// Catches files that nothing can load.
TEST(Settings, ImpossibleOnesAreNotWritten) {
    const auto error = [](auto change) {
        Settings settings;
        change(settings);
        return message_of([&] { return to_json(settings); });
    };
    EXPECT_THAT(error([](Settings& s) { s.subdivision.threshold.glsl_parameters = {INFINITY}; }),
                StartsWith("subdivision.threshold.glsl_parameters: "));
    EXPECT_THAT(error([](Settings& s) { s.drawing.range_low = NAN; }),
                StartsWith("drawing.range_low: "));
    EXPECT_THAT(error([](Settings& s) { s.subdivision.threshold.glsl_file = "a\xff"; }),
                HasSubstr("not UTF-8"));
}

// Catches a program that ignores the variables which desktops and the other programs heed.
TEST(SettingsFile, FoldersAreThoseOfTheDesktopAndTheLibrary) {
    ::setenv("HOME", "/home/someone", 1);
    for (const auto& [xdg, cache, settings, pipelines] :
         {std::tuple("/somewhere", "kept", "/somewhere/quadtile/viewer.json", "kept/pipelines.bin"),
          {"/somewhere", "", "/somewhere/quadtile/viewer.json",
           "/somewhere/quadtile/pipelines.bin"},
          {"relative", "", "/home/someone/.config/quadtile/viewer.json",
           "/home/someone/.cache/quadtile/pipelines.bin"}}) {
        ::setenv("XDG_CONFIG_HOME", xdg, 1);
        ::setenv("XDG_CACHE_HOME", xdg, 1);
        ::setenv("QUADTILE_CACHE_DIRECTORY", cache, 1);
        EXPECT_EQ(settings_path(), settings);
        EXPECT_EQ(app::pipelines_file(), pipelines);
    }
    for (const char* const name :
         {"QUADTILE_CACHE_DIRECTORY", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"}) {
        ::unsetenv(name);
    }
    EXPECT_EQ(settings_path(), "");
}

constexpr MapShape SHAPE{5, 3, 1, TexelFormat::r32_float};  // levels 0 to 3

TEST(MakeThreshold, TakesTheValuesOfItsKindAndFitsThemToTheMap) {
    ThresholdSettings settings{
        ThresholdKind::max_resolution, 16.0F, 3.0F, {5.0F, 4.0F, 2.0F, 1.0F}, 7.0F};
    const auto levels = [&] { return make_threshold(settings, SHAPE).levels(3); };
    EXPECT_THAT(levels(), ElementsAre(16.0F, 8.0F, 4.0F, 2.0F));
    settings.kind = ThresholdKind::constant;
    EXPECT_THAT(levels(), ::testing::Each(3.0F));
    settings.kind = ThresholdKind::per_level;
    EXPECT_THAT(levels(), ElementsAre(5.0F, 4.0F, 2.0F, 1.0F));
    settings.levels = {5.0F, 4.0F};
    EXPECT_THAT(levels(), ElementsAre(5.0F, 4.0F, 4.0F, 4.0F));
    settings.levels = {6.0F, 5.0F, 4.0F, 3.0F, 2.0F, 1.0F};
    EXPECT_THAT(levels(), ElementsAre(6.0F, 5.0F, 4.0F, 3.0F));
    settings.levels = {};
    EXPECT_THROW(levels(), Error);

    settings.kind = ThresholdKind::memory;
    settings.nodes = 100.0F;
    std::vector<float> fragments(15, 0.0F);
    fragments[6] = 4.0F;
    const MapView view = view_of(fragments, 5, 3);
    EXPECT_EQ(make_threshold(settings, SHAPE, &view).resolve(SHAPE).at(0, 1, 1, 0), 5.0F);
    EXPECT_THROW((void)make_threshold(settings, SHAPE), Error);
    const MapView other = view_of(fragments, 3, 5);
    EXPECT_THROW((void)make_threshold(settings, SHAPE, &other), Error);
}

// No factor leads out of the possible values, or to 0, from which none leads back.
TEST(ScaledThreshold, StaysPossible) {
    for (const auto& entry : THRESHOLD_KINDS) {
        const ThresholdSettings settings{entry.value, 16.0F, 3.0F, {5.0F, 0.0F}, 7.0F};
        for (const double factor : {1e-300, 1e300}) {
            const ThresholdSettings one = scaled(scaled(settings, factor), factor);
            for (const float value : {one.max_resolution, one.constant, one.levels[0], one.nodes}) {
                EXPECT_TRUE(value > 0.0F && value <= LARGEST) << entry.name;
            }
        }
    }
}

// ---- The command line

using Words = std::vector<std::string>;

// Settings are in a directory of the test's own.
class ViewerOptions : public ::testing::Test {
 protected:
    ViewerOptions() { ::setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1); }

    static ParsedOptions parse(const Words& arguments) {
        std::vector<const char*> argv{"quadtile-viewer"};
        for (const std::string& argument : arguments) {
            argv.push_back(argument.c_str());
        }
        return parse_options(static_cast<int>(argv.size()), argv.data());
    }
    static Options options(const Words& arguments) {
        const ParsedOptions parsed = parse(arguments);
        EXPECT_THAT(parsed.warning, IsEmpty());
        return parsed.options;
    }
    static std::string error_of(const Words& arguments) {
        return quadtile::test::message_of([&] { return parse(arguments); });
    }
    quadtile::test::TemporaryDirectory directory_;
};

TEST_F(ViewerOptions, ChangeTheDefaults) {
    const Options all = options({"b.exr", "--channel", "Z", "a.pfm", "--max-resolution", "256.5",
                                 "--max-tiles", "4294967295", "--device", "llvm", "--screenshot",
                                 "out.png", "--validation", "--log", "--", "-c.exr"});
    EXPECT_THAT(all.files, ElementsAre("b.exr", "a.pfm", "-c.exr"));
    Settings expected;
    expected.subdivision.threshold.max_resolution = 256.5F;
    expected.subdivision.has_budget = true;
    expected.subdivision.max_tiles = 4294967295;
    EXPECT_EQ(all.settings, expected);
    EXPECT_EQ(all.channel + all.device + all.screenshot.string(), "Zllvmout.png");
    EXPECT_TRUE(all.validation && all.log);
    EXPECT_FALSE(all.keeps_settings || all.chooses_threshold);
}

// Catches a threshold of the settings that the viewer replaces by its own, and one of the last run.
TEST_F(ViewerOptions, SettingsComeFromTheFileOrTheLastRun) {
    Settings last;
    last.subdivision.threshold.kind = ThresholdKind::constant;
    last.drawing.fill = Fill::order;
    last.drawing.automatic_range = false;
    last.drawing.range_low = 0.25F;
    last.view.zoom = 2.0F;
    last.panel = false;
    save_settings(last, settings_path());
    const std::string file = (directory_.path() / "saved.json").string();
    save_settings(last, file);

    Settings look;  // nothing of the threshold, the range of colours or the view
    look.drawing.fill = Fill::order;
    look.panel = false;
    EXPECT_EQ(options({"a.exr"}).settings, look);
    EXPECT_TRUE(options({"a.exr"}).keeps_settings && options({"a.exr"}).chooses_threshold);
    EXPECT_FALSE(options({}).chooses_threshold);
    EXPECT_EQ(options({"--screenshot", "a.png"}).settings, Settings{});
    const Options from_file = options({"a.exr", "--settings", file});
    EXPECT_EQ(from_file.settings, last);
    EXPECT_FALSE(from_file.keeps_settings || from_file.chooses_threshold);
    EXPECT_EQ(options({"a.exr", "--settings", file, "--find-tiles", "9"}).tile_count, 9U);
    last.subdivision.threshold.kind = ThresholdKind::max_resolution;
    last.subdivision.threshold.max_resolution = 3.0F;
    EXPECT_EQ(options({"--settings", file, "--max-resolution", "3"}).settings, last);

    // Those of the last run are no reason to fail, those of the file are.
    directory_.add("quadtile/viewer.json", "{\"drawing\": {\"fill\": \"foo\"}}");
    const ParsedOptions parsed = parse({"a.exr"});
    EXPECT_THAT(parsed.warning, AllOf(HasSubstr("viewer.json"), HasSubstr("drawing.fill: 'foo'")));
    EXPECT_EQ(parsed.options.settings, Settings{});
    EXPECT_THAT(error_of({"--settings", settings_path().string()}),
                AllOf(HasSubstr("viewer.json"), HasSubstr("drawing.fill: 'foo'")));
    EXPECT_THAT(error_of({"--settings", "missing.json"}), HasSubstr("missing.json"));
    ::unsetenv("XDG_CONFIG_HOME");
    ::unsetenv("HOME");
    EXPECT_FALSE(options({}).keeps_settings);
}

}  // namespace
}  // namespace quadtile::viewer::test
