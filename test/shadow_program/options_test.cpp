// The command line of quadtile-shadow.

#include "options.hpp"

#include "support/errors.hpp"

#include <gmock/gmock.h>

namespace quadtile::shadow {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Options parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "quadtile-shadow");
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(const std::vector<const char*>& arguments) {
    const std::string message = test::message_of([&] { return parse(arguments); });
    EXPECT_THAT(message, EndsWith("; see 'quadtile-shadow --help'"))
        << ::testing::PrintToString(arguments);
    return message;
}

TEST(ShadowOptions, AreThoseOfTheLibraryAtFirst) {
    const Options options = parse({});
    const ShadowOptions defaults;
    EXPECT_TRUE(options.scene.empty());
    EXPECT_EQ(options.city_triangles, 20000U);
    EXPECT_EQ(options.extent, (vk::Extent2D{1280, 720}));
    EXPECT_EQ(options.shadows.max_tiles, defaults.max_tiles);
    EXPECT_EQ(options.shadows.atlas_extent, defaults.atlas_extent);
    EXPECT_EQ(options.shadows.lights, 1U);
    EXPECT_EQ(options.technique, Technique::fitted);
    EXPECT_EQ(options.display, Display::shaded);
    EXPECT_EQ(options.filter, Filter::box);
    EXPECT_FALSE(options.other);
    EXPECT_FALSE(options.at);
    EXPECT_FALSE(options.camera);
    EXPECT_FALSE(options.sun);
}

TEST(ShadowOptions, AreTakenOver) {
    const Options options = parse(
        {"room.glb",    "--size",        "640x480", "--map-extent",       "256",  "--atlas",
         "2048",        "--tile-extent", "256",     "--max-tiles",        "77",   "--merge-ratio",
         "0.9",         "--max-stretch", "4",       "--resolution-scale", "0.5",  "--technique",
         "cascades",    "--picture",     "sides",   "--filter",           "soft", "--camera",
         "1,2,3,-45,10"});
    EXPECT_EQ(options.scene, "room.glb");
    EXPECT_EQ(options.extent, (vk::Extent2D{640, 480}));
    EXPECT_EQ(options.shadows.map_extent, 256U);
    EXPECT_EQ(options.shadows.atlas_extent, 2048U);
    EXPECT_EQ(options.shadows.tile_extent, 256U);
    EXPECT_EQ(options.shadows.max_tiles, 77U);
    EXPECT_EQ(options.shadows.merge_ratio, 0.9F);
    EXPECT_EQ(options.shadows.max_stretch, 4.0F);
    EXPECT_EQ(options.shadows.resolution_scale, 0.5F);
    EXPECT_EQ(options.technique, Technique::cascades);
    EXPECT_EQ(options.display, Display::sides);
    EXPECT_EQ(options.filter, Filter::soft);
    ASSERT_TRUE(options.camera);
    EXPECT_EQ(options.camera->position, glm::vec3(1, 2, 3));
    EXPECT_EQ(options.camera->yaw_degrees, -45.0F);
    EXPECT_EQ(options.camera->pitch_degrees, 10.0F);
}

TEST(ShadowOptions, HaveTechniques) {
    for (const char* const name : {"fitted", "single", "cascades", "stable-cascades", "rays"}) {
        EXPECT_EQ(app::name_in(TECHNIQUES, parse({"--technique", name}).technique), name);
    }
    EXPECT_EQ(parse({"--technique", "stable-cascades"}).technique, Technique::stable_cascades);
    EXPECT_EQ(parse({"--compare", "rays"}).other, Technique::rays);
}

