// `quadtile mipmap` as a black box.

#include "image_files.hpp"
#include "program_test.hpp"
#include "random_images.hpp"
#include "save_image.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <map>
#include <sstream>

namespace quadtile::app::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

struct Row {
    std::string levels;
    std::string time;
    std::string obstacle;
};

// The table, and the method that `auto` takes.
struct Report {
    std::map<std::string, Row> rows;
    std::vector<std::string> order;
    std::string automatic;
};

Report parse_report(const std::string& output) {
    Report report;
    std::istringstream lines(output);
    std::string line;
    while (std::getline(lines, line) && !line.starts_with("method ")) {
    }
    EXPECT_THAT(line, ContainsRegex("method +levels +GPU time .*"));
    while (std::getline(lines, line)) {
        std::istringstream cells(line);
        std::string method;
        Row row;
        if (line.starts_with("auto takes ")) {
            report.automatic = line.substr(11);
            continue;
        }
        if (line == "blit leaves odd edges to the driver, whatever --edges says") {
            EXPECT_TRUE(report.rows.contains("blit")) << output;
            continue;
        }
        cells >> method >> row.levels >> row.time;
        std::getline(cells >> std::ws, row.obstacle);
        EXPECT_TRUE(report.rows.emplace(method, row).second) << output;
        report.order.push_back(method);
    }
    return report;
}

std::vector<std::byte> bytes_of(const LoadedImage& image) {
    return {image.texels.get(), image.texels.get() + std::size_t{image.shape.width} *
                                                         image.shape.height *
                                                         texel_size_bytes(image.shape.format)};
}

// The GPU's methods that are the reference to the bit.
const std::map<std::string, MipMethod>& exact_methods() {
    static const std::map<std::string, MipMethod> methods{{"spd", MipMethod::spd},
                                                          {"subgroup", MipMethod::subgroup},
                                                          {"per-level", MipMethod::per_level}};
    return methods;
}

class MipmapCommand : public ProgramTest {
 protected:
    // An image and its file.
    RandomImage add_image(const std::string& name, const ImageShape& shape) const {
        RandomImage image(shape);
        directory_.add(name, encode_image(image.view()));
        return image;
    }

    // The names of all files below a directory.
    [[nodiscard]] Names files_in(const std::string& directory) const {
        Names names;
        for (const auto& entry : fs::recursive_directory_iterator(directory_.path() / directory)) {
            if (!entry.is_directory()) {
                names.insert(fs::relative(entry.path(), directory_.path() / directory).string());
            }
        }
        return names;
    }

    // The files of one method hold these levels and there is nothing else.
    void expect_levels(const std::string& directory, const MipChain& expected) const {
        Names names;
        for (std::size_t i = 0; i < expected.levels.size(); ++i) {
            const ImageShape& shape = expected.levels[i].shape;
            const std::string name =
                (i < 10 ? "level_0" : "level_") + std::to_string(i) + file_ending(shape.format);
            names.insert(name);
            const LoadedImage level =
                load_image(directory_.path() / directory / name,
                           {.linear = shape.format != TexelFormat::rgba8_srgb});
            EXPECT_EQ(level.shape, shape) << directory << "/" << name;
            EXPECT_TRUE(bytes_of(level) == expected.levels[i].texels) << directory << "/" << name;
        }
        EXPECT_EQ(files_in(directory), names);
    }
};

