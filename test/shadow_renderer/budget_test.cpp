// No pixel without shadow data, whatever the budget; and what the budget is worth, beside that of
// other techniques.

#include "studio.hpp"

#include <gmock/gmock.h>

#include <cstdio>

namespace quadtile::shadow {
namespace {

constexpr ShadowOptions BUDGET_BASE{.lights = 2,
                                    .map_extent = 256,
                                    .atlas_extent = 256,
                                    .tile_extent = 64,
                                    .gutter = 1,
                                    .max_tiles = 1024,
                                    .importance_decay = 0.0F,  // its cameras jump
                                    .resolution_scale = 2.0F};

// Each tile has a slot in the atlas that is its own, each texel of the map a tile that covers it.
void expect_slots_for_all(const ShadowOptions& options, const Studio::Fit& fit) {
    ASSERT_EQ(fit.tiles.size(), fit.header.tiles);
    std::vector<bool> is_taken(std::size_t{options.atlas_extent} * options.atlas_extent);
    for (const ShadowTile& tile : fit.tiles) {
        const std::uint32_t extent = shadow_slot_extent(options.tile_extent, tile.state & 0xffU);
        const std::uint32_t left = tile.slot & 0xffffU;
        const std::uint32_t top = tile.slot >> 16U;
        ASSERT_LE(left + extent, options.atlas_extent);
        ASSERT_LE(top + extent, options.atlas_extent);
        for (std::uint32_t y = top; y < top + extent; ++y) {
            for (std::uint32_t x = left; x < left + extent; ++x) {
                const std::size_t texel = std::size_t{y} * options.atlas_extent + x;
                ASSERT_FALSE(is_taken[texel]) << "two slots at " << x << ", " << y;
                is_taken[texel] = true;
            }
        }
    }
    const std::size_t layer = std::size_t{options.map_extent} * options.map_extent;
    ASSERT_EQ(fit.page_table.size(), layer * options.lights);
    for (std::size_t i = 0; i < fit.page_table.size(); ++i) {
        const std::uint32_t index = shadow_page_tile(fit.page_table[i]);
        ASSERT_LT(index, fit.tiles.size());
        const ShadowTile& tile = fit.tiles[index];
        const std::uint32_t level = tile.node & 0xffU;
        ASSERT_EQ(tile.node >> 16U, i / layer);
        ASSERT_EQ(tile.position & 0xffffU, i % options.map_extent >> level);
        ASSERT_EQ(tile.position >> 16U, i % layer / options.map_extent >> level);
    }
}

TEST_F(ShadowRenderer, HasShadowsForAllPixelsAtAnyBudget) {
    const Film film = city_film(4000);
    const Camera camera = film.flight.at(3.3F);
    const FrameSettings settings{.camera = camera, .lights = {side_sun(), spot_at(camera)}};
    Studio studio(film.geometry, SMALL_PICTURE, BUDGET_BASE);
    double least = 1.0;
    for (const std::uint32_t atlas_extent : {64U, 256U, 2048U}) {
        double coarser = 0.3;
        for (const std::uint32_t max_tiles : {2U, 5U, 17U, 100U, 1000U}) {
            SCOPED_TRACE(testing::Message() << max_tiles << " tiles, atlas of " << atlas_extent);
            ShadowOptions options = BUDGET_BASE;
            options.atlas_extent = atlas_extent;
            options.max_tiles = max_tiles;
            studio.configure(options);
            // What is not drawn is dark,
            studio.forget(settings, 0.0F);
            const double wrong = share_wrong(studio.compare(settings));
            const Studio::Fit fit = studio.fit();
            EXPECT_LE(fit.header.tiles, max_tiles);
            expect_slots_for_all(options, fit);
            const std::vector<std::uint32_t> mask = studio.mask();
            // or lit: but all is drawn.
            studio.forget(settings, 1.0F);
            studio.draw(settings);
            EXPECT_TRUE(mask == studio.mask());
            std::printf("atlas %4u, %4u tiles: %5.2f %% of the pixels are wrong\n", atlas_extent,
                        fit.header.tiles, 100.0 * wrong);
            EXPECT_LE(wrong, coarser);
            coarser = 1.1 * wrong + 0.005;  // five tiles may fit worse than two, by chance
            least = wrong;
        }
    }
    EXPECT_LT(least, 0.01);
}

TEST_F(ShadowRenderer, HasShadowsForAllPixelsWithOneTile) {
    const Film film = city_film(4000);
    ShadowOptions options = BUDGET_BASE;
    options.lights = 1;
    options.max_tiles = 1;
    for (const std::uint32_t atlas_extent : {64U, 1024U}) {
        options.atlas_extent = atlas_extent;
        Studio studio(film.geometry, SMALL_PICTURE, options);
        for (const Camera& camera : film.cameras(4)) {
            const FrameSettings settings{.camera = camera, .lights = {side_sun()}};
            studio.forget(settings, 0.0F);
            EXPECT_LT(share_wrong(studio.compare(settings)), 0.3);
            const Studio::Fit fit = studio.fit();
            EXPECT_EQ(fit.header.tiles, 1U);
            expect_slots_for_all(options, fit);
            const std::vector<std::uint32_t> mask = studio.mask();
            studio.forget(settings, 1.0F);
            studio.draw(settings);
            EXPECT_TRUE(mask == studio.mask());
        }
    }
}

// ---- Other techniques

double mean_share_wrong(Studio& studio, const Film& film, Technique technique) {
    constexpr std::uint32_t FRAMES = 12;
    double sum = 0.0;
    for (const Camera& camera : film.cameras(FRAMES)) {
        sum += share_wrong(
            studio.compare({.technique = technique, .camera = camera, .lights = {side_sun()}}));
    }
    return sum / FRAMES;
}

TEST_F(ShadowRenderer, IsNearerToRaysThanOtherTechniquesOfTheSameMemory) {
    const Film film = city_film(20000);
    for (const std::uint32_t atlas_extent : {256U, 512U, 1024U}) {
        SCOPED_TRACE(atlas_extent);
        ShadowOptions options = BUDGET_BASE;
        options.lights = 1;
        options.atlas_extent = atlas_extent;
        Studio studio(film.geometry, {320, 180}, options);
        const double fitted = mean_share_wrong(studio, film, Technique::fitted);
        const double single = mean_share_wrong(studio, film, Technique::single);
        const double cascades = mean_share_wrong(studio, film, Technique::cascades);
        const double stable = mean_share_wrong(studio, film, Technique::stable_cascades);
        std::printf(
            "atlas %4u: %5.2f %% wrong; one map %5.2f %%, cascades %5.2f %%, stable %5.2f %%\n",
            atlas_extent, 100.0 * fitted, 100.0 * single, 100.0 * cascades, 100.0 * stable);
        EXPECT_LT(fitted, 0.5 * single);
        EXPECT_LT(fitted, cascades);
        EXPECT_LT(fitted, stable);
        EXPECT_LT(stable, single);
    }
}

}  // namespace
}  // namespace quadtile::shadow
