// The CPU twin from frame to frame: what each frame must be, budgets, hysteresis, what is drawn
// again, and culling.

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include "../support/errors.hpp"
#include "scene.hpp"
#include "twin_checks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

namespace quadtile {
namespace {

using reference::ShadowFitter;
using test::Pinhole;
using Result = ShadowFitter::Result;

constexpr VkExtent2D PICTURE{96, 54};

ShadowOptions small_options() {
    return test::with_small_tiles(
        {.lights = 2, .map_extent = 64, .atlas_extent = 256, .max_tiles = 64});
}

// The sun, then spot lights around.
std::vector<ShadowProjection> lights_of(const ShadowOptions& options) {
    std::vector<ShadowProjection> lights{
        directional_shadow_projection({0.4F, -1.0F, 0.3F}, {{-10, 0, -10}, {10, 3, 10}})};
    while (lights.size() < options.lights) {
        const auto angle = static_cast<float>(lights.size());
        const std::array<float, 3> position{9 * std::cos(angle), 8, 9 * std::sin(angle)};
        lights.push_back(
            spot_shadow_projection(position, {-position[0], -8, -position[2]}, 80, 0.5F, 40));
    }
    return lights;
}

// At an angle around the spheres, in radians.
Pinhole camera_at(double angle, double distance = 11.0) {
    return {.eye = {distance * std::sin(angle), 4.0, distance * std::cos(angle)},
            .target = {0, 0.5, 0}};
}

// A fitter whose frames are all checked.
class CheckedFitter {
 public:
    explicit CheckedFitter(const ShadowOptions& options)
        : lights(lights_of(options)),
          options_(options),
          fitter_(options),
          atlas_(test::empty_atlas(options)) {}

    const Result& next(const ShadowView& view, const std::vector<float>& depth,
                       const std::vector<ShadowChange>& changes = {}) {
        const ShadowFrame frame = make_shadow_frame(options_, view, PICTURE, lights);
        const Result last = result_;
        result_ = fitter_.next(frame, depth, atlas_, changes);
        test::check_shadow_frame(options_, frame_, last, frame, result_, changes);
        frame_ = frame;
        return result_;
    }
    const Result& next(const Pinhole& camera, const std::vector<ShadowChange>& changes = {}) {
        return next(camera.view(), test::depth_buffer(camera), changes);
    }

    [[nodiscard]] const ShadowFitter& fitter() const { return fitter_; }

    std::vector<ShadowProjection> lights;  // of the next frame

