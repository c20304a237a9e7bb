// quadtile-bake as its users run it.

#include "bake_program.hpp"
#include "fault/leaks.hpp"
#include "gltf_file.hpp"
#include "support/maps.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>
#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

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
using quadtile::test::IS_SANITIZED;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr int INTERRUPTED = 130;

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
const Arguments LONG =
    ROOM + BY_CPU + Arguments{"--size=40",   "--direct-samples=32", "--samples=32",
                              "--bounces=1", "--directional",       "--checkpoint-interval=0"};

// ---- What can be asked

// Catches lightmaps that take all memory before they are refused, and a stated need that is not
// what a bake takes. The first test, since it measures the largest program so far.
TEST_F(BakeProgram, TellsWhatItNeeds) {
    const Arguments rough =
        ROOM + Arguments{"--direct-samples=1", "--samples=1", "--bounces=0", "--denoise=off",
                         "--no-checkpoint",    "-o",          "map.exr"};
    const std::string refusal = error_of(rough + BY_CPU + Arguments{"--size=32768"}, 1);
    EXPECT_THAT(refusal, HasSubstr(" of memory, but only "));
    const std::string needs = " needs about ";
    const double gigabytes = std::stod(refusal.substr(refusal.find(needs) + needs.size()));
    EXPECT_EQ(run(rough + BY_CPU + Arguments{"--size=512"}).status, 0);
    if (!IS_SANITIZED) {
        constexpr double OF_PROGRAM = 40e6;  // at any size
        const double of_texels = 1e9 * gigabytes * (512.0 * 512.0) / (32768.0 * 32768.0);
        rusage usage{};
        ::getrusage(RUSAGE_CHILDREN, &usage);
        EXPECT_NEAR(1024.0 * static_cast<double>(usage.ru_maxrss) / (OF_PROGRAM + of_texels), 1.0,
                    0.1);
    }
    expect_refused({{rough + Arguments{"--size=32768"}, 1, "too large for this device"}});
}

// Catches objects without light that no message names: those without area in the lightmap, and
// those within a texel, inside of another's chart.
TEST_F(BakeProgram, NamesObjectsWithoutTexels) {
    (void)directory_.add("parts.obj",
                         "v 0 0 0\nv 0 0 1\nv 1 0 0\nvt 0 0\nvt 0 1\nvt 1 0\nvt 0.3 0.3\n"
                         "vt 0.3 0.31\nvt 0.31 0.3\no Floor\nf 1/1 2/2 3/3\n"
                         "o Line\nf 1/1 2/2 3/2\no Speck\nf 1/4 2/5 3/6\n");
    for (const auto& [size, names] : {std::pair("16", "'Line', 'Speck'"), {"256", "'Line'"}}) {
        EXPECT_THAT(run({"parts.obj", "-o", "x.exr", "--sky=1", "--direct-samples=1", "--bounces=0",
                         "--reference", "--size", size})
                        .error,
                    HasSubstr(std::string("area of a texel: those of ") + names + ";"));
    }
}

