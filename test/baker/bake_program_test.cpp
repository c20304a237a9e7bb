// quadtile-bake as its users run it.

#include "apps/program_test.hpp"
#include "gltf_file.hpp"
#include "support/help.hpp"
#include "support/maps.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace quadtile::baker::test {
namespace {

namespace fs = std::filesystem;
using app::test::Arguments;
using app::test::LoggedProgram;
using app::test::ProgramOptions;
using app::test::ProgramResult;
using app::test::read_file;
using app::test::operator+;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr int INTERRUPTED = 130;

class BakeProgram : public app::test::ProgramTest {
 protected:
    BakeProgram() { tells_progress_ = true; }

    [[nodiscard]] LoggedProgram start(const Arguments& arguments) const {
        return {arguments, {.directory = directory_.path()}};
    }
    // The lightmap's bytes.
    [[nodiscard]] std::string bake(const Arguments& arguments, const std::string& name,
                                   const ProgramOptions& options = {}) const {
        const ProgramResult result = run(arguments + Arguments{"-o", name}, options);
        EXPECT_EQ(result.status, 0) << result.error;
        return read_file(path(name));
    }
};

// Values by channel; all channels are floats.
std::map<std::string, std::vector<float>> read_exr(const fs::path& path) {
    std::map<std::string, std::vector<float>> values;
    for (const std::string& channel : channels_of(path)) {
        const LoadedMap map = load_map(path, channel);
        EXPECT_EQ(map.shape.format, TexelFormat::r32_float);
        values[channel] = reference::decode(map.view());
    }
    return values;
}

// Returns the number of texels with light. Checks that all channels are finite.
std::ptrdiff_t known_texels(const fs::path& path) {
    const auto map = read_exr(path);
    for (const auto& [channel, values] : map) {
        EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
            << channel;
    }
    return std::ranges::count(map.at("A"), 1.0F);
}

// A floor and a wall.
constexpr const char* CORNER =
    "v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    "vt 0.05 0.05\nvt 0.45 0.05\nvt 0.45 0.95\nvt 0.05 0.95\n"
    "vt 0.55 0.05\nvt 0.95 0.05\nvt 0.95 0.95\nvt 0.55 0.95\n"
    "f 1/1 2/2 3/3 4/4\nf 1/5 4/6 5/7 6/8\n";

const Arguments QUICK{"--size",    "32", "--direct-samples", "16", "--samples", "16",
                      "--bounces", "1",  "--threads",        "2"};
const Arguments ROOM{QUADTILE_BAKER_ROOM, "--sky", "1.6,2.1,2.8"};
const Arguments BY_CPU{"--reference"};
// So long that signals find it at work, with checkpoints all the time.
const Arguments LONG = ROOM + BY_CPU +
                       Arguments{"--size",
                                 "40",
                                 "--direct-samples",
                                 "32",
                                 "--samples",
                                 "32",
                                 "--bounces",
                                 "1",
                                 "--directional",
                                 "--checkpoint-interval",
                                 "0"};

// ---- What can be asked

// Options that are rarely needed, and those words that bakers do not use first, are elsewhere.
TEST_F(BakeProgram, TellsWhatItIs) {
    const ProgramResult help = run({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.error, IsEmpty());
    quadtile::test::expect_readable_help(help.output, 90);
    EXPECT_THAT(help.output,
                AllOf(HasSubstr("--unwrap"), HasSubstr("--help-all"), HasSubstr("--margin"),
                      testing::Not(HasSubstr("--pixels-per-texel"))));
    const ProgramResult all = run({"--help-all"});
    EXPECT_EQ(all.status, 0);
    quadtile::test::expect_readable_help(all.output, 140);
    EXPECT_THAT(all.output, AllOf(HasSubstr("Bake, rarely needed:\n"),
                                  HasSubstr("--pixels-per-texel"), HasSubstr("--samples N")));
    const ProgramResult version = run({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.output, StartsWith("quadtile-bake "));
    EXPECT_EQ(std::ranges::count(version.output, '\n'), 1);
}

// Values of one option are in the properties of all options (test/options).
TEST_F(BakeProgram, UsageErrorsTellWhatToDo) {
    const std::pair<Arguments, const char*> cases[] = {
        {{}, "give a SCENE"},
        {{"a.obj"}, "give --output FILE.exr"},
        {{"a.obj", "-o", "x.GLB"}, "export SCENE as .glb"},
        {{"a.glb", "-o", "x.glb", "--half"}, "cannot hold --directional, --half"},
        {{"a.glb", "-o", "x.glb", "--lit-scene", "y.glb"}, "not beside a .glb"},
        {{"a.glb", "-o", "x.glb", "--quantity", "shadow-mask"}, "give --output FILE.exr"},
        {{"a.obj", "-o", "x.png"}, "has the ending of another format; give one of .exr, .glb"},
        {{"room.partial.glb", "-o", "room.glb"},
         "SCENE and the partial file of --output name the same file"}};
    const std::pair<Arguments, const char*> of_maps[] = {
        {{"--size", "12y7"}, "1024x512"},
        {{"--size", "8", "--texels-per-unit", "3"}, "exclude"},
        {{"--page", "64"}, "--page needs --unwrap or --pack"},
        {{"--margin", "3"}, "--margin needs --unwrap or --pack"},
        {{"--pack", "--unwrap"}, "give one of them"},
        {{"--pack", "--page", "64", "--size", "64"}, "exclude"},
        {{"--quality", "perfect"}, "draft"},
        {{"--sky", "1,2"}, "--sky takes one number or three"},
        {{"--sun", "1"}, "--sun needs --sun-direction"},
        {{"--sun-direction", "0,0,0"}, "takes a direction"},
        {{"--lit-scene", "x.glb"}, "--lit-scene 'x.glb' needs a glTF scene"},
        {{"--quantity", "shadow-mask", "--sky", "1"}, "leave out --sky"},
        {{"--quantity", "lumens"}, "ambient-occlusion"},
        {{"--sky-rotation", "9"}, "--sky-rotation needs --sky-image"},
        {{"--resume", "--no-checkpoint"}, "exclude"},
        {{"--sky-image", "x.png"}, "give .exr"},
        {{"--preview", "y.exr"}, "give .png"},
        {{"--probes", "2,2,2"}, "--probes needs --probes-out"},
        {{"--probes-out", "p.bin"}, "--probes-out needs --probes X,Y,Z"},
        {{"--probes", "99,99,99", "--probes-out", "p.bin"}, "take fewer"},
        {{"--probes", "2,2,2", "--probes-out", "p.exr"}, "give one of .json, .bin"},
        {{"--probes", "2,2,2", "--probes-out", "p.bin", "--probe-box", "0,0,1,1,1,0"},
         "lower corner first"}};
    const auto expect_told = [&](const Arguments& arguments, const char* text) {
        EXPECT_THAT(error_of(arguments, 2), AllOf(HasSubstr(text), HasSubstr("--help")));
    };
    for (const auto& [arguments, text] : cases) {
        expect_told(arguments, text);
    }
    for (const auto& [more, text] : of_maps) {
        expect_told(Arguments{"a.obj", "-o", "x.exr"} + more, text);
    }
}

// Catches lightmaps that take all memory before they are refused.
TEST_F(BakeProgram, TellsWhatItNeedsAndDoes) {
    const ProgramResult huge =
        run(ROOM + Arguments{"--reference", "--size", "32768", "-o", "map.exr"});
    EXPECT_EQ(huge.status, 1);
    EXPECT_THAT(huge.error, HasSubstr("of memory, but only"));
}

TEST_F(BakeProgram, ScenesThatCannotBeReadAreNamed) {
    (void)directory_.add("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    (void)directory_.add("text.glb", "this is no glTF file at all");
    for (const auto& [name, text] : {std::pair<std::string, const char*>("none.glb", ""),
                                     {"bare.obj", "--unwrap"},
                                     {"text.glb", "glTF 2.0 file: its JSON"},
                                     {"scene.fbx", ".obj"},
                                     {".", ""}}) {
        EXPECT_THAT(error_of({name, "-o", "x.exr"}, 1), AllOf(HasSubstr(name), HasSubstr(text)));
    }
}

// ---- What it makes

// On the device, with the validation layer. Catches files that are left out or have another size,
// and reports that do not tell what was done.
TEST_F(BakeProgram, MakesAllThatIsAskedFor) {
    const Arguments bake = ROOM + QUICK + Arguments{"-o", "map.exr", "--directional"};
    const ProgramResult result = run(
        bake + Arguments{"--preview", "view.png", "--atlas", "atlas.png", "--report", "report.json",
                         "--preview-size", "80x50", "--validation", "--quantity", "radiance"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(directory_.names(),
                UnorderedElementsAre("map.exr", "view.png", "atlas.png", "report.json"));
    const auto map = read_exr(path("map.exr"));
    EXPECT_THAT(map.at("A"), Each(::testing::AnyOf(0.0F, 1.0F)));
    EXPECT_THAT(map.at("R"), Each(::testing::Ge(0.0F)));
    EXPECT_EQ(map.at("sh3.B").size(), 32U * 32U);
    const std::ptrdiff_t known = known_texels(path("map.exr"));
    EXPECT_EQ(load_image(path("view.png")).shape.height, 50U);
    EXPECT_EQ(load_image(path("atlas.png")).shape.width, 32U);

    const Json report = Json::parse(read_file(path("report.json")));
    EXPECT_EQ(report["light_map"], Json({32, 32}));
    EXPECT_EQ(report["quantity"], "radiance");
    EXPECT_THAT(result.error, HasSubstr("the lightmap holds radiance\n"));
    EXPECT_EQ(report["known_texels"], known);
    EXPECT_GT(known, 500);
    EXPECT_GE(report["covered_texels"].get<std::ptrdiff_t>(), known);
    EXPECT_FALSE(report["interrupted"].get<bool>());
    EXPECT_EQ(report["options"]["directions"], 16);
    EXPECT_EQ(report["passes"].back()["noise_percent"], report["noise_percent"]);
    EXPECT_LT(report["denoised_noise_percent"], report["noise_percent"]);
    EXPECT_EQ(report["options"]["directional"], true);
    EXPECT_GT(report["tracing"]["nodes"].get<double>(), 1000.0);
    EXPECT_GE(report["tracing"]["tiles"].get<double>(), 16.0);
    std::set<std::string> passes;
    for (const Json& pass : report["passes"]) {
        passes.insert(pass["name"]);
        EXPECT_GE(pass["seconds"].get<double>(), 0.0);
        // Lamps have 64 points of five directions each.
        const std::string name = pass["name"];
        EXPECT_EQ(pass["directions"], name == "lamps" ? 320 : name == "sun" ? 64 : 16) << name;
    }
    EXPECT_THAT(passes, IsSupersetOf({"lamps", "direct light", "bounce 1", "moment x"}));

    // On a pipe progress is lines; each of them of one kind, and the last one near the end.
    EXPECT_THAT(result.error, StartsWith("[.............................."));
    EXPECT_THAT(result.error, HasSubstr("bounce 1"));
    EXPECT_EQ(result.error.find_first_of("\r\033"), std::string::npos);
    EXPECT_LT(std::ranges::count(result.error, '\n'), 30);
    const ProgramResult quiet = run(bake + BY_CPU + Arguments{"--quiet"});
    EXPECT_EQ(quiet.status, 0);
    EXPECT_THAT(quiet.error, IsEmpty());
}

// The same light in both formats, at points and in a grid of a cell that has its middle there.
TEST_F(BakeProgram, WritesProbes) {
    (void)directory_.add("corner.obj", CORNER);
    (void)directory_.add("points.txt", "0.5 0.5 0.25\n");
    const Arguments corner = Arguments{"corner.obj", "--sky", "1"} + QUICK + BY_CPU;
    (void)bake(corner + Arguments{"--probes", "1,1,1", "--probes-out", "p.json", "--probe-box",
                                  "0,0,0,1,1,0.5"},
               "a.exr");
    (void)bake(corner + Arguments{"--probe-points", "points.txt", "--probes-out", "p.bin"},
               "b.exr");
    const Json json = Json::parse(read_file(path("p.json")));
    EXPECT_EQ(json["counts"], Json({1, 1, 1}));
    EXPECT_EQ(json["high"], Json({1.0, 1.0, 0.5}));
    const std::string bytes = read_file(path("p.bin"));
    ASSERT_EQ(bytes.size(), 48U + 31 * sizeof(float));
    EXPECT_THAT(bytes, StartsWith("QDTPROB1"));
    std::array<float, 31> numbers{};
    std::memcpy(numbers.data(), bytes.data() + 48, sizeof(numbers));
    const Json& probe = json["probes"].at(0);
    for (std::size_t i = 0; i < 30; ++i) {  // a position, and nine coefficients of three colours
        const Json& values = i < 3 ? probe["position"] : probe["sh"][i / 3 - 1];
        EXPECT_EQ(values[i % 3].get<float>(), numbers[i < 3 ? i : i + 1]) << i;
    }
    EXPECT_EQ(probe["valid"], true);
    EXPECT_EQ(numbers[3], 1.0F);
    EXPECT_GT(numbers[4], 1.0F);
    (void)directory_.add("points.txt", "1 2 3\n1 2\n");
    EXPECT_THAT(error_of(corner + Arguments{"-o", "b.exr", "--probe-points", "points.txt",
                                            "--probes-out", "p.bin"},
                         1),
                HasSubstr("no point in line 2"));
}

TEST_F(BakeProgram, TerminalsShowOneLineThatChanges) {
    int terminal = -1;
    int its_end = -1;
    ASSERT_EQ(::openpty(&terminal, &its_end, nullptr, nullptr, nullptr), 0);
    app::test::RunningProgram program(ROOM + QUICK + BY_CPU + Arguments{"-o", "map.exr"},
                                      {.directory = directory_.path()}, its_end);
    ::close(its_end);
    std::string text;
    for (char byte = 0; ::read(terminal, &byte, 1) == 1;) {  // an error where it is closed
        text += byte;
    }
    ::close(terminal);
    EXPECT_EQ(program.wait(), 0);
    // The bar is drawn over itself and removed in the end; the summary follows.
    const std::size_t last = text.rfind("\r\033[K");
    ASSERT_NE(last, std::string::npos) << text;
    EXPECT_EQ(text.substr(0, last).find('\n'), std::string::npos) << text;
    EXPECT_THAT(text, StartsWith("\r[....."));
    EXPECT_THAT(text.substr(last), HasSubstr("texels"));
}

// ---- The same bits

// Catches an interrupted bake that replaces the good files of the last one.
TEST_F(BakeProgram, CtrlCLeavesWhatIsThere) {
    const std::string expected = bake(LONG, "whole.exr");
    const Arguments outputs{"-o", "map.exr", "--report", "report.json", "--preview", "view.png"};
    const std::pair<int, std::string> cases[] = {{SIGINT, "direct light"}, {SIGTERM, "moment y"}};
    for (const auto& [signal, pass] : cases) {
        for (const char* const name : {"map.exr", "report.json", "view.png"}) {
            (void)directory_.add(name, "the last bake's");
        }
        LoggedProgram program = start(LONG + outputs);
        program.wait_for(pass);
        program.send(signal);
        EXPECT_EQ(program.wait(), INTERRUPTED) << program.log();
        EXPECT_THAT(program.log(), AllOf(HasSubstr("interrupted: 'map.partial.exr' has the light"),
                                         HasSubstr("--resume")));
        EXPECT_THAT(directory_.names(),
                    UnorderedElementsAre("whole.exr", "map.exr", "map.exr.checkpoint",
                                         "map.partial.exr", "report.json", "report.partial.json",
                                         "view.png", "view.partial.png"));
        for (const char* const name : {"map.exr", "report.json", "view.png"}) {
            EXPECT_EQ(read_file(path(name)), "the last bake's");
        }
        EXPECT_TRUE(Json::parse(read_file(path("report.partial.json")))["interrupted"].get<bool>());
        EXPECT_THAT(channels_of(path("map.partial.exr")), UnorderedElementsAre("R", "G", "B", "A"));
        EXPECT_THAT(error_of(LONG + Arguments{"-o", "map.exr", "--resume", "--seed", "5"}, 1),
                    AllOf(HasSubstr("map.exr.checkpoint"), HasSubstr("another bake")));
        const ProgramResult resumed = run(LONG + outputs + Arguments{"--resume"});
        EXPECT_THAT(resumed.error, HasSubstr("resumes 'map.exr.checkpoint' with direction "));
        EXPECT_TRUE(expected == read_file(path("map.exr"))) << pass;
        // There is nothing left to resume.
        EXPECT_THAT(directory_.names(),
                    UnorderedElementsAre("whole.exr", "map.exr", "report.json", "view.png"));
    }
}

TEST_F(BakeProgram, WithoutResumeItBeginsAnew) {
    const Arguments room = QUICK + ROOM + BY_CPU;
    const std::string expected = bake(room, "whole.exr");
    (void)directory_.add("map.exr.checkpoint", "QDTBAKE1 and no more");
    EXPECT_TRUE(expected == bake(room, "map.exr"));
    EXPECT_FALSE(fs::exists(path("map.exr.checkpoint")));
    const ProgramResult anew = run(room + Arguments{"--resume", "-o", "map.exr"});
    EXPECT_THAT(anew.error, HasSubstr("nothing to resume"));
    EXPECT_TRUE(expected == read_file(path("map.exr")));
}

// A square under a light, as glTF.
std::string lit_scene(const std::string& generator, const std::string& intensity,
                      const std::string& type = "\"directional\"") {
    return square(R"({"asset":{"generator":")" + generator +
                  R"("},"extensionsUsed":["KHR_lights_punctual"],
        "extensions":{"KHR_lights_punctual":{"lights":[{"type":)" +
                  type + R"(,"intensity":)" + intensity +
                  R"(}]}},"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0},
        {"translation":[0,0,1],"extensions":{"KHR_lights_punctual":{"light":0}}}]})")
        .binary();
}

// Lights of Blender are W/m² or W/sr times 683 lm/W; those of other programs are taken as they are.
TEST_F(BakeProgram, TakesLightsInTheUnitOfTheirExporter) {
    const Arguments options{"--size", "16", "--quality", "draft", "--reference"};
    for (const std::string type : {"\"directional\"", "\"point\"", "\"spot\",\"spot\":{}"}) {
        (void)directory_.add("blender.glb",
                             lit_scene("Khronos glTF Blender I/O v3.3.32", "2049", type));
        (void)directory_.add("other.glb", lit_scene("another", "3", type));
        const std::string expected = bake(options + Arguments{"other.glb"}, "other.exr");
        EXPECT_TRUE(expected == bake(options + Arguments{"blender.glb"}, "blender.exr"));
        const std::string lux =
            bake(options + Arguments{"blender.glb", "--light-units", "photometric"}, "lux.exr");
        EXPECT_FALSE(expected == lux);
        EXPECT_TRUE(lux !=
                    bake(options + Arguments{"other.glb", "--light-units", "blender"}, "d.exr"));
        // Each light belongs to one kind of --lights.
        const bool is_sun = type == "\"directional\"";
        const Arguments apart = options + Arguments{"other.glb", "--lights"};
        EXPECT_TRUE(expected == bake(apart + Arguments{is_sun ? "suns" : "points"}, "kind.exr"));
        EXPECT_THAT(run(apart + Arguments{is_sun ? "points" : "suns", "-o", "none.exr"}).error,
                    HasSubstr("name more lights in --lights"));
    }
    // The sphere reaches below the square, so that its light is not that of a point.
    const auto with = [&](const std::string& extras, const std::string& radius) {
        (void)directory_.add("light.glb", lit_scene("another", "3", "\"point\"" + extras));
        return bake(options + Arguments{"light.glb", "--light-radius", radius}, "radius.exr");
    };
    const std::string of_option = with("", "1.25");
    EXPECT_FALSE(of_option == with("", "0"));
    EXPECT_TRUE(of_option == with(R"(,"extras":{"radius":1.25})", "0.5"));
}

// Fails where the file written has other coordinates than were baked, or where a second bake does
// not replace the lightmap of the first.
TEST_F(BakeProgram, WritesScenesThatBakeToTheSameBits) {
    (void)directory_.add("scene.glb", lit_scene("another", "3"));
    const Arguments options{"--size", "16", "--quality", "draft", "--reference"};
    for (const Arguments& unwrap : {Arguments{}, Arguments{"--unwrap"}, Arguments{"--pack"}}) {
        const Arguments first = options + Arguments{"scene.glb"} + unwrap;
        const Arguments second = options + Arguments{"baked.glb"};
        const std::string baked = bake(first, "baked.glb");
        EXPECT_TRUE(baked == bake(second, "again.glb"));
        const std::string light = bake(second, "again.exr");
        EXPECT_TRUE(light == bake(first + Arguments{"--lit-scene", "beside.glb"}, "map.exr"));
        EXPECT_TRUE(baked == read_file(path("beside.glb")));
    }
}

// Catches a kind of light that is in two groups or in none.
TEST_F(BakeProgram, KindsOfLightSumUpToAllLight) {
    const Arguments bare =
        ROOM + Arguments{"--size",     "48", "--direct-samples", "16", "--samples", "16",
                         "--bounces",  "1",  "--dilate",         "0",  "--denoise", "off",
                         "--reference"};
    const auto map_of = [&](const Arguments& more) {
        (void)bake(bare + more, "map.exr");
        return read_exr(path("map.exr"));
    };
    const auto all = map_of({});
    const std::array kinds{map_of({"--lights", "sky"}), map_of({"--lights", "suns"}),
                           map_of({"--lights", "emission"})};
    EXPECT_EQ(map_of({"--lights", "lamp"}), kinds[2]);  // the only material that emits light
    const ProgramResult white = run(bare + Arguments{"--lights", "sky,white", "-o", "x.exr"});
    EXPECT_THAT(white.error, HasSubstr("'white' is neither sky, suns, points or emission nor"));
    for (const std::string channel : {"R", "G", "B"}) {
        const auto total = [&](const auto& map) {
            return std::inner_product(all.at("A").begin(), all.at("A").end(),
                                      map.at(channel).begin(), 0.0);
        };
        const std::array parts{total(kinds[0]), total(kinds[1]), total(kinds[2])};
        // Each map has its own blended seams.
        EXPECT_NEAR(parts[0] + parts[1] + parts[2], total(all), 2e-3 * total(all)) << channel;
        EXPECT_THAT(parts, Each(Gt(0.01 * total(all))));
    }
}

// That their light is right is in the tests of the bake. Squares that share an edge at right angles
// hide 0.20004 of the sky from each other; a sun from behind the wall lights a half of the floor.
TEST_F(BakeProgram, MakesOcclusionAndShadowMasks) {
    (void)directory_.add("corner.obj", CORNER);
    const auto mean_of = [&](const Arguments& more) {
        (void)bake(Arguments{"corner.obj", "--size", "32", "--quality", "draft", "--dilate", "0"} +
                       BY_CPU + more,
                   "map.exr");
        const auto map = read_exr(path("map.exr"));
        const auto& known = map.at("A");
        const auto& red = map.at("R");
        return std::inner_product(known.begin(), known.end(), red.begin(), 0.0) /
               std::accumulate(known.begin(), known.end(), 0.0);
    };
    EXPECT_NEAR(mean_of({"--quantity", "ambient-occlusion", "--direct-samples", "1024"}),
                1.0 - 0.20004, 0.005);
    EXPECT_NEAR(mean_of({"--quantity", "shadow-mask", "--sun-direction", "0,-1,0.5"}), 0.25, 0.02);
}

// ---- What must not or cannot be written

// Files that no option names: those of materials, and the default checkpoint. The others, and files
// of odd kinds, are in the properties of all options (test/options).
TEST_F(BakeProgram, NoOutputDestroysAnotherFile) {
    (void)directory_.add("corner.obj", std::string("mtllib corner.mtl\nusemtl grey\n") + CORNER);
    const std::string material = "newmtl grey\nKd 0.5 0.25 1\nmap_Kd wood.png\n";
    (void)directory_.add("corner.mtl", material);
    const Arguments bake = Arguments{"corner.obj"} + QUICK + BY_CPU;
    for (const Arguments& outputs : {Arguments{"-o", "map.exr", "--report", "corner.mtl"},
                                     {"-o", "map.exr", "--report", "map.exr.checkpoint"},
                                     {"-o", "map.exr", "--preview", "wood.png"}}) {
        (void)error_of(bake + outputs, 2);
    }
    (void)error_of(bake + Arguments{"-o", "map.exr", "--checkpoint", "corner.mtl"}, 1);
    EXPECT_EQ(read_file(path("corner.mtl")), material);
    const std::string longest(255, 'x');  // its checkpoint has another name
    (void)this->bake(bake + Arguments{"--sky", "1", "--checkpoint-interval", "0"}, longest);
    EXPECT_TRUE(directory_.names().contains(longest));
    EXPECT_EQ(directory_.names().size(), 3U);
}

// Before a bake that would take hours, and behind one, all files or none.
TEST_F(BakeProgram, WhatCannotBeWrittenIsTold) {
    const Arguments endless = ROOM + Arguments{"--size", "4096", "--quality", "best"};
    for (const char* const option : {"--preview", "--atlas", "--report", "--checkpoint"}) {
        EXPECT_THAT(error_of(endless + Arguments{"-o", "map.exr", option, "none/file"}, 1),
                    HasSubstr("'none/file'"))
            << option;
    }
    EXPECT_THAT(error_of(endless + Arguments{"-o", "none/map.exr"}, 1), HasSubstr("none/map.exr"));
    (void)directory_.add("map.exr", "the last bake's");
    EXPECT_THAT(
        error_of(QUICK + ROOM + BY_CPU + Arguments{"-o", "map.exr", "--report", "/dev/full"}, 1),
        HasSubstr("/dev/full"));
    EXPECT_EQ(read_file(path("map.exr")), "the last bake's");
}

// ---- Scenes that are not as they should be

// Catches pages that are not cut where they begin, and messages that do not name what overlaps.
TEST_F(BakeProgram, PacksObjectsOnPages) {
    (void)directory_.add("red.mtl", "newmtl red\nKd 1 0 0\nnewmtl white\nKd 1 1 1\n");
    const std::string both =
        "mtllib red.mtl\nv 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
        "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\no Floor\nusemtl white\nf 1/1 2/2 3/3 4/4\n"
        "o Wall\nusemtl red\nf 1/1 4/2 5/3 6/4\n";
    (void)directory_.add("both.obj", both);
    (void)directory_.add("three.obj",
                         both + "o Bench\nv 0 0.2 0\nv 0 0.2 0.5\nv 1 0.2 0.2\nf 7 8 9\n");
    const Arguments sky = BY_CPU + Arguments{"--sky", "1", "--denoise", "off"};
    EXPECT_THAT(
        run(sky + QUICK + Arguments{"both.obj", "-o", "both.exr"}).error,
        AllOf(HasSubstr("those of 'Floor', 'Wall'; give each object its own place with --pack"),
              HasSubstr("--unwrap")));
    EXPECT_THAT(error_of({"three.obj", "-o", "x.exr"}, 1),
                AllOf(HasSubstr("'Bench'"), HasSubstr("--pack")));
    const Arguments pages =
        sky + Arguments{"--pack", "--page",   "24", "--texels-per-unit", "20", "--quality",
                        "draft",  "--dilate", "0"};
    EXPECT_EQ(run(pages + Arguments{"three.obj", "-o", "map.exr", "--atlas", "map.png"}).status, 0);
    EXPECT_THAT(directory_.names(),
                IsSupersetOf({"map_0.exr", "map_1.exr", "map_2.exr", "map_0.png", "map_2.png"}));
    EXPECT_FALSE(fs::exists(path("map_3.exr")));
    EXPECT_EQ(known_texels(path("map_0.exr")), 400);
    EXPECT_EQ(known_texels(path("map_1.exr")), 400);
    EXPECT_THAT(known_texels(path("map_2.exr")), AllOf(Gt(60), ::testing::Lt(200)));
}

// Light, with or without a warning, or a line that names what is wrong; no texel that is not
// finite. By the device: what it does with odd triangles the validation layer sees. Triangles
// without area, and far ones, are in random bakes (test/random).
TEST_F(BakeProgram, OddScenesAreBakedOrNamed) {
    const std::string corner = CORNER;
    const auto with_vertex = [&](const std::string& place) {
        return corner + "v " + place + "\nf 1/5 4/6 7/7\n";
    };
    (void)directory_.add("corner.mtl", "newmtl lamp\nKe 1e30 0 0\n");
    const Arguments sky{"--sky", "1"};
    const Arguments brightest{"--sky", "1e12",          "--sun-direction", "1e9,-1e9,0", "--sun",
                              "1e12",  "--directional", "--preview",       "view.png"};
    const std::tuple<std::string, Arguments, int, const char*> cases[] = {
        {with_vertex("1e20 1e20 0"), sky, 1, "triangle 4 of object 0 at (1e+20, 1e+20, 0)"},
        {with_vertex("0 1e39 0"), sky, 0, "quadtile-bake: warning: "},
        {with_vertex("0 nan 0"), sky, 0, "quadtile-bake: warning: "},
        {corner + "v 0 2 0\nv 0 2 1\nv 1 2 1\nf 7/1 8/2 9/3\n", sky, 0, "quadtile-bake: warning: "},
        {corner, {}, 1, "has no light"},
        {corner, {"--sky", "0"}, 0, ""},  // darkness that was asked for
        {corner, brightest, 0, ""},
        {"mtllib corner.mtl\nusemtl lamp\n" + corner, {}, 1, "material 'lamp'"}};
    for (const auto& [scene, more, status, text] : cases) {
        (void)directory_.add("odd.obj", scene);
        const Arguments all = Arguments{"odd.obj",   "-o", "map.exr",          "--validation",
                                        "--size",    "32", "--direct-samples", "4",
                                        "--bounces", "0"} +
                              more;
        if (status != 0) {
            EXPECT_THAT(error_of(all, status), HasSubstr(text));
            continue;
        }
        const ProgramResult result = run(all);
        EXPECT_EQ(result.status, 0) << result.error;
        EXPECT_THAT(result.error, HasSubstr(text));
        EXPECT_GT(known_texels(path("map.exr")), 200) << scene;
        fs::remove(path("map.exr"));
        fs::remove(path("view.png"));
    }
}

}  // namespace
}  // namespace quadtile::baker::test
