// quadtile-bake as its users run it.

#include "apps/program_test.hpp"
#include "support/help.hpp"
#include "support/maps.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <OpenEXR/ImfRgbaFile.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace quadtile::baker::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
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
using Json = nlohmann::json;

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

struct Image {
    std::vector<std::string> channels;
    int width = 0;
    int height = 0;
    std::map<std::string, std::vector<float>> values;
};

Image read_exr(const fs::path& path) {
    Image image{.channels = channels_of(path)};
    for (const std::string& channel : image.channels) {
        const LoadedMap map = load_map(path, channel);
        EXPECT_EQ(map.shape.format, TexelFormat::r32_float);
        image.width = static_cast<int>(map.shape.width);
        image.height = static_cast<int>(map.shape.height);
        image.values[channel] = reference::decode(map.view());
    }
    return image;
}

// Returns the number of texels with light. Checks that all channels are finite.
std::ptrdiff_t known_texels(const fs::path& path) {
    const Image map = read_exr(path);
    for (const auto& [channel, values] : map.values) {
        EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
            << channel;
    }
    return std::ranges::count(map.values.at("A"), 1.0F);
}

std::pair<std::uint32_t, std::uint32_t> png_size(const fs::path& path) {
    const LoadedImage image = load_image(path);
    return {image.shape.width, image.shape.height};
}

// A floor and a wall.
constexpr const char* CORNER = R"(
v 0 0 0
v 0 0 1
v 1 0 1
v 1 0 0
v 1 1 0
v 0 1 0
vt 0.05 0.05
vt 0.45 0.05
vt 0.45 0.95
vt 0.05 0.95
vt 0.55 0.05
vt 0.95 0.05
vt 0.95 0.95
vt 0.55 0.95
f 1/1 2/2 3/3 4/4
f 1/5 4/6 5/7 6/8
)";

const Arguments QUICK{"--size",    "32", "--direct-samples", "16",
                      "--samples", "16", "--bounces",        "1"};
const Arguments ROOM{QUADTILE_BAKER_ROOM, "--sky", "1.6,2.1,2.8"};
const Arguments DEMO =
    ROOM + Arguments{"--size",    "64", "--direct-samples", "64", "--samples", "64",
                     "--bounces", "2",  "--directional"};

// ---- What can be asked

