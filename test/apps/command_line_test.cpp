// The program `quadtile` as a black box: what it refuses, how it fails, and what only one command
// line shows. test/random/programs.cpp has its options on random files.

#include "exr_files.hpp"
#include "program_test.hpp"
#include "save_image.hpp"
#include "support/glsl.hpp"
#include "support/maps.hpp"
#include "support/pfm.hpp"
#include "tiles_files.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace quadtile::app::test {
namespace {

namespace fs = std::filesystem;
using quadtile::test::pfm;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CommandLine : public ProgramTest {
 protected:
    CommandLine() {
        const MapShape shape{100, 61, 1, TexelFormat::r32_float};
        texels_ = quadtile::test::with_special_values(quadtile::test::smooth_map(shape), 200);
        directory_.add("map.pfm", pfm(texels_, 100));
    }

    // `quadtile tiles map.pfm`, by the reference into out.json.
    static Arguments tiles(const Arguments& more, const std::string& input = "map.pfm") {
        return Arguments{"tiles", input, "--strategy", "reference", "-o", "out.json"} + more;
    }
    static Arguments mipmap(const Arguments& more) {
        return Arguments{"mipmap", "map.pfm", "out", "--method", "reference"} + more;
    }

    std::vector<float> texels_;
    const ProgramOptions no_driver_{
        .environment = {{"VK_ICD_FILENAMES", "/nonexistent"}, {"VK_DRIVER_FILES", "/nonexistent"}}};
};

// Catches arguments that contradict each other or the files, and are obeyed in part. test/options
// has wrong values of every option, missing files and files under two names.
TEST_F(CommandLine, Refuses) {
    directory_.add("rgb.png", encode_image({texels_.data(), {2, 2, 1, TexelFormat::rgba8_srgb}}));
    directory_.add("a.glsl", "x");
    directory_.add("wide.pfm", "Pf\n65537 1\n-1\n" + std::string(std::size_t{65537} * 4, '\0'));
    std::vector<float> fragments(texels_.size(), 1.0F);
    directory_.add("narrow.pfm", pfm(std::span(fragments).first(50 * 61), 50));
    fragments[302] = -2.0F;
    directory_.add("negative.pfm", pfm(fragments, 100));
    fragments.resize(3 * texels_.size(), 1.0F);
    directory_.add("colour.pfm", pfm(fragments, 100, true));
    const auto memory = [](const std::string& file) {
        return tiles({"--memory", "16,9", "--fragments", file});
    };
    expect_refused({
        {{}, 2, "no command is given"},
        {{"subdivide"}, 2, "unknown command 'subdivide'; see 'quadtile --help'"},
        {{"tiles"}, 2, "INPUT"},
        {{"tiles", "map.pfm", "other.pfm", "--constant", "1"}, 2, "other.pfm"},
        {{"demo", "--constant", "1"}, 2, "--constant"},
        {tiles({}), 2, "no threshold is given"},
        {tiles({"--constant", "1", "--none", "2", "--other"}), 2,
         "unknown options --none, --other;"},
        {tiles({"--constant", "1", "--max-resolution", "2"}), 2, "exclude each other"},
        {mipmap({"--glsl", "a.glsl", "--reduce", "max"}), 2, "--reduce"},
        {tiles({"--constant", "1", "--balance", "edges", "--max-tiles", "9"}), 2,
         "--max-tiles cannot count the tiles that --balance adds"},
        {tiles({"--level-thresholds", "1,2,3,4,5,6,7,8,9"}), 2, "9 level thresholds"},
        {tiles({"--memory", "16,100"}), 2, "--fragments"},
        {tiles({"--fragments", "map.pfm", "--constant", "1"}), 2, "--memory"},
        {tiles({"--memory", "16", "--fragments", "map.pfm"}), 2, "needs 2 numbers, M,NODES, not 1"},
        {memory("narrow.pfm"), 2, "'narrow.pfm' has 50 x 61 texels, but INPUT has 100 x 61"},
        {memory("colour.pfm"), 2, "channels R, G, B; name the one that counts fragments 'count'"},
        {memory("negative.pfm"), 1, "cannot use 'negative.pfm': "},
        {memory("negative.pfm"), 1, "texel (x 2, y 3, layer 0) is -2"},
        {tiles({"--constant", "1", "--image", "a.jpg"}), 2, "has the ending of another format"},
        {{"tiles", "map.pfm", "--constant", "1", "-o", "a.txt"}, 2, ".json, .csv, .bin"},
        {{"tiles", "map.pfm", "--constant", "1", "--image", "/dev/stdout"}, 2, "the same file"},
        {{"tiles", "map.pfm", "--glsl", "a.glsl", "--strategy", "fused"},
         2,
         "--glsl needs the str"},
        {{"tiles", "map.pfm", "--glsl", "a.glsl", "--max-tiles", "9"}, 2, "--max-tiles"},
        {{"tiles", "map.pfm", "--glsl-parameters", "1", "--constant", "1"}, 2, "--glsl"},
        {{"tiles", "map.pfm", "--glsl", "/dev/zero"}, 1, "'/dev/zero': it is longer than 64 KiB"},
        {tiles({"--constant", "1"}, "wide.pfm"), 1, "65537 x 1"},
        {tiles({"--constant", "1", "--image", "no/a.png"}), 1, "directory; create the folder"},
        {{"mipmap"}, 2, "IMAGE"},
        {{"mipmap", "map.pfm"}, 2, "OUTDIR"},
        {mipmap({"--levels", "9", "--edges", "round-up"}), 2, "1 to 8"},
        {mipmap({"--channel", "Z"}), 1, "no channel 'Z'"},
        {{"mipmap", "rgb.png", "out", "--reduce", "min-max"}, 2, "choose a channel with --channel"},
    });
}

// Catches devices that are not those that were asked for, and GLSL whose errors do not name the
// file's own lines. What the library refuses by itself is in random cases.
TEST_F(CommandLine, RefusesDevicesAndGlsl) {
    SKIP_WITHOUT_DEVICE();
    if (!quadtile::test::can_compile_glsl()) {
        GTEST_SKIP() << "no GLSL compiler";
    }
    directory_.add("typo.glsl",
                   "float threshold(uint level, uvec2 position, uint layer) {\n"
                   "    return leve;\n}\n");
    directory_.add("bad.glsl",
                   "// of my own\nTEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {\n"
                   "    return maximum(a, d);\n}\n");
    directory_.add("empty.glsl", "\n");
    const auto reduce = [](const std::string& file, const std::string& method = "auto") {
        return Arguments{"mipmap", "map.pfm", "out", "--glsl", file, "--method", method};
    };
    expect_refused({
        {{"tiles", "map.pfm", "--constant", "1", "--device", "no such device"},
         1,
         "no such device"},
        {{"tiles", "map.pfm", "--constant", "1", "--device", "99"}, 1, "99"},
        {{"tiles", "map.pfm", "--glsl", "typo.glsl"}, 1, "typo.glsl:2: error: 'leve'"},
        {reduce("bad.glsl"), 1, "bad.glsl:3: error: 'maximum'"},
        {reduce("bad.glsl", "all"), 1, "bad.glsl:3: error: 'maximum'"},
        {reduce("empty.glsl"), 1, "TEXEL reduce"},
        {reduce("bad.glsl", "reference"), 1, "GLSL"},
    });
}

// Catches results that are lost without an error, and old files that go before there are new ones.
TEST_F(CommandLine, FullDisksAndClosedPipesAreErrors) {
    directory_.add("out.json", "old");
    directory_.add("trace", "old");
    const ProgramOptions small_disk{.largest_file_bytes = 10000};
    expect_refused({{tiles({"--constant", "0"}), 1, "'out.json': File too large; free "},
                    {mipmap({}), 1, "cannot write 'out/reference/level_0"}},
                   small_disk);
    (void)error_of(tiles({"--constant", "1", "--trace", "trace"}, "missing.pfm"), 1);
    EXPECT_EQ(read_file(path("out.json")) + read_file(path("trace")), "oldold");
    for (const StandardOutput kind :
         {StandardOutput::closed, StandardOutput::full_device, StandardOutput::broken_pipe}) {
        expect_refused({{{"tiles", "map.pfm", "--constant", "0", "--strategy", "reference",
                          "--image", "out.png"},
                         1,
                         "cannot write standard output"},
                        {mipmap({}), 1, "cannot write standard output"},
                        {{"--help"}, 1, "cannot write standard output"}},
                       {.standard_output = kind});
    }
    fs::create_directories(path("levels/reference/level_03.exr"));
    EXPECT_THAT(error_of({"mipmap", "map.pfm", "levels", "--method", "reference"}, 1),
                HasSubstr("level_03.exr"));
}

TEST_F(CommandLine, NoVulkanDriver) {
    expect_refused({{{"tiles", "map.pfm", "--constant", "1"}, 1, "--strategy reference"},
                    {{"demo"}, 1, "--strategy reference"},
                    {{"devices"}, 1, "Vulkan"},
                    {{"mipmap", "map.pfm", "out"}, 1, "--method reference"},
                    {{"mipmap", "map.pfm", "out", "--method", "all"}, 1, "--method reference"}},
                   no_driver_);
    EXPECT_EQ(run(tiles({"--constant", "1"}), no_driver_).status, 0);
    EXPECT_EQ(run(mipmap({}), no_driver_).status, 0);
}

TEST_F(CommandLine, DevicesAreListed) {
    SKIP_WITHOUT_DEVICE();
    const ProgramResult result = run({"devices"});
    for (const DeviceInfo& info : Device::enumerate()) {
        EXPECT_THAT(result.output, AllOf(HasSubstr(std::to_string(info.index) + ": " + info.name),
                                         HasSubstr(info.type), HasSubstr(info.driver)));
    }
    const DeviceInfo chosen = Device::create().info();
    EXPECT_THAT(result.output,
                HasSubstr("chosen: " + std::to_string(chosen.index) + " (" + chosen.name + ")\n"));
}

// Catches a check that finds faults where there are none, or none of the devices.
TEST_F(CommandLine, DevicesPassTheirCheck) {
    SKIP_WITHOUT_DEVICE();
    if (Device::create().info().name.find("SwiftShader") != std::string::npos) {
        GTEST_SKIP() << "it compiles for a minute";
    }
    const ProgramResult result = run({"devices", "--check"});
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.output,
                AllOf(testing::ContainsRegex("check +passed\n"), testing::Not(HasSubstr("fault"))));
}