TEST(ShadowOptions, HaveLights) {
    const Options options = parse({"--sun", "0,-1,0.5", "--spot", "1,2,3,0,-1,0,40", "--spot",
                                   "-1,2,3,1,0,0,90.5", "--moving", "7"});
    EXPECT_EQ(options.moving, 7U);
    ASSERT_TRUE(options.sun);
    EXPECT_EQ(*options.sun, glm::vec3(0, -1, 0.5F));
    ASSERT_EQ(options.spots.size(), 2U);
    EXPECT_EQ(options.shadows.lights, 3U);
    EXPECT_EQ(options.spots[0].kind, Light::Kind::spot);
    EXPECT_EQ(options.spots[0].position, glm::vec3(1, 2, 3));
    EXPECT_EQ(options.spots[0].direction, glm::vec3(0, -1, 0));
    EXPECT_EQ(options.spots[1].angle_degrees, 90.5F);
    EXPECT_EQ(options.spots[1].radius, 0.1F);
    const Options wide = parse({"--spot", "1,2,3,0,-1,0,40", "--spot-radius", "0.5", "--sun-radius",
                                "2", "--ray-samples", "64"});
    EXPECT_EQ(wide.spots[0].radius, 0.5F);
    EXPECT_EQ(wide.sun_radius_degrees, 2.0F);
    EXPECT_EQ(wide.samples, 64U);
    const Options with_points = parse({"--point-light", "1,2,3", "--spot", "1,2,3,0,-1,0,40",
                                       "--point-light", "0,0,-1,0.5", "--map-extent", "512"});
    EXPECT_EQ(with_points.shadows.lights, 14U);
    EXPECT_EQ(parse({"--sun-levels", "30"}).shadows.lights, 4U);
    EXPECT_EQ(parse({"--sun-levels", "30.5,6"}).nearest_extent, 30.5F);
    EXPECT_EQ(parse({"--sun-levels", "30.5,6"}).shadows.lights, 6U);
    EXPECT_EQ(with_points.spots[2].kind, Light::Kind::point);
    EXPECT_EQ(with_points.spots[2].position, glm::vec3(0, 0, -1));
    EXPECT_EQ(with_points.spots[1].weight, 1.0F);
    EXPECT_EQ(with_points.spots[2].weight, 0.5F);
    EXPECT_EQ(with_points.spots[2].radius, 0.1F);  // not the sun's
}

TEST(ShadowOptions, OfTheCity) {
    EXPECT_EQ(parse({"--city"}).city_triangles, 20000U);
    EXPECT_EQ(parse({"--city", "5000"}).city_triangles, 5000U);
    EXPECT_THAT(error_of({"--city", "3"}), HasSubstr("--city"));
    EXPECT_THAT(error_of({"room.glb", "--city", "5000"}), HasSubstr("one of SCENE and --city"));
}

