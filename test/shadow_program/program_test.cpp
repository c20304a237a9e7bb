// quadtile-shadow as its users run it, without a window.

#include "apps/program_test.hpp"
#include "support/help.hpp"

#include <quadtile/images.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace quadtile::shadow::test {
namespace {

using app::test::Arguments;
using app::test::has_usable_device;
using app::test::operator+;
using app::test::ProgramResult;
using quadtile::test::read_file;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Rgba = std::array<std::uint8_t, 4>;

struct Pixels {
    std::uint32_t width;
    std::uint32_t height;
    std::vector<Rgba> rows;

    [[nodiscard]] Rgba at(std::uint32_t x, std::uint32_t y) const {
        return rows[std::size_t{y} * width + x];
    }
};

Pixels load(const std::filesystem::path& path) {
    const LoadedImage image = load_image(path, {.linear = true});
    Pixels pixels{image.shape.width, image.shape.height, {}};
    pixels.rows.resize(std::size_t{pixels.width} * pixels.height);
    std::memcpy(pixels.rows.data(), image.texels.get(), 4 * pixels.rows.size());
    return pixels;
}

class ShadowProgram : public app::test::ProgramTest {
 protected:
    // A small picture, with validation.
    [[nodiscard]] Pixels picture(const Arguments& more) const {
        Arguments arguments{"--screenshot", "out.png", "--validation", "--city", "5000",
                            "--atlas",      "1024",    "--map-extent", "128"};
        if (std::ranges::find(more, "--size") == more.end()) {
            arguments.insert(arguments.end(), {"--size", "160x90"});
        }
        const ProgramResult result = run(arguments + more);
        EXPECT_EQ(result.status, 0) << result.error;
        EXPECT_THAT(result.output, IsEmpty());
        EXPECT_THAT(result.error, IsEmpty());
        return load(directory_.path() / "out.png");
    }

