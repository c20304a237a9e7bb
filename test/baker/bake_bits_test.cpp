// The same bake gives the same bits: on all tracers, interrupted or not.

#include "bake_bytes.hpp"
#include "bake_fixture.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

namespace quadtile::baker::test {
namespace {

using quadtile::test::TemporaryDirectory;

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

class BakeBits : public BakeTest {
 protected:
    TemporaryDirectory directory_;
};

// A tracer is made for one scene, not for one bake.
TEST_F(BakeBits, AreThoseOfTheReference) {
    const Prepared what = everything(3.0F);
    const auto gpu = make_gpu_tracer(*gpu_, what.traced, what.tiles, {});
    const BakeOptions options = with_probes(all_passes());
    const std::string first = bytes_of(bake_with(*gpu, what, options));
    EXPECT_TRUE(first == bytes_of(bake_with(*gpu, what, options)));
    for (const std::uint32_t threads : {1U, 3U}) {
        const auto twin = make_reference_tracer(what.traced, what.tiles, threads);
        EXPECT_TRUE(first == bytes_of(bake_with(*twin, what, options))) << threads;
    }
    const BakeOptions masks{
        .directions = 4, .bounces = 0, .sun_directions = 12, .sun_shares = true};
    EXPECT_TRUE(bytes_of(bake_with(*gpu, what, masks)) == bytes_of(bake_by_reference(what, masks)));
    BakeOptions other = all_passes();
    other.seed = 2;
    EXPECT_FALSE(first == bytes_of(bake_by_reference(what, other)));
}

// Work without room is done in parts: no light is lost.
TEST_F(BakeBits, DoNotDependOnMemory) {
    Prepared what = everything(5.0F);
    what.tiles.max_nodes = 1e6F;
    what.tiles.max_resolution = 512.0F;
    const BakeOptions options{.directions = 20, .bounces = 1, .sun_directions = 12};
    const std::string expected = bytes_of(bake_by_reference(what, options));
    for (const std::uint64_t kib : {256U, 1024U}) {
        const auto gpu =
            make_gpu_tracer(*gpu_, what.traced, what.tiles, {.pool_bytes = kib << 10U});
        EXPECT_TRUE(expected == bytes_of(bake_with(*gpu, what, options))) << kib;
        EXPECT_LE(gpu->statistics().most_pool_bytes, kib << 10U);
        if (kib == 256) {
            EXPECT_GT(gpu->statistics().split_tiles, 0U);
        }
    }
}

// A stray vertex makes the scene many times larger than all else in it: what is resolved of the
// rest may not depend on that. Without maps of map texels tiles have 16384 pixels on a side.
TEST_F(BakeBits, AreThoseOfTheReferenceWithAFarVertex) {
    const auto corner = [](float height) {
        Quads quads(2, 2, 6);
        quads.add_material({});
        quads.add({0, 0, 0}, Z, X);
        quads.add({0, 0, 0}, X, Y);
        quads.scene.positions.back().y = height;
        quads.add({0.25F, 0.5F, 0.25F}, 0.25F * X, 0.25F * Z,
                  quads.add_material({.emission = glm::vec3(5.0F)}));
        Prepared what(quads.scene, quads.extent());
        what.sky.radiance = {0.5F, 0.75F, 1.0F};
        what.tiles.max_resolution = 64.0F;
        return std::pair(what, quads.texels(0));
    };
    const BakeOptions options{.directions = 16, .bounces = 0};
    const auto [near, floor] = corner(1e2F);
    const LightMap expected = bake_by_gpu(near, options).map;
    for (const float height : {1e4F, 5e6F}) {
        const Prepared far = corner(height).first;
        const BakeResult result = bake_by_gpu(far, options);
        EXPECT_TRUE(bytes_of(result) == bytes_of(bake_by_reference(far, options)));
        double difference = 0.0;
        for (const std::size_t texel : floor) {
            EXPECT_EQ(result.map.known[texel], 1);
            difference += double{result.map.irradiance[texel].x - expected.irradiance[texel].x};
        }
        EXPECT_NEAR(difference / static_cast<double>(floor.size()), 0.0, 0.05) << height;
    }
}

// ---- Interruption

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

// Returns the passes in which a bake by the reference asks whether it is interrupted, by ask.
std::vector<std::string> asks_of(const Prepared& what, const BakeOptions& options) {
    std::vector<std::string> asks;
    std::string pass;
    const auto twin = make_reference_tracer(what.traced, what.tiles, 1);
    (void)bake_with(*twin, what, options,
                    {.progress = [&](const BakeProgress& progress) { pass = progress.pass; },
                     .interrupted =
                         [&] {
                             asks.push_back(pass);
                             return false;
                         }});
    return asks;
}

// Returns two asks of each pass whose name begins so.
std::vector<std::uint32_t> two_of_each(const std::vector<std::string>& asks,
                                       const std::string& begin) {
    std::map<std::string, std::vector<std::uint32_t>> of_passes;
    for (std::uint32_t k = 0; k < asks.size(); ++k) {
        of_passes[asks[k]].push_back(k);
    }
    std::vector<std::uint32_t> chosen;
    for (const auto& [pass, of_pass] : of_passes) {
        if (pass.starts_with(begin)) {
            chosen.push_back(of_pass[of_pass.size() / 3]);
            chosen.push_back(of_pass[2 * of_pass.size() / 3]);
        }
    }
    return chosen;
}

// Each time another bake, interrupted somewhere else, also within a direction, and resumed by
// another tracer.
TEST_F(BakeBits, AreThoseOfAnInterruptedBake) {
    const Prepared what = everything();
    BakeOptions options = with_probes(all_passes());
    const std::string expected = bytes_of(bake_by_reference(what, options));
    options.checkpoint = directory_.path() / "checkpoint";
    std::set<std::string> passes;
    std::uint32_t i = 0;
    for (const std::uint32_t k : two_of_each(asks_of(what, options), "")) {
        options.resume = false;
        options.checkpoint_interval = std::chrono::seconds(++i % 2 == 0 ? 0 : 3600);
        std::string pass;
        const auto one = make_reference_tracer(what.traced, what.tiles, 1);
        const BakeResult cut = bake_with(*one, what, options, interrupting(k, &pass));
        EXPECT_TRUE(cut.interrupted);
        passes.insert(pass);
        EXPECT_FALSE(expected == bytes_of(cut));
        EXPECT_THAT(cut.map.radiance_sh[0], ::testing::IsEmpty());
        options.resume = true;
        std::uint64_t resumed = 0;
        std::uint64_t all = 0;
        const BakeWatcher watcher{.progress = [&](const BakeProgress& progress) {
            resumed = progress.resumed_directions;
            all = progress.directions;
            EXPECT_GE(progress.directions_done, resumed);
        }};
        const BakeResult whole = i % 16 == 7 ? bake_by_gpu(what, options, watcher)
                                             : bake_by_reference(what, options, watcher);
        EXPECT_FALSE(whole.interrupted);
        EXPECT_TRUE(expected == bytes_of(whole)) << i << ", in " << pass;
        EXPECT_LT(resumed, all);
        EXPECT_EQ(all, (2 + 6 + 5) * 12 + 4 * 5 + 9 * 20 + 4 * 12 + 20);
    }
    EXPECT_THAT(passes, ::testing::UnorderedElementsAre(
                            "lamps", "sun", "point light", "spot light", "direct light", "bounce 1",
                            "bounce 2", "moment x", "moment y", "moment z", "probes"));
}

// Catches passes of more directions that are forgotten, begin anew or count in part.
TEST_F(BakeBits, AreThoseOfAnInterruptedBakeUntilANoise) {
    std::map<std::string, std::uint32_t> passes;
    const auto check = [&](const Prepared& what, BakeOptions options) {
        const BakeResult expected = bake_by_reference(what, options);
        EXPECT_LE(*expected.noise, options.noise);
        options.checkpoint = directory_.path() / "checkpoint";
        std::uint32_t i = 0;
        for (const std::uint32_t k : two_of_each(asks_of(what, options), "more")) {
            options.resume = false;
            std::string pass;
            const auto one = make_reference_tracer(what.traced, what.tiles, 1);
            const BakeResult cut = bake_with(*one, what, options, interrupting(k, &pass));
            EXPECT_TRUE(cut.interrupted);
            EXPECT_GT(*cut.noise, options.noise);
            ++passes[pass];
            options.resume = true;
            const BakeResult whole =
                ++i % 4 == 3 ? bake_by_gpu(what, options) : bake_by_reference(what, options);
            EXPECT_TRUE(bytes_of(expected) == bytes_of(whole)) << i << ", in " << pass;
        }
    };
    BakeOptions options = all_passes();
    options.noise = 0.06;
    check(everything(), options);
    const Quads dark = small_room();  // but for its lamp
    options.noise = 0.01;
    options.bounces = 0;
    check(Prepared(dark.scene, dark.extent()), options);
    EXPECT_GT(passes["more direct"], 0U);
    EXPECT_GT(passes["more of lamps"], 0U);
    EXPECT_GT(passes["more bounces"], 0U);
}

// Interrupting a bounce keeps the light before it, without the noise of a few directions.
TEST_F(BakeBits, InterruptedBouncesDoNotCount) {
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
    const auto step = static_cast<std::uint32_t>(asks_of(what, options).size() / 80);
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
    EXPECT_GT(bounces, 2U);
}

}  // namespace
}  // namespace quadtile::baker::test
