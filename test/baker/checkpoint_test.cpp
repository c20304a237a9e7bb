// Bakes that are interrupted, and checkpoints that are not what they should be. That bakes go on to
// the same bits is in random cases (test/random), too.

#include "bake_fixture.hpp"

#include "checkpoint.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <map>
#include <set>
#include <string>

namespace quadtile::baker::test {
namespace {

using quadtile::test::read_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BakeState filled(std::size_t texels) {
    BakeState state{
        .fingerprint = 0x123456789abcdefU, .pass = 3, .directions_done = 17, .tiles_done = 5};
    state.more = {1, 0, 1};
    state.direct.assign(texels, {1.0F, 2.0F, -0.0F});
    state.known.assign(texels, 1);
    state.half.assign(texels, 6.0F);
    state.moments = {state.direct, {}, state.direct};
    state.sums.resize(texels);
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
    for (const OfOptions change : {OfOptions([](BakeOptions& o) { o.directions = 9; }),
                                   OfOptions([](BakeOptions& o) { o.bounces = 2; }),
                                   OfOptions([](BakeOptions& o) { o.sun_directions = 5; }),
                                   OfOptions([](BakeOptions& o) { o.seed = 2; }),
                                   OfOptions([](BakeOptions& o) { o.noise = 0.1; }),
                                   OfOptions([](BakeOptions& o) { o.directional = true; }),
                                   OfOptions([](BakeOptions& o) { o.sun_shares = true; })}) {
        BakeOptions other = options;
        change(other);
        expect_refused(first, other);
    }
    using OfScene = void (*)(Scene&);
    for (const OfScene change :
         {OfScene([](Scene& s) { s.positions[5].x += 0.001F; }),
          OfScene([](Scene& s) { s.light_map_coordinates[5].x += 0.001F; }),
          OfScene([](Scene& s) { s.materials[0].albedo.g = 0.61F; }),
          OfScene([](Scene& s) { s.materials[2].emission.g = 4.01F; }),
          OfScene([](Scene& s) { s.materials[3].double_sided = false; }),
          OfScene([](Scene& s) { std::ranges::reverse(s.triangles[7].vertices); }),
          OfScene([](Scene& s) { s.suns[0].irradiance.b = 0.99F; }),
          OfScene([](Scene& s) { s.suns[0].direction = -Z; }),
          OfScene([](Scene& s) { s.suns[0].angular_diameter_degrees = 1.0F; }),
          OfScene([](Scene& s) { s.suns.clear(); }),
          OfScene([](Scene& s) { s.point_lights[0].position.x = 1.01F; }),
          OfScene([](Scene& s) { s.point_lights[0].intensity.b = 0.99F; }),
          OfScene([](Scene& s) { s.point_lights[0].radius = 0.01F; }),
          OfScene([](Scene& s) { s.point_lights[0].range = 100.0F; }),
          OfScene([](Scene& s) { s.point_lights[0].is_spot = false; }),
          OfScene([](Scene& s) { s.point_lights[0].direction = -Y; }),
          OfScene([](Scene& s) { s.point_lights[0].inner_angle = 0.1F; }),
          OfScene([](Scene& s) { s.point_lights[0].outer_angle = 0.7F; })}) {
        Scene scene = room.scene;
        change(scene);
        expect_refused(prepared(scene), options);
    }
    using OfOthers = void (*)(Prepared&);
    for (const OfOthers change :
         {OfOthers([](Prepared& what) { what.sky.radiance.r = 2.0F; }),
          OfOthers([](Prepared& what) { what.tiles.map_extent = 64; }),
          OfOthers([](Prepared& what) { what.tiles.max_resolution = 17.0F; }),
          OfOthers([](Prepared& what) { what.tiles.max_nodes = 2047.0F; })}) {
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

// ---- Interruption

// Everything that a bake can have.
Prepared everything(float pixels_per_texel = 1.0F) {
    Quads room = small_room();
    room.scene.suns = {{.direction = glm::normalize(glm::vec3(0.5F, -0.4F, -1.0F)),
                        .irradiance = {3.0F, 2.0F, 1.0F},
                        .angular_diameter_degrees = 4.0F},
                       {.direction = {0.0F, 0.0F, -1.0F}, .irradiance = {0.0F, 0.0F, 0.25F}}};
    room.scene.point_lights = {
        {.position = {2.5F, 1.5F, 0.5F}, .intensity = {0.0F, 1.0F, 0.0F}, .radius = 0.25F},
        {.position = {0.5F, 1.5F, 0.5F},
         .intensity = glm::vec3(1.0F),
         .is_spot = true,
         .outer_angle = 1.25F}};
    Prepared what(room.scene, room.extent(), pixels_per_texel);
    what.sky.radiance = {0.5F, 0.75F, 1.0F};
    return what;
}

constexpr std::uint32_t BOUNCES = 2;
BakeOptions all_passes() {
    return {.directions = 20,
            .bounces = BOUNCES,
            .sun_directions = 12,
            .lamp_points = 4,
            .directional = true};
}

// In the room, above the lamp, in the block, behind the panel, and outside.
BakeOptions with_probes(BakeOptions options) {
    options.probes = {{1.0F, 1.0F, 1.0F},
                      {1.5F, 1.9F, 1.5F},
                      {0.8F, 0.5F, 1.8F},
                      {2.6F, 1.0F, 1.5F},
                      {1.0F, 3.0F, 1.0F}};
    return options;
}

// Stops the bake when it asks for the k-th time.
BakeWatcher interrupting(std::uint32_t k, std::string* pass = nullptr) {
    return {.progress =
                [pass](const BakeProgress& progress) {
                    if (pass != nullptr) {
                        *pass = progress.pass;
                    }
                },
            .interrupted = [k, calls = 0U]() mutable { return calls++ == k; }};
}

// Returns how often a bake by the reference asks whether it is interrupted.
std::uint32_t count_asks(const Prepared& what, const BakeOptions& options) {
    std::uint32_t asks = 0;
    const auto twin = make_reference_tracer(what.traced, what.tiles, 1);
    (void)bake_with(*twin, what, options, {.interrupted = [&] {
        ++asks;
        return false;
    }});
    return asks;
}

// Catches a pass that cannot be interrupted or is counted wrongly, and one that begins anew or
// counts in part when the bake goes on.
TEST(Interruption, MayBeInEachPass) {
    const quadtile::test::TemporaryDirectory directory;
    const Prepared what = everything();
    BakeOptions options = with_probes(all_passes());
    const std::string expected = bytes_of(bake_by_reference(what, options));
    options.checkpoint = directory.path() / "checkpoint";
    options.checkpoint_interval = std::chrono::seconds(3600);  // none but when it ends
    std::set<std::string> passes;
    constexpr std::uint32_t INTERRUPTIONS = 24;
    const std::uint32_t asks = count_asks(what, options);
    for (std::uint32_t i = 0; i < INTERRUPTIONS; ++i) {
        options.resume = false;
        std::string pass;
        const auto one = make_reference_tracer(what.traced, what.tiles, 1);
        const std::uint32_t k = i + 1 < INTERRUPTIONS ? i * asks / INTERRUPTIONS : asks - 10;
        const BakeResult cut = bake_with(*one, what, options, interrupting(k, &pass));
        EXPECT_TRUE(cut.interrupted);
        EXPECT_FALSE(expected == bytes_of(cut));
        EXPECT_THAT(cut.map.radiance_sh[0], ::testing::IsEmpty());
        passes.insert(pass);
        options.resume = true;
        BakeProgress last;
        const BakeResult whole =
            bake_by_reference(what, options, {.progress = [&](const auto& now) { last = now; }});
        EXPECT_TRUE(expected == bytes_of(whole)) << i << ", in " << pass;
        EXPECT_LT(last.resumed_directions, last.directions);
        EXPECT_GE(last.directions_done, last.resumed_directions);
        EXPECT_EQ(last.directions, (2 + 6 + 5) * 12 + 4 * 5 + 9 * 20 + 4 * 12 + 20);
    }
    EXPECT_THAT(passes, ::testing::UnorderedElementsAre(
                            "lamps", "sun", "point light", "spot light", "direct light", "bounce 1",
                            "bounce 2", "moment x", "moment y", "moment z", "probes"));
}

// Interrupting a bounce keeps the light before it, without the noise of a few directions.
TEST(Interruption, LeavesTheLightBeforeABounce) {
    const Prepared what = everything();
    BakeOptions options = all_passes();
    options.directional = false;
    const auto before = [&](std::uint32_t bounces) {
        BakeOptions fewer = options;
        fewer.bounces = bounces;
        return bytes_of(bake_by_reference(what, fewer));
    };
    const std::map<std::string, std::string> expected{{"bounce 1", before(0)},
                                                      {"bounce 2", before(1)}};
    std::string pass;
    std::uint32_t bounces = 0;
    // So many steps that several fall into the bounces.
    const std::uint32_t step = count_asks(what, options) / 40;
    for (std::uint32_t k = 0;; k += step) {
        const auto one = make_reference_tracer(what.traced, what.tiles, 1);
        const BakeResult cut = bake_with(*one, what, options, interrupting(k, &pass));
        if (!cut.interrupted) {
            break;
        }
        const auto here = expected.find(pass);
        if (here != expected.end()) {
            ++bounces;
            EXPECT_TRUE(bytes_of(cut) == here->second) << k << ", in " << pass;
        }
    }
    EXPECT_GT(bounces, 1U);
}

}  // namespace
}  // namespace quadtile::baker::test
