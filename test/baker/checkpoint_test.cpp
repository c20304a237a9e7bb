// Checkpoints that are not what they should be.

#include "bake_fixture.hpp"

#include "checkpoint.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <string>

namespace quadtile::baker::test {
namespace {

using quadtile::test::read_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BakeState filled(std::size_t texels) {
    BakeState state{
        .fingerprint = 0x123456789abcdefU, .pass = 3, .directions_done = 17, .tiles_done = 5};
    const auto values = [&](float first) {
        std::vector<glm::vec3> result;
        for (std::size_t i = 0; i < texels; ++i) {
            result.emplace_back(first, static_cast<float>(i), -0.0F);
        }
        return result;
    };
    state.more = {1, 0, 1};
    state.sources = values(0.5F);
    state.direct = values(1.0F);
    state.sent = values(2.0F);
    state.indirect = values(3.0F);
    state.known.assign(texels, 1);
    state.half.assign(texels, 6.0F);
    state.sources_error.assign(texels, 6.5F);
    state.direct_error.assign(texels, 7.0F);
    state.indirect_error.assign(texels, 8.0F);
    state.moments = {values(4.0F), {}, values(5.0F)};
    state.sums.resize(texels);
    for (std::size_t i = 0; i < texels; ++i) {
        state.sums[i].weight[1] = static_cast<std::uint32_t>(i);
    }
    return state;
}

class CheckpointTest : public ::testing::Test {
 protected:
    // The file's name and what to do have to be told.
    void expect_refused(const std::string& bytes, const std::string& what) const {
        const std::filesystem::path path = directory_.add("some.checkpoint", bytes);
        EXPECT_THAT([&] { (void)read_checkpoint(path); },
                    ::testing::ThrowsMessage<std::runtime_error>(
                        ::testing::AllOf(HasSubstr(path.string()), HasSubstr("--resume"))))
            << what;
    }

    quadtile::test::TemporaryDirectory directory_;
};

TEST_F(CheckpointTest, DamageIsFound) {
    write_checkpoint(directory_.path() / "whole", filled(9));
    const std::string whole = read_file(directory_.path() / "whole");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        expect_refused(whole.substr(0, size), "cut to " + std::to_string(size));
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ (1U << (i % 8)));
        expect_refused(damaged, "byte " + std::to_string(i));
    }
    expect_refused(whole + '\0', "one byte more");
    expect_refused(std::string(100000, '\0'), "zeros");
    expect_refused("not at all", "text");
}

TEST_F(CheckpointTest, WhatIsNoFileIsRefused) {
    EXPECT_THROW((void)read_checkpoint(directory_.path()), std::runtime_error);
    EXPECT_THROW(write_checkpoint(directory_.path(), filled(1)), std::runtime_error);
    EXPECT_THROW(write_checkpoint(directory_.path() / "none" / "x", filled(1)), std::runtime_error);
}

// A --checkpoint that names another file loses nothing.
TEST_F(CheckpointTest, OnlyCheckpointsAreReplacedAndRemoved) {
    const std::filesystem::path other = directory_.add("scene.glb", "glTF and more");
    EXPECT_THROW(check_replaceable(other), std::runtime_error);
    EXPECT_THROW(write_checkpoint(other, filled(1)), std::runtime_error);
    remove_checkpoint(other);
    EXPECT_EQ(read_file(other), "glTF and more");

    const std::filesystem::path pipe = directory_.path() / "pipe";
    ::mkfifo(pipe.c_str(), 0600);
    EXPECT_NO_THROW(check_replaceable(pipe));
    remove_checkpoint(pipe);
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));

    const std::filesystem::path link = directory_.path() / "link";
    std::filesystem::create_symlink("some.checkpoint", link);
    write_checkpoint(link, filled(1));
    EXPECT_TRUE(read_checkpoint(link).has_value());
    EXPECT_NO_THROW(check_replaceable(link));
    remove_checkpoint(link);
    EXPECT_THAT(directory_.names(), ElementsAre("link", "pipe", "scene.glb"));
}

