#include "options.hpp"

#include "support/errors.hpp"
#include "support/help.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/version.h>

#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>

namespace quadtile::viewer::test {
namespace {

using quadtile::test::expect_readable_help;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST_F(ViewerOptions, NothingIsTheDemo) {
    const Options none = options({});
    EXPECT_THAT(none.files, IsEmpty());
    EXPECT_EQ(none.settings, Settings{});
    EXPECT_EQ(none.settings.subdivision.threshold.max_resolution, 16.0F);
    EXPECT_FALSE(none.chooses_threshold || none.tile_count);
    EXPECT_TRUE(none.keeps_settings);
    EXPECT_EQ(none.screenshot.string() + none.list.string(), "");
    EXPECT_EQ(std::pair(none.width, none.height), std::pair(1600U, 1000U));
    EXPECT_FALSE(none.zoom || none.centre || none.pin);
    EXPECT_FALSE(none.panel || none.validation || none.log || none.log_places);
}

TEST_F(ViewerOptions, FilesKeepTheirOrder) {
    EXPECT_THAT(options({"b.exr", "--constant", "1", "a.pfm", "b.exr"}).files,
                ElementsAre("b.exr", "a.pfm", "b.exr"));
    EXPECT_THAT(options({"--", "-a.exr", "--constant"}).files, ElementsAre("-a.exr", "--constant"));
}

// Changes of each option to the defaults, as in a settings file.
TEST_F(ViewerOptions, ChangeSettings) {
    const std::string glsl_file = std::filesystem::absolute("t.glsl").string();
    for (const auto& [arguments, subdivision] : std::vector<std::pair<Words, std::string>>{
             {{"--max-resolution", "256.5"}, R"("threshold":{"max_resolution":256.5})"},
             {{"--constant=0"}, R"("threshold":{"kind":"constant","constant":0})"},
             {{"--level-thresholds", "4,2.5,1e-3"},
              R"("threshold":{"kind":"per-level","levels":[4,2.5,1e-3]})"},
             {{"--memory", "100,5000"},
              R"("threshold":{"kind":"memory","max_resolution":100,"nodes":5000,)"
              R"("fragments_channel":"count"})"},
             {{"--fragments-channel", "n", "--memory", "100,5000"},
              R"("threshold":{"kind":"memory","max_resolution":100,"nodes":5000,)"
              R"("fragments_channel":"n"})"},
             {{"--glsl", "t.glsl", "--glsl-parameters", "2,-0.5"},
              R"("threshold":{"kind":"glsl","glsl_parameters":[2,-0.5],"glsl_file":")" + glsl_file +
                  "\"}"},
             {{"--strategy", "fused", "--order", "canonical", "--max-tiles", "4294967295"},
              R"("strategy":"fused","order":"canonical","has_budget":true,"max_tiles":4294967295)"},
             {{"--strategy", "subtree", "--subtree-levels", "8", "--order", "any"},
              R"("strategy":"subtree","subtree_levels":8)"},
             {{"--balance", "corners"}, R"("balance":"corners")"},
             {{"--strategy", "auto", "--order", "canonical"}, R"("order":"canonical")"}}) {
        EXPECT_EQ(options(arguments).settings,
                  settings_from_json(R"({"subdivision":{)" + subdivision + "}}"))
            << ::testing::PrintToString(arguments);
    }
    EXPECT_EQ(options({"--device", "llvm", "--ui-scale", "1.5"}).settings,
              settings_from_json(R"({"device":"llvm","ui_scale":1.5})"));
    Settings expected;
    expected.drawing = {ColourMap::cividis, false, false, -1.5F, 2.0F, 16, false, 2.5F,
                        Fill::ratio,        0.25F, false};
    EXPECT_EQ(options({"--colour-map", "cividis", "--linear", "--range", "-1.5,2", "--level", "16",
                       "--no-outlines", "--outline-width", "2.5", "--fill", "ratio",
                       "--fill-opacity", "0.25", "--no-clamped-marks"})
                  .settings,
              expected);
    EXPECT_EQ(options({"--range", "0.5,4", "--logarithmic"}).settings,
              settings_from_json(
                  R"({"drawing":{"automatic_range":false,"range_low":0.5,"range_high":4}})"));
    const Options found = options({"--find-tiles", "4294967295"});
    EXPECT_EQ(found.tile_count, 4294967295U);
    EXPECT_EQ(found.settings, Settings{});
}

TEST_F(ViewerOptions, ViewAndScreenshot) {
    const Options view = options({"a.exr", "--channel", "Z", "--zoom", "2.5", "--centre", "10,20",
                                  "--pin", "0,65535", "--panel", "--validation", "--log"});
    EXPECT_EQ(view.channel, "Z");
    EXPECT_EQ(view.zoom, 2.5F);
    EXPECT_EQ(std::pair(view.centre.value().x, view.centre.value().y), std::pair(10U, 20U));
    EXPECT_EQ(std::pair(view.pin.value().x, view.pin.value().y), std::pair(0U, 65535U));
    EXPECT_TRUE(view.panel && view.validation && view.log);
    EXPECT_FALSE(options({"--log"}).validation);
    EXPECT_TRUE(options({"--log-places"}).log_places);
    const Options shot = options(
        {"map.exr", "--screenshot", "out.png", "--size", "640x16384", "--list", "tiles.csv"});
    EXPECT_EQ(shot.screenshot, "out.png");
    EXPECT_EQ(std::pair(shot.width, shot.height), std::pair(640U, 16384U));
    EXPECT_EQ(shot.list, "tiles.csv");
    EXPECT_FALSE(shot.panel || shot.keeps_settings);
}

std::string printed_by(const char* option) {
    try {
        const char* const arguments[] = {"quadtile-viewer", option};
        (void)parse_options(2, arguments);
    } catch (const app::PrintedText& printed) {
        return printed.text;
    }
    return "nothing";
}

TEST_F(ViewerOptions, HelpAndVersionAreTexts) {
    for (const char* option : {"--help", "-h"}) {
        const std::string help = printed_by(option);
        EXPECT_THAT(help, AllOf(::testing::StartsWith("Shows importance maps"),
                                HasSubstr("Usage: quadtile-viewer"), HasSubstr("[FILE...]"),
                                HasSubstr("Examples: quadtile-viewer")));
        for (const char* known :
             {"--channel", "--max-resolution", "--find-tiles", "--range", "--list", "--version"}) {
            EXPECT_THAT(help, HasSubstr("\n  " + std::string(known)));
        }
        expect_readable_help(help, 90);
    }
    EXPECT_EQ(printed_by("--version"), "quadtile-viewer " QUADTILE_VERSION_STRING "\n");
}

TEST_F(ViewerOptions, WrongArgumentsAreUsageErrors) {
    for (const auto& [arguments, text] : std::vector<std::pair<Words, std::string>>{
             {{"--unknown"}, "--unknown"},
             {{""}, "FILE needs a file name"},
             {{"a.exr", ""}, "FILE needs a file name"},
             {{"--constant"}, "--constant"},
             {{"--constant", "1", "--constant", "2"}, "--constant"},
             {{"--constant", "1x"}, "'1x' is not a number"},
             {{"--constant", "-1"}, "of 0 or more"},
             {{"--level-thresholds", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"}, "at most 17"},
             {{"--memory", "16"}, "--memory: needs 2 numbers, M,NODES, not 1"},
             {{"--memory", "16,9", "--fragments-channel", ""}, "--fragments-channel needs"},
             {{"--fragments-channel", "count"}, "needs the threshold --memory"},
             {{"--glsl", ""}, "--glsl needs a file"},
             {{"--glsl", "t", "--glsl-parameters", "1,x"}, "'x' is not a number"},
             {{"--glsl", "t", "--glsl-parameters", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"},
              "at most 16"},
             {{"--glsl-parameters", "1"}, "needs the threshold --glsl"},
             {{"--glsl", "t", "--constant", "1"}, "exclude each other"},
             {{"--fragments-channel", "count", "--constant", "1"}, "needs the threshold --memory"},
             {{"--strategy", "reference"}, "--strategy"},
             {{"--order", "random"}, "--order"},
             {{"--fill", "red"}, "--fill"},
             {{"--colour-map", "gray"}, "--colour-map"},
             {{"--range", "1"}, "--range: needs 2 numbers, LOW,HIGH, not 1"},
             {{"--range", "2,2"}, "LOW below HIGH"},
             {{"--range", "0,2"}, "give --linear"},
             {{"--range", "-1,2", "--logarithmic"}, "LOW above 0"},
             {{"--level", "17"}, "--level: '17' is not a whole number from 0 to 16"},
             {{"--centre", "1"}, "--centre: needs 2 numbers, X,Y, not 1"},
             {{"--centre", "1,65536"}, "--centre: '65536' is not a whole number"},
             {{"--pin", "1.5,2"}, "--pin: '1.5' is not a whole number"},
             {{"--ui-scale", "0.1"}, "--ui-scale '0.1' is too small"},
             {{"--screenshot", ""}, "--screenshot needs a file name"},
             {{"--screenshot", "a.png", "--size", "1600"},
              "--size takes a size like 1280x720, 1 to 16384 on a side, not '1600'"},
             {{"--screenshot", "a.png", "--list", ""}, "--list needs a file name"},
             {{"--screenshot", "a.png", "--list", "tiles.txt"}, ".json or .csv"},
             {{"a.png", "--screenshot", "./a.png"}, "name the same file"},
             {{"--glsl", "a.png", "--screenshot", "./a.png"}, "name the same file"},
             {{"a", "b.json", "--screenshot", "a.png", "--list", "b.json"}, "name the same file"},
             {{"--screenshot", "a.json", "--list", "a.json"}, "name the same file"}}) {
        EXPECT_THAT(error_of(arguments),
                    AllOf(HasSubstr(text), HasSubstr("see 'quadtile-viewer --help'")))
            << ::testing::PrintToString(arguments);
    }
}

TEST_F(ViewerOptions, ContradictionsAreUsageErrors) {
    const std::vector<Words> thresholds{{"--max-resolution", "1"},
                                        {"--constant", "1"},
                                        {"--level-thresholds", "1"},
                                        {"--memory", "1,1"},
                                        {"--find-tiles", "1"}};
    for (const Words& one : thresholds) {
        for (const Words& other : thresholds) {
            if (one != other) {
                EXPECT_THAT(error_of({one[0], one[1], other[0], other[1]}),
                            AllOf(HasSubstr("exclude each other; give one of them"),
                                  HasSubstr(one[0]), HasSubstr(other[0])));
            }
        }
    }
    EXPECT_THAT(error_of({"--order", "canonical", "--strategy", "subtree"}),
                HasSubstr("--order canonical needs the strategy auto or fused, not subtree"));
    EXPECT_THAT(error_of({"--max-tiles", "9", "--strategy", "subtree"}),
                HasSubstr("--max-tiles needs the strategy auto or fused, not subtree"));
    EXPECT_THAT(error_of({"--max-tiles", "9", "--balance", "edges"}),
                HasSubstr("--max-tiles cannot count the tiles that --balance adds"));
    EXPECT_THAT(error_of({"--list", "a.json"}), HasSubstr("--list needs --screenshot; give"));
    EXPECT_THAT(error_of({"--size", "1x1"}), HasSubstr("--size needs --screenshot; give"));
    EXPECT_THAT(error_of({"--linear", "--logarithmic"}), HasSubstr("give one of them"));
}

// With settings that a run has left.
class ViewerOptionsAfterARun : public ViewerOptions {
 protected:
    ViewerOptionsAfterARun() {
        last_.subdivision.threshold.kind = ThresholdKind::constant;
        last_.subdivision.threshold.constant = 0.125F;
        last_.drawing.fill = Fill::order;
        last_.drawing.outlines = false;
        last_.device = "some";
        last_.drawing.automatic_range = false;
        last_.drawing.range_low = 0.25F;
        last_.panel = false;
        save_settings(last_, settings_path());
    }

    Settings last_;
};

TEST_F(ViewerOptionsAfterARun, ItsLookComesBackChangedByArguments) {
    Settings expected;  // nothing of the threshold, the device or the range of colours
    expected.drawing.fill = Fill::order;
    expected.drawing.outlines = false;
    expected.panel = false;
    EXPECT_EQ(options({}).settings, expected);
    EXPECT_TRUE(options({}).keeps_settings);
    expected.drawing.colour_map = ColourMap::grey;
    expected.subdivision.threshold.kind = ThresholdKind::max_resolution;
    expected.subdivision.threshold.max_resolution = 9.0F;
    expected.panel = true;
    EXPECT_EQ(options({"--colour-map", "grey", "--max-resolution", "9", "--panel"}).settings,
              expected);
}

TEST_F(ViewerOptionsAfterARun, NeitherScreenshotsNorNoSettingsTakeThem) {
    for (const Words& arguments : {Words{"--no-settings"}, Words{"--screenshot", "a.png"}}) {
        EXPECT_EQ(options(arguments).settings, Settings{});
        EXPECT_FALSE(options(arguments).keeps_settings);
    }
}

TEST_F(ViewerOptionsAfterARun, ThresholdIsChosenIfNoneIsGiven) {
    const auto chooses = [](const Words& arguments) {
        return options(arguments).chooses_threshold;
    };
    EXPECT_TRUE(chooses({"a.exr"}));
    EXPECT_TRUE(chooses({"a.exr", "--screenshot", "a.png"}));
    EXPECT_FALSE(chooses({"--no-settings"}));
    EXPECT_FALSE(chooses({}));
    for (const Words& given : std::vector<Words>{{"a.exr", "--max-resolution", "1"},
                                                 {"a.exr", "--constant", "1"},
                                                 {"a.exr", "--level-thresholds", "1"},
                                                 {"a.exr", "--memory", "1,1"},
                                                 {"a.exr", "--find-tiles", "1"}}) {
        EXPECT_FALSE(chooses(given)) << given[1];
    }
}

TEST_F(ViewerOptionsAfterARun, SettingsThatCannotBeReadCountAsNone) {
    directory_.add("quadtile/viewer.json", "{\"drawing\": {\"fill\": \"foo\"}}");
    const ParsedOptions parsed = parse({"a.exr", "--colour-map", "grey"});
    EXPECT_THAT(parsed.warning, AllOf(HasSubstr("viewer.json"), HasSubstr("drawing.fill: 'foo'")));
    Settings expected;
    expected.drawing.colour_map = ColourMap::grey;
    EXPECT_EQ(parsed.options.settings, expected);
    EXPECT_TRUE(parsed.options.chooses_threshold);
    EXPECT_TRUE(parsed.options.keeps_settings);
    EXPECT_THAT(parse({"--no-settings"}).warning, IsEmpty());
    EXPECT_THAT(parse({"--screenshot", "a.png"}).warning, IsEmpty());
}

TEST_F(ViewerOptionsAfterARun, WithoutAPlaceNoneAreKept) {
    ::unsetenv("XDG_CONFIG_HOME");
    ::unsetenv("HOME");
    EXPECT_FALSE(options({}).keeps_settings);
    EXPECT_EQ(options({}).settings, Settings{});
}

}  // namespace
}  // namespace quadtile::viewer::test