TEST_F(BakeProgram, TellsWhatItIs) {
    const ProgramResult help = run({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.error, IsEmpty());
    for (const char* const option :
         {"SCENE", "--output", "--size", "--unwrap", "--quality", "--resume", "--report"}) {
        EXPECT_THAT(help.output, HasSubstr(option));
    }
    quadtile::test::expect_readable_help(help.output, 90);
    // Options that are rarely needed, and those words that bakers do not use first, are elsewhere.
    EXPECT_THAT(help.output, AllOf(HasSubstr("--help-all"), HasSubstr("--margin"),
                                   testing::Not(HasSubstr("--pixels-per-texel"))));
    const ProgramResult all = run({"--help-all"});
    EXPECT_EQ(all.status, 0);
    quadtile::test::expect_readable_help(all.output, 140);
    EXPECT_THAT(all.output,
                AllOf(HasSubstr("Bake, rarely needed:\n"), HasSubstr("--pixels-per-texel"),
                      HasSubstr("--samples N"), HasSubstr("--quality")));
    const ProgramResult version = run({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.output, StartsWith("quadtile-bake "));
    EXPECT_EQ(std::ranges::count(version.output, '\n'), 1);
}

TEST_F(BakeProgram, UsageErrorsTellWhatToDo) {
    const std::pair<Arguments, const char*> cases[] = {
        {{}, "give a SCENE"},
        {{"a.obj"}, "give --output FILE.exr"},
        {{"a.obj", "-o", "x.exr", "--size", "0"}, "1024x512"},
        {{"a.obj", "-o", "x.exr", "--size", "12y7"}, "12y7"},
        {{"a.obj", "-o", "x.exr", "--size", "8", "--texels-per-unit", "3"}, "exclude"},
        {{"a.glb", "-o", "x.exr", "--page", "64"}, "--page needs --unwrap or --pack"},
        {{"a.glb", "-o", "x.exr", "--margin", "3"}, "--margin needs --unwrap or --pack"},
        {{"a.glb", "-o", "x.exr", "--pack", "--unwrap"}, "give one of them"},
        {{"a.glb", "-o", "x.exr", "--pack", "--page", "64", "--size", "64"}, "exclude"},
        {{"a.obj", "-o", "x.exr", "--quality", "perfect"}, "draft"},
        {{"a.obj", "-o", "x.exr", "--sky", "1,2"}, "--sky takes one number or three"},
        {{"a.obj", "-o", "x.exr", "--sky=-1"}, "--sky: '-1' is not a number from 0 to 1e+12"},
        {{"a.obj", "-o", "x.exr", "--sun", "1"}, "--sun needs --sun-direction"},
        {{"a.obj", "-o", "x.exr", "--sun-direction", "0,0,0"}, "takes a direction"},
        {{"a.obj", "-o", "x.GLB"}, "export SCENE as .glb"},
        {{"a.glb", "-o", "x.glb", "--directional"}, "cannot hold --directional"},
        {{"a.glb", "-o", "x.glb", "--half"}, "cannot hold --directional, --half"},
        {{"a.obj", "-o", "x.exr", "--lit-scene", "x.glb"},
         "--lit-scene 'x.glb' needs a glTF scene"},
        {{"a.glb", "-o", "x.glb", "--lit-scene", "y.glb"}, "not beside a .glb"},
        {{"a.glb", "-o", "x.exr", "--lit-scene", "y.png"},
         "has the ending of another format; give .glb"},
        {{"a.obj", "-o", "x.exr", "--quantity", "shadow-mask", "--sky", "1"}, "leave out --sky"},
        {{"a.glb", "-o", "x.glb", "--quantity", "shadow-mask"}, "give --output FILE.exr"},
        {{"a.obj", "-o", "x.exr", "--sky-rotation", "9"}, "--sky-rotation needs --sky-image"},
        {{"a.obj", "-o", "x.exr", "--sky-image", "s.exr", "--sky-rotation", "361"}, "-360 to 360"},
        {{"a.obj", "-o", "x.exr", "--camera", "1,2,3"}, "--camera"},
        {{"a.obj", "-o", "x.exr", "--resume", "--no-checkpoint"}, "exclude"},
        {{"a.obj", "-o", "x.png"}, "has the ending of another format; give one of .exr, .glb"},
        {{"a.obj", "-o", "x.exr", "--sky-image", "x.png"}, "give .exr"},
        {{"a.obj", "-o", "x.exr", "--preview", "y.exr"}, "give .png"},
        {{"a.obj", "-o", "x.exr", "--quantity", "lumens"}, "ambient-occlusion"},
        {{"a.obj", "-o", "x.exr", "--seed=-1"}, "'-1' is not a whole number"},
        {{"a.obj", "-o", "x.exr", "--probes", "2,2,2"}, "--probes needs --probes-out"},
        {{"a.obj", "-o", "x.exr", "--probes-out", "p.bin"}, "--probes-out needs --probes X,Y,Z"},
        {{"a.obj", "-o", "x.exr", "--probes", "2,0,2", "--probes-out", "p.bin"}, "1 to 4096"},
        {{"a.obj", "-o", "x.exr", "--probes", "99,99,99", "--probes-out", "p.bin"}, "take fewer"},
        {{"a.obj", "-o", "x.exr", "--probes", "2,2,2", "--probes-out", "p.exr"},
         "give one of .json, .bin"},
        {{"a.obj", "-o", "x.exr", "--probes", "2,2,2", "--probes-out", "p.bin", "--probe-box",
          "0,0,1,1,1,0"},
         "lower corner first"},
        {{"a.obj", "-o", "x.exr", "--texel-size", "2"}, "--texel-size"}};
    for (const auto& [arguments, text] : cases) {
        EXPECT_THAT(error_of(arguments, 2), AllOf(HasSubstr(text), HasSubstr("--help")));
    }
}

TEST_F(BakeProgram, ScenesThatCannotBeReadAreNamed) {
    (void)directory_.add("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    (void)directory_.add("text.glb", "this is no glTF file at all");
    const std::pair<std::string, const char*> cases[] = {{"none.glb", ""},
                                                         {"bare.obj", "--unwrap"},
                                                         {"text.glb", "glTF 2.0 file: its JSON"},
                                                         {"scene.fbx", ".obj"},
                                                         {".", ""}};
    for (const auto& [name, text] : cases) {
        const std::string error = error_of({name, "-o", "x.exr"}, 1);
        EXPECT_THAT(error, AllOf(HasSubstr(name), HasSubstr(text)));
    }
}

// ---- What it makes

TEST_F(BakeProgram, MakesAllThatIsAskedFor) {
    const ProgramResult result =
        run(DEMO + Arguments{"-o", "map.exr", "--preview", "view.png", "--atlas", "atlas.png",
                             "--report", "report.json", "--preview-size", "80x50", "--validation",
                             "--quantity", "radiance"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(directory_.names(),
                UnorderedElementsAre("map.exr", "view.png", "atlas.png", "report.json"));

    const Image map = read_exr(path("map.exr"));
    EXPECT_EQ(map.width, 64);
    EXPECT_EQ(map.height, 64);
    EXPECT_THAT(map.channels, IsSupersetOf({"R", "G", "B", "A", "sh0.R", "sh3.B"}));
    EXPECT_THAT(map.values.at("A"), ::testing::Each(::testing::AnyOf(0.0F, 1.0F)));
    EXPECT_THAT(map.values.at("R"), ::testing::Each(::testing::Ge(0.0F)));
    const std::ptrdiff_t known = known_texels(path("map.exr"));

    EXPECT_EQ(png_size(path("view.png")), std::pair(80U, 50U));
    EXPECT_EQ(png_size(path("atlas.png")), std::pair(64U, 64U));

    const Json report = Json::parse(read_file(path("report.json")));
    EXPECT_EQ(report["light_map"], Json({64, 64}));
    EXPECT_EQ(report["quantity"], "radiance");
    EXPECT_THAT(result.error, HasSubstr("the lightmap holds radiance\n"));
    EXPECT_EQ(report["known_texels"], known);
    EXPECT_GT(known, 2000);
    EXPECT_GE(report["covered_texels"].get<std::ptrdiff_t>(), known);
    EXPECT_FALSE(report["interrupted"].get<bool>());
    EXPECT_EQ(report["options"]["directions"], 64);
    EXPECT_GT(report["noise_percent"].get<double>(), 1.0);
    EXPECT_EQ(report["passes"].back()["noise_percent"], report["noise_percent"]);
    EXPECT_LT(report["denoised_noise_percent"], report["noise_percent"]);
    EXPECT_EQ(report["options"]["directional"], true);
    EXPECT_GT(report["tracing"]["nodes"].get<double>(), 1000.0);
    EXPECT_GE(report["tracing"]["tiles"].get<double>(), 64.0);
    std::set<std::string> passes;
    for (const Json& pass : report["passes"]) {
        passes.insert(pass["name"]);
        EXPECT_GE(pass["seconds"].get<double>(), 0.0);
        // Lamps have 64 points of five directions each.
        EXPECT_EQ(pass["directions"], pass["name"] == "lamps" ? 320 : 64);
    }
    EXPECT_THAT(passes,
                IsSupersetOf({"lamps", "direct light", "bounce 1", "bounce 2", "moment x"}));

    // On a pipe progress is lines; each of them of one kind, and the last one near the end.
    EXPECT_THAT(result.error, StartsWith("[.............................."));
    EXPECT_THAT(result.error, HasSubstr("bounce 2"));
    EXPECT_EQ(result.error.find('\r'), std::string::npos);
    EXPECT_EQ(result.error.find('\033'), std::string::npos);
    EXPECT_LT(std::ranges::count(result.error, '\n'), 30);

    const ProgramResult quiet = run(DEMO + Arguments{"-o", "map.exr", "--quiet"});
    EXPECT_EQ(quiet.status, 0);
    EXPECT_THAT(quiet.error, IsEmpty());
}

// The same light in both formats, at points and in a grid of a cell that has its middle there.
TEST_F(BakeProgram, WritesProbes) {
    (void)directory_.add("corner.obj", CORNER);
    (void)directory_.add("points.txt", "0.5 0.5 0.25\n");
    const Arguments corner = Arguments{"corner.obj", "--sky", "1"} + QUICK;
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
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(probe["position"][i].get<float>(), numbers[i]);
        for (std::size_t j = 0; j < 9; ++j) {
            EXPECT_EQ(probe["sh"][j][i].get<float>(), numbers[4 + 3 * j + i]);
        }
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
    app::test::RunningProgram program(DEMO + Arguments{"-o", "map.exr"},
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

// So long that signals find it at work, with checkpoints all the time.
const Arguments LONG = DEMO + Arguments{"--checkpoint-interval", "0"};

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
    EXPECT_THAT(error_of({"room.partial.glb", "-o", "room.glb"}, 2),
                HasSubstr("SCENE and the partial file of --output name the same file"));
}

// A corner, and a triangle from it to a vertex anywhere.
std::string with_stray_vertex(const std::string& place) {
    return CORNER + ("v " + place + "\nf 1/5 4/6 7/7\n");
}

// A direction that takes minutes is no reason to go on: the program has two minutes for all.
TEST_F(BakeProgram, CtrlCIsHeardWithinADirection) {
    (void)directory_.add("corner.obj", CORNER);
    for (const Arguments& tracer : {Arguments(), Arguments{"--reference"}}) {
        LoggedProgram program = start(Arguments{"corner.obj", "--sky", "1", "--size", "1024",
                                                "--pixels-per-texel", "16", "-o", "map.exr"} +
                                      tracer);
        program.wait_for("%");
        std::this_thread::sleep_for(200ms);
        program.send(SIGINT);
        EXPECT_EQ(program.wait(), INTERRUPTED) << program.log();
        EXPECT_TRUE(fs::exists(path("map.exr.checkpoint")));
    }
}

TEST_F(BakeProgram, WithoutResumeItBeginsAnew) {
    const std::string expected = bake(QUICK + ROOM, "whole.exr");
    (void)directory_.add("map.exr.checkpoint", "QDTBAKE1 and no more");
    EXPECT_THAT(error_of(QUICK + ROOM + Arguments{"-o", "map.exr", "--resume"}, 1),
                AllOf(HasSubstr("map.exr.checkpoint"), HasSubstr("without --resume")));
    EXPECT_TRUE(expected == bake(QUICK + ROOM, "map.exr"));
    EXPECT_FALSE(fs::exists(path("map.exr.checkpoint")));
    const ProgramResult anew = run(QUICK + ROOM + Arguments{"--resume", "-o", "map.exr"});
    EXPECT_THAT(anew.error, HasSubstr("nothing to resume"));
    EXPECT_TRUE(expected == read_file(path("map.exr")));
}

// Killed at any moment, also while a checkpoint is written, and again while it resumes.
TEST_F(BakeProgram, KilledBakesAreResumed) {
    const std::string expected = bake(LONG, "whole.exr");
    std::mt19937 random(20);
    std::uint32_t kills = 0;
    for (std::uint32_t run = 0;; ++run) {
        ASSERT_LT(run, 60U);
        LoggedProgram program = start(LONG + Arguments{"-o", "map.exr", "--resume"});
        program.wait_for("%");
        if (run < 6) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
            program.send(SIGKILL);
        }
        const int status = program.wait();
        if (status == 0) {
            break;
        }
        ++kills;
        ASSERT_EQ(status, 128 + SIGKILL) << program.log();
        EXPECT_FALSE(fs::exists(path("map.exr")));
    }
    EXPECT_GT(kills, 2U);
    EXPECT_TRUE(expected == read_file(path("map.exr")));
}

// A triangle under a light, as glTF.
std::string lit_scene(const std::string& generator, const std::string& intensity,
                      const std::string& type = "\"directional\"") {
    return R"({"asset":{"version":"2.0","generator":")" + generator +
           R"("},"extensionsUsed":["KHR_lights_punctual"],)"
           R"("extensions":{"KHR_lights_punctual":{"lights":[{"type":)" +
           type + R"(,"intensity":)" + intensity +
           R"(}]}},"scene":0,"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0},)"
           R"({"rotation":[-0.7071068,0,0,0.7071068],"translation":[0.5,1,0.5],)"
           R"("extensions":{"KHR_lights_punctual":{"light":0}}}],)"
           R"("meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_1":1}}]}],)"
           R"("accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3",)"
           R"("min":[0,0,0],"max":[1,0,1]},)"
           R"({"bufferView":1,"componentType":5126,"count":3,"type":"VEC2"}],)"
           R"("bufferViews":[{"buffer":0,"byteLength":36},)"
           R"({"buffer":0,"byteOffset":36,"byteLength":24}],)"
           R"("buffers":[{"byteLength":60,"uri":"data:application/octet-stream;base64,)"
           R"(AAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA/AACAPwAAAAAAAAAAzczMPc3MzD3NzMw9ZmZmP2ZmZj/NzMw9"}]})";
}

