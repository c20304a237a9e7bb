#include "settings.hpp"
#include "threshold_history.hpp"

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::message_of;
using quadtile::test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float LARGEST = std::numeric_limits<float>::max();

// No member has its default, no float is a decimal fraction.
Settings other_settings() {
    Settings settings;
    settings.subdivision.threshold = {
        ThresholdKind::per_level,   1.0F / 3.0F, 0.1F,     {4.7F, 0.0F, 1e-30F},
        std::nextafter(7.0F, 8.0F), "Z.depth",   "t.glsl", {-1.5F, 0.1F}};
    settings.subdivision.strategy = Strategy::subtree;
    settings.subdivision.subtree_levels = 8;
    settings.subdivision.order = Order::canonical;
    settings.subdivision.balance = Balance::corners;
    settings.subdivision.has_budget = true;
    settings.subdivision.max_tiles = 4294967295;
    settings.drawing = {ColourMap::grey, false, false,       -1.0F / 7.0F, 3.0F / 7.0F, 16,
                        false,           1.1F,  Fill::order, 0.3F,         false};
    settings.device = "a \"device\"\n\xc3\xa9";
    settings.panel = false;
    settings.ui_scale = 1.7F;
    settings.playback_frames_per_second = 29.97F;
    settings.window_width = 1;
    settings.window_height = 65536;
    return settings;
}

std::string error_of(const std::string& json) {
    return message_of([&] { return settings_from_json(json); });
}

// {"a": {"b": value}} for "a.b".
std::string with_member(std::string path, const std::string& value) {
    std::string json = value;
    while (!path.empty()) {
        const std::size_t dot = path.rfind('.');
        const std::size_t name = dot == std::string::npos ? 0 : dot + 1;
        json = "{\"" + path.substr(name) + "\": " + json + "}";
        path.resize(name == 0 ? 0 : dot);
    }
    return json;
}

TEST(Settings, JsonGivesThemBack) {
    std::vector<Settings> all{{}, other_settings()};
    for (std::size_t i = 0; i < COLOUR_MAPS.size(); ++i) {  // the longest list of names
        Settings& settings = all.emplace_back();
        settings.drawing.colour_map = COLOUR_MAPS[i].value;
        settings.drawing.fill = FILLS[i % FILLS.size()].value;
        settings.subdivision.strategy = STRATEGIES[i % STRATEGIES.size()].value;
        settings.subdivision.threshold.kind = THRESHOLD_KINDS[i % THRESHOLD_KINDS.size()].value;
    }
    std::mt19937 random(1);
    for (int i = 0; i < 100; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()) >> 1);
        all.emplace_back().subdivision.threshold.constant = std::isfinite(value) ? value : LARGEST;
    }
    // The shortest digits of the last give another float by way of a double.
    all.emplace_back().subdivision.threshold.levels = {
        0.0F, std::numeric_limits<float>::denorm_min(), 0x1.5c87fap-84F};
    for (const Settings& settings : all) {
        EXPECT_EQ(settings_from_json(to_json(settings)), settings) << to_json(settings);
    }
}

TEST(Settings, JsonIsForPeople) {
    EXPECT_THAT(to_json({}),
                AllOf(HasSubstr("\"outline_width\": 1.0,"), HasSubstr("\"strategy\": \"auto\""),
                      HasSubstr("\"kind\": \"max-resolution\""), HasSubstr("\"order\": \"any\""),
                      HasSubstr("\"colour_map\": \"inferno\"")));
    Settings settings;
    settings.subdivision.strategy = Strategy::subtree;
    settings.drawing.colour_map = ColourMap::turbo;
    EXPECT_THAT(to_json(settings),
                AllOf(HasSubstr("\"subtree\""), HasSubstr("\"colour_map\": \"turbo\"")));
}

TEST(Settings, NamesThatAreNotUtf8DoNotKeepTheRestFromBeingWritten) {
    Settings settings;
    settings.device = "a\xff";
    settings.drawing.level = 3;
    const Settings read = settings_from_json(to_json(settings));
    EXPECT_EQ(read.drawing, settings.drawing);
    EXPECT_EQ(read.device, "a\xef\xbf\xbd");
}