// Values of one option are in the properties of all options (test/options).
TEST_F(BakeProgram, RefusesWithASentence) {
    (void)directory_.add("corner.obj", CORNER);
    (void)directory_.add("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    (void)directory_.add("points.txt", "1 2 3\n1 2\n");
    (void)directory_.add("lamp.mtl", "newmtl lamp\nKe 1e30 0 0\n");
    (void)directory_.add("lamp.obj", std::string("mtllib lamp.mtl\nusemtl lamp\n") + CORNER);
    expect_refused(
        {{{}, 2, "give a SCENE"},
         {{"a.obj"}, 2, "give --output FILE.exr"},
         {{"a.obj", "-o", "x.GLB"}, 2, "export SCENE as .glb"},
         {{"a.glb", "-o", "x.glb", "--directional"}, 2, "cannot hold --directional"},
         {{"a.glb", "-o", "x.glb", "--lit-scene", "y.glb"},
          2,
          "beside --output FILE.exr or FILE.png"},
         {{"a.glb", "-o", "x.glb", "--quantity", "shadow-mask"}, 2, "give only --output"},
         {{"a.obj", "-o", "x.jpg"}, 2, "give one of .exr, .glb, .png"},
         {{"a.obj", "-o", "x.png", "--half"}, 2, "--half is for an .exr or a .glb"},
         {{"a.obj", "-o", "x.png", "--directional"}, 2, "a .glb or .png cannot hold"},
         {{"a.partial.glb", "-o", "a.glb"}, 2, "SCENE and the partial file of --output"},
         {{"bare.obj", "-o", "x.exr"}, 1, "--unwrap"},
         {{"lamp.obj", "-o", "x.exr"}, 1, "material 'lamp'"},
         // Before a bake that would take hours.
         {ROOM + Arguments{"--size", "4096", "--quality", "best", "-o", "none/map.exr"}, 1,
          "none/map.exr"}});
    const std::tuple<Arguments, int, const char*> of_maps[] = {
        {{"--size", "12y7"}, 2, "1024x512"},
        {{"--size", "8", "--texels-per-unit", "3"}, 2, "exclude"},
        {{"--page", "64"}, 2, "--page needs --unwrap or --pack"},
        {{"--margin", "3"}, 2, "--margin needs --unwrap or --pack"},
        {{"--pack", "--unwrap"}, 2, "give one of them"},
        {{"--pack", "--page", "64", "--size", "64"}, 2, "exclude"},
        {{"--sky", "1,2"}, 2, "--sky takes one number or three"},
        {{"--sun", "1"}, 2, "--sun needs --sun-direction"},
        {{"--sun-direction", "0,0,0"}, 2, "takes a direction"},
        {{"--lit-scene", "x.glb"}, 2, "--lit-scene 'x.glb' needs a glTF scene"},
        {{"--quantity", "shadow-mask", "--sky", "1"}, 2, "leave out --sky"},
        {{"--sky-rotation", "9"}, 2, "--sky-rotation needs --sky-image"},
        {{"--resume", "--no-checkpoint"}, 2, "exclude"},
        {{"--reference", "--gpus", "2"}, 2, "exclude"},
        {{"--sky", "1", "--gpus", "64"}, 1, "--gpus 64: there "},
        {{"--sky-image", "x.png"}, 2, "give .exr"},
        {{"--preview", "y.exr"}, 2, "give .png"},
        {{"--probes", "2,2,2"}, 2, "--probes needs --probes-out"},
        {{"--probes-out", "p.bin"}, 2, "--probes-out needs --probes X,Y,Z"},
        {{"--probes", "99,99,99", "--probes-out", "p.bin"}, 2, "take fewer"},
        {{"--probes", "2,2,2", "--probes-out", "p.exr"}, 2, "give one of .json, .bin"},
        {{"--probes", "2,2,2", "--probes-out", "p.bin", "--probe-box", "0,0,1,1,1,0"},
         2,
         "lower corner first"},
        {{"--sky", "1", "--probe-points", "points.txt", "--probes-out", "p.bin"},
         1,
         "no point in line 2"},
        {{"--sky", "0", "--lights", "sky,white"}, 1, "'white' is neither sky, suns, points or"},
        {{}, 1, "has no light"}};
    for (const auto& [more, status, text] : of_maps) {
        expect_refused({{Arguments{"corner.obj", "-o", "x.exr"} + more, status, text}});
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
    EXPECT_EQ(map.at("sh3.B").size(), 32U * 32U);
    const std::ptrdiff_t known = known_texels(path("map.exr"));
    const LoadedImage view = load_image(path("view.png"));
    EXPECT_EQ(view.shape.height, 50U);
    const std::set<std::byte> values(view.texels.get(),
                                     view.texels.get() + std::size_t{4} * 80 * 50);
    EXPECT_GT(values.size(), 50U);
    EXPECT_EQ(load_image(path("atlas.png")).shape.width, 32U);

    const Json report = Json::parse(read_file(path("report.json")));
    EXPECT_EQ(report["light_map"], Json({32, 32}));
    EXPECT_EQ(report["quantity"], "radiance");
    EXPECT_THAT(result.error, HasSubstr("the lightmap holds radiance\n"));
    EXPECT_EQ(report["known_texels"], known);
    EXPECT_GT(known, 500);
    EXPECT_FALSE(report["interrupted"].get<bool>());
    EXPECT_EQ(report["options"]["directions"], 16);
    EXPECT_LT(report["denoised_noise_percent"], report["noise_percent"]);
    EXPECT_GT(report["tracing"]["nodes"].get<double>(), 1000.0);
    std::set<std::string> passes;
    for (const Json& pass : report["passes"]) {
        const std::string name = pass["name"];
        passes.insert(name);
        // Lamps have 64 points of five directions each.
        EXPECT_EQ(pass["directions"], name == "lamps" ? 320 : name == "sun" ? 32 : 16) << name;
    }
    EXPECT_THAT(passes, IsSupersetOf({"lamps", "direct light", "bounce 1", "moment x"}));

    // On a pipe progress is lines; each of them of one kind, and the last one near the end. Before
    // them are those of preparations that take long.
    EXPECT_THAT(result.error, HasSubstr("[.............................."));
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
        // Of another bake: it is not resumed.
        (void)directory_.add("map.exr.checkpoint", "QDTBAKE1 and no more");
        RunningProgram program = start(LONG + outputs);
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
        // The same by Blender's exporter without unit; and between both.
        const bool is_sun = type == "\"directional\"";
        for (const std::string light : {"3", is_sun ? "21" : "41", is_sun ? "199" : "999"}) {
            (void)directory_.add("blender.glb", lit_scene("Blender", light, type));
            const ProgramResult result =
                run(options + Arguments{"blender.glb", "-o", "without.exr"});
            EXPECT_EQ(result.error.find("is not sure") == std::string::npos, light == "3");
            EXPECT_TRUE(light != "3" || expected == read_file(path("without.exr")));
        }
        // Each light belongs to one kind of --lights.
        const Arguments apart = options + Arguments{"other.glb", "--lights"};
        EXPECT_TRUE(expected == bake(apart + Arguments{is_sun ? "suns" : "points"}, "kind.exr"));
        EXPECT_THAT(run(apart + Arguments{is_sun ? "points" : "suns", "-o", "none.exr"}).error,
                    HasSubstr("name more lights in --lights"));
    }
    // Black light is none.
    (void)directory_.add("black.glb", lit_scene("another", "0"));
    for (const Arguments& black :
         {Arguments{}, Arguments{"--sun-direction", "0,0,-1", "--sun", "0"}}) {
        EXPECT_THAT(error_of(options + Arguments{"black.glb", "-o", "none.exr"} + black, 1),
                    HasSubstr("has no light"));
    }
    EXPECT_THAT(error_of(options + Arguments{"other.glb", "-o", "-"}, 2), HasSubstr("give a name"));
    // The sphere reaches below the square, so that its light is not that of a point.
    const auto with = [&](const std::string& extras, const std::string& radius) {
        (void)directory_.add("light.glb", lit_scene("another", "3", "\"point\"" + extras));
        return bake(options + Arguments{"light.glb", "--light-radius", radius}, "radius.exr");
    };
    const std::string of_option = with("", "1.25");
    EXPECT_FALSE(of_option == with("", "0"));
    EXPECT_TRUE(of_option == with(R"(,"extras":{"radius":1.25})", "0.5"));
}

// Fails where the file written has other coordinates than were baked, where a second bake does not
// replace the lightmap of the first, or where --reuse converts to other light than was baked.
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
        const Arguments reuse = first + Arguments{"--reuse", "map.exr"};
        EXPECT_TRUE(baked == bake(reuse, "reused.glb"));
        EXPECT_TRUE(bake(second, "light.png") == bake(reuse, "reused.png"));
    }
}

