// What is drawn in the slots of the atlas: what the light sees, by rays on the CPU in doubles.

#include "../shadow_app/brute_force.hpp"
#include "studio.hpp"

#include <gmock/gmock.h>
#include <glm/glm.hpp>
#include <glm/gtc/type_ptr.hpp>

#include <algorithm>
#include <random>

namespace quadtile::shadow {
namespace {

constexpr ShadowOptions OPTIONS{
    .lights = 2, .map_extent = 256, .atlas_extent = 1024, .max_tiles = 150};

// A light and what it sees. Map coordinates are 0 to 1.
class LightRays {
 public:
    LightRays(const Geometry& geometry, const ShadowProjection& projection, const Light& light)
        : geometry_(geometry),
          light_(light),
          clip_from_world_(glm::make_mat4(projection.clip_from_world.data())),
          world_from_clip_(glm::inverse(clip_from_world_)) {}

    // The least depth there, cut off at 0 and 1: nearer casters cast.
    [[nodiscard]] double depth_at(double x, double y) const {
        const glm::dvec3 end = world_at(x, y, 1.0);
        const bool is_spot = light_.kind == Light::Kind::spot;
        const glm::dvec3 start = is_spot ? glm::dvec3(light_.position) : world_at(x, y, -100.0);
        const double nearest = std::min(1.0, first_hit(geometry_, start, end - start).distance);
        const glm::dvec4 clip = clip_from_world_ * glm::dvec4(start + nearest * (end - start), 1.0);
        return std::clamp(clip.z / clip.w, 0.0, 1.0);
    }

 private:
    [[nodiscard]] glm::dvec3 world_at(double x, double y, double depth) const {
        const glm::dvec4 world =
            world_from_clip_ * glm::dvec4(2.0 * x - 1.0, 2.0 * y - 1.0, depth, 1.0);
        return glm::dvec3(world) / world.w;
    }

    const Geometry& geometry_;
    Light light_;
    glm::dmat4 clip_from_world_;
    glm::dmat4 world_from_clip_;
};

// Of so many texels of a slot, gutters too, how many are not what the light sees. What lies outside
// the map is drawn as well.
std::uint32_t wrong_texels(const ShadowTile& tile, const std::vector<float>& atlas,
                           const LightRays& rays, std::uint32_t samples, std::mt19937& random) {
    const std::uint32_t extent = shadow_slot_extent(OPTIONS.tile_extent, tile.state & 0xffU);
    const double core = extent - 2.0 * OPTIONS.gutter;
    const double tile_extent = std::exp2(tile.node & 0xffU) / OPTIONS.map_extent;
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < samples; ++i) {
        const auto column = static_cast<std::uint32_t>(random() % extent);
        const auto row = static_cast<std::uint32_t>(random() % extent);
        const auto place = [&](std::uint32_t texel, std::uint32_t position) {
            return tile_extent * (position + (texel + 0.5 - OPTIONS.gutter) / core);
        };
        const float drawn = atlas[((tile.slot >> 16U) + row) * OPTIONS.atlas_extent +
                                  (tile.slot & 0xffffU) + column];
        const double seen =
            rays.depth_at(place(column, tile.position & 0xffffU), place(row, tile.position >> 16U));
        wrong += std::abs(seen - static_cast<double>(drawn)) > 1e-4 ? 1U : 0U;
    }
    return wrong;
}

TEST_F(ShadowRenderer, DrawsInSlotsWhatLightsSee) {
    constexpr std::uint32_t SAMPLES = 24;
    const Film film = city_film(2000);
    const Light spot = spot_at(film.flight.at(5.0F));
    Studio studio(film.geometry, SMALL_PICTURE, OPTIONS);
    std::mt19937 random(1);
    for (const float second : {4.0F, 4.1F, 4.2F, 12.0F}) {
        SCOPED_TRACE(second);
        const FrameSettings settings{.camera = film.flight.at(second),
                                     .lights = {side_sun(), spot}};
        studio.draw(settings);
        const auto projections = studio.renderer().projections(settings);
        const std::array rays{LightRays(film.geometry, projections[0], settings.lights[0]),
                              LightRays(film.geometry, projections[1], settings.lights[1])};
        const Studio::Fit fit = studio.fit();
        const std::vector<float> atlas = studio.atlas();
        std::uint32_t wrong = 0;
        for (const ShadowTile& tile : fit.tiles) {
            const std::uint32_t of_tile =
                wrong_texels(tile, atlas, rays[tile.node >> 16U], SAMPLES, random);
            EXPECT_LT(of_tile, SAMPLES / 6);
            wrong += of_tile;
        }
        // At edges a ray may pass where a triangle was drawn.
        EXPECT_LT(wrong, fit.tiles.size() * SAMPLES / 100);
        std::printf("%zu tiles, %u texels of %zu wrong\n", fit.tiles.size(), wrong,
                    fit.tiles.size() * SAMPLES);
    }
}

}  // namespace
}  // namespace quadtile::shadow
