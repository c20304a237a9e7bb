// Marks of errors, and the technique that has no maps.

#include "shaders/marks.h"
#include "studio.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace quadtile::shadow {
namespace {

FrameSettings street(const Film& film, Technique technique) {
    return {.technique = technique, .camera = film.flight.at(3.0F), .lights = {side_sun()}};
}

// Against the masks on the host. Catches marks that reach too far, not far enough, or over the
// picture's edge into another row.
TEST_F(ShadowRenderer, MarksErrorsAndWhatIsNearThem) {
    const Film film = city_film(2000);
    Studio studio(film.geometry, SMALL_PICTURE, {.map_extent = 64, .atlas_extent = 512});
    constexpr int REACH = 2;
    const MaskDifference difference = studio.compare(street(film, Technique::single), 1, REACH);
    ASSERT_GT(difference.wrong, 10U);
    const std::vector<std::uint32_t> mask = studio.mask();
    const std::vector<std::uint32_t> truth = studio.ray_mask();
    const auto width = static_cast<int>(SMALL_PICTURE.width);
    const auto height = static_cast<int>(SMALL_PICTURE.height);
    std::vector<std::uint32_t> expected(mask.size());
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const auto i = static_cast<std::size_t>(y * width + x);
            if ((truth[i] & MASK_SURFACE) == 0) {
                continue;
            }
            expected[i] |= MARK_SURFACE;
            const std::uint32_t word =
                ((mask[i] & ~truth[i] & SHADOW_LIT) != 0 ? MARK_LIT : 0) |
                ((truth[i] & ~mask[i] & SHADOW_LIT) != 0 ? MARK_SHADOWED : 0);
            expected[i] |= word != 0 ? MARK_EXACT : 0;
            for (int row = std::max(0, y - REACH); row <= std::min(height - 1, y + REACH); ++row) {
                for (int column = std::max(0, x - REACH); column <= std::min(width - 1, x + REACH);
                     ++column) {
                    expected[static_cast<std::size_t>(row * width + column)] |= word;
                }
            }
        }
    }
    EXPECT_TRUE(studio.marks() == expected);
}

// Catches a picture of another frame's rays, and maps that are lost to frames without any.
TEST_F(ShadowRenderer, ShowsRaysWithoutMaps) {
    const Film film = city_film(2000);
    Studio studio(film.geometry, SMALL_PICTURE, {.map_extent = 64, .atlas_extent = 512});
    (void)studio.compare(street(film, Technique::fitted));
    for (const Filter filter : {Filter::hard, Filter::soft}) {
        FrameSettings settings = street(film, Technique::rays);
        settings.filter = filter;
        settings.lights[0].radius = 1.0F;
        const MaskDifference difference = studio.compare(settings);
        EXPECT_EQ(difference.light_difference, 0U);
        EXPECT_GT(std::ranges::count(studio.light(), 255U), 1000);
        // With a disc the mask says whether half of it is seen, not whether its middle is.
        EXPECT_LE(difference.wrong, filter == Filter::soft ? 100U : 0U);
        const auto partly = std::ranges::count_if(
            studio.light(), [](std::uint32_t word) { return word != 0 && word != 255; });
        EXPECT_EQ(partly > 0, filter == Filter::soft);
    }
    studio.draw(street(film, Technique::fitted));
    EXPECT_GT(studio.fit().header.kept, 0U);
    EXPECT_THROW(studio.draw(street(film, Technique::rays)), std::runtime_error);
}

}  // namespace
}  // namespace quadtile::shadow