// Lights of Blender are W/m² or W/sr times 683 lm/W; those of other programs are taken as they are.
TEST_F(BakeProgram, TakesLightsInTheUnitOfTheirExporter) {
    const Arguments options{"--size", "16", "--quality", "draft", "--reference"};
    for (const std::string type : {"\"directional\"", "\"point\"", "\"spot\",\"spot\":{}"}) {
        (void)directory_.add("blender.gltf",
                             lit_scene("Khronos glTF Blender I/O v3.3.32", "2049", type));
        (void)directory_.add("other.gltf", lit_scene("another", "3", type));
        const std::string expected = bake(options + Arguments{"other.gltf"}, "other.exr");
        EXPECT_TRUE(expected == bake(options + Arguments{"blender.gltf"}, "blender.exr"));
        const std::string lux =
            bake(options + Arguments{"blender.gltf", "--light-units", "photometric"}, "lux.exr");
        EXPECT_FALSE(expected == lux);
        EXPECT_TRUE(lux !=
                    bake(options + Arguments{"other.gltf", "--light-units", "blender"}, "d.exr"));
        // Each light belongs to one kind of --lights.
        const bool is_sun = type == "\"directional\"";
        const Arguments apart = options + Arguments{"other.gltf", "--lights"};
        EXPECT_TRUE(expected == bake(apart + Arguments{is_sun ? "suns" : "points"}, "kind.exr"));
        EXPECT_THAT(run(apart + Arguments{is_sun ? "points" : "suns", "-o", "none.exr"}).error,
                    HasSubstr("name more lights in --lights"));
    }
}

