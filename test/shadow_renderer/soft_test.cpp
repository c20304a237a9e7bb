// Soft shadows of a pole on a floor, against rays to all of the sun's disc. They catch penumbrae
// that do not grow with the distance of the blocker, filters that end at a tile's border, and
// biases in either direction.

#include "shaders/light.h"
#include "studio.hpp"

#include <gmock/gmock.h>
#include <glm/gtc/type_ptr.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace quadtile::shadow {
namespace {

constexpr vk::Extent2D SOFT_EXTENT{256, 144};
constexpr float SUN_RADIUS_DEGREES = 2.0F;
constexpr float POLE_HEIGHT = 8.0F;

// A floor at y = 0, and a pole of 1 x 8 x 1 whose shadow lies along +x.
Geometry pole_on_floor() {
    baker::Scene scene;
    scene.materials.emplace_back();
    const auto add = [&](const glm::vec3& corner, const glm::vec3& u, const glm::vec3& v) {
        const auto first = static_cast<std::uint32_t>(scene.positions.size());
        for (const glm::vec3& position : {corner, corner + u, corner + u + v, corner + v}) {
            scene.positions.push_back(position);
        }
        scene.triangles.push_back({.vertices = {first, first + 1, first + 2}});
        scene.triangles.push_back({.vertices = {first, first + 2, first + 3}});
    };
    add({-20.0F, 0.0F, -20.0F}, {0.0F, 0.0F, 40.0F}, {40.0F, 0.0F, 0.0F});
    const glm::vec3 x(1.0F, 0.0F, 0.0F);
    const glm::vec3 y(0.0F, POLE_HEIGHT, 0.0F);
    const glm::vec3 z(0.0F, 0.0F, 1.0F);
    const glm::vec3 corner(-1.0F, 0.0F, -0.5F);
    add(corner, x, y);
    add(corner + z, x, y);
    add(corner, z, y);
    add(corner + x, z, y);
    add(corner + y, x, z);
    return make_geometry(scene);
}

// From above the shadow: at the picture's left the pole, at its right the end of the shadow.
FrameSettings from_above(Filter filter) {
    return {.filter = filter,
            .camera = {.position = {4.5F, 6.5F, 0.0F}, .pitch_degrees = -90.0F},
            .lights = {{.direction = {1.0F, -1.0F, 0.0F}, .radius = SUN_RADIUS_DEGREES}}};
}

struct SoftPicture {
    std::vector<std::uint32_t> light;
    std::vector<std::uint32_t> truth;
    std::vector<float> depth;

    // Units of the world between pixels of the floor.
    [[nodiscard]] static float pixel() {
        return 2.0F * 6.5F * std::tan(glm::radians(30.0F)) / static_cast<float>(SOFT_EXTENT.height);
    }
    // The column that shows this x.
    [[nodiscard]] static std::uint32_t column_of(float x) {
        return static_cast<std::uint32_t>(
            std::lround((x - 4.5F) / pixel() + 0.5F * static_cast<float>(SOFT_EXTENT.width)));
    }
    [[nodiscard]] static float part(const std::vector<std::uint32_t>& words, std::uint32_t column,
                                    std::uint32_t row) {
        return light_of(words[std::size_t{row} * SOFT_EXTENT.width + column], 0);
    }
    // Mean over 9 columns.
    [[nodiscard]] static float mean(const std::vector<std::uint32_t>& words, std::uint32_t column,
                                    std::uint32_t row) {
        float sum = 0.0F;
        for (std::uint32_t i = column - 4; i <= column + 4; ++i) {
            sum += part(words, i, row);
        }
        return sum / 9.0F;
    }
    // Returns the width of both penumbrae of a shadow together, from 10 to 90 % of the light.
    [[nodiscard]] static float penumbra(const std::vector<std::uint32_t>& words, float x) {
        float rows = 0.0F;
        for (std::uint32_t row = 0; row < SOFT_EXTENT.height; ++row) {
            const float light = mean(words, column_of(x), row);
            rows += light > 0.1F && light < 0.9F ? 1.0F : 0.0F;
        }
        return rows * pixel();
    }
};

SoftPicture soft_picture(Studio& studio, Filter filter) {
    FrameSettings settings = from_above(filter);
    for (int frame = 0; frame < 3; ++frame) {
        studio.draw(settings);
    }
    settings.filter = Filter::soft;
    (void)studio.compare(settings, RayCaster::MOST_SAMPLES);
    SoftPicture picture{.truth = studio.ray_light(), .depth = studio.depth()};
    settings.filter = filter;
    studio.draw(settings);
    picture.light = studio.light();
    return picture;
}

double mean_difference(const SoftPicture& picture) {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < picture.light.size(); ++i) {
        sum += std::abs(light_of(picture.light[i], 0) - light_of(picture.truth[i], 0));
    }
    return sum / static_cast<double>(picture.light.size());
}