// Catches a map that is not where the program looks for it, and other tiles than the reference's.
TEST_F(CommandLine, DemoSubdividesItsMap) {
    SKIP_WITHOUT_DEVICE();
    const ProgramResult result = run({"demo"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(directory_.names(), (Names{"map.pfm", "tiles.json", "tiles.png"}));
    const TileList list = parse_json(read_file(path("tiles.json")));
    EXPECT_THAT(result.output, AllOf(HasSubstr("1000 x 613 texels"), HasSubstr("tiles.png"),
                                     HasSubstr(std::to_string(list.tiles.size()) + " tiles of ")));
    const std::size_t end = result.output.find("zdm2.exr") + std::string("zdm2.exr").size();
    const std::size_t start = result.output.rfind(' ', end - 1) + 1;
    const std::string map = result.output.substr(start, end - start);
    ASSERT_EQ(run(tiles({"--max-resolution", "16", "--image", "out.png"}, map)).status, 0);
    EXPECT_TRUE(read_file(path("tiles.json")) == read_file(path("out.json")));
    EXPECT_TRUE(read_file(path("tiles.png")) == read_file(path("out.png")));
}

// Catches a program that keeps no pipelines, or that fails because of what lies at their place.
TEST_F(CommandLine, PipelinesAreKeptInOneFile) {
    SKIP_WITHOUT_DEVICE();
    const Arguments tiles{"tiles", "map.pfm", "--constant", "1", "-o", "out"};
    for (const char* const folder : {"cache", "map.pfm"}) {
        const ProgramResult result =
            run(tiles, {.environment = {{"QUADTILE_CACHE_DIRECTORY", path(folder)}}});
        EXPECT_EQ(result.status, 0);
        EXPECT_THAT(result.error, IsEmpty());
    }
    EXPECT_FALSE(fs::is_empty(path("cache")));
}

// Catches a method that is left out of `all`, blits whose obstacle is not told, and GLSL that is
// not what makes the levels.
TEST_F(CommandLine, AllMethodsMakeTheLevels) {
    SKIP_WITHOUT_DEVICE();
    const auto methods_of = [](const ProgramResult& result) {
        EXPECT_EQ(result.status, 0) << result.error;
        std::istringstream lines(result.output.substr(result.output.find("\nmethod ") + 1));
        std::string line;
        std::string methods;
        for (std::getline(lines, line); std::getline(lines, line);) {
            methods += line.substr(0, line.find(' ')) + " ";
        }
        return methods;
    };
    EXPECT_THAT(methods_of(run({"mipmap", "map.pfm", "levels", "--method", "all"})),
                ::testing::MatchesRegex("spd subgroup per-level blit reference auto (blit )?"));
    EXPECT_EQ(methods_of(run({"mipmap", "map.pfm", "one"})), "spd auto ");
    if (quadtile::test::can_compile_glsl()) {
        directory_.add("ramp.pfm", pfm(std::vector{1.0F, 2.0F, 3.0F, 4.0F}, 2));
        directory_.add("corners.glsl",
                       "TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {\n"
                       "    return 2.0 * a + d;\n}\n");
        EXPECT_EQ(methods_of(run({"mipmap", "ramp.pfm", "own", "--glsl", "corners.glsl", "--method",
                                  "per-level"})),
                  "per-level ");
        const LoadedMap level = load_map(path("own/per-level/level_01.exr"));
        EXPECT_THAT(reference::decode(level.view()), ::testing::ElementsAre(6.0F));
    }
}

}  // namespace
}  // namespace quadtile::app::test