// The sphere reaches below the triangle, so that its light is not that of a point.
TEST_F(BakeProgram, GivesLightsTheRadiusOfTheOptionUnlessTheyHaveOne) {
    const Arguments options{"--size", "16", "--quality", "draft", "--reference", "light.gltf"};
    const auto with = [&](const std::string& extras, const std::string& radius) {
        (void)directory_.add("light.gltf", lit_scene("another", "3", "\"point\"" + extras));
        return bake(options + Arguments{"--light-radius", radius}, "radius.exr");
    };
    const std::string of_option = with("", "1.25");
    EXPECT_FALSE(of_option == with("", "0"));
    EXPECT_TRUE(of_option == with(R"(,"extras":{"radius":1.25})", "0.5"));
}

// Fails where the file written has other coordinates than were baked, or where a second bake does
// not replace the lightmap of the first.
TEST_F(BakeProgram, WritesScenesThatBakeToTheSameBits) {
    (void)directory_.add("scene.gltf", lit_scene("another", "3"));
    const Arguments options{"--size", "16", "--quality", "draft", "--reference"};
    for (const Arguments& unwrap : {Arguments{}, Arguments{"--unwrap"}, Arguments{"--pack"}}) {
        const Arguments first = options + Arguments{"scene.gltf"} + unwrap;
        const Arguments second = options + Arguments{"baked.glb"};
        const std::string baked = bake(first, "baked.glb");
        EXPECT_TRUE(baked == bake(second, "again.glb"));
        const std::string light = bake(second, "again.exr");
        EXPECT_TRUE(light == bake(first + Arguments{"--lit-scene", "beside.glb"}, "map.exr"));
        EXPECT_TRUE(baked == read_file(path("beside.glb")));
    }
}