 private:
    ShadowOptions options_;
    ShadowFitter fitter_;
    std::vector<float> atlas_;
    ShadowFrame frame_{};
    Result result_;
};

std::uint32_t changes(const Result& result) {
    return result.header.added + result.header.removed + result.header.resized;
}

// Each pixel's depth on its own: the wildest of maps.
std::vector<float> random_depths(std::mt19937& random) {
    std::vector<float> depths;
    for (std::uint32_t i = 0; i < PICTURE.width * PICTURE.height; ++i) {
        // Reversed: the nearest plane at 0.1 over distances of 8 to 14.
        depths.push_back(0.1F / std::uniform_real_distribution<float>(8, 14)(random));
    }
    return depths;
}

TEST(ShadowTwin, KeepsAnyBudget) {
    struct Budget {
        std::uint32_t lights;
        std::uint32_t max_tiles;
        std::uint32_t atlas_extent;
    };
    for (const auto& [lights, max_tiles, atlas_extent] : {Budget{1, 1, 64},
                                                          {1, 65535, 64},
                                                          {2, 3, 128},
                                                          {3, 40, 128},
                                                          {1, 65535, 1024},
                                                          {16, 16, 64}}) {
        SCOPED_TRACE(testing::Message()
                     << lights << " lights, " << max_tiles << " tiles, atlas of " << atlas_extent);
        ShadowOptions options = small_options();
        options.lights = lights;
        options.max_tiles = max_tiles;
        options.atlas_extent = atlas_extent;
        CheckedFitter run(options);
        CheckedFitter wild(options);
        std::mt19937 random(1);
        for (int i = 0; i < 5; ++i) {
            run.next(camera_at(0.15 * i, 11.0 - i));
            wild.next(camera_at(0.1 * i).view(), random_depths(random));
        }
    }
}

TEST(ShadowTwin, TheFactorIsTheLeastOfAll) {
    const ShadowOptions options =
        test::with_small_tiles({.map_extent = 16, .atlas_extent = 128, .max_tiles = 20});
    ShadowFitter fitter(options);
    const std::vector<float> atlas = test::empty_atlas(options);
    const std::vector<ShadowProjection> lights = lights_of(options);
    std::mt19937 random(2);
    Result last;
    ShadowFrame last_frame{};
    for (int i = 0; i < 4; ++i) {
        const ShadowFrame frame =
            make_shadow_frame(options, camera_at(0.2 * i).view(), PICTURE, lights);
        const Result result = fitter.next(frame, random_depths(random), atlas);
        EXPECT_GT(result.header.factor_index, 0U);
        for (std::uint32_t factor = 0; factor < result.header.factor_index; ++factor) {
            EXPECT_FALSE(
                test::fits_budgets(options, last_frame, last, frame, result.importance, factor));
        }
        last = result;
        last_frame = frame;
    }
}

TEST(ShadowTwin, WithoutBudgetsAllIsAsFineAsNeeded) {
    ShadowOptions options = small_options();
    options.max_tiles = 65535;
    options.atlas_extent = 1024;
    CheckedFitter run(options);
    const Result& result = run.next(camera_at(0.0));
    EXPECT_EQ(result.header.factor_index, 0U);
    EXPECT_GT(result.header.tiles, 10U);
    std::set<std::uint32_t> classes;
    for (const ShadowTile& tile : result.tiles) {
        classes.insert(tile.state & 0xffU);
        // Texels of the atlas across a texel of the map are those needed, but for texels.
        const double core = (4U << (tile.state & 0xffU)) - 2.0;
        if ((tile.node & 0xffU) > 0) {
            EXPECT_LE(tile.importance, core / std::exp2(tile.node & 0xffU));
        }
    }
    EXPECT_GE(classes.size(), 4U);
}

TEST(ShadowTwin, AnEmptyDepthBufferLeavesOneTileForEachLight) {
    ShadowOptions options = small_options();
    options.importance_decay = 0.0F;
    CheckedFitter run(options);
    const std::vector<float> nothing(PICTURE.width * PICTURE.height, 0.0F);
    for (int i = 0; i < 3; ++i) {
        const Result& result = run.next(camera_at(0.0).view(), nothing);
        ASSERT_EQ(result.tiles.size(), 2U);
        for (const ShadowTile& tile : result.tiles) {
            EXPECT_EQ(tile.state & 0xffU, 0U);
            EXPECT_EQ(tile.node & 0xffU, 6U);
        }
        EXPECT_EQ(result.header.factor_index, 0U);
        run.next(camera_at(0.0));
    }
}

// A pixel of a depth buffer, and how its depth must change to the next.
struct Pixel {
    std::uint32_t column;
    std::uint32_t row;
    float by_column;
    float by_row;
};

// The map that these pixels make, and no others; of them those that ask.
std::vector<float> map_of(const ShadowOptions& options, const ShadowFrame& frame,
                          const std::vector<float>& depths, const std::vector<Pixel>& pixels) {
    std::vector<float> map(std::size_t{options.map_extent} * options.map_extent);
    for (const Pixel& pixel : pixels) {
        if (!shadow_takes_pixel(pixel.column, pixel.row, SHADOW_REQUEST_STRIDE)) {
            continue;
        }
        const ShadowRequest request = shadow_request(
            shadow_parameters(options), frame.lights[0], pixel.column, pixel.row,
            depths[pixel.row * frame.depth_width + pixel.column], pixel.by_column, pixel.by_row);
        EXPECT_EQ(request.inside, 1U);
        float& texel = map[request.y * options.map_extent + request.x];
        texel = std::max(texel, request.importance);
    }
    return map;
}

TEST(ShadowTwin, MissingNeighboursAreLeftOut) {
    ShadowOptions options = small_options();
    options.lights = 1;
    const Pinhole camera{
        .eye = {0, 10, 0}, .target = {0, 0, -0.1}, .tangent = 0.5, .width = 1, .height = 1};
    const float d = 0.01F;  // the ground
    const float a = d + 0x1p-15F;
    const float b = d + 0x1p-13F;
    // At sixteen places with background before, so that each pixel asks at one of them.
    const auto importance_of = [&](VkExtent2D extent, const std::vector<float>& depths,
                                   const std::vector<Pixel>& pixels) {
        for (std::uint32_t place = 0; place < 16; ++place) {
            const std::uint32_t right = place % 4;
            const std::uint32_t down = place / 4;
            const VkExtent2D around{extent.width + right, extent.height + down};
            std::vector<float> placed(around.width * around.height, 0.0F);
            for (std::size_t i = 0; i < depths.size(); ++i) {
                placed[(down + i / extent.width) * around.width + right + i % extent.width] =
                    depths[i];
            }
            std::vector<Pixel> moved = pixels;
            for (Pixel& pixel : moved) {
                pixel.column += right;
                pixel.row += down;
            }
            const ShadowFrame frame =
                make_shadow_frame(options, camera.view(), around, lights_of(options));
            ShadowFitter fitter(options);
            EXPECT_EQ(fitter.next(frame, placed, test::empty_atlas(options)).importance,
                      map_of(options, frame, placed, moved));
        }
    };
    importance_of({1, 1}, {d}, {{0, 0, 0.0F, 0.0F}});
    importance_of({3, 1}, {d, a, 0.0F}, {{0, 0, a - d, 0.0F}, {1, 0, a - d, 0.0F}});
    importance_of({3, 1}, {0.0F, d, 0.0F}, {{1, 0, 0.0F, 0.0F}});
    importance_of({4, 1}, {d, a, b, 0.0F},
                  {{0, 0, a - d, 0.0F}, {1, 0, a - d, 0.0F}, {2, 0, b - a, 0.0F}});
    importance_of({1, 4}, {b, a, d, 0.0F},
                  {{0, 0, 0.0F, a - b}, {0, 1, 0.0F, d - a}, {0, 2, 0.0F, d - a}});
    importance_of({2, 2}, {d, 0.0F, a, b},
                  {{0, 0, 0.0F, a - d}, {0, 1, b - a, a - d}, {1, 1, b - a, 0.0F}});
}

// A plane that the camera looks straight down on, under a sun overhead: all pixels need the same.
class ShadowEdges : public testing::Test {
 protected:
    using Pixel = std::array<std::uint32_t, 2>;

