// quadtile-bake as its users run it.

#include "apps/program_test.hpp"
#include "support/help.hpp"
#include "support/maps.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
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
    const Image map = read_exr(path("map.exr"));
    EXPECT_EQ(std::pair(map.width, map.height), std::pair(32, 32));
    EXPECT_THAT(map.channels, IsSupersetOf({"R", "G", "B", "A", "sh0.R", "sh3.B"}));
    EXPECT_THAT(map.values.at("A"), Each(::testing::AnyOf(0.0F, 1.0F)));
    EXPECT_THAT(map.values.at("R"), Each(::testing::Ge(0.0F)));
    const std::ptrdiff_t known = known_texels(path("map.exr"));
    EXPECT_EQ(png_size(path("view.png")), std::pair(80U, 50U));
    EXPECT_EQ(png_size(path("atlas.png")), std::pair(32U, 32U));

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
    EXPECT_THAT(error_of({"room.partial.glb", "-o", "room.glb"}, 2),
                HasSubstr("SCENE and the partial file of --output name the same file"));
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
    const Arguments room = QUICK + ROOM + BY_CPU;
    const std::string expected = bake(room, "whole.exr");
    (void)directory_.add("map.exr.checkpoint", "QDTBAKE1 and no more");
    EXPECT_THAT(error_of(room + Arguments{"-o", "map.exr", "--resume"}, 1),
                AllOf(HasSubstr("map.exr.checkpoint"), HasSubstr("without --resume")));
    EXPECT_TRUE(expected == bake(room, "map.exr"));
    EXPECT_FALSE(fs::exists(path("map.exr.checkpoint")));
    const ProgramResult anew = run(room + Arguments{"--resume", "-o", "map.exr"});
    EXPECT_THAT(anew.error, HasSubstr("nothing to resume"));
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
    // The sphere reaches below the triangle, so that its light is not that of a point.
    const auto with = [&](const std::string& extras, const std::string& radius) {
        (void)directory_.add("light.gltf", lit_scene("another", "3", "\"point\"" + extras));
        return bake(options + Arguments{"light.gltf", "--light-radius", radius}, "radius.exr");
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
    const auto map_of = [&](const Arguments& more) {
        (void)bake(Arguments{"corner.obj", "--size", "32", "--quality", "draft", "--dilate", "0"} +
                       BY_CPU + more,
                   "map.exr");
        return read_exr(path("map.exr")).values;
    };
    auto open = map_of({"--quantity", "ambient-occlusion", "--direct-samples", "1024"});
    auto mask = map_of({"--quantity", "shadow-mask", "--sun-direction", "0,-1,0.5"});
    double sum = 0.0;
    double known = 0.0;
    for (std::size_t i = 0; i < open["A"].size(); ++i) {
        sum += open["A"][i] * open["G"][i];
        known += open["A"][i];
        const std::size_t column = i % 32;
        const std::size_t row = i / 32;
        const bool is_penumbra = column == 7 || column == 8 || row < 3 || row > 28;
        if (mask["A"][i] == 1.0F && !is_penumbra) {
            EXPECT_EQ(mask["R"][i], column > 8 && column < 16 ? 1.0F : 0.0F) << i;
        }
        EXPECT_EQ(mask["G"][i] + mask["B"][i], 0.0F) << i;
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
    const Arguments bake = Arguments{"corner.obj"} + QUICK + BY_CPU;
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
    (void)bake(QUICK + ROOM + BY_CPU + Arguments{"--checkpoint-interval", "0"}, name);
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
    EXPECT_THAT(
        error_of(QUICK + ROOM + BY_CPU + Arguments{"-o", "/dev/full", "--no-checkpoint"}, 1),
        HasSubstr("/dev/full"));
    EXPECT_THAT(error_of(QUICK + ROOM + BY_CPU + Arguments{"-o", "map.exr"}, 1,
                         {.largest_file_bytes = 2000}),
                HasSubstr("map.exr"));
    // The light is what counts, but that there is no checkpoint has to be known.
    EXPECT_THAT(error_of(LONG + Arguments{"-o", "map.exr"}, 1, {.largest_file_bytes = 100'000}),
                HasSubstr("map.exr.checkpoint"));
    // Files appear together, or none of them.
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

    (void)directory_.add("sky_1.exr", "none");
    EXPECT_THAT(
        error_of(pages + Arguments{"both.obj", "-o", "sky.exr", "--sky-image", "sky_1.exr"}, 2),
        HasSubstr("sky_1.exr"));
    EXPECT_EQ(read_file(path("sky_1.exr")), "none");
}

// Light, with or without a warning, or a line that names what is wrong; no texel that is not
// finite. By the device: what it does with odd triangles the validation layer sees.
TEST_F(BakeProgram, OddScenesAreBakedOrNamed) {
    const std::string corner = CORNER;
    const std::string lamp = "mtllib corner.mtl\nusemtl lamp\n" + corner;
    const auto with_vertex = [&](const std::string& place) {
        return corner + "v " + place + "\nf 1/5 4/6 7/7\n";
    };
    (void)directory_.add("corner.mtl", "newmtl lamp\nKe 1e30 0 0\n");
    struct Case {
        std::string scene;
        Arguments arguments;
        int status;
        const char* text;
    };
    const Arguments sky{"--sky", "1"};
    const Case cases[] = {
        {with_vertex("0 1e6 0"), sky, 0, ""},
        {with_vertex("0 1e8 0"), sky, 1, "triangle 4 of object 0 at (0, 1e+08, 0)"},
        {with_vertex("1e20 1e20 0"), sky, 1, "triangle 4 of object 0 at (1e+20, 1e+20, 0)"},
        {with_vertex("0 1e39 0"), sky, 0, "quadtile-bake: warning: "},
        {with_vertex("0 nan 0"), sky, 0, "quadtile-bake: warning: "},
        {with_vertex("0.5 1e-20 0"), sky, 0, ""},
        // Without area, in the world and in the lightmap.
        {corner + "f 1/1 1/1 2/2\nf 1/1 2/1 3/1\n", sky, 0, ""},
        {corner + "v 0 2 0\nv 0 2 1\nv 1 2 1\nf 7/1 8/2 9/3\n", sky, 0, "quadtile-bake: warning: "},
        {corner, {}, 1, "has no light"},
        {corner, {"--sky", "0"}, 0, ""},  // darkness that was asked for
        {corner,
         {"--sky", "1e12", "--sun-direction", "1e9,-1e9,0", "--sun", "1e12", "--directional",
          "--preview", "view.png"},
         0,
         ""},
        {lamp, {}, 1, "material 'lamp'"}};
    for (const auto& [scene, arguments, status, text] : cases) {
        (void)directory_.add("odd.obj", scene);
        const Arguments all = Arguments{"odd.obj",   "-o", "map.exr",          "--validation",
                                        "--size",    "32", "--direct-samples", "4",
                                        "--bounces", "0"} +
                              arguments;
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
