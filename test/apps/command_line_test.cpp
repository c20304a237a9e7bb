// The program as a black box: exit status, streams and files.

#include "image_files.hpp"
#include "program_test.hpp"
#include "support/glsl.hpp"
#include "support/help.hpp"
#include "support/maps.hpp"
#include "tiles_json.hpp"
#include "write_tiles.hpp"

#include <quadtile/version.h>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

// Sanitizers need so much address space that it cannot be limited.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUADTILE_TEST_SANITIZED 1
#else
#define QUADTILE_TEST_SANITIZED 0
#endif

namespace quadtile::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CommandLine : public ProgramTest {
 protected:
    CommandLine() {
        const MapShape shape{100, 61, 1, TexelFormat::r32_float};
        texels_ = quadtile::test::with_special_values(quadtile::test::smooth_map(shape), 200);
        directory_.add("map.pfm", encode_pfm_values(100, 61, false, texels_, false));
    }

    // By the reference into out.json.
    static Arguments tiles(const Arguments& more) {
        Arguments all{"tiles", "--strategy", "reference", "-o", "out.json"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    [[nodiscard]] MapView map() const { return view_of(texels_, 100, 61); }

    std::vector<float> texels_;
};

TEST_F(CommandLine, HelpsWithEveryCommand) {
    for (const auto& [arguments, text] : {std::pair(Arguments{"--help"}, "demo"),
                                          {Arguments{"tiles", "--help"}, "--constant"},
                                          {Arguments{"tiles", "-h"}, "--level-thresholds"},
                                          {Arguments{"mipmap", "--help"}, "--reduce"},
                                          {Arguments{"devices", "--help"}, "Vulkan"},
                                          {Arguments{"demo", "--help"}, "tiles.png"}}) {
        const ProgramResult result = run(arguments);
        EXPECT_EQ(result.status, 0);
        EXPECT_THAT(result.output, AllOf(HasSubstr("Usage: quadtile"), HasSubstr(text)));
        quadtile::test::expect_readable_help(result.output, 60);
        EXPECT_THAT(result.error, IsEmpty());
    }
    EXPECT_EQ(run({"--version"}).output, "quadtile " QUADTILE_VERSION_STRING "\n");
}

TEST_F(CommandLine, WrongArgumentsAreUsageErrors) {
    const auto with = [&](Arguments more) {
        more.insert(more.begin(), "map.pfm");
        return tiles(more);
    };
    for (const auto& [arguments, text] : std::vector<std::pair<Arguments, std::string>>{
             {{}, "no command is given"},
             {{"subdivide"}, "unknown command 'subdivide'"},
             {{"tiles"}, "INPUT"},
             {{"tiles", "--constant", "1"}, "INPUT"},
             {{"tiles", "map.pfm", "other.pfm", "--constant", "1"}, "other.pfm"},
             {{"demo", "--constant", "1"}, "--constant"},
             {{"devices", "--all"}, "--all"},
             {with({}), "no threshold is given"},
             {with({"--constant", "1", "--max-resolution", "2"}), "exclude each other"},
             {with({"--constant", "1", "--level-thresholds", "2"}), "exclude each other"},
             {with({"--max-resolution", "1", "--level-thresholds", "2"}), "exclude each other"},
             {with({"--constant", "1", "--constant", "2"}), "--constant"},
             {with({"--constant"}), "--constant needs a value"},
             {with({"--constant", "nan"}), "'nan' is not a number of 0 or more"},
             {with({"--constant", "1.5x"}), "'1.5x' is not a number"},
             {with({"--constant", "1", "--max-tiles", "0"}),
              "'0' is not a whole number from 1 to 4294967295"},
             {with({"--constant", "1", "--balance", "sides"}), "--balance"},
             {with({"--constant", "1", "--balance", "edges", "--max-tiles", "9"}),
              "--max-tiles cannot count the tiles that --balance adds"},
             {with({"--level-thresholds", "1,2,3,4,5,6,7,8,9"}), "9 level thresholds"},
             {with({"--memory", "16,100"}), "--fragments"},
             {with({"--fragments", "map.pfm", "--constant", "1"}), "--memory"},
             {with({"--memory", "16,100", "--fragments", "map.pfm", "--constant", "1"}),
              "exclude each other"},
             {with({"--memory", "16", "--fragments", "map.pfm"}),
              "--memory: needs 2 numbers, M,NODES, not 1"},
             {with({"--memory", "16,9", "--fragments", ""}), "needs a file name"},
             {with({"--memory", "16,9", "--fragments", "map.pfm", "--fragments-channel", ""}),
              "needs the name of a channel"},
             {with({"--constant", "1", "--fragments-channel", "Y"}), "--memory"},
             {with({"--constant", "1", "--none", "2", "--other"}),
              "unknown options --none, --other;"},
             {with({"--constant", "1", "--image", "a.jpg"}), "has the ending of another format"},
             {{"tiles", "map.pfm", "--constant", "1", "-o", "a.txt"}, ".json, .csv, .bin"},
             {with({"--memory", "16,9", "--fragments", "./out.json"}), "name the same file"},
             {with({"--constant", "1", "--format", "xml"}), "'xml' is none of json, csv, bin"},
             {with({"--constant", "1", "--strategy", "fused"}), "--strategy"},
             {with({"--constant", "1", "--image", "./out.json"}), "name the same file"},
             {with({"--constant", "1", "--image", "map.pfm"}), "name the same file"},
             {with({"--constant", "1", "--image", ""}), "needs a file name"},
             {{"tiles", "map.pfm", "--constant", "1", "--image", "/dev/stdout"}, "the same file"},
             {{"tiles", "", "--constant", "1"}, "needs a file name"},
             {with({"--constant", "1", "--tiles"}), "--tiles"}}) {
        EXPECT_THAT(error_of(arguments, 2), HasSubstr(text));
    }
    EXPECT_THAT(error_of({"tiles", "map.pfm"}, 2), HasSubstr("see 'quadtile tiles --help'"));
    EXPECT_THAT(error_of({"nothing"}, 2), HasSubstr("see 'quadtile --help'"));
}

// Catches a layer that is read without a word.
TEST_F(CommandLine, AGuessedChannelIsTold) {
    const std::vector<float> ones(64, 1.0F);
    directory_.add("layers.exr", encode_exr_channels(8, 8, {{"a.R", ones}, {"b.Z", ones}}));
    const auto warning = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"tiles", "layers.exr", "--constant",
                                           "2",     "--strategy", "reference"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments).error;
    };
    EXPECT_EQ(warning({"--channel", "b.Z"}), "");
    EXPECT_EQ(
        warning({}),
        "quadtile: warning: 'layers.exr' has several layers, parts or channels; 'b.Z' is read, "
        "and --channel chooses another: a.R, b.Z\n");
}