    // Returns the needs by quad in units of what a pixel needs elsewhere, if the last frame's atlas
    // has shadows at these pixels alone. The map has more texels than the picture pixels.
    [[nodiscard]] std::vector<float> needs(std::span<const Pixel> shaded) const {
        const std::vector<float> depth(SIDE * SIDE, DEPTH);
        ShadowFitter fitter(options);
        std::vector<float> atlas = test::empty_atlas(options);
        const Result last = fitter.next(frame, depth, atlas);
        for (const Pixel& pixel : shaded) {
            atlas[atlas_texel(last, pixel)] = 0.0F;
        }
        const std::vector<float> map = fitter.next(frame, depth, atlas).importance;
        std::vector<float> needs;
        for (std::uint32_t i = 0; i < SIDE * SIDE; ++i) {
            const std::uint32_t x = i % SIDE / 2;
            const std::uint32_t y = i / SIDE / 2;
            const ShadowRequest request = shadow_request(parameters, frame.lights[0], 2 * x + y % 2,
                                                         2 * y + x % 2, DEPTH, 0.0F, 0.0F);
            EXPECT_EQ(request.inside, 1U);
            needs.push_back(map[request.y * options.map_extent + request.x] / request.importance);
        }
        return needs;
    }

    // Returns the texel of the atlas that shows a pixel.
    [[nodiscard]] std::size_t atlas_texel(const Result& result, const Pixel& pixel) const {
        const ShadowSight sight =
            shadow_sight(parameters, frame.lights[0], pixel[0], pixel[1], DEPTH, 0.0F, 0.0F);
        const auto texel = static_cast<std::size_t>(sight.y) * options.map_extent +
                           static_cast<std::size_t>(sight.x);
        const ShadowTile& tile = result.tiles[shadow_page_tile(result.page_table[texel])];
        const std::size_t column = shadow_atlas_texel(parameters, tile, sight.x,
                                                      tile.position & 0xffffU, tile.slot & 0xffffU);
        return std::size_t{shadow_atlas_texel(parameters, tile, sight.y, tile.position >> 16U,
                                              tile.slot >> 16U)} *
                   options.atlas_extent +
               column;
    }