// A checkpoint of a bake that differs in anything is refused.
TEST_F(CheckpointTest, FitsOneBakeOnly) {
    Quads room = small_room();
    room.scene.suns = {{.direction = {0, -1, 0}, .irradiance = glm::vec3(1.0F)}};
    room.scene.point_lights = {
        {.position = {1, 1, 1}, .intensity = glm::vec3(1.0F), .is_spot = true}};
    const auto prepared = [&](const Scene& scene, float pixels_per_texel = 1.0F) {
        Prepared what(scene, room.extent(), pixels_per_texel);
        what.sky.radiance = glm::vec3(1.0F);
        return what;
    };
    const Prepared first = prepared(room.scene);
    BakeOptions options{.directions = 8,
                        .bounces = 1,
                        .sun_directions = 4,
                        .checkpoint = directory_.path() / "some.checkpoint"};
    const auto bake_it = [](const Prepared& what, const BakeOptions& chosen, bool interrupted) {
        return bake_by_reference(what, chosen, {.interrupted = [=] { return interrupted; }});
    };
    EXPECT_TRUE(bake_it(first, options, true).interrupted);
    options.resume = true;
    EXPECT_TRUE(bake_it(first, options, true).interrupted);
    std::size_t number = 0;
    const auto expect_refused = [&](const Prepared& what, const BakeOptions& other) {
        ++number;
        EXPECT_THAT([&] { (void)bake_it(what, other, false); },
                    ::testing::ThrowsMessage<std::runtime_error>(
                        HasSubstr("some.checkpoint' belongs to another bake")))
            << "difference " << number;
    };
    using OfOptions = void (*)(BakeOptions&);
    for (const OfOptions change :
         std::initializer_list<OfOptions>{[](BakeOptions& other) { other.directions = 9; },
                                          [](BakeOptions& other) { other.bounces = 2; },
                                          [](BakeOptions& other) { other.sun_directions = 5; },
                                          [](BakeOptions& other) { other.seed = 2; },
                                          [](BakeOptions& other) { other.noise = 0.1; },
                                          [](BakeOptions& other) { other.directional = true; },
                                          [](BakeOptions& other) { other.sun_shares = true; }}) {
        BakeOptions other = options;
        change(other);
        expect_refused(first, other);
    }
    using OfScene = void (*)(Scene&);
    for (const OfScene change : std::initializer_list<OfScene>{
             [](Scene& scene) { scene.positions[5].x += 0.001F; },
             [](Scene& scene) {
                 for (glm::vec3& position : scene.positions) {
                     position.x += 1.0F;
                 }
             },
             [](Scene& scene) { scene.light_map_coordinates[5].x += 0.001F; },
             [](Scene& scene) { scene.materials[0].albedo.g = 0.61F; },
             [](Scene& scene) { scene.materials[2].emission.g = 4.01F; },
             [](Scene& scene) { scene.materials[3].double_sided = false; },
             [](Scene& scene) { std::ranges::reverse(scene.triangles[7].vertices); },
             [](Scene& scene) { scene.suns[0].irradiance.b = 0.99F; },
             [](Scene& scene) { scene.suns[0].direction = -Z; },
             [](Scene& scene) { scene.suns[0].angular_diameter_degrees = 1.0F; },
             [](Scene& scene) { scene.suns.clear(); },
             [](Scene& scene) { scene.point_lights[0].position.x = 1.01F; },
             [](Scene& scene) { scene.point_lights[0].intensity.b = 0.99F; },
             [](Scene& scene) { scene.point_lights[0].radius = 0.01F; },
             [](Scene& scene) { scene.point_lights[0].range = 100.0F; },
             [](Scene& scene) { scene.point_lights[0].is_spot = false; },
             [](Scene& scene) { scene.point_lights[0].direction = -Y; },
             [](Scene& scene) { scene.point_lights[0].inner_angle = 0.1F; },
             [](Scene& scene) { scene.point_lights[0].outer_angle = 0.7F; }}) {
        Scene scene = room.scene;
        change(scene);
        expect_refused(prepared(scene), options);
    }
    using OfOthers = void (*)(Prepared&);
    for (const OfOthers change :
         std::initializer_list<OfOthers>{[](Prepared& what) { what.sky.radiance.r = 2.0F; },
                                         [](Prepared& what) { what.tiles.map_extent = 64; },
                                         [](Prepared& what) { what.tiles.max_resolution = 17.0F; },
                                         [](Prepared& what) { what.tiles.max_nodes = 2047.0F; }}) {
        Prepared other = first;
        change(other);
        expect_refused(other, options);
    }
    expect_refused(prepared(room.scene, 1.5F), options);  // pixels per texel
    Prepared larger(room.scene, {64, 64});
    larger.sky = first.sky;
    expect_refused(larger, options);
    EXPECT_FALSE(bake_it(first, options, false).interrupted);
}

}  // namespace
}  // namespace quadtile::baker::test