TEST_F(CommandLine, BadInputsAreNamed) {
    const std::string exr = encode_exr_channels(8, 8, {{"Z", std::vector<float>(64, 1.0F)}});
    directory_.add("cut.exr", exr.substr(0, exr.size() - 20));
    directory_.add("depth.exr", exr);
    directory_.add("wide.pfm", "Pf\n65537 1\n-1\n" + std::string(std::size_t{65537} * 4, '\0'));
    for (const auto& [file, text] : std::vector<std::pair<std::string, std::string>>{
             {"missing.exr", "no such file"},
             {"a\nb\r\nc", "no such file"},  // in one line
             {".", "is a directory"},
             {"/dev/null", "not a regular file"},
             {"cut.exr", "damaged or truncated OpenEXR"},
             {"wide.pfm", "65537 x 1"}}) {
        EXPECT_THAT(error_of(tiles({file, "--constant", "1", "--image", "out.png"}), 1),
                    HasSubstr(text));
    }
    EXPECT_THAT(error_of(tiles({"depth.exr", "--channel", "Q", "--constant", "1"}), 1),
                AllOf(HasSubstr("depth.exr"), HasSubstr("no channel 'Q'"), HasSubstr("it has Z")));
}

TEST_F(CommandLine, OutputsThatCannotBeWritten) {
    for (const std::string target : {".", "missing/out", "map.pfm/out", "/dev/full"}) {
        for (const char* const option : {"-o", "--image"}) {
            EXPECT_THAT(error_of({"tiles", "map.pfm", "--constant", "1", "--strategy", "reference",
                                  option, target},
                                 1),
                        HasSubstr("cannot write '" + target + "'"));
        }
    }
    // A full disk leaves the old file.
    directory_.add("out.json", "old");
    EXPECT_THAT(error_of(tiles({"map.pfm", "--constant", "0"}), 1, {.largest_file_bytes = 10000}),
                HasSubstr("cannot write 'out.json'"));
    EXPECT_EQ(read_file(directory_.path() / "out.json"), "old");
}