TEST(ShadowOptions, AreRefusedWithASentence) {
    EXPECT_THAT(error_of({"--size", "0x10"}), HasSubstr("--size"));
    EXPECT_THAT(error_of({"--size", "100"}), HasSubstr("'100'"));
    EXPECT_THAT(error_of({"--size", "100x"}), HasSubstr("'100x'"));
    EXPECT_THAT(error_of({"--size", "1x100", "--picture", "sides"}), HasSubstr("sides"));
    EXPECT_THAT(error_of({"--technique", "magic"}), HasSubstr("magic"));
    EXPECT_THAT(error_of({"--picture", "odd"}), HasSubstr("odd"));
    EXPECT_THAT(error_of({"--sun", "0,0,0"}), HasSubstr("0,0,0"));
    EXPECT_THAT(error_of({"--sun", "1,nan,0"}), HasSubstr("'nan' is not a number from"));
    EXPECT_THAT(error_of({"--spot", "1,2,3"}), HasSubstr("seven numbers"));
    for (const char* const levels : {"0", "30,0", "30,9", "30,1.5", "30,4,1"}) {
        EXPECT_THAT(error_of({"--sun-levels", levels}), HasSubstr("EXTENT or EXTENT,N"));
    }
    EXPECT_THAT(error_of({"--point-light", "1,2"}), HasSubstr("three numbers or four"));
    EXPECT_THAT(error_of({"--point-light", "1,2,3,0"}), HasSubstr("1/64 to 64, not 0"));
    EXPECT_THAT(error_of({"--point-light", "1,2,3", "--point-light", "1,2,4"}),
                HasSubstr("--map-extent is 1024"));
    EXPECT_THAT(error_of({"--spot", "1,2,3,0,-1,0,x"}), HasSubstr("'x' is not a number"));
    EXPECT_THAT(error_of({"--spot", "1,2,3,0,-1,0,inf"}), HasSubstr("'inf' is not a number from"));
    EXPECT_THAT(error_of({"--spot", "1,2,3,0,-1,0,180"}), HasSubstr("170"));
    EXPECT_THAT(error_of({"--spot", "1,2,3,0,0,0,80"}), HasSubstr("0,0,0"));
    EXPECT_THAT(error_of({"--camera", "1,2,3"}), HasSubstr("--camera"));
    EXPECT_THAT(error_of({"--camera", "1,2,3,0,0", "--fly"}), HasSubstr("exclude"));
    EXPECT_THAT(error_of({"--at", "-1"}), HasSubstr("--at"));
    EXPECT_THAT(error_of({"--filter", "pcf"}), HasSubstr("hard, 3x3, soft"));
    EXPECT_THAT(error_of({"--ray-samples", "65"}), HasSubstr("1 to 64"));
    EXPECT_THAT(error_of({"--compare", "rays", "--picture", "sides"}), HasSubstr("exclude"));
    EXPECT_THAT(error_of({"--screenshot", "a.png", "--fps", "nan"}),
                HasSubstr("--fps: 'nan' is not a number from 0.1 to 1000"));
    EXPECT_THAT(error_of({"--frames", "3"}), HasSubstr("needs --screenshot or --record"));
    EXPECT_THAT(error_of({"--report", "a.json"}), HasSubstr("needs --screenshot or --record"));
    EXPECT_THAT(error_of({"--screenshot", "a.png", "--frames", "0"}), HasSubstr("--frames"));
    EXPECT_THAT(error_of({"--screenshot", "a.png", "--record", "a"}), HasSubstr("exclude"));
    EXPECT_THAT(error_of({"--tile-extent", "64"}), HasSubstr("--tile-extent"));
    EXPECT_THAT(error_of({"--no-such-thing"}), HasSubstr("--no-such-thing"));
}

TEST(ShadowOptions, HaveThreeSpotsAtMost) {
    std::vector<const char*> arguments;
    for (int spot = 0; spot < 3; ++spot) {
        arguments.insert(arguments.end(), {"--spot", "1,2,3,0,-1,0,40"});
    }
    EXPECT_EQ(parse(arguments).spots.size(), 3U);
    arguments.insert(arguments.end(), {"--spot", "1,2,3,0,-1,0,40"});
    EXPECT_THAT(error_of(arguments), HasSubstr("4 times"));
}

// The sentences are the library's.
TEST(ShadowOptions, AreThoseThatTheLibraryTakes) {
    EXPECT_THAT(error_of({"--max-tiles", "0"}), HasSubstr("--max-tiles is "));
    EXPECT_THAT(error_of({"--atlas", "64"}),
                HasSubstr("--atlas is 64, but must be a power of two"));
    EXPECT_THAT(error_of({"--atlas", "1000"}), HasSubstr("(--tile-extent is 128: the atlas"));
    EXPECT_THAT(error_of({"--tile-extent", "130"}), HasSubstr("--tile-extent is 130"));
    EXPECT_THAT(error_of({"--map-extent", "8"}), HasSubstr("--map-extent is "));
    EXPECT_THAT(error_of({"--merge-ratio", "0.4"}), HasSubstr("--merge-ratio is "));
    EXPECT_THAT(error_of({"--max-stretch", "0"}), HasSubstr("--max-stretch is "));
    EXPECT_THAT(error_of({"--resolution-scale", "0"}), HasSubstr("--resolution-scale is "));
    // Each light needs a tile.
    EXPECT_THAT(error_of({"--max-tiles", "1", "--spot", "1,2,3,0,-1,0,40"}),
                HasSubstr("--max-tiles is "));
}

}  // namespace
}  // namespace quadtile::shadow