// Four walls around a middle, which face outwards: a sky whose middle columns shine lights that at
// -Z most, and after a turn by Blender's -90 degrees that at +X. A turn the other way lights -X.
TEST_F(BakeProgram, TurnsSkiesCounterClockwiseSeenFromAbove) {
    std::string walls;
    const std::array<std::array<int, 2>, 4> facing{{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}};  // x, z
    for (int i = 0; i < 4; ++i) {
        const auto [x, z] = facing[static_cast<std::size_t>(i)];
        for (const auto& [along, height] : {std::pair(-1, 0), {1, 0}, {1, 1}, {-1, 1}}) {
            walls += "v " + std::to_string(x + along * z) + " " + std::to_string(height) + " " +
                     std::to_string(z - along * x) + "\nvt " +
                     std::to_string(0.25 * i + 0.125 + 0.1 * along) + " " +
                     std::to_string(0.1 + 0.8 * height) + "\n";
        }
        walls += "f -4/-4 -3/-3 -2/-2 -1/-1\n";
    }
    (void)directory_.add("walls.obj", walls);
    std::vector<Imf::Rgba> pixels(8 * 4, Imf::Rgba(0.0F, 0.0F, 0.0F));
    for (const std::size_t bright : {11U, 12U, 19U, 20U}) {
        pixels[bright] = Imf::Rgba(1.0F, 1.0F, 1.0F);
    }
    {
        Imf::RgbaOutputFile sky(path("sky.exr").c_str(), 8, 4, Imf::WRITE_RGB);
        sky.setFrameBuffer(pixels.data(), 1, 8);
        sky.writePixels(4);
    }
    const std::pair<const char*, std::size_t> cases[] = {
        {"0", 0}, {"-90", 1}, {"180", 2}, {"90", 3}, {"-360", 0}};
    for (const auto& [degrees, brightest] : cases) {
        (void)bake({"walls.obj", "--sky-image", "sky.exr", "--sky-rotation", degrees, "--size",
                    "32x8", "--quality", "draft", "--reference"},
                   "map.exr");
        const std::vector<float> row = read_exr(path("map.exr")).values.at("R");
        std::array<float, 4> light{};
        for (std::size_t i = 0; i < 4; ++i) {
            light[i] = row[4 * 32 + 8 * i + 4];
        }
        EXPECT_EQ(std::ranges::max_element(light) - light.begin(),
                  static_cast<std::ptrdiff_t>(brightest))
            << degrees << ": " << ::testing::PrintToString(light);
    }
}

