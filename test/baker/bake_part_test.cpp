// Bakes of a part of a scene, and what is made of an earlier bake.

#include "apps/exr_files.hpp"
#include "bake_program.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace quadtile::baker::test {
namespace {

using ::testing::UnorderedElementsAre;

// A floor with a wall, which alone sees the sun, and a lid: all other light is sent by surfaces.
constexpr const char* NICHE =
    "v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 1 1\nv 0 1 1\n"
    "vt 0.03125 0.125\nvt 0.28125 0.125\nvt 0.28125 0.875\nvt 0.03125 0.875\n"
    "vt 0.34375 0.125\nvt 0.59375 0.125\nvt 0.59375 0.875\nvt 0.34375 0.875\n"
    "vt 0.65625 0.125\nvt 0.90625 0.125\nvt 0.90625 0.875\nvt 0.65625 0.875\n"
    "o Corner\nf 1/1 2/2 3/3 4/4\nf 1/5 4/6 5/7 6/8\no Lid\nf 6/9 5/10 7/11 8/12\n";
const Arguments BAKE_NICHE{"niche.obj", "--size",    "32",  "--sun-direction",
                           "0,0,-1",    "--samples", "256", "--bounces",
                           "6",         "--denoise", "off", "--reference"};

// Catches light of kept texels that is not sent, or without its albedo, bounces between the baked
// ones that are lost, kept texels that a filter changes, and baked texels that keep their light.
TEST_F(BakeProgram, BakesAPartAgain) {
    (void)directory_.add("niche.obj", NICHE);
    for (const Arguments& more :
         {Arguments{}, Arguments{"--directional", "--quantity", "radiance"}}) {
        const Arguments whole = BAKE_NICHE + more;
        const std::string expected = bake(whole, "map.exr");
        const Arguments again = whole + Arguments{"--reuse", "map.exr", "--only"};
        EXPECT_TRUE(expected == bake(again + Arguments{"Lid", "--only", "Corner"}, "both.exr"));
        for (const std::string object : {"Lid", "Corner"}) {
            const auto before = read_exr(path("map.exr"));
            (void)bake(again + Arguments{object}, "map.exr");
            const auto after = read_exr(path("map.exr"));
            double squares = 0.0;
            double light = 0.0;
            for (std::size_t i = 0; i < std::size_t{32} * 32; ++i) {
                const std::size_t x = i % 32;
                const bool is_on_chart = i / 32 >= 4 && i / 32 < 28;
                const bool is_corner = is_on_chart && ((x >= 1 && x < 9) || (x >= 11 && x < 19));
                const bool is_lid = is_on_chart && x >= 21 && x < 29;
                if (object == "Lid" ? is_lid : is_corner) {
                    const double change = after.at("G")[i] - before.at("G")[i];
                    squares += change * change;
                    light += before.at("G")[i] * before.at("G")[i];
                    continue;
                }
                // Texels that are filled from charts belong to all charts within 8 texels.
                const bool is_kept = object == "Lid" ? is_corner || x < 13 : is_lid || x >= 28;
                for (const auto& [channel, values] : before) {
                    EXPECT_TRUE(!is_kept || values[i] == after.at(channel)[i]) << channel << i;
                }
            }
            EXPECT_GT(squares, 0.0) << object;
            EXPECT_LT(std::sqrt(squares / light), 0.02) << object;
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
    (void)bake(BAKE_NICHE + outputs("a") + probes("a.json"), "map.exr");
    const Arguments reuse{"--reuse", "map.exr"};
    EXPECT_EQ(run(Arguments{"niche.obj"} + reuse + outputs("b")).status, 0);
    EXPECT_EQ(run(BAKE_NICHE + reuse + probes("b.json")).status, 0);
    EXPECT_EQ(run(BAKE_NICHE + outputs("c")).status, 0);
    for (const std::string name : {"b.png", "b_map.png", "b.json", "c.png", "c_map.png"}) {
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
                         scene + "vt 0 0.9\nvt 1 0.9\nvt 1 1\no Shelf\nf 1/13 3/14 5/15\n");
    (void)directory_.add("moved.obj", scene.replace(scene.find("0.90625"), 7, "0.71875"));
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
        {{niche + out + Arguments{"--only", "Lid"}, 2, "--only needs --reuse"},
         {niche + Arguments{"--reuse", "map.exr", "--only", "Lid", "--atlas", "x.png"}, 2,
          "--output"},
         {niche + reuse + Arguments{"--pack", "--page", "64"}, 2, "exclude each other"},
         {niche + reuse + Arguments{"--quantity", "ambient-occlusion"}, 2, "leave out --reuse"},
         {niche + Arguments{"--lit-scene", "x.glb", "--atlas", "x.png"}, 2, "--output"},
         {BAKE_NICHE + reuse + Arguments{"--only", "Chair"}, 1, "it has 'Corner', 'Lid'"},
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
