// Settings: files of them, the thresholds that they make, and what the command line changes. Maps:
// their statistics, and files that are loaded one after the other.

#include "kept_pipelines.hpp"
#include "map_files.hpp"
#include "map_statistics.hpp"
#include "options.hpp"
#include "settings.hpp"
#include "thresholds.hpp"

#include "support/errors.hpp"
#include "support/pfm.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::message_of;
using quadtile::test::pfm;
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

// ---- Maps

constexpr float INFINITE = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();
constexpr float LEAST = std::numeric_limits<float>::min();
constexpr double KEY_RATIO = 1.0 + 1.0 / 128.0;  // the largest of two values of one bin

app::MapStatistics measure_row(const std::vector<float>& values) {
    return app::measure(view_of(values, static_cast<std::uint32_t>(values.size()), 1));
}

// Over many octaves, with some of everything.
std::vector<float> random_values(std::size_t count, bool with_oddities) {
    std::mt19937 random(7);
    std::normal_distribution<float> octaves(0.0F, 6.0F);
    std::vector<float> values(count);
    for (float& value : values) {
        value = std::exp2(octaves(random));
        if (with_oddities) {
            const float odd[] = {NOT_A_NUMBER, INFINITE, -INFINITE, -value,
                                 0.0F,         -0.0F,    LEAST / 4, -LEAST / 4};
            const std::size_t choice = random() % 16;
            value = choice < 8 ? odd[choice] : value;
        }
    }
    return values;
}

float first_of_key(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
}

std::vector<float> sorted_positive(const std::vector<float>& values) {
    std::vector<float> sorted;
    std::ranges::copy_if(values, std::back_inserter(sorted),
                         [](float value) { return value >= LEAST && value <= LARGEST; });
    std::ranges::sort(sorted);
    return sorted;
}

// Compares with one texel after the other, by the functions of <cmath>.
void expect_statistics_of(const std::vector<float>& values, const MapView& map) {
    std::array<std::size_t, 4> counts{};
    std::vector<float> finite;
    std::vector<std::size_t> odd;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float value = std::fpclassify(values[i]) == FP_SUBNORMAL ? 0.0F : values[i];
        const bool is_negative = std::isfinite(value) && value < 0.0F;
        counts[std::isnan(value)   ? 0
               : std::isinf(value) ? 1
               : is_negative       ? 2
                                   : 3] += value > 0.0F && std::isfinite(value) ? 0 : 1;
        if (std::isfinite(value)) {
            finite.push_back(value);
        }
        if ((!std::isfinite(value) || is_negative) &&
            odd.size() < app::MapStatistics::MAX_ODD_TEXELS) {
            odd.push_back(i);
        }
    }
    const app::MapStatistics measured = app::measure(map);
    EXPECT_EQ(measured.texels, values.size());
    EXPECT_EQ(std::tuple(measured.nan, measured.infinite, measured.negative, measured.zero),
              std::tuple(counts[0], counts[1], counts[2], counts[3]));
    EXPECT_EQ(std::pair(measured.min, measured.max),
              std::pair(std::ranges::min(finite), std::ranges::max(finite)));
    std::vector<std::size_t> measured_odd;
    for (const app::TexelPosition& texel : measured.odd_texels) {
        measured_odd.push_back(texel.y * map.shape.width + texel.x);
    }
    EXPECT_EQ(measured_odd, odd);
    EXPECT_EQ(std::accumulate(measured.positive_by_key.begin(), measured.positive_by_key.end(),
                              std::size_t{0}),
              sorted_positive(values).size());
}

TEST(MapStatistics, AreThoseOfOneTexelAfterTheOther) {
    for (const auto& [width, height] : {std::pair(97U, 53U), {1U, 300U}, {256U, 256U}}) {
        const std::vector<float> values = random_values(std::size_t{width} * height, true);
        expect_statistics_of(values, view_of(values, width, height));
    }
    const std::vector<float> layers{LEAST,        LARGEST, -LARGEST, -LEAST,
                                    NOT_A_NUMBER, 9.0F,    1.0F,     1.0F};
    const std::vector<float> first(layers.begin(), layers.begin() + 4);
    expect_statistics_of(first, view_of(layers, 2, 2, 2));  // of the first alone
    std::mt19937 random(3);
    std::vector<std::uint16_t> words(67 * 41);
    std::ranges::generate(words, [&] { return static_cast<std::uint16_t>(random()); });
    for (const TexelFormat format : {TexelFormat::r16_float, TexelFormat::r16_unorm,
                                     TexelFormat::d16_unorm, TexelFormat::r8_unorm}) {
        const MapView map{words.data(), {67, 41, 1, format}};
        const std::vector<float> values = reference::decode(map);
        expect_statistics_of(values, map);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(app::texel_value(map, 5, 7)),
                  std::bit_cast<std::uint32_t>(values[7 * 67 + 5]));
    }
    EXPECT_THROW((void)app::measure({words.data(), {5, 5, 1, TexelFormat::rgba8_unorm}}), Error);
}