TEST(Settings, MissingMembersKeepTheirDefaultsAndUnknownOnesAreIgnored) {
    EXPECT_EQ(settings_from_json("{}"), Settings{});
    EXPECT_EQ(settings_from_json(R"({"future": [1], "drawing": {"future": null}})"), Settings{});
    Settings expected;
    expected.drawing.fill = Fill::ratio;
    EXPECT_EQ(settings_from_json(R"({"drawing": {"fill": "ratio"}})"), expected);
    // Whole numbers are numbers.
    expected = {};
    expected.subdivision.threshold.max_resolution = 256.0F;
    EXPECT_EQ(settings_from_json(with_member("subdivision.threshold.max_resolution", "256")),
              expected);
}

TEST(Settings, WrongMembersAreNamed) {
    EXPECT_EQ(error_of(with_member("drawing.fill", "\"foo\"")),
              "drawing.fill: 'foo' is none of none, level, ratio, order");
    struct Case {
        std::string member;
        std::vector<std::string> values;
    };
    for (const Case& c : std::vector<Case>{
             {"subdivision", {"1", "null", "[]", "\"a\""}},
             {"subdivision.threshold", {"16"}},
             {"subdivision.threshold.kind", {"\"Constant\"", "0", "null"}},
             {"subdivision.threshold.max_resolution",
              {"-1", "\"1\"", "null", "[1]", "1e39", "3.4028236e38", "1e999", "true"}},
             {"subdivision.threshold.constant", {"-1"}},
             {"subdivision.threshold.nodes", {"-1"}},
             {"subdivision.threshold.levels",
              {"1", "{}", "[-1]", "[1, null]", "[1e39]", "[1e999]",
               "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"}},
             {"subdivision.threshold.fragments_channel", {"1", "null"}},
             {"subdivision.threshold.glsl_parameters", {"1", "[null]"}},
             {"subdivision.strategy", {"\"reference\"", "\"automatic\"", "1"}},
             {"subdivision.subtree_levels", {"0", "9", "-1", "6.0", "\"6\"", "4294967302"}},
             {"subdivision.has_budget", {"1", "\"true\"", "null"}},
             {"subdivision.max_tiles", {"0", "4294967296", "-1", "1e3", "18446744073709551617"}},
             {"drawing.range_low", {"-1e39", "\"0\""}},
             {"drawing.level", {"17", "-1", "0.5"}},
             {"drawing.outline_width", {"-0.1", "100.1"}},
             {"drawing.fill_opacity", {"-0.1", "1.00000001"}},
             {"ui_scale", {"-1", "8.1", "0.1"}},
             {"playback_frames_per_second", {"0", "1001", "0.09"}},
             {"window_width", {"0", "65537"}}}) {
        for (const std::string& value : c.values) {
            const std::string name = value == "1e999" || value == "[1e999]"
                                         ? c.member.substr(c.member.rfind('.') + 1)
                                         : c.member;
            const std::string error = error_of(with_member(c.member, value));
            EXPECT_EQ(error.substr(0, name.size() + 2), name + ": ") << value << ": " << error;
        }
    }
}

TEST(Settings, RangesGoUpFromAboveZeroWhereTheyAreLogarithmic) {
    const auto error = [](const std::string& members) {
        return error_of(R"({"drawing": {"automatic_range": false, )" + members + "}}");
    };
    EXPECT_EQ(error(R"("range_low": 0.5, "range_high": 0.6)"), "");
    EXPECT_EQ(error(R"("range_low": -0.5, "range_high": 0.6, "logarithmic": false)"), "");
    EXPECT_THAT(error(R"("range_low": 0.6, "range_high": 0.6)"), HasSubstr("drawing.range_high"));
    EXPECT_THAT(error(R"("range_low": 0, "range_high": 0.6)"), HasSubstr("drawing.range_low"));
    // Where it is automatic they wait for their turn.
    EXPECT_EQ(error_of(R"({"drawing": {"range_low": 2, "range_high": 1}})"), "");
}

TEST(Settings, WhatIsNoJsonOrNoObjectIsRefused) {
    for (const char* json : {"", "{", "{\"drawing\": }", "{} {}", "hello", "{\"a\": nan}"}) {
        EXPECT_THAT(error_of(json), HasSubstr("not JSON")) << json;
    }
    for (const char* json : {"[]", "1", "null", "\"settings\""}) {
        EXPECT_THAT(error_of(json), HasSubstr("no object")) << json;
    }
}