// Catches a kind of light that is in two groups or in none.
TEST_F(BakeProgram, KindsOfLightSumUpToAllLight) {
    const auto light_of = [&](const Arguments& more) {
        return mean_of(
            "G", ROOM + QUICK + BY_CPU + Arguments{"--dilate", "0", "--denoise", "off"} + more);
    };
    const double all = light_of({});
    const std::array parts{light_of({"--lights", "sky"}), light_of({"--lights", "suns"}),
                           light_of({"--lights", "emission"})};
    EXPECT_EQ(light_of({"--lights", "lamp"}), parts[2]);  // the only material that emits light
    // Each map has its own blended seams.
    EXPECT_NEAR(parts[0] + parts[1] + parts[2], all, 2e-3 * all);
    EXPECT_THAT(parts, Each(Gt(0.01 * all)));
}

// That their light is right is in the tests of the bake. Squares that share an edge at right angles
// hide 0.20004 of the sky from each other, 0.0962 of it within 0.5; a sun from behind the wall
// lights a half of the floor.
TEST_F(BakeProgram, MakesOcclusionAndShadowMasks) {
    (void)directory_.add("corner.obj", CORNER);
    const Arguments corner =
        Arguments{"corner.obj", "--size", "40", "--quality", "draft", "--dilate", "0"} + BY_CPU;
    EXPECT_NEAR(mean_of("R", corner + Arguments{"--quantity", "ambient-occlusion",
                                                "--direct-samples", "1024"}),
                1.0 - 0.20004, 0.005);
    EXPECT_NEAR(mean_of("R", corner + Arguments{"--quantity", "ambient-occlusion", "--ao-distance",
                                                "0.5", "--direct-samples", "1024"}),
                1.0 - 0.0962, 0.005);
    EXPECT_NEAR(mean_of("R", corner + Arguments{"--quantity", "shadow-mask", "--sun-direction",
                                                "0,-1,0.5"}),
                0.25, 0.02);
}

// By the device, whose work the validation layer sees.
TEST_F(BakeProgram, TheBrightestLightIsFinite) {
    (void)directory_.add("corner.obj", CORNER);
    (void)bake(
        {"corner.obj", "--validation", "--size", "32", "--direct-samples", "4", "--bounces", "0",
         "--sky", "1e12", "--sun-direction", "1e9,-1e9,0", "--sun", "1e12", "--directional"},
        "map.exr");
    EXPECT_GT(known_texels(path("map.exr")), 200);
}

// ---- What must not be written

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

// ---- Pages

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

}  // namespace
}  // namespace quadtile::baker::test
