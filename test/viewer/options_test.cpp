#include "options.hpp"

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace quadtile::viewer::test {
namespace {

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

TEST_F(ViewerOptions, ChangeTheDefaults) {
    const Options none = options({});
    EXPECT_THAT(none.files, IsEmpty());
    EXPECT_EQ(none.settings, Settings{});
    EXPECT_EQ(none.settings.subdivision.threshold.max_resolution, 16.0F);
    EXPECT_TRUE(none.keeps_settings);
    EXPECT_FALSE(none.chooses_threshold || none.tile_count || none.validation || none.log);
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