TEST_F(CommandLine, StandardOutputThatCannotBeWrittenIsAnError) {
    for (const StandardOutput kind :
         {StandardOutput::closed, StandardOutput::full_device, StandardOutput::broken_pipe}) {
        EXPECT_THAT(error_of({"tiles", "map.pfm", "--constant", "0", "--strategy", "reference",
                              "--image", "out.png"},
                             1, {.standard_output = kind}),
                    HasSubstr("cannot write standard output"));
        EXPECT_THAT(error_of({"--help"}, 1, {.standard_output = kind}),
                    HasSubstr("cannot write standard output"));
    }
}

TEST_F(CommandLine, MemoryThatCannotBeHad) {
    if (QUADTILE_TEST_SANITIZED != 0) {
        GTEST_SKIP() << "the sanitizers need the address space";
    }
    // 1 GiB of texels in a file of holes.
    const auto path = directory_.add("large.pfm", "Pf\n16384 16384\n-1\n");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + (std::size_t{1} << 30));
    EXPECT_THAT(error_of(tiles({"large.pfm", "--constant", "1"}), 1,
                         {.address_space_bytes = std::size_t{512} << 20}),
                HasSubstr("not enough memory"));
}

TEST_F(CommandLine, NoVulkanDriver) {
    const ProgramOptions no_driver{
        .environment = {{"VK_ICD_FILENAMES", "/nonexistent"}, {"VK_DRIVER_FILES", "/nonexistent"}}};
    EXPECT_THAT(error_of({"tiles", "map.pfm", "--constant", "1", "-o", "out.json"}, 1, no_driver),
                HasSubstr("--strategy reference"));
    EXPECT_THAT(error_of({"demo"}, 1, no_driver), HasSubstr("--strategy reference"));
    EXPECT_THAT(error_of({"devices"}, 1, no_driver), HasSubstr("Vulkan"));
    EXPECT_EQ(
        run({"tiles", "map.pfm", "--constant", "1", "--strategy", "reference"}, no_driver).status,
        0);
}

TEST_F(CommandLine, UnknownDevice) {
    SKIP_WITHOUT_DEVICE();
    for (const std::string device : {"no such device", "99"}) {
        EXPECT_THAT(error_of({"tiles", "map.pfm", "--constant", "1", "--device", device}, 1),
                    HasSubstr(device));
    }
}

TEST_F(CommandLine, MapLargerThanTheDevice) {
    SKIP_WITHOUT_DEVICE();
    directory_.add("wide.pfm", "Pf\n65536 1\n-1\n" + std::string(std::size_t{65536} * 4, '\0'));
    if (std::ranges::any_of(Device::enumerate(), [](const DeviceInfo& info) {
            return info.usable() && info.max_map_extent >= 65536;
        })) {
        GTEST_SKIP() << "this device's images are as large as any map";
    }
    EXPECT_THAT(error_of({"tiles", "wide.pfm", "--constant", "1", "-o", "out.json"}, 1),
                HasSubstr("65536"));
}

TEST_F(CommandLine, FragmentsThatCannotBeUsedAreNamed) {
    std::vector<float> fragments(texels_.size(), 1.0F);
    fragments[302] = -2.0F;
    directory_.add("negative.pfm", encode_pfm_values(100, 61, false, fragments, false));
    fragments.assign(texels_.size(), 1.0F);
    directory_.add("narrow.pfm", encode_pfm_values(50, 61, false, fragments, false));
    directory_.add("low.pfm", encode_pfm_values(100, 30, false, fragments, false));
    const auto error = [&](const std::string& file, int status) {
        return error_of(tiles({"map.pfm", "--memory", "16,9", "--fragments", file}), status);
    };
    EXPECT_THAT(error("missing.pfm", 1), AllOf(HasSubstr("missing.pfm"), HasSubstr("no such")));
    EXPECT_THAT(error("negative.pfm", 1),
                AllOf(HasSubstr("negative.pfm"), HasSubstr("texel (x 2, y 3, layer 0) is -2")));
    EXPECT_THAT(error("narrow.pfm", 2),
                AllOf(HasSubstr("'narrow.pfm' has 50 x 61"), HasSubstr("INPUT has 100 x 61")));
    EXPECT_THAT(error("low.pfm", 2), HasSubstr("'low.pfm' has 100 x 30"));
    // Which of several channels counts is not guessed.
    fragments.assign(3 * texels_.size(), 1.0F);
    directory_.add("colour.pfm", encode_pfm_values(100, 61, true, fragments, false));
    EXPECT_THAT(error("colour.pfm", 2),
                AllOf(HasSubstr("channels R, G, B"), HasSubstr("--fragments-channel")));
    EXPECT_EQ(run(tiles({"map.pfm", "--memory", "16,9", "--fragments", "colour.pfm",
                         "--fragments-channel", "G"}))
                  .status,
              0);
}

