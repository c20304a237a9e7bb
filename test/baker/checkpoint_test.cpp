// Bakes that are interrupted, and checkpoints that are not what they should be. That bakes go on to
// the same bits is in random cases (test/random), too.

#include "quads.hpp"

#include "checkpoint.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

namespace quadtile::baker::test {
namespace {

using quadtile::test::read_file;
using ::testing::HasSubstr;

BakeState filled(std::size_t texels) {
    BakeState state{
        .fingerprint = 0x123456789abcdefU, .pass = 3, .directions_done = 17, .tiles_done = 5};
    state.more = {1, 0, 1};
    state.direct.assign(texels, {1.0F, 2.0F, -0.0F});
    state.known.assign(texels, 1);
    state.half.assign(texels, 6.0F);
    state.moments = {state.direct, {}, state.direct};
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
    const auto save = [&](const std::string& name, std::size_t texels) {
        write_checkpoint(directory_.path() / name, filled(texels), texels,
                         [](std::size_t, std::span<Accumulator> sums) {
                             std::ranges::fill(sums, Accumulator());
                         });
    };
    save("whole", 9);
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
    EXPECT_THROW((void)read_checkpoint(directory_.path()), std::runtime_error);
    EXPECT_THROW(save("", 1), std::runtime_error);
    EXPECT_THROW(save("none/x", 1), std::runtime_error);
}

// What a bake is made from.
struct Whole {
    Scene scene;
    BakeOptions options;
    Extent extent;
    float pixels_per_texel = 1.0F;
    Sky sky{.radiance = glm::vec3(1.0F)};
    TileOptions tiles{.map_extent = 32, .max_resolution = 16.0F, .max_nodes = 2048.0F};