// Would catch a kind of light that is in two groups or in none.
TEST_F(BakeProgram, KindsOfLightSumUpToAllLight) {
    const Arguments bare =
        ROOM + Arguments{"--size",     "48", "--direct-samples", "16", "--samples", "16",
                         "--bounces",  "1",  "--dilate",         "0",  "--denoise", "off",
                         "--reference"};
    const auto map_of = [&](const Arguments& more) {
        (void)bake(bare + more, "map.exr");
        return read_exr(path("map.exr")).values;
    };
    const auto all = map_of({});
    const auto pair = map_of({"--lights", "sky,emission"});
    const std::array kinds{map_of({"--lights", "sky"}), map_of({"--lights", "suns"}),
                           map_of({"--lights", "emission"})};
    EXPECT_EQ(map_of({"--lights", "lamp"}), kinds[2]);  // the only material that emits light
    const ProgramResult white = run(bare + Arguments{"--lights", "sky,white", "-o", "x.exr"});
    EXPECT_THAT(white.error, HasSubstr("'white' is neither sky, suns, points or emission nor"));
    for (const std::string channel : {"R", "G", "B"}) {
        const auto total = [&](const auto& map) {
            double sum = 0.0;
            for (std::size_t i = 0; i < all.at("A").size(); ++i) {
                sum += all.at("A")[i] * map.at(channel)[i];
            }
            return sum;
        };
        // Each map has its own blended seams.
        const std::array parts{total(kinds[0]), total(kinds[1]), total(kinds[2])};
        EXPECT_NEAR(parts[0] + parts[1] + parts[2], total(all), 2e-3 * total(all)) << channel;
        EXPECT_NEAR(parts[0] + parts[2], total(pair), 2e-3 * total(pair)) << channel;
        EXPECT_THAT(parts, Each(Gt(0.01 * total(all))));
    }
}

// Squares that share an edge at right angles hide 0.20004 of the sky from each other. A sun from
// behind the wall leaves half of the floor in its shadow, and does not see the wall's front.
TEST_F(BakeProgram, MakesOcclusionAndShadowMasks) {
    (void)directory_.add("corner.obj", CORNER);
    const Arguments quick{"corner.obj", "--size",   "32", "--quality",
                          "draft",      "--dilate", "0",  "--reference"};
    (void)bake(quick + Arguments{"--quantity", "ambient-occlusion", "--direct-samples", "1024"},
               "ao.exr");
    const Image open = read_exr(path("ao.exr"));
    (void)bake(quick + Arguments{"--quantity", "shadow-mask", "--sun-direction", "0,-1,0.5"},
               "mask.exr");
    const Image mask = read_exr(path("mask.exr"));
    double sum = 0.0;
    double known = 0.0;
    for (std::size_t i = 0; i < open.values.at("A").size(); ++i) {
        sum += open.values.at("A")[i] * open.values.at("G")[i];
        known += open.values.at("A")[i];
        const std::size_t column = i % 32;
        const std::size_t row = i / 32;
        const bool is_lit = column > 8 && column < 16;
        const bool is_penumbra = column == 7 || column == 8 || row < 3 || row > 28;
        if (mask.values.at("A")[i] == 1.0F && !is_penumbra) {
            EXPECT_EQ(mask.values.at("R")[i], is_lit ? 1.0F : 0.0F) << i;
        }
        EXPECT_EQ(mask.values.at("G")[i] + mask.values.at("B")[i], 0.0F) << i;
    }
    EXPECT_NEAR(sum / known, 1.0 - 0.20004, 0.005);
}