// Catches counts in another bin, and percentiles of another rank.
TEST(MapStatistics, PercentilesAndHistogramsAreThoseOfTheSortedValues) {
    const std::vector<float> values = random_values(20000, true);
    const std::vector<float> sorted = sorted_positive(values);
    const app::MapStatistics measured = measure_row(values);
    for (const double fraction : {0.0, 0.005, 0.1, 0.5, 0.9, 0.995, 1.0}) {
        const double number = std::ceil(fraction * static_cast<double>(sorted.size()));
        const double expected = sorted[static_cast<std::size_t>(std::max(number, 1.0)) - 1];
        EXPECT_LE(measured.percentile(fraction), expected) << fraction;
        EXPECT_GE(measured.percentile(fraction), expected / KEY_RATIO) << fraction;
    }
    EXPECT_EQ(measure_row({LARGEST, 3.0F}).percentile(7.0), first_of_key(LARGEST));
    EXPECT_EQ(measure_row({1.0F, 3.0F}).percentile(-7.0), 1.0F);
    for (const bool logarithmic : {false, true}) {
        std::vector<float> expected(10);
        for (const float value : sorted) {
            const float first = first_of_key(value);
            const float place = logarithmic ? std::log2(first) + 5.0F : (first - 0.03125F) / 3.2F;
            expected[static_cast<std::size_t>(std::clamp(place, 0.0F, 9.0F))] += 1.0F;
        }
        EXPECT_EQ(measured.histogram(0.03125F, logarithmic ? 32.0F : 32.03125F, logarithmic, 10),
                  expected);
    }
}

TEST(MapStatistics, AutomaticRangeIsOneForEveryMap) {
    using Values = std::vector<float>;
    for (const Values& values :
         {Values{0.0F}, Values{-1.0F}, Values{NOT_A_NUMBER}, Values{-INFINITE, 0.0F},
          Values{LEAST / 8}, Values{LARGEST}, Values{LEAST, LARGEST}, Values{LEAST * 1.5F},
          Values{1.0F, 1.003F}}) {
        const app::MapStatistics measured = measure_row(values);
        const app::Range logarithmic = app::automatic_range(measured, true);
        EXPECT_GE(logarithmic.low, LEAST) << values[0];
        EXPECT_GE(logarithmic.high / logarithmic.low, 3.999F) << values[0];
        EXPECT_TRUE(std::isfinite(logarithmic.high)) << values[0];
        const app::Range linear = app::automatic_range(measured, false);
        EXPECT_EQ(linear.low, 0.0F);
        EXPECT_GT(linear.high, 0.0F) << values[0];
        EXPECT_TRUE(std::isfinite(linear.high)) << values[0];
    }
    const app::MapStatistics measured = measure_row(random_values(2000, true));
    EXPECT_EQ(app::automatic_range(measured, true).low, measured.percentile(0.005));
    EXPECT_EQ(app::automatic_range(measured, true).high, measured.percentile(0.995));
    EXPECT_EQ(app::automatic_range(measured, false).high, measured.percentile(0.995));
}

class MapFilesTest : public ::testing::Test {
 protected:
    std::filesystem::path add(const std::string& name, std::uint32_t side) const {
        return directory_.add(name, pfm(std::vector(std::size_t{side} * side, 1.0F), side));
    }
    MapFiles::Arrival arrival() {
        for (std::optional<MapFiles::Arrival> taken;; taken = files_.take()) {
            if (taken) {
                return *taken;
            }
            files_.wait();
        }
    }
    std::uint32_t width() { return arrival().frame->map.shape.width; }

    quadtile::test::TemporaryDirectory directory_;
    MapFiles files_{[] {}};
};

TEST_F(MapFilesTest, GoesThroughFilesInBothDirections) {
    files_.open({add("a.pfm", 3), add("b.pfm", 4), add("c.pfm", 5)}, {});
    EXPECT_TRUE(files_.is_loading());
    const auto first = arrival();
    EXPECT_EQ(first.frame->name, "a.pfm");
    EXPECT_EQ(first.frame->statistics.texels, 9U);
    EXPECT_EQ(first.frame->stamp, stamp_of(directory_.path() / "a.pfm"));
    EXPECT_FALSE(files_.is_loading() || files_.take());
    for (const auto& [step, side] : {std::pair(1, 4U), {1, 5U}, {1, 3U}, {-1, 5U}, {-7, 4U}}) {
        files_.step(step);
        EXPECT_EQ(width(), side);
    }
    EXPECT_EQ(files_.index(), 1U);
    files_.open({}, {});
    EXPECT_EQ(arrival().frame->name, "demo map");
}

// Catches a result of an earlier request, and one that never comes.
TEST_F(MapFilesTest, OnlyTheLastRequestArrives) {
    files_.open({add("a.pfm", 300), add("b.pfm", 4), add("c.pfm", 5)}, {});
    files_.step(1);
    files_.step(1);
    EXPECT_EQ(width(), 5U);
    EXPECT_FALSE(files_.is_loading());
    directory_.add("c.pfm", pfm(std::vector{1.0F}, 1));
    files_.reload();
    EXPECT_EQ(width(), 1U);
    files_.choose_channel("Z");
    EXPECT_THAT(arrival().error, ::testing::HasSubstr("Z"));
    EXPECT_EQ(stamp_of("missing.exr"), std::nullopt);
}

}  // namespace
}  // namespace quadtile::viewer::test
