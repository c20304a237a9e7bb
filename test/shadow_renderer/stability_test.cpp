// From frame to frame: what stands still stays as it is, what is kept is what would be drawn, and
// no frame needs the host.

#include "studio.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace quadtile::shadow {
namespace {

// Each frame by itself: without memory, and whatever edges the last one had.
constexpr ShadowOptions STABILITY_BASE{.lights = 2,
                                       .map_extent = 256,
                                       .atlas_extent = 1024,
                                       .max_tiles = 400,
                                       .importance_decay = 0.0F,
                                       .edge_scale = 1.0F};

TEST_F(ShadowRenderer, DrawsNothingWhereNothingMoves) {
    const Film film = city_film(4000);
    const Camera camera = film.flight.at(3.3F);
    const FrameSettings settings{.camera = camera, .lights = {side_sun(), spot_at(camera)}};
    for (const auto& [max_tiles, atlas_extent] : {std::pair(400U, 1024U), std::pair(40U, 256U)}) {
        SCOPED_TRACE(testing::Message() << max_tiles << " tiles, atlas of " << atlas_extent);
        ShadowOptions options = STABILITY_BASE;
        options.max_tiles = max_tiles;
        options.atlas_extent = atlas_extent;
        Studio studio(film.geometry, SMALL_PICTURE, options);
        studio.draw(settings);
        EXPECT_EQ(studio.fit().header.render_count, studio.fit().header.tiles);
        studio.draw(settings);
        const std::vector<std::uint32_t> second = studio.colours();
        for (int frame = 2; frame < 4; ++frame) {
            studio.draw(settings);
            EXPECT_EQ(studio.fit().header.render_count, 0U);
            EXPECT_TRUE(studio.colours() == second);
        }
        // So a picture comes from the slots as they were.
        studio.fill_atlas(0.0F);
        studio.draw(settings);
        EXPECT_FALSE(studio.colours() == second);
    }
}

// Finer edges are other edges, which ask for other tiles; that must come to an end.
TEST_F(ShadowRenderer, SettlesWhereNothingMoves) {
    const Film film = city_film(4000);
    const Camera camera = film.flight.at(3.3F);
    const FrameSettings settings{.camera = camera, .lights = {side_sun(), spot_at(camera)}};
    ShadowOptions options = STABILITY_BASE;
    options.max_tiles = 2000;
    options.importance_decay = 0.9F;
    options.edge_scale = 8.0F;
    Studio studio(film.geometry, SMALL_PICTURE, options);
    studio.draw(settings);
    const std::uint32_t tiles_at_first = studio.fit().header.tiles;
    studio.draw(settings);
    EXPECT_GT(studio.fit().header.tiles, tiles_at_first);  // it has found edges
    std::uint32_t drawn = 0;
    for (int frame = 2; frame < 34; ++frame) {
        studio.draw(settings);
        const std::uint32_t count = studio.fit().header.render_count;
        drawn += count;
        EXPECT_TRUE(frame < 30 || count == 0) << frame;
    }
    EXPECT_LT(drawn, tiles_at_first / 4);
}

// Place of a tile, without its slot.
struct TilePlace {
    std::uint32_t position;
    std::uint32_t node;
    std::uint32_t slot_class;

    bool operator==(const TilePlace&) const = default;
};

std::vector<TilePlace> places(const Studio::Fit& fit) {
    std::vector<TilePlace> places;
    for (const ShadowTile& tile : fit.tiles) {
        places.push_back({tile.position, tile.node, tile.state & 0xffU});
    }
    return places;
}

// Without hysteresis frames have the same tiles whatever came before, but for their slots.
TEST_F(ShadowRenderer, KeepsWhatWouldBeDrawn) {
    const Film film = city_film(4000);
    ShadowOptions options = STABILITY_BASE;
    options.merge_ratio = 1.0F;
    Studio flying(film.geometry, SMALL_PICTURE, options);
    Studio fresh(film.geometry, SMALL_PICTURE, options);
    const Light spot = spot_at(film.flight.at(5.0F));
    std::uint32_t kept_frames = 0;
    for (int frame = 0; frame < 12; ++frame) {
        SCOPED_TRACE(frame);
        const FrameSettings settings{
            .camera = film.flight.at(4.0F + 0.05F * static_cast<float>(frame)),
            .lights = {side_sun(), spot}};
        flying.draw(settings);
        fresh.forget(settings, 1.0F);
        fresh.draw(settings);
        const Studio::Fit fit = flying.fit();
        kept_frames += frame > 0 && 2 * fit.header.render_count < fit.header.tiles ? 1U : 0U;
        EXPECT_TRUE(places(fit) == places(fresh.fit()));
        // Slots elsewhere are drawn with other roundings.
        EXPECT_LT(share_that_differs(flying.mask(), fresh.mask()), 0.001);
    }
    EXPECT_GE(kept_frames, 8U);  // else there was nothing to compare
}

TEST_F(ShadowRenderer, NeedsNoHostWithinFrames) {
    const Film film = city_film(4000);
    std::vector<FrameSettings> frames;
    for (int i = 0; i < 6; ++i) {
        const Camera camera = film.flight.at(4.0F + 0.2F * static_cast<float>(i));
        frames.push_back({.camera = camera, .lights = {side_sun(), spot_at(camera)}});
    }
    ShadowOptions options = STABILITY_BASE;
    options.edge_scale = 8.0F;
    Studio at_once(film.geometry, SMALL_PICTURE, options);
    Studio one_by_one(film.geometry, SMALL_PICTURE, options);
    at_once.draw_at_once(frames);
    for (const FrameSettings& frame : frames) {
        one_by_one.draw(frame);
    }
    EXPECT_TRUE(at_once.mask() == one_by_one.mask());
    EXPECT_TRUE(at_once.colours() == one_by_one.colours());
    const Studio::Fit fit = at_once.fit();
    const Studio::Fit expected = one_by_one.fit();
    EXPECT_EQ(std::memcmp(&fit.header, &expected.header, sizeof(ShadowHeader)), 0);
    ASSERT_EQ(fit.tiles.size(), expected.tiles.size());
    EXPECT_EQ(
        std::memcmp(fit.tiles.data(), expected.tiles.data(), fit.tiles.size() * sizeof(ShadowTile)),
        0);
}

}  // namespace
}  // namespace quadtile::shadow