// The word of the page table for each pixel of the floor: the same within a tile.
std::vector<std::uint32_t> pages(const Studio& studio, const FrameSettings& settings,
                                 const SoftPicture& picture) {
    const Studio::Fit fit = studio.fit();
    const std::uint32_t extent = studio.renderer().targets().options.map_extent;
    const auto projection = studio.renderer().projections(settings)[0];
    const glm::mat4 light = glm::make_mat4(projection.clip_from_world.data());
    const float aspect = static_cast<float>(SOFT_EXTENT.width) / SOFT_EXTENT.height;
    const glm::dmat4 world_from_clip =
        glm::inverse(glm::dmat4(settings.camera.clip_from_world(aspect, CAMERA_NEAREST)));
    std::vector<std::uint32_t> pages;
    for (std::uint32_t i = 0; i < picture.depth.size(); ++i) {
        const double x = (i % SOFT_EXTENT.width + 0.5) / SOFT_EXTENT.width;
        const double y = (static_cast<double>(i / SOFT_EXTENT.width) + 0.5) / SOFT_EXTENT.height;
        const glm::dvec4 point =
            world_from_clip * glm::dvec4(2.0 * x - 1.0, 2.0 * y - 1.0, picture.depth[i], 1.0);
        const glm::vec4 clip = light * glm::vec4(glm::vec3(point / point.w), 1.0F);
        const glm::uvec2 texel(0.5F * (glm::vec2(clip) + 1.0F) * static_cast<float>(extent));
        pages.push_back(fit.page_table[std::size_t{texel.y} * extent + texel.x]);
    }
    return pages;
}

class SoftShadows : public ShadowRenderer {
 protected:
    static ShadowOptions options() {
        return {.map_extent = 256, .atlas_extent = 1024, .max_tiles = 300};
    }
};

TEST_F(SoftShadows, HavePenumbraeThatGrowWithTheDistanceOfTheBlocker) {
    Studio studio(pole_on_floor(), SOFT_EXTENT, options());
    const SoftPicture soft = soft_picture(studio, Filter::soft);
    for (const float x : {1.5F, 3.0F, 6.0F}) {
        const float wanted = SoftPicture::penumbra(soft.truth, x);
        // Two shadow texels and two rows of pixels are within what can be told.
        EXPECT_NEAR(SoftPicture::penumbra(soft.light, x), wanted, 0.2F * wanted + 0.1F) << x;
    }
    EXPECT_GT(SoftPicture::penumbra(soft.light, 6.0F),
              2.5F * SoftPicture::penumbra(soft.light, 1.5F));
    const SoftPicture box = soft_picture(studio, Filter::box);
    EXPECT_LT(mean_difference(soft), 0.4 * mean_difference(box));
}

// Where two pixels beside each other lie in different tiles, their light is as near to that of rays
// as elsewhere in the penumbra.
TEST_F(SoftShadows, HaveNoSeamsAtTiles) {
    Studio studio(pole_on_floor(), SOFT_EXTENT, options());
    const SoftPicture soft = soft_picture(studio, Filter::soft);
    const std::vector<std::uint32_t> page = pages(studio, from_above(Filter::soft), soft);
    double at_borders = 0.0;
    double elsewhere = 0.0;
    std::size_t borders = 0;
    std::size_t others = 0;
    std::set<std::uint32_t> levels;
    std::size_t between_levels = 0;
    for (std::uint32_t row = 1; row + 1 < SOFT_EXTENT.height; ++row) {
        for (std::uint32_t column = 4; column + 5 < SOFT_EXTENT.width; ++column) {
            const std::size_t i = std::size_t{row} * SOFT_EXTENT.width + column;
            const float wanted = SoftPicture::mean(soft.truth, column, row);
            if (wanted < 0.02F || wanted > 0.98F) {
                continue;
            }
            levels.insert(shadow_page_level(page[i]));
            const double difference = std::abs(SoftPicture::mean(soft.light, column, row) - wanted);
            bool is_border = false;
            for (const std::size_t beside :
                 {i - 1, i + 1, i - SOFT_EXTENT.width, i + SOFT_EXTENT.width}) {
                is_border = is_border || page[beside] != page[i];
                between_levels +=
                    shadow_page_level(page[beside]) != shadow_page_level(page[i]) ? 1 : 0;
            }
            (is_border ? at_borders : elsewhere) += difference;
            ++(is_border ? borders : others);
        }
    }
    EXPECT_GT(borders, 200U);
    EXPECT_GT(between_levels, 50U);
    EXPECT_LT(at_borders / static_cast<double>(borders),
              1.25 * elsewhere / static_cast<double>(others) + 0.005);
}

// A floor that nothing shadows is lit in full, at tile borders, too; a shadow's inside is dark.
TEST_F(SoftShadows, LeaveLightAndUmbraAsTheyAre) {
    Studio studio(pole_on_floor(), SOFT_EXTENT, options());
    const SoftPicture soft = soft_picture(studio, Filter::soft);
    std::size_t lit = 0;
    std::size_t dark = 0;
    for (std::size_t i = 0; i < soft.light.size(); ++i) {
        const std::uint32_t row = static_cast<std::uint32_t>(i) / SOFT_EXTENT.width;
        if (row < SOFT_EXTENT.height / 8) {
            ASSERT_EQ(soft.light[i] & 0xffU, 255U) << i;
            ++lit;
        }
    }
    for (std::uint32_t column = SoftPicture::column_of(1.0F); column < SoftPicture::column_of(4.0F);
         ++column) {
        ASSERT_EQ(SoftPicture::part(soft.light, column, SOFT_EXTENT.height / 2), 0.0F) << column;
        ++dark;
    }
    EXPECT_GT(lit, 1000U);
    EXPECT_GT(dark, 20U);
}

}  // namespace
}  // namespace quadtile::shadow