// Each strategy and each threshold once: the random tests compare all of them with the reference.
TEST_F(CommandLine, GivesTheReferenceList) {
    const std::vector<float> fragments =
        quadtile::test::random_fragments({100, 61, 1, TexelFormat::r32_float});
    directory_.add("fragments.pfm", encode_pfm_values(100, 61, false, fragments, false));
    // Integers of a PNG are counts, not parts of 1.
    std::vector<std::uint16_t> integers(fragments.size());
    for (std::size_t i = 0; i < integers.size(); ++i) {
        integers[i] = static_cast<std::uint16_t>(i % 256);
    }
    directory_.add("counts.png", encode_png_samples(100, 61, PngType::grey, 8, integers));
    const std::vector<float> counts(integers.begin(), integers.end());
    struct Case {
        Arguments arguments;
        Threshold threshold;
        SubdivideOptions options;
    };
    const float infinite = std::numeric_limits<float>::infinity();
    const std::vector<float> levels{0.1F, 3.0F, 1.0F, 0.5F, 2.0F, 0.3F, 0.2F, 1.0F};  // up and down
    const Threshold memory = Threshold::memory(16.0F, 40.0F, view_of(fragments, 100, 61));
    for (const Case& here : std::vector<Case>{
             {{"--constant", "inf", "--strategy=reference"}, Threshold::constant(infinite)},
             {{"--memory", "16,40", "--fragments", "fragments.pfm", "--strategy=reference"},
              memory},
             {{"--memory", "16,40", "--fragments", "counts.png", "--strategy=reference"},
              Threshold::memory(16.0F, 40.0F, view_of(counts, 100, 61))},
             {{"--constant", "1.25"}, Threshold::constant(1.25F)},
             // The last one stands for the rest.
             {{"--level-thresholds", "0.5,1", "--strategy=reference"},
              Threshold::per_level({0.5F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F})},
             {{"--memory", "16,40", "--fragments", "fragments.pfm", "--strategy=fused"}, memory},
             {{"--level-thresholds", "0.1,3,1,0.5,2,0.3,0.2,1", "--strategy=subtree"},
              Threshold::per_level(levels)},
             {{"--max-resolution", "16", "--strategy=subtree", "--subtree-levels=3"},
              Threshold::max_resolution(16.0F)},
             {{"--max-resolution", "8", "--order", "any"}, Threshold::max_resolution(8.0F)},
             {{"--max-resolution", "8", "--max-tiles", "200"},
              Threshold::max_resolution(8.0F),
              {.max_tiles = 200}},
             {{"--constant", "2.5", "--balance", "edges"},
              Threshold::constant(2.5F),
              {.balance = Balance::edges}},
             {{"--balance", "corners", "--max-resolution", "8"},
              Threshold::max_resolution(8.0F),
              {.balance = Balance::corners}}}) {
        SCOPED_TRACE(::testing::PrintToString(here.arguments));
        if (here.arguments.back() != "--strategy=reference") {
            SKIP_WITHOUT_DEVICE();
        }
        Arguments arguments{"tiles", "map.pfm"};
        arguments.insert(arguments.end(), here.arguments.begin(), here.arguments.end());
        const ProgramResult result = run(arguments);
        ASSERT_EQ(result.status, 0) << result.error;
        EXPECT_THAT(result.error, IsEmpty());
        TileList list = parse_json(result.output);
        sort_canonical(list.tiles);
        const TileList expected = reference::subdivide(map(), here.threshold, here.options);
        EXPECT_GT(list.tiles.size(), 0U);
        EXPECT_EQ(list.shape.width, 100U);
        EXPECT_EQ(list.shape.height, 61U);
        EXPECT_EQ(list.nan_texels, expected.nan_texels);
        EXPECT_EQ(list.balance, expected.balance);
        EXPECT_TRUE(list.tiles == expected.tiles);
    }
    EXPECT_THAT(error_of({"tiles", "map.pfm", "--strategy", "fused", "--level-thresholds",
                          "0.1,3,1,0.5,2,0.3,0.2,1"},
                         1),
                HasSubstr("level 1 has 3"));
    EXPECT_THAT(error_of({"tiles", "map.pfm", "--strategy", "subtree", "--max-resolution", "8",
                          "--max-tiles", "200"},
                         1),
                HasSubstr("needs the strategy"));
}