    [[nodiscard]] Json report() const {
        return Json::parse(read_file(directory_.path() / "report.json"));
    }
};

class ShadowPictures : public ShadowProgram {
 protected:
    void SetUp() override { SKIP_WITHOUT_DEVICE(); }
};

// ---- What needs no device

TEST_F(ShadowProgram, PrintsHelpAndVersion) {
    const ProgramResult help = run({"--help"});
    EXPECT_EQ(help.status, 0);
    for (const char* const option :
         {"SCENE", "--city", "--spot", "--technique", "--screenshot", "--record", "--report"}) {
        EXPECT_THAT(help.output, HasSubstr(option));
    }
    EXPECT_THAT(help.error, IsEmpty());
    quadtile::test::expect_readable_help(help.output, 90);
    EXPECT_THAT(run({"--version"}).output, StartsWith("quadtile-shadow "));
}

TEST_F(ShadowProgram, SaysWhichFileIsWrong) {
    EXPECT_THAT(error_of({"no.glb", "--screenshot", "a.png"}, 1), HasSubstr("no.glb"));
    EXPECT_THAT(error_of({"no.glb"}, 1), HasSubstr("no.glb"));  // before a window is opened
    (void)directory_.add("empty.obj", "# nothing\n");
    EXPECT_THAT(error_of({"empty.obj", "--screenshot", "a.png"}, 1), HasSubstr("empty.obj"));
    EXPECT_THAT(error_of({"--screenshot", "no/a.png"}, 1), HasSubstr("no/a.png"));
    EXPECT_THAT(error_of({"--screenshot", "a.png", "--report", "no/a.json"}, 1),
                HasSubstr("no/a.json"));
    EXPECT_THAT(error_of({"--record", "empty.obj"}, 1), HasSubstr("empty.obj"));
}

TEST_F(ShadowProgram, OverwritesNoFileOfTheScene) {
    (void)directory_.add("floor.obj",
                         "mtllib floor.mtl\nusemtl wood\n"
                         "v 0 0 0\nv 0 0 1\nv 1 0 0\nvt 0 0\nvt 0 1\nvt 1 0\nf 1/1 2/2 3/3\n");
    (void)directory_.add("floor.mtl", "newmtl wood\nmap_Kd wood.png\n");
    for (const char* const file : {"floor.obj", "floor.mtl", "wood.png"}) {
        EXPECT_THAT(error_of({"floor.obj", "--screenshot", file}, 2), HasSubstr(file));
        EXPECT_THAT(error_of({"floor.obj", "--screenshot", "a.png", "--report", file}, 2),
                    HasSubstr(file));
    }
    EXPECT_THAT(error_of({"--screenshot", "a.png", "--report", "./a.png"}, 2), HasSubstr("a.png"));
}

// ---- Pictures

TEST_F(ShadowPictures, OverwriteNoFileOfTheScene) {
    (void)directory_.add("floor.obj",
                         "mtllib frame_00001.png\nv 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n");
    (void)directory_.add("frame_00001.png", "newmtl wood\n");
    const ProgramResult result = run({"floor.obj", "--record", ".", "--frames", "3"});
    EXPECT_EQ(result.status, 2) << result.error;
    EXPECT_EQ(directory_.names(), (std::set<std::string>{"floor.obj", "frame_00001.png"}));
}

// The left half is the shaded picture of half the size; in the right half errors are marked. With
// fitted tiles there are fewer.
TEST_F(ShadowPictures, ShowBothSides) {
    const Arguments view{"--technique", "single", "--at", "3"};
    Arguments sides = view;
    sides.insert(sides.end(), {"--size", "320x90", "--picture", "sides"});
    const Pixels both = picture(sides);
    const Pixels shaded = picture(view);
    std::size_t red_or_blue = 0;
    for (std::uint32_t y = 0; y < shaded.height; ++y) {
        for (std::uint32_t x = 0; x < shaded.width; ++x) {
            ASSERT_EQ(both.at(x, y), shaded.at(x, y)) << x << ", " << y;
            const Rgba marked = both.at(x + shaded.width, y);
            red_or_blue += marked == Rgba{255, 26, 13, 255} || marked == Rgba{26, 89, 255, 255};
        }
    }
    EXPECT_GT(red_or_blue, 10U);
    // The renderer's own picture of errors has the same ones.
    const auto errors_of = [&](const char* technique) {
        return picture({"--picture", "error", "--technique", technique, "--report", "report.json",
                        "--at", "3"});
    };
    const Pixels marked = errors_of("single");
    for (std::uint32_t y = 0; y < shaded.height; ++y) {
        for (std::uint32_t x = 0; x < shaded.width; ++x) {
            const Rgba right = both.at(x + shaded.width, y);
            const Rgba own = marked.at(x, y);
            for (std::size_t i = 0; i < 3; ++i) {  // rounded once more
                ASSERT_NEAR(right[i], own[i], 1) << x << ", " << y;
            }
        }
    }
    const auto wrong = [&] {
        const Json error = report().at("frames").back().at("error");
        EXPECT_GT(error.at("surface_pixels"), 5000U);
        EXPECT_LE(error.at("wrong"), error.at("wrongly_lit").get<std::uint32_t>() +
                                         error.at("wrongly_shadowed").get<std::uint32_t>());
        return error.at("wrong").get<std::uint32_t>();
    };
    EXPECT_FALSE(report().at("frames")[0].contains("tiles"));  // of the single map
    const std::uint32_t single = wrong();
    (void)errors_of("fitted");
    EXPECT_LT(wrong(), single);
}

// The ground before the camera is in the houses' shadow.
TEST_F(ShadowPictures, AreMadeOfSpotLights) {
    const auto brightness = [](const Pixels& pixels) {
        std::uint64_t sum = 0;
        for (std::uint32_t x = 60; x < 100; ++x) {
            sum += pixels.at(x, 70)[0];
        }
        return sum;
    };
    const std::uint64_t dark = brightness(picture({"--at", "2"}));
    const Arguments lit{"--at", "2", "--spot", "-35,8,-3,0,-1,-0.2,100", "--report", "report.json"};
    EXPECT_GT(brightness(picture(lit)), dark + 40 * 10);
    EXPECT_EQ(report().at("shadows").at("lights"), 2);
}

// ---- The report

void expect_consistent(const Json& report) {
    std::uint32_t before = 0;
    for (const Json& frame : report.at("frames")) {
        const Json& tiles = frame.at("tiles");
        const auto number = [&](const char* name) { return tiles.at(name).get<std::uint32_t>(); };
        EXPECT_GT(number("count"), 0U);
        EXPECT_LE(number("count"), report.at("shadows").at("max_tiles"));
        EXPECT_EQ(number("kept") + number("added"), number("count"));
        EXPECT_EQ(number("kept") + number("removed"), before);
        EXPECT_LE(number("added") + number("resized"), number("rendered"));
        EXPECT_LE(number("rendered"), number("count"));
        EXPECT_GE(number("used_cells"), number("count"));
        EXPECT_LE(number("used_cells"), report.at("atlas_cells"));
        EXPECT_GE(tiles.at("factor"), 1.0);
        for (const auto& [part, microseconds] : frame.at("gpu_microseconds").items()) {
            EXPECT_GE(microseconds, 0.0) << part;
        }
        before = number("count");
    }
}

TEST_F(ShadowPictures, AreReported) {
    const Pixels pixels = picture({"--report", "report.json", "--frames", "6", "--at", "0"});
    EXPECT_EQ(pixels.width, 160U);
    EXPECT_EQ(pixels.height, 90U);
    EXPECT_GT(std::set<Rgba>(pixels.rows.begin(), pixels.rows.end()).size(), 100U);
    EXPECT_NE(picture({"--picture", "tiles", "--at", "0"}).rows, pixels.rows);
    const Json still = report();
    expect_consistent(still);
    ASSERT_EQ(still.at("frames").size(), 6U);
    EXPECT_EQ(still.at("scene"), "city");
    EXPECT_EQ(still.at("size"), Json::array({160, 90}));
    EXPECT_EQ(still.at("atlas_cells"), 128 * 128);
    const Json& last = still.at("frames").back().at("tiles");
    // Nothing moves, and the frames before have found all edges, each in the maps of the one before
    // it.
    EXPECT_EQ(last.at("kept"), last.at("count"));
    EXPECT_EQ(last.at("rendered"), 0);
}

// From above, as long as no place or time is asked for.
TEST_F(ShadowPictures, BeginAboveTheScene) {
    (void)picture({"--report", "report.json", "--frames", "1"});
    const Json camera = report().at("frames")[0].at("camera");
    EXPECT_GT(camera[1], 50.0);
    EXPECT_LT(camera[4], -20.0);
    (void)picture({"--report", "report.json", "--frames", "1", "--at", "0"});
    EXPECT_LT(report().at("frames")[0].at("camera")[1], 3.0);
}

// The right half is that of the other technique, the left one as without it.
TEST_F(ShadowPictures, CompareTechniques) {
    const Arguments view{"--at", "3", "--filter", "soft", "--sun-radius", "1"};
    const auto picture_with = [&](const Arguments& more) {
        Arguments all = view;
        all.insert(all.end(), more.begin(), more.end());
        return picture(all);
    };
    const Pixels both = picture_with({"--technique", "cascades", "--compare", "rays"});
    const Pixels cascades = picture_with({"--technique", "cascades"});
    const Pixels rays = picture_with({"--technique", "rays"});
    EXPECT_NE(cascades.rows, rays.rows);
    for (std::uint32_t y = 0; y < both.height; ++y) {
        for (std::uint32_t x = 0; x < both.width; ++x) {
            ASSERT_EQ(both.at(x, y), (x < both.width / 2 ? cascades : rays).at(x, y))
                << x << ", " << y;
        }
    }
}

TEST_F(ShadowPictures, ShowThePanel) {
    const Pixels panel = picture({"--panel", "--size", "400x180"});
    EXPECT_EQ(panel.width, 400U);
    // The panel's own background.
    EXPECT_GT(std::ranges::count(panel.rows, Rgba{33, 34, 38, 255}), 15000);
}

TEST_F(ShadowPictures, KeepTheBudgetOnTheFlight) {
    (void)picture({"--report", "report.json", "--frames", "4", "--fps", "2", "--fly", "--at", "1",
                   "--max-tiles", "20"});
    const Json moving = report();
    expect_consistent(moving);
    ASSERT_EQ(moving.at("frames").size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(moving.at("frames")[i].at("flight_second"), 1.0 + 0.5 * static_cast<double>(i));
    }
    EXPECT_NE(moving.at("frames")[0].at("camera"), moving.at("frames")[3].at("camera"));
    EXPECT_GT(moving.at("frames")[3].at("tiles").at("added"), 0);
    EXPECT_GT(moving.at("frames")[3].at("tiles").at("kept"), 0);
    EXPECT_GT(moving.at("frames")[0].at("tiles").at("factor"), 1.0);  // as the budget is small
}

TEST_F(ShadowPictures, AreRecorded) {
    const ProgramResult result =
        run({"--record", "flight", "--frames", "3", "--fps", "1", "--size", "64x36", "--city",
             "2000", "--atlas", "1024", "--map-extent", "64", "--validation"});
    EXPECT_EQ(result.status, 0) << result.error;
    const auto folder = directory_.path() / "flight";
    const Pixels first = load(folder / "frame_00000.png");
    const Pixels last = load(folder / "frame_00002.png");
    EXPECT_EQ(first.width, 64U);
    EXPECT_NE(first.rows, last.rows);
    EXPECT_FALSE(std::filesystem::exists(folder / "frame_00003.png"));
}

}  // namespace
}  // namespace quadtile::shadow::test
