// Bakes of a part of a scene, and what is made of an earlier bake.

#include "apps/exr_files.hpp"
#include "bake_program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace quadtile::baker::test {
namespace {

using ::testing::UnorderedElementsAre;

// A floor with a wall, which alone sees the sun, and a lid of two parts beside a seam: all other
// light is sent by surfaces. Each of the four squares has 6 by 24 texels.
constexpr const char* NICHE =
    "v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 1 1\nv 0 1 1\nv 0.5 1 0\n"
    "v 0.5 1 1\n"
    "vt 0.03125 0.125\nvt 0.21875 0.125\nvt 0.21875 0.875\nvt 0.03125 0.875\n"
    "vt 0.28125 0.125\nvt 0.46875 0.125\nvt 0.46875 0.875\nvt 0.28125 0.875\n"
    "vt 0.53125 0.125\nvt 0.71875 0.125\nvt 0.71875 0.875\nvt 0.53125 0.875\n"
    "vt 0.78125 0.125\nvt 0.96875 0.125\nvt 0.96875 0.875\nvt 0.78125 0.875\n"
    "o Corner\nf 1/1 2/2 3/3 4/4\nf 1/5 4/6 5/7 6/8\n"
    "o Left\nf 6/9 9/10 10/11 8/12\no Right\nf 9/13 5/14 7/15 10/16\n";
const Arguments BAKE_NICHE{"niche.obj", "--size",    "32", "--sun-direction", "0,0,-1", "--samples",
                           "96",        "--bounces", "5",  "--reference"};

// Catches light of kept texels that is not sent, or without its albedo, bounces between the baked
// ones that are lost, kept texels that a filter changes, and baked texels that keep their light.
TEST_F(BakeProgram, BakesAPartAgain) {
    (void)directory_.add("niche.obj", NICHE);
    struct Object {
        std::string name;
        std::size_t first;  // of the columns of its charts
        std::size_t end;
    };
    for (const Arguments& more :
         {Arguments{"--denoise", "off"}, Arguments{"--directional", "--quantity", "radiance"}}) {
        const Arguments whole = BAKE_NICHE + more;
        const std::string expected = bake(whole, "map.exr");
        const Arguments again = whole + Arguments{"--reuse", "map.exr", "--only"};
        EXPECT_TRUE(
            expected ==
            bake(again + Arguments{"Right", "--only", "Corner", "--only", "Left"}, "all.exr"));
        for (const auto& [name, first, end] :
             {Object{"Left", 17, 23}, {"Corner", 1, 15}, {"Right", 25, 31}}) {
            const auto before = read_exr(path("map.exr"));
            (void)bake(again + Arguments{name}, "map.exr");
            const auto after = read_exr(path("map.exr"));
            double squares = 0.0;
            double light = 0.0;
            for (std::size_t i = 0; i < std::size_t{32} * 32; ++i) {
                const std::size_t x = i % 32;
                const bool is_on_chart = i / 32 >= 4 && i / 32 < 28 && x % 8 >= 1 && x % 8 < 7;
                const bool is_own = x >= first && x < end;
                if (is_on_chart && is_own) {
                    const double change = after.at("G")[i] - before.at("G")[i];
                    squares += change * change;
                    light += before.at("G")[i] * before.at("G")[i];
                }
                // Empty texels are filled from all charts within 8 texels.
                const bool is_kept = is_on_chart ? !is_own : x + 8 < first || x >= end + 8;
                for (const auto& [channel, values] : before) {
                    EXPECT_TRUE(!is_kept || values[i] == after.at(channel)[i]) << channel << i;
                }
            }
            EXPECT_GT(squares, 0.0) << name;
            EXPECT_LT(std::sqrt(squares / light), 0.02) << name;
        }
    }
}

// Catches pictures and probes that are not those of the light, and files that nobody asked for.
TEST_F(BakeProgram, ReusesLightForPicturesAndProbes) {
    (void)directory_.add("niche.obj", NICHE);
    const auto outputs = [](const std::string& name) {
        return Arguments{"--preview",       name + ".png",    "--atlas",
                         name + "_map.png", "--preview-size", "64"};
    };
    const auto probes = [](const std::string& name) {
        return Arguments{"--probes", "2,1,2", "--probes-out", name};
    };
    const Arguments niche = BAKE_NICHE + Arguments{"--denoise", "off"};  // as probes see it
    (void)bake(niche + outputs("a") + probes("a.json"), "map.exr");
    const Arguments reuse{"--reuse", "map.exr"};
    EXPECT_EQ(run(Arguments{"niche.obj"} + reuse + outputs("b")).status, 0);
    EXPECT_EQ(run(niche + reuse + probes("b.json")).status, 0);
    EXPECT_EQ(run(niche + outputs("c")).status, 0);
    // Probes of a bake see its light before seams are blended.
    const auto probe = [&](const std::string& name) {
        return nlohmann::json::parse(read_file(path(name)))["probes"][1]["sh"][0][1].get<double>();
    };
    EXPECT_NEAR(probe("b.json") / probe("a.json"), 1.0, 0.002);
    for (const std::string name : {"b.png", "b_map.png", "c.png", "c_map.png"}) {
        EXPECT_TRUE(read_file(path("a" + name.substr(1))) == read_file(path(name))) << name;
    }
    EXPECT_THAT(directory_.names(),
                UnorderedElementsAre("niche.obj", "map.exr", "a.png", "a_map.png", "a.json",
                                     "b.png", "b_map.png", "b.json", "c.png", "c_map.png"));
}

// Catches light that is taken for that of another scene, size or quantity, or that is none.
TEST_F(BakeProgram, ReusesOnlyLightOfTheScene) {
    std::string scene = NICHE;
    (void)directory_.add("niche.obj", scene);
    (void)directory_.add("more.obj",
                         scene + "vt 0 0.9\nvt 1 0.9\nvt 1 1\no Shelf\nf 1/17 3/18 5/19\n");
    (void)directory_.add("moved.obj", scene.replace(scene.find("0.96875"), 7, "0.84375"));
    (void)bake(BAKE_NICHE, "map.exr");
    const auto picture = [](const std::vector<float>& red, const std::string& quantity) {
        return app::test::encode_exr_channels(
            2, 1, {{"R", red}, {"G", {1, 1}}, {"B", {1, 1}}, {"A", {1, 1}}},
            {.quantity = quantity});
    };
    (void)directory_.add("nan.exr", picture({1, NAN}, "irradiance"));
    (void)directory_.add("negative.exr", picture({-1, 1}, "radiance"));
    (void)directory_.add("mask.exr", picture({1, 1}, "shadow-mask"));
    (void)directory_.add("other.exr", picture({1, 1}, ""));
    const Arguments out{"-o", "x.exr"};
    const Arguments reuse = out + Arguments{"--reuse", "map.exr"};
    const Arguments niche{"niche.obj"};
    expect_refused(
        {{niche + out + Arguments{"--only", "Left"}, 2, "--only needs --reuse"},
         {niche + Arguments{"--reuse", "map.exr", "--only", "Left", "--atlas", "x.png"}, 2,
          "--output"},
         {niche + reuse + Arguments{"--pack", "--page", "64"}, 2, "exclude each other"},
         {niche + reuse + Arguments{"--quantity", "ambient-occlusion"}, 2, "leave out --reuse"},
         {niche + Arguments{"--lit-scene", "x.glb", "--atlas", "x.png"}, 2, "--output"},
         {BAKE_NICHE + reuse + Arguments{"--only", "Chair"}, 1, "it has 'Corner', 'Left', 'Right'"},
         {niche + reuse + Arguments{"--size", "16"}, 1, "but the lightmap has 16 x 16"},
         {niche + reuse + Arguments{"--directional"}, 1, "leave out --directional"},
         {niche + reuse + Arguments{"--quantity", "radiance"}, 1, "give --quantity irradiance"},
         {Arguments{"more.obj"} + reuse, 1, "no light of 'Shelf'"},
         {Arguments{"moved.obj"} + reuse, 1, "where the scene has no surface"},
         {niche + out + Arguments{"--reuse", "nan.exr"}, 1, "not finite at texel (1, 0)"},
         {niche + out + Arguments{"--reuse", "negative.exr", "--quantity", "radiance"}, 1,
          "(0, 0)"},
         {niche + out + Arguments{"--reuse", "mask.exr"}, 1, "holds shadow-mask"},
         {niche + out + Arguments{"--reuse", "other.exr"}, 1, "is no lightmap"},
         {niche + out + Arguments{"--reuse", "none.exr"}, 1, "none.exr"}});
}

}  // namespace
}  // namespace quadtile::baker::test