    [[nodiscard]] bool is_interrupted(bool stops) const {
        Prepared what(scene, extent, pixels_per_texel);
        what.sky = sky;
        what.tiles = tiles;
        return bake_by_reference(what, options, {.interrupted = [=] { return stops; }}).interrupted;
    }
};

// Catches values beyond the first ones that do not count, or of which an order does not.
TEST(Fingerprint, DependsOnEachValue) {
    std::set<std::uint64_t> found;
    std::vector<std::uint32_t> values(700'000);
    const auto add = [&] {
        Fingerprint fingerprint;
        fingerprint.add_all(values);
        EXPECT_TRUE(found.insert(fingerprint.value()).second);
    };
    add();
    for (const std::size_t place : {0U, 262'143U, 262'144U, 600'000U, 699'999U}) {
        values[place] = 1;
        add();
        values[place] = 0;
    }
    values.pop_back();
    add();
}

// A checkpoint of a bake that differs in anything is refused.
TEST_F(CheckpointTest, FitsOneBakeOnly) {
    const Quads room = small_room();
    Whole first{.scene = room.scene,
                .options = {.directions = 8,
                            .bounces = 1,
                            .sun_directions = 4,
                            .checkpoint = directory_.path() / "some.checkpoint"},
                .extent = room.extent()};
    first.scene.suns = {{.direction = {0, -1, 0}, .irradiance = glm::vec3(1.0F)}};
    first.scene.point_lights = {
        {.position = {1, 1, 1}, .intensity = glm::vec3(1.0F), .is_spot = true}};
    EXPECT_TRUE(first.is_interrupted(true));
    first.options.resume = true;
    EXPECT_TRUE(first.is_interrupted(true));
    using W = Whole;
    void (*const changes[])(Whole&) = {
        [](W& w) { w.options.directions = 9; },
        [](W& w) { w.options.bounces = 2; },
        [](W& w) { w.options.sun_directions = 5; },
        [](W& w) { w.options.seed = 2; },
        [](W& w) { w.options.noise = 0.1; },
        [](W& w) { w.options.directional = true; },
        [](W& w) { w.options.light_shares = true; },
        [](W& w) { w.scene.positions[5].x += 0.001F; },
        [](W& w) { w.scene.light_map_coordinates[5].x += 0.001F; },
        [](W& w) { w.scene.materials[0].albedo.g = 0.61F; },
        [](W& w) { w.scene.materials[2].emission.g = 4.01F; },
        [](W& w) { w.scene.materials[3].double_sided = false; },
        [](W& w) { std::ranges::reverse(w.scene.triangles[7].vertices); },
        [](W& w) { w.scene.suns[0].irradiance.b = 0.99F; },
        [](W& w) { w.scene.suns[0].direction = -Z; },
        [](W& w) { w.scene.suns[0].angular_diameter_degrees = 1.0F; },
        [](W& w) { w.scene.suns.clear(); },
        [](W& w) { w.scene.point_lights[0].position.x = 1.01F; },
        [](W& w) { w.scene.point_lights[0].intensity.b = 0.99F; },
        [](W& w) { w.scene.point_lights[0].radius = 0.01F; },
        [](W& w) { w.scene.point_lights[0].range = 100.0F; },
        [](W& w) { w.scene.point_lights[0].is_spot = false; },
        [](W& w) { w.scene.point_lights[0].direction = -Y; },
        [](W& w) { w.scene.point_lights[0].inner_angle = 0.1F; },
        [](W& w) { w.scene.point_lights[0].outer_angle = 0.7F; },
        [](W& w) { w.sky.radiance.r = 2.0F; },
        [](W& w) { w.tiles.map_extent = 64; },
        [](W& w) { w.tiles.max_resolution = 17.0F; },
        [](W& w) { w.tiles.max_nodes = 2047.0F; },
        [](W& w) { w.pixels_per_texel = 1.5F; },
        [](W& w) {
            w.extent = {64, 64};
        }};
    for (const auto& change : changes) {
        Whole other = first;
        change(other);
        EXPECT_THAT([&] { (void)other.is_interrupted(false); },
                    ::testing::ThrowsMessage<std::runtime_error>(
                        HasSubstr("some.checkpoint' belongs to another bake")))
            << "change " << &change - changes;
    }
    EXPECT_FALSE(first.is_interrupted(false));
}

// ---- Interruption

// Everything that a bake can have.
Prepared everything() {
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
    Prepared what(room.scene, room.extent());
    what.sky.radiance = {0.5F, 0.75F, 1.0F};
    return what;
}

// Catches a pass that cannot be interrupted or is counted wrongly, and one that begins anew or
// counts in part when the bake goes on. An interrupted bounce leaves the light before it, without
// the noise of a few directions.
TEST(Interruption, MayBeInEachPass) {
    const quadtile::test::TemporaryDirectory directory;
    const Prepared what = everything();
    BakeOptions options{
        .directions = 20, .sun_directions = 12, .lamp_points = 4, .directional = true};
    const auto bake = [&](const BakeWatcher& watcher = {}) {
        return bake_with(*make_reference_tracer(what.traced, what.tiles, 1), what, options,
                         watcher);
    };
    std::map<std::string, std::vector<glm::vec3>> before;
    for (options.bounces = 0; options.bounces < 2; ++options.bounces) {
        before["bounce " + std::to_string(options.bounces + 1)] = bake().map.irradiance;
    }
    // In the room, above the lamp, in the block, behind the panel, and outside.
    options.probes = {{1.0F, 1.0F, 1.0F},
                      {1.5F, 1.9F, 1.5F},
                      {0.8F, 0.5F, 1.8F},
                      {2.6F, 1.0F, 1.5F},
                      {1.0F, 3.0F, 1.0F}};
    std::uint32_t asks = 0;
    const std::string expected = bytes_of(bake({.interrupted = [&] {
        ++asks;
        return false;
    }}));
    options.checkpoint = directory.path() / "checkpoint";
    options.checkpoint_interval = std::chrono::seconds(3600);  // none but when it ends
    std::set<std::string> passes;
    constexpr std::uint32_t INTERRUPTIONS = 24;
    for (std::uint32_t i = 0; i < INTERRUPTIONS; ++i) {
        options.resume = false;
        std::string pass;
        std::uint32_t left = i + 1 < INTERRUPTIONS ? i * asks / INTERRUPTIONS : asks - 10;
        const BakeResult cut =
            bake({.progress = [&](const BakeProgress& progress) { pass = progress.pass; },
                  .interrupted = [&] { return left-- == 0; }});
        EXPECT_TRUE(cut.interrupted);
        EXPECT_FALSE(expected == bytes_of(cut));
        EXPECT_THAT(cut.map.radiance_sh[0], ::testing::IsEmpty());
        passes.insert(pass);
        EXPECT_TRUE(!before.contains(pass) || cut.map.irradiance == before[pass]) << i;
        options.resume = true;
        BakeProgress last;
        const BakeResult whole = bake({.progress = [&](const auto& now) { last = now; }});
        EXPECT_TRUE(expected == bytes_of(whole)) << i << ", in " << pass;
        EXPECT_LT(last.resumed_directions, last.directions);
        EXPECT_GE(last.directions_done, last.resumed_directions);
        EXPECT_EQ(last.directions, (2 + 6) * 12 + 5 + 4 * 5 + 9 * 20 + 3 * 12 + 1 + 20);
    }
    EXPECT_THAT(passes, ::testing::UnorderedElementsAre(
                            "lamps", "sun", "point light", "spot light", "direct light", "bounce 1",
                            "bounce 2", "moment x", "moment y", "moment z", "probes"));
}

}  // namespace
}  // namespace quadtile::baker::test
