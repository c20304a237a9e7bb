#include "thresholds.hpp"

#include <quadtile/error.hpp>

#include <gmock/gmock.h>

#include <limits>

namespace quadtile::viewer {
namespace {

using ::testing::ElementsAre;

constexpr float LARGEST = std::numeric_limits<float>::max();
constexpr MapShape SHAPE{5, 3, 1, TexelFormat::r32_float};  // levels 0 to 3

TEST(MakeThreshold, TakesTheValuesOfItsKindAndFitsThemToTheMap) {
    ThresholdSettings settings{
        ThresholdKind::max_resolution, 16.0F, 3.0F, {5.0F, 4.0F, 2.0F, 1.0F}, 7.0F};
    const auto levels = [&] { return make_threshold(settings, SHAPE).levels(3); };
    EXPECT_THAT(levels(), ElementsAre(16.0F, 8.0F, 4.0F, 2.0F));
    settings.kind = ThresholdKind::constant;
    EXPECT_THAT(levels(), ::testing::Each(3.0F));
    settings.kind = ThresholdKind::per_level;
    EXPECT_THAT(levels(), ElementsAre(5.0F, 4.0F, 2.0F, 1.0F));
    settings.levels = {5.0F, 4.0F};
    EXPECT_THAT(levels(), ElementsAre(5.0F, 4.0F, 4.0F, 4.0F));
    settings.levels = {6.0F, 5.0F, 4.0F, 3.0F, 2.0F, 1.0F};
    EXPECT_THAT(levels(), ElementsAre(6.0F, 5.0F, 4.0F, 3.0F));
    settings.levels = {};
    EXPECT_THROW(levels(), Error);

    settings.kind = ThresholdKind::memory;
    settings.nodes = 100.0F;
    std::vector<float> fragments(15, 0.0F);
    fragments[6] = 4.0F;
    const MapView view = view_of(fragments, 5, 3);
    EXPECT_EQ(make_threshold(settings, SHAPE, &view).resolve(SHAPE).at(0, 1, 1, 0), 5.0F);
    EXPECT_THROW((void)make_threshold(settings, SHAPE), Error);
    const MapView other = view_of(fragments, 3, 5);
    EXPECT_THROW((void)make_threshold(settings, SHAPE, &other), Error);
}

TEST(ScaledThreshold, ChangesTheValuesOfItsKindAloneAndStaysPossible) {
    for (const auto& entry : THRESHOLD_KINDS) {
        const ThresholdSettings settings{entry.value, 16.0F, 3.0F, {5.0F, 0.0F}, 7.0F};
        ThresholdSettings expected = settings;
        const bool is_memory = entry.value == ThresholdKind::memory;
        expected.max_resolution =
            is_memory || entry.value == ThresholdKind::max_resolution ? 24.0F : 16.0F;
        expected.constant = entry.value == ThresholdKind::constant ? 4.5F : 3.0F;
        expected.levels[0] = entry.value == ThresholdKind::per_level ? 7.5F : 5.0F;
        expected.nodes = is_memory ? 15.75F : 7.0F;
        EXPECT_EQ(scaled(settings, 1.5), expected) << entry.name;
        // No factor leads out of the possible values, or to 0, from which none leads back.
        const ThresholdSettings smallest = scaled(scaled(settings, 1e-300), 1e-300);
        const ThresholdSettings largest = scaled(scaled(settings, 1e300), 1e300);
        for (const ThresholdSettings& one : {smallest, largest}) {
            for (const float value : {one.max_resolution, one.constant, one.levels[0], one.nodes}) {
                EXPECT_TRUE(value > 0.0F && value <= LARGEST) << entry.name;
            }
        }
    }
}

}  // namespace
}  // namespace quadtile::viewer