TEST_F(CommandLine, WritesTheFormatOfTheEndingOrTheOption) {
    const TileList expected = reference::subdivide(map(), Threshold::constant(2.0F));
    const auto bytes_of = [&](TileFormat format) {
        std::string bytes;
        write_tiles(expected, format, [&](std::string_view piece) { bytes += piece; });
        return bytes;
    };
    for (const auto& [name, option, format] :
         std::vector<std::tuple<std::string, std::string, TileFormat>>{
             {"a.json", "", TileFormat::json},
             {"a.csv", "", TileFormat::csv},
             {"a.bin", "", TileFormat::binary},
             {"a.txt", "json", TileFormat::json},
             {"plain", "", TileFormat::json},
             {"b.json", "csv", TileFormat::csv},
             {"", "bin", TileFormat::binary},
             {"", "", TileFormat::json}}) {
        Arguments arguments{"tiles", "map.pfm", "--constant", "2", "--strategy", "reference"};
        if (!name.empty()) {
            arguments.insert(arguments.end(), {"-o", name});
        }
        if (!option.empty()) {
            arguments.insert(arguments.end(), {"--format", option});
        }
        const ProgramResult result = run(arguments);
        EXPECT_EQ(result.status, 0) << result.error;
        EXPECT_THAT(result.error, IsEmpty());
        EXPECT_TRUE((name.empty() ? result.output : read_file(directory_.path() / name)) ==
                    bytes_of(format))
            << name << " " << option;
        EXPECT_EQ(result.output.empty(), !name.empty());
    }
    EXPECT_EQ(directory_.names(),
              (Names{"map.pfm", "a.json", "a.csv", "a.bin", "a.txt", "plain", "b.json"}));
}

TEST_F(CommandLine, DrawsTheImage) {
    const ProgramResult result = run({"tiles", "map.pfm", "--constant", "2", "--strategy",
                                      "reference", "-o", "out.json", "--image", "out.png"});
    ASSERT_EQ(result.status, 0) << result.error;
    const LoadedMap image = load_map(directory_.path() / "out.png");
    EXPECT_EQ(image.shape.width, 1100U);
    EXPECT_EQ(image.shape.height, 671U);
}