    static constexpr std::uint32_t SIDE = 44;  // pixels, not whole blocks
    static constexpr float DEPTH = 0.1F / 6.0F;
    const ShadowOptions options = test::with_small_tiles(
        {.map_extent = 256, .atlas_extent = 2048, .max_tiles = 1000, .edge_scale = 4.0F});
    const ShadowParameters parameters = shadow_parameters(options);
    const Pinhole camera{
        .eye = {0, 6, 0}, .target = {0, 0, -0.001}, .tangent = 0.5, .width = 1, .height = 1};
    const ShadowFrame frame = make_shadow_frame(
        options, camera.view(), {SIDE, SIDE},
        std::array{directional_shadow_projection({0, -1, 0}, {{-3.5, 0, -3.5}, {3.5, 0, 3.5}})});
};

// Catches blocks that are not looked at or not made finer, and those that are for nothing.
TEST_F(ShadowEdges, MakeTheirBlocksFinerAndThoseAround) {
    const std::vector<float> ones(SIDE * SIDE, 1.0F);
    EXPECT_EQ(needs({}), ones);
    const Pixel beside{40, 20};  // not looked at; of its block (42, 20) is
    EXPECT_EQ(needs({&beside, 1}), ones);
    const Pixel shaded{42, 20};
    const std::vector<float> needed = needs({&shaded, 1});
    for (std::uint32_t i = 0; i < needed.size(); ++i) {
        const auto blocks = [](std::uint32_t pixel, std::uint32_t edge) {  // from the edge's
            return std::abs(static_cast<int>(pixel / SHADOW_EDGE_BLOCK) -
                            static_cast<int>(edge / SHADOW_EDGE_BLOCK));
        };
        const bool is_near = blocks(i % SIDE, 42) <= 1 && blocks(i / SIDE, 20) <= 1;
        EXPECT_EQ(needed[i], is_near ? 4.0F : 1.0F) << i;
    }
    // All in shadow: no edge.
    std::vector<Pixel> all;
    for (std::uint32_t i = 0; i < SIDE * SIDE; ++i) {
        all.push_back({i % SIDE, i / SIDE});
    }
    EXPECT_EQ(needs(all), ones);
}

TEST(ShadowTwin, BuffersOfTheWrongSizeAreRefused) {
    ShadowFitter fitter(small_options());
    const ShadowFrame frame = make_shadow_frame(small_options(), camera_at(0.0).view(), PICTURE,
                                                lights_of(small_options()));
    const auto error_of = [&](std::size_t depths, std::size_t texels) {
        return test::refusal_of([&] {
            return fitter.next(frame, std::vector<float>(depths), std::vector<float>(texels));
        });
    };
    using testing::HasSubstr;
    EXPECT_THAT(error_of(17, 0), AllOf(HasSubstr("17 values"), HasSubstr("5184")));
    EXPECT_THAT(error_of(5184, 17),
                AllOf(HasSubstr("the atlas has 17 depths"), HasSubstr("65536")));
}

TEST(ShadowHysteresis, AStaticSceneChangesNothing) {
    for (const std::uint32_t max_tiles : {20U, 1000U}) {
        ShadowOptions options = small_options();
        options.max_tiles = max_tiles;
        CheckedFitter run(options);
        run.next(camera_at(0.3));
        for (int i = 0; i < 3; ++i) {
            const Result& result = run.next(camera_at(0.3));
            EXPECT_EQ(changes(result), 0U);
            EXPECT_EQ(result.header.render_count, 0U);
            EXPECT_EQ(result.header.kept, result.header.tiles);
        }
    }
}

// Changes of 20 frames in which the camera swings a little.
std::uint32_t changes_of_swing(float merge_ratio) {
    ShadowOptions options = small_options();
    options.merge_ratio = merge_ratio;
    options.importance_decay = 0.0F;
    options.max_tiles = 65535;
    options.atlas_extent = 1024;
    CheckedFitter run(options);
    std::uint32_t sum = 0;
    for (int i = 0; i < 24; ++i) {
        const Result& result =
            run.next(camera_at(0.3 + 0.002 * std::sin(1.7 * i), 11.0 + 0.03 * std::sin(i)));
        sum += i < 4 ? 0 : changes(result);
    }
    return sum;
}

TEST(ShadowHysteresis, ASwingingCameraChangesLess) {
    const std::uint32_t without = changes_of_swing(1.0F);
    const std::uint32_t with = changes_of_swing(0.7F);
    EXPECT_GT(without, 20U);
    EXPECT_LT(with, without);
    RecordProperty("changes_without", static_cast<int>(without));
    RecordProperty("changes_with", static_cast<int>(with));
}

TEST(ShadowSlots, KeptTilesStayAndTheAtlasIsLaidOutAnewWhereItIsScattered) {
    ShadowOptions options = small_options();
    options.atlas_extent = 128;
    options.max_tiles = 200;
    options.atlas_fill = 1.0F;
    options.importance_decay = 0.9F;
    CheckedFitter run(options);
    int repacked = 0;
    int kept_all_slots = 0;
    for (int i = 0; i < 120; ++i) {
        const Result& result = run.next(test::camera_of_frame(3 * i));
        repacked += result.header.flags == SHADOW_REPACKED ? 1 : 0;
        kept_all_slots +=
            result.header.flags == 0 && result.header.kept > result.header.resized ? 1 : 0;
        if (i == 0) {
            EXPECT_EQ(result.header.flags, 0U);  // there is room for all in an empty one
        }
    }
    EXPECT_GE(repacked, 2);
    EXPECT_GE(kept_all_slots, 10);
}

TEST(ShadowRender, ALightThatMovesIsDrawnAgain) {
    CheckedFitter run(small_options());
    run.next(camera_at(0.0));
    run.next(camera_at(0.0));
    float& number = run.lights[1].clip_from_world[12];
    number = std::nextafter(number, 100.0F);
    const Result& result = run.next(camera_at(0.0));
    EXPECT_GT(result.header.render_count, 0U);
    EXPECT_LT(result.header.render_count, result.header.tiles);
    for (const ShadowTile& tile : result.tiles) {
        EXPECT_EQ((tile.state >> 8U & SHADOW_RENDER) != 0, tile.node >> 16U == 1);
    }
}

ShadowChange change_of(const ShadowBox& box, std::uint32_t light_mask) {
    ShadowChange change{};
    std::ranges::copy(box.low, change.low);
    std::ranges::copy(box.high, change.high);
    change.light_mask = light_mask;
    return change;
}

// Catches slots that show what has changed and are not drawn, and those that are drawn for nothing:
// CheckedFitter says it by itself, in doubles.
TEST(ShadowRender, WhatHasChangedIsDrawnAgain) {
    CheckedFitter run(small_options());
    run.next(camera_at(0.0));
    run.next(camera_at(0.0));
    std::set<std::uint32_t> counts;
    std::mt19937 random(4);
    const auto between = [&random](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    for (std::uint32_t i = 0; i < 40; ++i) {
        const float x = between(-9, 8);
        const float z = between(-9, 8);
        const ShadowBox box{{x, 0, z}, {x + between(0, 2), between(0, 3), z + between(0, 2)}};
        const Result& result = run.next(camera_at(0.0), {change_of(box, 1 + i % 3)});
        EXPECT_EQ(changes(result), 0U);
        EXPECT_GT(result.header.render_count, 0U);
        counts.insert(result.header.render_count);
    }
    EXPECT_GE(counts.size(), 4U);
    const auto drawn = [&run](const ShadowBox& box, std::uint32_t light_mask) {
        const Result& result = run.next(camera_at(0.0), {change_of(box, light_mask)});
        return std::pair(result.header.render_count, result.header.tiles);
    };
    const ShadowBox all{{-30, -30, -30}, {30, 30, 30}};
    EXPECT_EQ(drawn(all, 3).first, drawn(all, 3).second);
    EXPECT_EQ(drawn(all, 4).first, 0U);
    EXPECT_EQ(drawn({{1, 1, 1}, {0, 2, 2}}, 3).first, 0U);      // of no extent
    EXPECT_EQ(drawn({{100, 0, 0}, {101, 1, 1}}, 1).first, 0U);  // beside the sun's map
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(drawn({{nan, 0, 0}, {1, 1, 1}}, 3).first, drawn(all, 3).first);  // anywhere
}

ShadowObject object_of(const ShadowBox& box, std::uint32_t light_mask) {
    ShadowObject object{};
    std::ranges::copy(box.low, object.low);
    std::ranges::copy(box.high, object.high);
    object.light_mask = light_mask;
    return object;
}

TEST(ShadowCulling, ObjectsAreDrawnWhereTheyAreSeen) {
    CheckedFitter run(small_options());
    const Result& result = run.next(camera_at(0.0));
    std::mt19937 random(5);
    const auto between = [&random](float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random);
    };
    std::vector<ShadowObject> objects;
    for (std::uint32_t i = 0; i < 40; ++i) {
        const float x = between(-9, 8);
        const float z = between(-9, 8);
        objects.push_back(object_of(
            {{x, 0, z}, {x + between(0.2F, 2), between(0.2F, 3), z + between(0.2F, 2)}}, i % 4));
    }
    const auto drawn_in = run.fitter().cull(objects);
    ASSERT_EQ(drawn_in.size(), objects.size());
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        pairs += drawn_in[i].size();
        EXPECT_TRUE(std::ranges::is_sorted(drawn_in[i]));
        const std::set<std::uint32_t> tiles(drawn_in[i].begin(), drawn_in[i].end());
        std::set<std::uint32_t> lights;
        for (const std::uint32_t tile : tiles) {
            lights.insert(result.tiles[tile].node >> 16U);
        }
        for (const std::uint32_t light : lights) {
            EXPECT_TRUE(objects[i].light_mask >> light & 1U);
        }
        for (int sample = 0; sample < 500; ++sample) {
            const ShadowObject& box = objects[i];
            const test::Point inside{between(box.low[0], box.high[0]),
                                     between(box.low[1], box.high[1]),
                                     between(box.low[2], box.high[2])};
            for (std::uint32_t light = 0; light < 2; ++light) {
                const auto at = test::on_map(run.lights[light].clip_from_world, 64, inside);
                if ((objects[i].light_mask >> light & 1U) == 0 || at[0] < 0 || at[1] < 0 ||
                    at[0] >= 64 || at[1] >= 64) {
                    continue;
                }
                const std::size_t texel = (light * 64 + static_cast<std::size_t>(at[1])) * 64 +
                                          static_cast<std::size_t>(at[0]);
                EXPECT_TRUE(tiles.contains(result.page_table[texel] & 0xffffU));
            }
        }
    }
    EXPECT_LT(pairs, objects.size() * result.tiles.size() / 4);  // most are not
}

TEST(ShadowCulling, AroundALightAllTilesAreDrawnBehindItNone) {
    CheckedFitter run(small_options());
    const Result& first = run.next(camera_at(0.0));
    const std::vector<ShadowObject> objects{object_of({{-20, 0, -20}, {20, 30, 20}}, 2),
                                            object_of({{-20, 30, 6}, {20, 50, 40}}, 2)};
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < first.tiles.size(); ++i) {
        if (first.tiles[i].node >> 16U == 1) {
            expected.push_back(i);
        }
    }
    EXPECT_GT(expected.size(), 1U);
    EXPECT_EQ(run.fitter().cull(objects)[0], expected);
    EXPECT_TRUE(run.fitter().cull(objects)[1].empty());
    // Only what must be drawn is.
    run.next(camera_at(0.0));
    EXPECT_TRUE(run.fitter().cull(objects)[0].empty());
}

}  // namespace
}  // namespace quadtile