TEST(SettingsFile, GivesThemBack) {
    const TemporaryDirectory directory;
    const std::filesystem::path file = directory.path() / "a" / "b" / "viewer.json";
    save_settings(other_settings(), file);
    EXPECT_EQ(load_settings(file), other_settings());
    save_settings({}, file);
    EXPECT_EQ(load_settings(file), Settings{});
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

TEST(SettingsFile, MissingGivesDefaults) {
    const TemporaryDirectory directory;
    const std::filesystem::path file = directory.add("file", "{}");
    EXPECT_EQ(load_settings(directory.path() / "viewer.json"), Settings{});
    EXPECT_EQ(load_settings(file / "viewer.json"), Settings{});
    EXPECT_EQ(load_settings({}), Settings{});
}

TEST(SettingsFile, ErrorsNameTheFileAndTheReason) {
    const TemporaryDirectory directory;
    const std::filesystem::path bad = directory.add("bad.json", "{\"panel\": 1}");
    EXPECT_THAT(message_of([&] { return load_settings(bad); }),
                AllOf(HasSubstr("cannot read"), HasSubstr("bad.json"), HasSubstr("panel: ")));
    EXPECT_THAT(message_of([&] { return load_settings(directory.path()); }),
                AllOf(HasSubstr(directory.path().string()), HasSubstr("not a regular file")));
    EXPECT_THAT(message_of([&] { save_settings({}, bad / "viewer.json"); }),
                AllOf(HasSubstr("cannot write"), HasSubstr("bad.json/viewer.json")));
    EXPECT_THAT(message_of([&] { save_settings({}, directory.path()); }),
                AllOf(HasSubstr("cannot write"), HasSubstr("directory")));
    EXPECT_EQ(quadtile::test::read_file(bad), "{\"panel\": 1}");
}

TEST(SettingsFile, IsWhereTheDesktopKeepsSettings) {
    ::setenv("HOME", "/home/someone", 1);
    ::setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    EXPECT_EQ(settings_path(), "/somewhere/quadtile/viewer.json");
    for (const char* ignored : {"", "relative"}) {
        ::setenv("XDG_CONFIG_HOME", ignored, 1);
        EXPECT_EQ(settings_path(), "/home/someone/.config/quadtile/viewer.json");
    }
    ::unsetenv("XDG_CONFIG_HOME");
    EXPECT_EQ(settings_path(), "/home/someone/.config/quadtile/viewer.json");
    ::setenv("HOME", "", 1);
    EXPECT_EQ(settings_path(), "");
    ::unsetenv("HOME");
    EXPECT_EQ(settings_path(), "");
}

// Catches a program that ignores the variable which the library and the command line heed.
TEST(CachePath, IsTheLibrarysVariableOrTheDesktopsFolder) {
    ::setenv("HOME", "/home/someone", 1);
    ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
    ::setenv("QUADTILE_CACHE_DIRECTORY", "kept", 1);
    EXPECT_EQ(cache_path(), "kept");
    ::setenv("QUADTILE_CACHE_DIRECTORY", "", 1);
    EXPECT_EQ(cache_path(), "/somewhere/quadtile");
    ::unsetenv("QUADTILE_CACHE_DIRECTORY");
    EXPECT_EQ(cache_path(), "/somewhere/quadtile");
    ::unsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(cache_path(), "/home/someone/.cache/quadtile");
}

constexpr MapShape SHAPE{5, 3, 1, TexelFormat::r32_float};  // levels 0 to 3

std::vector<float> levels_of(const ThresholdSettings& settings) {
    return make_threshold(settings, SHAPE, nullptr).levels(3);
}

TEST(MakeThreshold, TakesTheValuesOfItsKindAndFitsThemToTheMap) {
    ThresholdSettings settings{ThresholdKind::max_resolution, 16.0F, 3.0F,
                               {5.0F, 4.0F, 2.0F, 1.0F},      7.0F,  ""};
    EXPECT_THAT(levels_of(settings), ElementsAre(16.0F, 8.0F, 4.0F, 2.0F));
    settings.kind = ThresholdKind::constant;
    EXPECT_THAT(levels_of(settings), ::testing::Each(3.0F));
    settings.constant = std::nanf("");
    EXPECT_THROW(levels_of(settings), Error);
    settings.kind = ThresholdKind::per_level;
    EXPECT_THAT(levels_of(settings), ElementsAre(5.0F, 4.0F, 2.0F, 1.0F));
    settings.levels = {5.0F, 4.0F};
    EXPECT_THAT(levels_of(settings), ElementsAre(5.0F, 4.0F, 4.0F, 4.0F));
    settings.levels = {6.0F, 5.0F, 4.0F, 3.0F, 2.0F, 1.0F};
    EXPECT_THAT(levels_of(settings), ElementsAre(6.0F, 5.0F, 4.0F, 3.0F));
    settings.levels = {};
    EXPECT_THROW(levels_of(settings), Error);
}

TEST(MakeThreshold, OfMemoryReadsTheFragments) {
    ThresholdSettings settings;
    settings.kind = ThresholdKind::memory;
    settings.max_resolution = 16.0F;
    settings.nodes = 100.0F;
    std::vector<float> fragments(15, 0.0F);
    fragments[6] = 4.0F;
    const MapView view = view_of(fragments, 5, 3);
    const ResolvedThreshold resolved = make_threshold(settings, SHAPE, &view).resolve(SHAPE);
    EXPECT_EQ(resolved.at(0, 1, 1, 0), 5.0F);
    EXPECT_EQ(resolved.at(0, 0, 0, 0), 16.0F);
    EXPECT_EQ(resolved.at(1, 0, 0, 0), 5.0F);

    EXPECT_THROW((void)make_threshold(settings, SHAPE, nullptr), Error);
    const MapView other = view_of(fragments, 3, 5);
    EXPECT_THROW((void)make_threshold(settings, SHAPE, &other), Error);
}

TEST(ScaledThreshold, ChangesTheValuesOfItsKindAlone) {
    using Change = void (*)(ThresholdSettings&);
    for (const auto& [kind, change] : std::initializer_list<std::pair<ThresholdKind, Change>>{
             {ThresholdKind::max_resolution, [](auto& scaled) { scaled.max_resolution = 24.0F; }},
             {ThresholdKind::constant, [](auto& scaled) { scaled.constant = 4.5F; }},
             {ThresholdKind::per_level,
              [](auto& scaled) {
                  scaled.levels = {7.5F, 6.0F};
              }},
             {ThresholdKind::memory, [](auto& scaled) {
                  scaled.max_resolution = 24.0F;
                  scaled.nodes = 15.75F;
              }}}) {
        const ThresholdSettings settings{kind, 16.0F, 3.0F, {5.0F, 4.0F}, 7.0F, ""};
        ThresholdSettings expected = settings;
        change(expected);
        EXPECT_EQ(scaled(settings, 1.5F), expected);
    }
}

// Catches a history that forgets what it may redo, or keeps what a new change has replaced.
TEST(ThresholdHistory, GoesBackAndForth) {
    ThresholdHistory history;
    ThresholdSettings threshold;
    EXPECT_FALSE(history.can_go(-1) || history.can_go(1));
    EXPECT_EQ(history.first(threshold), threshold);
    for (const float resolution : {16.0F, 8.0F, 8.0F, 4.0F}) {
        threshold.max_resolution = resolution;
        history.note(threshold);
    }
    history.go(-1, threshold);
    EXPECT_EQ(threshold.max_resolution, 8.0F);
    history.note(threshold);  // as after each frame
    history.go(1, threshold);
    EXPECT_EQ(threshold.max_resolution, 4.0F);
    EXPECT_FALSE(history.can_go(1));
    history.go(-2, threshold);
    EXPECT_EQ(threshold.max_resolution, 16.0F);
    history.go(-1, threshold);  // there is none
    threshold.kind = ThresholdKind::constant;
    history.note(threshold);
    EXPECT_FALSE(history.can_go(1));
    history.go(-1, threshold);
    EXPECT_EQ(threshold.max_resolution, 16.0F);
    EXPECT_EQ(threshold.kind, ThresholdKind::max_resolution);
    EXPECT_EQ(history.first(threshold).kind, ThresholdKind::max_resolution);
}

TEST(ScaledThreshold, StaysFiniteAndPositive) {
    ThresholdSettings settings;
    settings.kind = ThresholdKind::memory;
    settings.max_resolution = LARGEST;
    EXPECT_EQ(scaled(settings, 2.0F).max_resolution, LARGEST);
    EXPECT_EQ(scaled(settings, LARGEST).nodes, LARGEST);
    settings.kind = ThresholdKind::max_resolution;
    settings.max_resolution = 1.0e-30F;
    const ThresholdSettings smallest = scaled(settings, 1.0e-20F);
    EXPECT_EQ(smallest.max_resolution, std::numeric_limits<float>::min());
    EXPECT_GT(scaled(smallest, 2.0F).max_resolution, smallest.max_resolution);
    settings.max_resolution = 0.0F;
    EXPECT_EQ(scaled(settings, 2.0F).max_resolution, 0.0F);
}

}  // namespace
}  // namespace quadtile::viewer::test
