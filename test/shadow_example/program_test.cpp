// quadtile-shadow as its users run it: refusals, pictures, and a window.

#include "apps/program_test.hpp"
#include "viewer/window.hpp"

#include <quadtile/images.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using viewer::test::ProgramWindow;
using viewer::test::XServer;

class ShadowProgram : public app::test::ProgramTest {
 protected:
    ShadowProgram() { tells_progress_ = true; }  // warnings
};

// What is not in the properties of all options (test/options): an empty scene, found before a
// window is opened, the files of materials, and names that are told.
TEST_F(ShadowProgram, RefusesWithASentence) {
    (void)directory_.add("empty.obj", "# nothing\n");
    (void)directory_.add("floor.obj",
                         "mtllib floor.mtl\nusemtl wood\n"
                         "v 0 0 0\nv 0 0 1\nv 1 0 0\nvt 0 0\nvt 0 1\nvt 1 0\nf 1/1 2/2 3/3\n");
    (void)directory_.add("floor.mtl", "newmtl wood\nmap_Kd wood.png\n");
    expect_refused({{{}, 2, "SCENE"},
                    {{"empty.obj", "--screenshot", "a.png"}, 1, "empty.obj"},
                    {{"floor.obj", "--screenshot", "a.jpg"}, 2, "--screenshot"},
                    {{"floor.obj", "--screenshot", "floor.mtl"}, 2, "floor.mtl"},
                    {{"floor.obj", "--screenshot", "wood.png"}, 2, "wood.png"},
                    {{"floor.obj", "--size", "100x"}, 2, "'100x'"},
                    {{"floor.obj", "--camera", "1,2,3"}, 2, "--camera"}});
}

// ---- Pictures

using Rgba = std::array<std::uint8_t, 4>;

// A floor, and a slanted triangle above it.
constexpr const char* SMALL_SCENE =
    "v -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nf 1 2 3 4\nv -3 2 -3\nv 0 4 3\nv 3 2 -3\nf 5 6 7\n";

// The same, a thousandth as large.
constexpr const char* SMALL_SCENE_OF_A_CENTIMETRE =
    "v -9e-3 0 -9e-3\nv -9e-3 0 9e-3\nv 9e-3 0 9e-3\nv 9e-3 0 -9e-3\nf 1 2 3 4\n"
    "v -3e-3 2e-3 -3e-3\nv 0 4e-3 3e-3\nv 3e-3 2e-3 -3e-3\nf 5 6 7\n";

// Catches options that change nothing, and whatever the validation layer objects to.
TEST_F(ShadowProgram, WritesPictures) {
    SKIP_WITHOUT_DEVICE();
    (void)directory_.add("small.obj", SMALL_SCENE);
    const auto picture = [&](const Arguments& more) {
        const ProgramResult result =
            run(more + Arguments{"--screenshot", "out.png", "--validation", "--size", "160x90"});
        EXPECT_EQ(result.status, 0) << result.error;
        EXPECT_THAT(result.output, IsEmpty());
        const LoadedImage image = load_image(path("out.png"), {.linear = true});
        EXPECT_EQ(image.shape.width, 160U);
        std::vector<Rgba> pixels(std::size_t{image.shape.width} * image.shape.height);
        std::memcpy(pixels.data(), image.texels.get(), 4 * pixels.size());
        return pixels;
    };
    const std::vector<Rgba> court = picture({SHADOW_SCENE});
    EXPECT_GT(std::set<Rgba>(court.begin(), court.end()).size(), 300U);
    std::set<std::vector<Rgba>> pictures;
    const std::vector<Arguments> options{{},
                                         {"--filter", "hard"},
                                         {"--filter", "soft"},
                                         {"--tiles"},
                                         {"--moving", "5"},
                                         {"--tiles", "--sun-levels", "3"},
                                         {"--camera", "0,3,12,0,-10"}};
    for (const Arguments& more : options) {
        pictures.insert(picture(Arguments{"small.obj"} + more));
    }
    EXPECT_EQ(pictures.size(), options.size());
    // Catches scenes of a centimetre of which nothing is seen.
    (void)directory_.add("centimetre.obj", SMALL_SCENE_OF_A_CENTIMETRE);
    const std::vector<Rgba> metres = picture({"small.obj"});
    const std::vector<Rgba> centimetre = picture({"centimetre.obj"});
    int different = 0;
    for (std::size_t i = 0; i < metres.size(); ++i) {
        different += std::abs(metres[i][1] - centimetre[i][1]) > 2 ? 1 : 0;
    }
    EXPECT_LT(different, 20);
}

// ---- The window

// Keys count by the letters of the keyboard's layout: on a French keyboard Z is where a US one has
// W, and W where it has Z. The picture follows the window's size. Nothing objects.
TEST_F(ShadowProgram, IsSteeredByTheLettersOfTheKeyboard) {
    if (!XServer::is_installed()) {
        GTEST_SKIP() << "Xvfb or xdotool is not installed";
    }
    XServer server;
    (void)directory_.add("small.obj", SMALL_SCENE);
    const bool is_french =
        std::system(("DISPLAY=" + server.display() + " setxkbmap fr >/dev/null 2>&1").c_str()) == 0;
    ProgramWindow window(server, directory_.path(), {"small.obj", "--size", "320x200"});
    const auto place_after = [&](const std::string& keys) {
        window.act(keys);
        const std::string line = window.wait_for("on screen: ");
        const std::size_t at = line.find(", at ");
        return line.substr(at, line.find(", looking ") - at);
    };
    const std::string first = place_after("key t");
    EXPECT_EQ(place_after("key h"), first);
    if (is_french) {  // a letter that steers only at its place on a US keyboard
        window.act("keydown z sleep 0.5");
        EXPECT_EQ(place_after("key h"), first);
        window.act("keyup z");
    }
    EXPECT_NE(place_after("keydown w"), first);
    window.act("keyup w windowsize --sync %w 400 260");
    EXPECT_THAT(window.wait_for("400 x 260"), HasSubstr("tiles"));
    window.act("key ctrl+q");
    EXPECT_EQ(window.exit_status(), 0) << window.log();
}

}  // namespace
}  // namespace quadtile::shadow::test