// ---- What must not be written

TEST_F(BakeProgram, NoOutputDestroysAnotherFile) {
    (void)directory_.add("corner.obj", std::string("mtllib corner.mtl\nusemtl grey\n") + CORNER);
    (void)directory_.add("corner.mtl", "newmtl grey\nKd 0.5 0.25 1\nmap_Kd wood.png\n");
    (void)directory_.add("wood.png", "a picture");
    (void)directory_.add("notes.txt", "mine");
    fs::create_symlink("corner.obj", path("link"));
    fs::create_hard_link(path("corner.obj"), path("hard"));
    std::map<std::string, std::string> before;
    for (const std::string& name : directory_.names()) {
        before[name] = read_file(path(name));
    }
    const Arguments bake = Arguments{"corner.obj"} + QUICK;
    const std::pair<Arguments, int> cases[] = {
        {{"-o", "corner.obj"}, 2},
        {{"-o", "link"}, 2},
        {{"-o", "hard"}, 2},
        {{"-o", "map.exr", "--checkpoint", "./map.exr"}, 2},
        {{"-o", "map.exr", "--report", "map.exr.checkpoint"}, 2},
        {{"-o", "map.exr", "--sky-image", "notes.txt", "--atlas", "notes.txt"}, 2},
        {{"-o", "map.exr", "--preview", "wood.png"}, 2},  // which the material names
        {{"-o", "map.exr", "--checkpoint", "notes.txt"}, 1}};
    for (const auto& [arguments, status] : cases) {
        (void)error_of(bake + arguments, status);
        for (const auto& [name, bytes] : before) {
            EXPECT_EQ(read_file(path(name)), bytes) << ::testing::PrintToString(arguments);
        }
    }
}

TEST_F(BakeProgram, LongNamesHaveCheckpointsToo) {
    const std::string name(255, 'x');
    (void)bake(QUICK + ROOM + Arguments{"--checkpoint-interval", "0"}, name);
    EXPECT_EQ(directory_.names(), std::set<std::string>{name});
}

// ---- What cannot be written

TEST_F(BakeProgram, WhatCannotBeWrittenIsToldAtOnce) {
    fs::create_directory(path("folder"));
    // These would take hours.
    const Arguments endless = ROOM + Arguments{"--size", "4096", "--quality", "best"};
    for (const char* const option : {"--preview", "--atlas", "--report", "--checkpoint"}) {
        for (const char* const target : {"folder", "none/file"}) {
            EXPECT_THAT(error_of(endless + Arguments{"-o", "map.exr", option, target}, 1),
                        HasSubstr(std::string("'") + target + "'"))
                << option;
        }
    }
    EXPECT_THAT(error_of(endless + Arguments{"-o", "none/map.exr"}, 1), HasSubstr("none/map.exr"));
    EXPECT_THAT(error_of(endless + Arguments{"-o", "folder"}, 1), HasSubstr("folder"));
}