TEST_F(MipmapCommand, AllMethodsMakeTheLevels) {
    SKIP_WITHOUT_DEVICE();
    const ImageShape shape{37, 19, 1, TexelFormat::r16_float};
    const RandomImage image = add_image("image", shape);
    const ProgramResult result = run({"mipmap", "image", "out/levels", "--method", "all"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.error, IsEmpty());
    EXPECT_THAT(result.output,
                AllOf(HasSubstr(std::to_string(shape.width) + " x " + std::to_string(shape.height)),
                      HasSubstr(name_of(shape.format))));

    const Report report = parse_report(result.output);
    EXPECT_THAT(report.order, ElementsAre("spd", "subgroup", "per-level", "blit", "reference"));
    EXPECT_TRUE(report.rows.contains(report.automatic)) << report.automatic;
    const std::uint32_t levels = full_mip_levels(shape.width, shape.height, EdgeRule::fold);
    for (const auto& [name, method] : exact_methods()) {
        expect_levels("out/levels/" + name,
                      reference::downsample(
                          image.view(), {.format = shape.format, .method = method, .custom = {}}));
        EXPECT_EQ(report.rows.at(name).levels, std::to_string(levels));
        EXPECT_EQ(report.rows.at(name).obstacle, "");
        EXPECT_THAT(report.rows.at(name).time, ContainsRegex("^([0-9]+\\.[0-9]+|-)$"));
    }
    expect_levels("out/levels/reference",
                  reference::downsample(image.view(), {.format = shape.format, .custom = {}}));
    EXPECT_EQ(report.rows.at("reference").time, "-");
    const Row& blit = report.rows.at("blit");
    if (blit.obstacle.empty()) {
        EXPECT_EQ(files_in("out/levels/blit").size(), levels);
    } else {
        EXPECT_FALSE(fs::exists(directory_.path() / "out/levels/blit"));
        EXPECT_EQ(blit.levels + blit.time, "--");
    }
}

TEST_F(MipmapCommand, EdgesReductionLevelsAndFormatAreObeyed) {
    const RandomImage image = add_image("image", {37, 19, 1, TexelFormat::r16_float});
    for (const auto& [edges, rule, name, reduction] :
         {std::tuple("round-up", EdgeRule::round_up, "max", Reduction::max),
          {"fold", EdgeRule::fold, "min", Reduction::min},
          {"drop", EdgeRule::drop, "mean", Reduction::mean},
          {"fold", EdgeRule::fold, "sum", Reduction::sum}}) {
        const ProgramResult result =
            run({"mipmap", "image", name, "--method", "reference", "--edges", edges, "--reduce",
                 name, "--levels", "4", "--format", "r32_float"});
        ASSERT_EQ(result.status, 0) << result.error;
        expect_levels(std::string(name) + "/reference",
                      reference::downsample(image.view(), {.reduction = reduction,
                                                           .format = TexelFormat::r32_float,
                                                           .edge_rule = rule,
                                                           .levels = 4,
                                                           .custom = {}}));
    }
}

TEST_F(MipmapCommand, MinMaxOfOneChannel) {
    add_image("image", {37, 19, 1, TexelFormat::rgba8_srgb});
    const LoadedMap green = load_map(directory_.path() / "image", "G");
    const ProgramResult result = run({"mipmap", "image", "out", "--method", "reference", "--reduce",
                                      "min-max", "--channel", "G"});
    ASSERT_EQ(result.status, 0) << result.error;
    const MipChain expected = reference::downsample(
        green.view(),
        {.reduction = Reduction::min_max, .format = TexelFormat::rg32_float, .custom = {}});
    EXPECT_EQ(files_in("out").size(), expected.levels.size());
    const std::vector<reference::Texel> texels =
        reference::decode_texels({expected.levels[2].texels.data(), expected.levels[2].shape});
    for (const auto& [channel, index] : {std::pair("R", 0U), {"G", 1U}}) {
        const std::vector<float> values = reference::decode(
            load_map(directory_.path() / "out/reference/level_02.exr", channel).view());
        ASSERT_EQ(values.size(), texels.size());
        for (std::size_t t = 0; t < texels.size(); ++t) {
            EXPECT_EQ(values[t], texels[t][index]);
        }
    }
}

TEST_F(MipmapCommand, AutoIsTheDefault) {
    SKIP_WITHOUT_DEVICE();
    add_image("image", {64, 64, 1, TexelFormat::rgba8_srgb});
    const ProgramResult result = run({"mipmap", "image", "out"});
    ASSERT_EQ(result.status, 0) << result.error;
    const Report report = parse_report(result.output);
    EXPECT_THAT(report.order, ElementsAre(report.automatic));
    EXPECT_EQ(files_in("out/" + report.automatic).size(), 7U);
}

TEST_F(MipmapCommand, TheReferenceNeedsNoDevice) {
    const ProgramOptions no_driver{
        .environment = {{"VK_ICD_FILENAMES", "/nonexistent"}, {"VK_DRIVER_FILES", "/nonexistent"}}};
    const RandomImage image = add_image("image", {37, 19, 1, TexelFormat::rgba8_srgb});
    for (const std::string method : {"auto", "all", "spd"}) {
        EXPECT_THAT(error_of({"mipmap", "image", "out", "--method", method}, 1, no_driver),
                    HasSubstr("--method reference"));
    }
    const ProgramResult result =
        run({"mipmap", "image", "out", "--method", "reference"}, no_driver);
    ASSERT_EQ(result.status, 0) << result.error;
    expect_levels("out/reference", reference::downsample(image.view(), {.custom = {}}));
}

TEST_F(MipmapCommand, OwnReduction) {
    SKIP_WITHOUT_DEVICE();
    const RandomImage image = add_image("image", {37, 19, 1, TexelFormat::r32_float});
    directory_.add("diagonal.glsl",
                   "TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {\n"
                   "    return max(a, d);\n"
                   "}\n");
    const MipChain expected = reference::downsample(
        image.view(), {.reduction = Reduction::custom,
                       .format = TexelFormat::r32_float,
                       .method = MipMethod::spd,
                       .custom = [](const auto& a, const auto&, const auto&, const auto& d) {
                           return reference::Texel{std::max(a[0], d[0])};
                       }});
    const ProgramResult result =
        run({"mipmap", "image", "levels", "--glsl", "diagonal.glsl", "--method", "spd"});
    if (result.error.find("QUADTILE_RUNTIME_GLSL") != std::string::npos) {
        GTEST_SKIP() << result.error;
    }
    ASSERT_EQ(result.status, 0) << result.error;
    expect_levels("levels/spd", expected);
    const auto error = [&](const std::string& file, const char* method = "auto") {
        return error_of({"mipmap", "image", "none", "--glsl", file, "--method", method}, 1);
    };
    directory_.add("bad.glsl",
                   "// of my own\n"
                   "TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d) {\n"
                   "    return maximum(a, d);\n"
                   "}\n");
    directory_.add("empty.glsl", "\n");
    for (const char* const method : {"auto", "all"}) {
        EXPECT_THAT(error("bad.glsl", method),
                    AllOf(HasSubstr("bad.glsl:3: error: "), HasSubstr("maximum")));
    }
    EXPECT_THAT(error("missing.glsl"), AllOf(HasSubstr("missing.glsl"), HasSubstr("No such file")));
    EXPECT_THAT(error("empty.glsl"), HasSubstr("TEXEL reduce"));
    EXPECT_THAT(error("."), HasSubstr("directory"));
    EXPECT_THAT(error("diagonal.glsl", "reference"), HasSubstr("GLSL"));
    EXPECT_THAT(error("diagonal.glsl", "blit"), HasSubstr("only make means"));
}

TEST_F(MipmapCommand, WhatNoMethodCanDoIsAnError) {
    SKIP_WITHOUT_DEVICE();
    add_image("image", {37, 19, 1, TexelFormat::rgba8_srgb});
    EXPECT_THAT(error_of({"mipmap", "image", "out", "--method", "blit", "--reduce", "max"}, 1),
                HasSubstr("only make means"));
    EXPECT_THAT(error_of({"mipmap", "image", "out", "--method", "blit", "--edges", "round-up"}, 1),
                HasSubstr("round"));
}

TEST_F(MipmapCommand, WrongArgumentsAreUsageErrors) {
    add_image("image", {37, 19, 1, TexelFormat::rgba8_srgb});
    add_image("grey", {37, 19, 1, TexelFormat::r32_float});
    directory_.add("a.glsl", "x");
    for (const auto& [arguments, text] : std::vector<std::pair<Arguments, std::string>>{
             {{}, "IMAGE"},
             {{"image"}, "OUTDIR"},
             {{"", "out"}, "IMAGE needs a file name"},
             {{"image", ""}, "OUTDIR needs a file name"},
             {{"image", "image"}, "name the same file"},
             {{"image", "out", "more"}, "more"},
             {{"image", "out", "--method", "fastest"}, "fastest"},
             {{"image", "out", "--reduce", "median"}, "median"},
             {{"image", "out", "--edges", "wrap"}, "wrap"},
             {{"image", "out", "--format", "d32_float"}, "d32_float"},
             {{"image", "out", "--format", "r8_unorm"}, "number of channels"},
             {{"image", "out", "--levels", "0"}, "1 to 6"},
             {{"image", "out", "--levels", "7"}, "1 to 6"},
             {{"image", "out", "--levels", "-1"}, "--levels"},
             {{"image", "out", "--levels", "some"}, "--levels"},
             {{"image", "out", "--levels", "8", "--edges", "round-up"}, "1 to 7"},
             {{"image", "out", "--reduce", "min-max"}, "--channel"},
             {{"image", "out", "--reduce", "sum", "--format", "rgba8_unorm"}, "sums"},
             {{"image", "out", "--glsl", ""}, "--glsl needs a file name"},
             {{"image", "out", "--glsl", "a.glsl", "--reduce", "max"}, "--reduce"}}) {
        Arguments all{"mipmap"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        all.insert(all.end(), {"--method", "reference"});
        if (text == "fastest") {
            all.resize(all.size() - 2);
        }
        EXPECT_THAT(error_of(all, 2), HasSubstr(text));
    }
}

TEST_F(MipmapCommand, BadInputsAreNamed) {
    directory_.add("text", "hello");
    add_image("image", {37, 19, 1, TexelFormat::rgba8_srgb});
    for (const auto& [file, text] : {std::pair("missing.png", "no such file"),
                                     {".", "is a directory"},
                                     {"text", "not an OpenEXR, PFM or PNG image"}}) {
        EXPECT_THAT(error_of({"mipmap", file, "out", "--method", "reference"}, 1),
                    AllOf(HasSubstr("cannot read '"), HasSubstr(file), HasSubstr(text)));
    }
    EXPECT_THAT(error_of({"mipmap", "image", "out", "--method", "reference", "--channel", "Z"}, 1),
                HasSubstr("no channel 'Z'"));
}

TEST_F(MipmapCommand, OutputsThatCannotBeWritten) {
    add_image("image", {37, 19, 1, TexelFormat::rgba8_srgb});
    directory_.add("file", "");
    for (const auto& [target, named] : {std::pair("file", "'file'"),
                                        {"file/out", "'file'"},
                                        {"/proc/quadtile", "'/proc/quadtile'"}}) {
        EXPECT_THAT(error_of({"mipmap", "image", target, "--method", "reference"}, 1),
                    HasSubstr(std::string("cannot create the directory ") + named));
    }
    // A disk that is full, and standard output that is closed: nothing stays.
    EXPECT_THAT(error_of({"mipmap", "image", "new/out", "--method", "reference"}, 1,
                         {.largest_file_bytes = 200}),
                HasSubstr("cannot write 'new/out/reference/level_0"));
    EXPECT_THAT(error_of({"mipmap", "image", "new/out", "--method", "reference"}, 1,
                         {.standard_output = StandardOutput::closed}),
                HasSubstr("cannot write standard output"));
    // One level that is a directory.
    fs::create_directories(directory_.path() / "old/reference/level_03.png");
    EXPECT_THAT(error_of({"mipmap", "image", "old", "--method", "reference"}, 1),
                HasSubstr("level_03.png"));
    EXPECT_THAT(files_in("old"), IsEmpty());
}

TEST_F(MipmapCommand, ReplacesItsOwnLevelsAndNothingElse) {
    add_image("image", {8, 8, 1, TexelFormat::rgba8_srgb});
    const Arguments arguments{"mipmap", "image", "out", "--method", "reference"};
    fs::create_directories(directory_.path() / "out/reference");
    directory_.add("out/reference/level_00.png", "old");
    directory_.add("out/reference/notes.txt", "mine");
    directory_.add("out/level_00.png", "mine");
    ASSERT_EQ(run(arguments).status, 0);
    EXPECT_EQ(files_in("out"), (Names{"level_00.png", "reference/notes.txt",
                                      "reference/level_00.png", "reference/level_01.png",
                                      "reference/level_02.png", "reference/level_03.png"}));
    EXPECT_EQ(read_file(directory_.path() / "out/level_00.png"), "mine");
    EXPECT_EQ(read_file(directory_.path() / "out/reference/notes.txt"), "mine");
    EXPECT_NE(read_file(directory_.path() / "out/reference/level_00.png"), "old");
    // A level is no image to make levels of in its own place.
    EXPECT_THAT(
        error_of({"mipmap", "out/reference/level_00.png", "out", "--method", "reference"}, 2),
        HasSubstr("name the same file"));
}

}  // namespace
}  // namespace quadtile::app::test