TEST_F(CommandLine, StatisticsGoToStandardError) {
    const TileList expected = reference::subdivide(map(), Threshold::max_resolution(16.0F));
    const auto count = [&](std::uint32_t level) {
        return std::to_string(expected.tiles_per_level()[level]);
    };
    const ProgramResult result =
        run({"tiles", "map.pfm", "--max-resolution", "16", "--strategy", "reference", "--stats"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_TRUE(parse_json(result.output).tiles == expected.tiles);
    for (const std::string& line :
         {std::string("strategy +reference"), "tiles +" + std::to_string(expected.tiles.size()),
          "of level 2 +" + count(2), "of level 0 +" + count(0),
          "NaN texels +" + std::to_string(expected.nan_texels),
          "clamped tiles +" + std::to_string(std::ranges::count_if(expected.tiles, &Tile::clamped)),
          std::string("channel +Y"), std::string("buffer repeats +[0-9]+"),
          std::string("load +[0-9.]+ ms"), std::string("write +[0-9.]+ ms"),
          std::string("device +[^\n]+")}) {
        EXPECT_THAT(result.error, ::testing::ContainsRegex(line + "\n"));
    }
}

// Catches a count of all tiles, or of none, where that of the added ones is asked for.
TEST_F(CommandLine, StatisticsTellWhatBalancingAdds) {
    const auto tiles = [&](Balance balance) {
        return reference::subdivide(map(), Threshold::constant(2.5F), {.balance = balance})
            .tiles.size();
    };
    const std::size_t added = tiles(Balance::corners) - tiles(Balance::none);
    ASSERT_GT(added, 0U);
    const ProgramResult result = run({"tiles", "map.pfm", "--constant", "2.5", "--strategy",
                                      "reference", "--balance", "corners", "--stats"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.error, ::testing::ContainsRegex("added by balancing +" +
                                                       std::to_string(added) + " .corners.\n"));
}

TEST_F(CommandLine, DevicesAreListed) {
    SKIP_WITHOUT_DEVICE();
    const ProgramResult result = run({"devices"});
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.error, IsEmpty());
    for (const DeviceInfo& info : Device::enumerate()) {
        EXPECT_THAT(result.output, AllOf(HasSubstr(std::to_string(info.index) + ": " + info.name),
                                         HasSubstr(info.type), HasSubstr(info.driver)));
        for (const std::string& rejection : info.rejections) {
            EXPECT_THAT(result.output, HasSubstr(rejection));
        }
    }
    const DeviceInfo chosen = Device::create().info();
    EXPECT_THAT(result.output,
                HasSubstr("chosen: " + std::to_string(chosen.index) + " (" + chosen.name + ")\n"));
}

// Catches a map that is not where the program looks for it, and other tiles than the reference's.
TEST_F(CommandLine, DemoSubdividesItsMap) {
    SKIP_WITHOUT_DEVICE();
    const ProgramResult result = run({"demo"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.error, IsEmpty());
    EXPECT_EQ(directory_.names(), (Names{"map.pfm", "tiles.json", "tiles.png"}));
    const TileList list = parse_json(read_file(directory_.path() / "tiles.json"));
    EXPECT_THAT(result.output, AllOf(HasSubstr("1000 x 613 texels"), HasSubstr("tiles.png"),
                                     HasSubstr(std::to_string(list.tiles.size()) + " tiles of ")));

    const std::size_t end = result.output.find("zdm2.exr") + std::string("zdm2.exr").size();
    const std::size_t start = result.output.rfind(' ', end - 1) + 1;
    ASSERT_EQ(run({"tiles", result.output.substr(start, end - start), "--strategy", "reference",
                   "--max-resolution", "16", "-o", "host.json", "--image", "host.png"})
                  .status,
              0);
    EXPECT_TRUE(read_file(directory_.path() / "tiles.json") ==
                read_file(directory_.path() / "host.json"));
    EXPECT_TRUE(read_file(directory_.path() / "tiles.png") ==
                read_file(directory_.path() / "host.png"));
}

TEST_F(CommandLine, StagesGoIntoATraceFile) {
    EXPECT_EQ(run({"tiles", "map.pfm", "--constant", "1", "--strategy", "reference", "-o", "out",
                   "--trace", "trace.json"})
                  .status,
              0);
    const nlohmann::json events =
        nlohmann::json::parse(read_file(directory_.path() / "trace.json"));
    std::vector<std::string> names;
    for (const nlohmann::json& event : events) {
        if (event["ph"] == "X") {
            names.push_back(event["name"]);
            EXPECT_GE(event["ts"], 0.0);
        }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"load", "subdivide", "write"}));
    EXPECT_THAT(error_of({"tiles", "map.pfm", "--constant", "1", "--trace", "none/trace.json"}, 1),
                HasSubstr("none/trace.json"));
    EXPECT_THAT(error_of({"tiles", "map.pfm", "--constant", "1", "--trace", "map.pfm"}, 2),
                HasSubstr("the same file"));
    // The old trace is kept until there is a new one.
    directory_.add("trace.json", "old");
    (void)error_of({"tiles", "missing.pfm", "--constant", "1", "--trace", "trace.json"}, 1);
    EXPECT_EQ(read_file(directory_.path() / "trace.json"), "old");
}

// Catches a program that keeps no pipelines, or that fails because of what lies at their place.
TEST_F(CommandLine, PipelinesAreKeptInOneFile) {
    SKIP_WITHOUT_DEVICE();
    const Arguments tiles{"tiles", "map.pfm", "--constant", "1", "-o", "out"};
    const std::filesystem::path folder = directory_.path() / "cache" / "of" / "programs";
    const std::filesystem::path file = folder / "pipelines.bin";
    const auto expect_success = [&](const std::filesystem::path& used) {
        ProgramOptions options;
        options.environment["QUADTILE_CACHE_DIRECTORY"] = used.string();
        const ProgramResult result = run(tiles, options);
        EXPECT_EQ(result.status, 0);
        EXPECT_THAT(result.error, IsEmpty());
    };
    expect_success(folder);
    const std::string whole = read_file(file);
    EXPECT_GE(whole.size(), 40U);  // a header of Vulkan and a checksum
    for (const std::string& damaged : {whole.substr(0, 20), std::string(100, 'x'), std::string()}) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
        expect_success(folder);
        EXPECT_EQ(read_file(file).size(), whole.size());
    }
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    expect_success(folder);
    expect_success(directory_.path() / "map.pfm");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

// ---- GLSL of the user's ------------------------------------------------------------------------

class CommandLineGlsl : public CommandLine {
 protected:
    void SetUp() override {
        if (!quadtile::test::can_compile_glsl() || !has_usable_device()) {
            GTEST_SKIP() << "no Vulkan device here that quadtile uses, or no GLSL compiler";
        }
        directory_.add("threshold.glsl",
                       "float threshold(uint level, uvec2 position, uint layer) {\n"
                       "    return threshold_parameter(0) + threshold_parameter(1);\n"
                       "}\n");
        directory_.add("typo.glsl",
                       "float threshold(uint level, uvec2 position, uint layer) {\n"
                       "    return leve;\n"
                       "}\n");
    }
};

TEST_F(CommandLineGlsl, GivesThresholds) {
    const TileList expected = reference::subdivide(map(), Threshold::constant(0.75F));
    const ProgramResult result =
        run({"tiles", "map.pfm", "--glsl", "threshold.glsl", "--glsl-parameters", "0.25,0.5"});
    EXPECT_EQ(result.status, 0) << result.error;
    TileList list = parse_json(result.output);
    sort_canonical(list.tiles);
    EXPECT_TRUE(list.tiles == expected.tiles);
    EXPECT_THAT(run({"tiles", "map.pfm", "--glsl", "typo.glsl"}).error,
                AllOf(HasSubstr("typo.glsl:2: error: "), HasSubstr("leve")));
}

TEST_F(CommandLineGlsl, WhatDoesNotFitIsRefused) {
    for (const auto& [arguments, message] : std::vector<std::pair<Arguments, std::string>>{
             {{"--glsl", "threshold.glsl", "--strategy", "fused"}, "--glsl needs the strategy"},
             {{"--glsl", "threshold.glsl", "--max-tiles", "9"}, "--max-tiles"},
             {{"--glsl", "threshold.glsl", "--constant", "1"}, "exclude each other"},
             {{"--glsl", "threshold.glsl", "--glsl-parameters", "1,x"}, "'x' is not a number"},
             {{"--glsl", ""}, "--glsl needs a file name"},
             {{"--constant", "1", "--glsl-parameters", "1"}, "--glsl"}}) {
        Arguments all{"tiles", "map.pfm"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const ProgramResult result = run(all);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.error, HasSubstr(message));
    }
    // Before memory ends.
    EXPECT_THAT(run({"tiles", "map.pfm", "--glsl", "/dev/zero"}).error,
                HasSubstr("cannot read '/dev/zero': it is longer than 64 KiB"));
    EXPECT_THAT(run({"tiles", "map.pfm", "--glsl", "."}).error, HasSubstr("is a directory"));
    // A function has no resources of its own.
    directory_.add("resource.glsl",
                   "layout(set = 1, binding = 3) buffer Table { float table[]; };\n"
                   "float threshold(uint level, uvec2 position, uint layer) {\n"
                   "    return table[level];\n}\n");
    EXPECT_THAT(
        run({"tiles", "map.pfm", "--glsl", "resource.glsl"}).error,
        HasSubstr(
            "resource.glsl: error: the text has a resource at binding 3 of descriptor set 1"));
    EXPECT_THAT(run({"tiles", "map.pfm", "--glsl", "missing.glsl"}).error,
                HasSubstr("No such file"));
}

}  // namespace
}  // namespace quadtile::app::test