TEST_F(BakeProgram, FullDisksAreErrors) {
    EXPECT_THAT(error_of(QUICK + ROOM + Arguments{"-o", "/dev/full", "--no-checkpoint"}, 1),
                HasSubstr("/dev/full"));
    EXPECT_THAT(
        error_of(QUICK + ROOM + Arguments{"-o", "map.exr"}, 1, {.largest_file_bytes = 2000}),
        HasSubstr("map.exr"));
    // The light is what counts, but that there is no checkpoint has to be known.
    EXPECT_THAT(error_of(LONG + Arguments{"-o", "map.exr"}, 1, {.largest_file_bytes = 100'000}),
                HasSubstr("map.exr.checkpoint"));
    // Files appear together, or none of them.
    (void)directory_.add("map.exr", "the last bake's");
    EXPECT_THAT(error_of(QUICK + ROOM + Arguments{"-o", "map.exr", "--report", "/dev/full"}, 1),
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
    const Arguments sky = Arguments{"--sky", "1", "--denoise", "off", "--reference"};
    const ProgramResult overlap = run(sky + QUICK + Arguments{"both.obj", "-o", "both.exr"});
    EXPECT_THAT(
        overlap.error,
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

    (void)directory_.add("sky_1.exr", "none");
    EXPECT_THAT(
        error_of(pages + Arguments{"both.obj", "-o", "sky.exr", "--sky-image", "sky_1.exr"}, 2),
        HasSubstr("sky_1.exr"));
    EXPECT_EQ(read_file(path("sky_1.exr")), "none");
}

// However far a vertex is, there is light or a line that names it.
TEST_F(BakeProgram, StrayVerticesAreBakedOrNamed) {
    const std::pair<const char*, const char*> cases[] = {
        {"0 1e6 0", ""},
        {"0 1e8 0", "triangle 4 of object 0 at (0, 1e+08, 0)"},
        {"1e20 1e20 0", "triangle 4 of object 0 at (1e+20, 1e+20, 0)"},
        {"0 1e39 0", ""},
        {"0 nan 0", ""},
        {"0.5 1e-20 0", ""}};
    const Arguments quick{"far.obj", "--sky", "1", "--size", "32", "--direct-samples", "4"};
    for (const auto& [place, error] : cases) {
        (void)directory_.add("far.obj", with_stray_vertex(place));
        if (*error != '\0') {
            EXPECT_THAT(error_of(quick + Arguments{"-o", "map.exr"}, 1), HasSubstr(error));
            continue;
        }
        (void)bake(quick + Arguments{"--bounces", "0"}, "map.exr");
        EXPECT_GT(known_texels(path("map.exr")), 200) << place;
        fs::remove(path("map.exr"));
    }
}

TEST_F(BakeProgram, OddScenesAreBakedWithWarnings) {
    const std::string corner = CORNER;
    // Without area, in the world and in the lightmap.
    (void)directory_.add("flat.obj", corner + "f 1/1 1/1 2/2\nf 1/1 2/1 3/1\n");
    (void)directory_.add("infinite.obj", corner + "v 1e39 0 0\nf 7/1 2/2 3/3\n");
    (void)directory_.add("overlap.obj", corner + "v 0 2 0\nv 0 2 1\nv 1 2 1\nf 7/1 8/2 9/3\n");
    (void)directory_.add("corner.obj", corner);
    for (const std::string name : {"flat", "infinite", "overlap"}) {
        const ProgramResult result =
            run(Arguments{name + ".obj", "--sky", "1", "-o", "map.exr", "--validation"} + QUICK);
        EXPECT_EQ(result.status, 0) << result.error;
        EXPECT_GT(known_texels(path("map.exr")), 200) << name;
        if (name != "flat") {
            EXPECT_THAT(result.error, HasSubstr("quadtile-bake: warning: "));
        }
    }
    EXPECT_THAT(error_of(Arguments{"corner.obj", "-o", "dark.exr"} + QUICK, 1),
                AllOf(HasSubstr("the scene 'corner.obj' has no light"), HasSubstr("--sky")));
    // Darkness that was asked for is no mistake.
    const ProgramResult black = run(Arguments{"corner.obj", "-o", "b.exr", "--sky", "0"} + QUICK);
    EXPECT_EQ(black.status, 0);
    EXPECT_EQ(black.error.find("shines"), std::string::npos) << black.error;
    EXPECT_THAT(read_exr(path("b.exr")).values.at("R"), ::testing::Each(0.0F));
}

// All light that options allow can be summed; files may have more.
TEST_F(BakeProgram, LightMapsAreFinite) {
    (void)directory_.add("corner.obj", CORNER);
    (void)bake(Arguments{"corner.obj", "--sky", "1e12", "--sun-direction", "1e9,-1e9,0", "--sun",
                         "1e12", "--directional", "--preview", "view.png"} +
                   QUICK,
               "map.exr");
    EXPECT_GT(known_texels(path("map.exr")), 200);
    (void)directory_.add("corner.mtl", "newmtl lamp\nKe 1e30 0 0\n");
    (void)directory_.add("lamp.obj", std::string("mtllib corner.mtl\nusemtl lamp\n") + CORNER);
    EXPECT_THAT(error_of(Arguments{"lamp.obj", "-o", "x.exr"} + QUICK, 1),
                AllOf(HasSubstr("material 'lamp'"), HasSubstr("brighter than 1e+12")));
}

}  // namespace
}  // namespace quadtile::baker::test
