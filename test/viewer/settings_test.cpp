#include "settings.hpp"
#include "kept_pipelines.hpp"

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::message_of;
using quadtile::test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;
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
    EXPECT_EQ(settings_from_json(to_json({})), Settings{});
    EXPECT_THAT(to_json({}), AllOf(HasSubstr("\"fill_opacity\": 0.75,"),
                                   HasSubstr("\"kind\": \"max-resolution\"")));
}

std::string error_of(const std::string& json) {
    return message_of([&] { return settings_from_json(json); });
}

// {"a": {"b": value}} for "a.b".
std::string with_member(const std::string& path, const std::string& value) {
    const std::size_t dot = path.find('.');
    return "{\"" + path.substr(0, dot) +
           "\": " + (dot == std::string::npos ? value : with_member(path.substr(dot + 1), value)) +
           "}";
}

// Catches a part of the settings that is dropped without a word.
TEST(Settings, MissingMembersHaveTheirDefaults) {
    Settings expected;
    expected.subdivision.threshold.max_resolution = 256.0F;
    EXPECT_EQ(settings_from_json(with_member("subdivision.threshold.max_resolution", "256")),
              expected);
    EXPECT_EQ(settings_from_json("{}"), Settings{});
}

// Catches values that are cut off, wrapped around or ignored, and errors that do not say where.
TEST(Settings, WrongMembersAreNamed) {
    for (const char* const name : {"device", "drawing.fil", "subdivision.threshold.level"}) {
        EXPECT_EQ(error_of(with_member(name, "1")), std::string("there is no setting ") + name);
    }
    EXPECT_EQ(error_of(with_member("drawing.fill", "\"foo\"")),
              "drawing.fill: 'foo' is none of none, level, ratio, order");
    EXPECT_EQ(error_of(with_member("drawing.outline_width", "100.5")),
              "drawing.outline_width: '100.5' is not a number from 0 to 100");
    struct Case {
        const char* member;
        std::vector<std::string> values;
    };
    for (const Case& one : std::vector<Case>{
             {"subdivision", {"1", "null", "[]", "\"a\""}},
             {"subdivision.threshold", {"16"}},
             {"subdivision.threshold.kind", {"\"Constant\"", "0", "null", "{}"}},
             {"subdivision.threshold.max_resolution", {"-1", "\"1\"", "null", "[1]", "true"}},
             {"subdivision.threshold.constant", {"-1"}},
             {"subdivision.threshold.nodes", {"-1"}},
             {"subdivision.threshold.levels",
              {"1", "{}", "[-1]", "[1, null]", "[true]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"}},
             {"subdivision.threshold.fragments_channel", {"1", "null"}},
             {"subdivision.threshold.glsl_parameters", {"1", "[null]"}},
             {"subdivision.order", {"\"z\"", "1"}},
             {"subdivision.has_budget", {"1", "\"true\"", "null"}},
             {"subdivision.max_tiles", {"0", "4294967296", "-1", "1e3", "18446744073709551617"}},
             {"drawing.range_low", {"\"0\""}},
             {"drawing.level", {"17", "-1", "0.5"}},
             {"drawing.fill_opacity", {"-0.1", "1.00001"}},
             {"view.zoom", {"-1", "10001"}},
             {"ui_scale", {"-1", "8.1", "0.1"}},
             {"window_width", {"0", "16385"}}}) {
        for (const std::string& value : one.values) {
            EXPECT_THAT(error_of(with_member(one.member, value)),
                        StartsWith(std::string(one.member) + ": "))
                << value;
        }
    }
    EXPECT_THAT(error_of(with_member("view.zoom", "1e39")), HasSubstr("1e39"));
    const std::string fixed = R"({"drawing": {"automatic_range": false, "range_high": 0.6, )";
    EXPECT_EQ(error_of(fixed + R"("logarithmic": false, "range_low": -5}})"), "");
    EXPECT_THAT(error_of(fixed + R"("range_low": 0.6}})"), HasSubstr("below range_high 0.6"));
    EXPECT_THAT(error_of(fixed + R"("range_low": 0}})"), HasSubstr("above 0 if the range is log"));
    for (const char* json : {"", "{", "{\"drawing\": }", "{} {}", "hello", "{\"a\": nan}"}) {
        EXPECT_THAT(error_of(json), StartsWith("not JSON")) << json;
    }
    for (const char* json : {"[]", "1", "null", "\"settings\""}) {
        EXPECT_THAT(error_of(json), HasSubstr("no object")) << json;
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

TEST(SettingsFile, GivesThemBackOrNamesTheReason) {
    const TemporaryDirectory directory;
    const std::filesystem::path file = directory.path() / "a" / "b" / "viewer.json";
    const Settings settings = RandomSettings()();
    save_settings(settings, file);
    EXPECT_EQ(load_settings(file), settings);
    const std::filesystem::path bad = directory.add("bad.json", "{\"panel\": 1}");
    EXPECT_THAT(message_of([&] { return load_settings(bad); }),
                AllOf(HasSubstr("cannot read"), HasSubstr("bad.json"), HasSubstr("panel: ")));
    EXPECT_THAT(message_of([&] { return load_settings(directory.path() / "missing.json"); }),
                AllOf(HasSubstr("missing.json"), HasSubstr("No such file")));
    EXPECT_THAT(message_of([&] { return load_settings(directory.path()); }),
                HasSubstr("it is a directory"));
    EXPECT_THAT(message_of([&] { save_settings({}, bad / "viewer.json"); }),
                AllOf(HasSubstr("cannot write"), HasSubstr("bad.json/viewer.json")));
}

// Catches a program that ignores the variables which desktops and the other programs heed.
TEST(SettingsFile, FoldersAreThoseOfTheDesktopAndTheLibrary) {
    ::setenv("HOME", "/home/someone", 1);
    ::setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    EXPECT_EQ(settings_path(), "/somewhere/quadtile/viewer.json");
    ::setenv("XDG_CONFIG_HOME", "relative", 1);
    EXPECT_EQ(settings_path(), "/home/someone/.config/quadtile/viewer.json");
    ::unsetenv("XDG_CONFIG_HOME");
    EXPECT_EQ(settings_path(), "/home/someone/.config/quadtile/viewer.json");
    ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
    ::setenv("QUADTILE_CACHE_DIRECTORY", "kept", 1);
    EXPECT_EQ(app::pipelines_file(), "kept/pipelines.bin");
    ::setenv("QUADTILE_CACHE_DIRECTORY", "", 1);
    EXPECT_EQ(app::pipelines_file(), "/somewhere/quadtile/pipelines.bin");
    ::unsetenv("QUADTILE_CACHE_DIRECTORY");
    ::unsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(app::pipelines_file(), "/home/someone/.cache/quadtile/pipelines.bin");
    ::unsetenv("HOME");
    EXPECT_EQ(settings_path(), "");
}

}  // namespace
}  // namespace quadtile::viewer::test
