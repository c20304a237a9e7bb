#include "map_files.hpp"
#include "map_statistics.hpp"

#include "support/pfm.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace quadtile::viewer {
namespace {

using quadtile::test::pfm;

constexpr float INFINITE = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();
constexpr float LEAST = std::numeric_limits<float>::min();
constexpr float GREATEST = std::numeric_limits<float>::max();
constexpr double KEY_RATIO = 1.0 + 1.0 / 128.0;  // the largest of two values of one bin

app::MapStatistics measure_row(const std::vector<float>& values) {
    return app::measure(view_of(values, static_cast<std::uint32_t>(values.size()), 1));
}

// Over many octaves, with some of everything.
std::vector<float> random_values(std::size_t count, bool with_oddities) {
    std::mt19937 random(7);
    std::normal_distribution<float> octaves(0.0F, 6.0F);
    std::vector<float> values(count);
    for (float& value : values) {
        value = std::exp2(octaves(random));
        if (with_oddities) {
            const float odd[] = {NOT_A_NUMBER, INFINITE, -INFINITE, -value,
                                 0.0F,         -0.0F,    LEAST / 4, -LEAST / 4};
            const std::size_t choice = random() % 16;
            value = choice < 8 ? odd[choice] : value;
        }
    }
    return values;
}

float first_of_key(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
}

std::vector<float> sorted_positive(const std::vector<float>& values) {
    std::vector<float> sorted;
    std::ranges::copy_if(values, std::back_inserter(sorted),
                         [](float value) { return value >= LEAST && value <= GREATEST; });
    std::ranges::sort(sorted);
    return sorted;
}

// Compares with one texel after the other, by the functions of <cmath>.
void expect_statistics_of(const std::vector<float>& values, const MapView& map) {
    std::array<std::size_t, 4> counts{};
    std::vector<float> finite;
    std::vector<std::size_t> odd;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float value = std::fpclassify(values[i]) == FP_SUBNORMAL ? 0.0F : values[i];
        const bool is_negative = std::isfinite(value) && value < 0.0F;
        counts[std::isnan(value)   ? 0
               : std::isinf(value) ? 1
               : is_negative       ? 2
                                   : 3] += value > 0.0F && std::isfinite(value) ? 0 : 1;
        if (std::isfinite(value)) {
            finite.push_back(value);
        }
        if ((!std::isfinite(value) || is_negative) &&
            odd.size() < app::MapStatistics::MAX_ODD_TEXELS) {
            odd.push_back(i);
        }
    }
    const app::MapStatistics measured = app::measure(map);
    EXPECT_EQ(measured.texels, values.size());
    EXPECT_EQ(std::tuple(measured.nan, measured.infinite, measured.negative, measured.zero),
              std::tuple(counts[0], counts[1], counts[2], counts[3]));
    EXPECT_EQ(std::pair(measured.min, measured.max),
              std::pair(std::ranges::min(finite), std::ranges::max(finite)));
    std::vector<std::size_t> measured_odd;
    for (const app::TexelPosition& texel : measured.odd_texels) {
        measured_odd.push_back(texel.y * map.shape.width + texel.x);
    }
    EXPECT_EQ(measured_odd, odd);
    EXPECT_EQ(std::accumulate(measured.positive_by_key.begin(), measured.positive_by_key.end(),
                              std::size_t{0}),
              sorted_positive(values).size());
}

TEST(MapStatistics, AreThoseOfOneTexelAfterTheOther) {
    for (const auto& [width, height] : {std::pair(97U, 53U), {1U, 300U}, {256U, 256U}}) {
        const std::vector<float> values = random_values(std::size_t{width} * height, true);
        expect_statistics_of(values, view_of(values, width, height));
    }
    const std::vector<float> layers{LEAST,        GREATEST, -GREATEST, -LEAST,
                                    NOT_A_NUMBER, 9.0F,     1.0F,      1.0F};
    const std::vector<float> first(layers.begin(), layers.begin() + 4);
    expect_statistics_of(first, view_of(layers, 2, 2, 2));  // of the first alone
    std::mt19937 random(3);
    std::vector<std::uint16_t> words(67 * 41);
    std::ranges::generate(words, [&] { return static_cast<std::uint16_t>(random()); });
    for (const TexelFormat format : {TexelFormat::r16_float, TexelFormat::r16_unorm,
                                     TexelFormat::d16_unorm, TexelFormat::r8_unorm}) {
        const MapView map{words.data(), {67, 41, 1, format}};
        const std::vector<float> values = reference::decode(map);
        expect_statistics_of(values, map);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(app::texel_value(map, 5, 7)),
                  std::bit_cast<std::uint32_t>(values[7 * 67 + 5]));
    }
    EXPECT_THROW((void)app::measure({words.data(), {5, 5, 1, TexelFormat::rgba8_unorm}}), Error);
}

// Catches counts in another bin, and percentiles of another rank.
TEST(MapStatistics, PercentilesAndHistogramsAreThoseOfTheSortedValues) {
    const std::vector<float> values = random_values(20000, true);
    const std::vector<float> sorted = sorted_positive(values);
    const app::MapStatistics measured = measure_row(values);
    for (const double fraction : {0.0, 0.005, 0.1, 0.5, 0.9, 0.995, 1.0}) {
        const double number = std::ceil(fraction * static_cast<double>(sorted.size()));
        const double expected = sorted[static_cast<std::size_t>(std::max(number, 1.0)) - 1];
        EXPECT_LE(measured.percentile(fraction), expected) << fraction;
        EXPECT_GE(measured.percentile(fraction), expected / KEY_RATIO) << fraction;
    }
    EXPECT_EQ(measure_row({GREATEST, 3.0F}).percentile(7.0), first_of_key(GREATEST));
    EXPECT_EQ(measure_row({1.0F, 3.0F}).percentile(-7.0), 1.0F);
    for (const bool logarithmic : {false, true}) {
        std::vector<float> expected(10);
        for (const float value : sorted) {
            const float first = first_of_key(value);
            const float place = logarithmic ? std::log2(first) + 5.0F : (first - 0.03125F) / 3.2F;
            expected[static_cast<std::size_t>(std::clamp(place, 0.0F, 9.0F))] += 1.0F;
        }
        EXPECT_EQ(measured.histogram(0.03125F, logarithmic ? 32.0F : 32.03125F, logarithmic, 10),
                  expected);
    }
}

TEST(MapStatistics, AutomaticRangeIsOneForEveryMap) {
    using Values = std::vector<float>;
    for (const Values& values :
         {Values{0.0F}, Values{-1.0F}, Values{NOT_A_NUMBER}, Values{-INFINITE, 0.0F},
          Values{LEAST / 8}, Values{GREATEST}, Values{LEAST, GREATEST}, Values{LEAST * 1.5F},
          Values{1.0F, 1.003F}}) {
        const app::MapStatistics measured = measure_row(values);
        const app::Range logarithmic = app::automatic_range(measured, true);
        EXPECT_GE(logarithmic.low, LEAST) << values[0];
        EXPECT_GE(logarithmic.high / logarithmic.low, 3.999F) << values[0];
        EXPECT_TRUE(std::isfinite(logarithmic.high)) << values[0];
        const app::Range linear = app::automatic_range(measured, false);
        EXPECT_EQ(linear.low, 0.0F);
        EXPECT_GT(linear.high, 0.0F) << values[0];
        EXPECT_TRUE(std::isfinite(linear.high)) << values[0];
    }
    const app::MapStatistics measured = measure_row(random_values(2000, true));
    EXPECT_EQ(app::automatic_range(measured, true).low, measured.percentile(0.005));
    EXPECT_EQ(app::automatic_range(measured, true).high, measured.percentile(0.995));
    EXPECT_EQ(app::automatic_range(measured, false).high, measured.percentile(0.995));
}

class MapFilesTest : public ::testing::Test {
 protected:
    std::filesystem::path add(const std::string& name, std::uint32_t side) const {
        return directory_.add(name, pfm(std::vector(std::size_t{side} * side, 1.0F), side));
    }
    MapFiles::Arrival arrival() {
        for (std::optional<MapFiles::Arrival> taken;; taken = files_.take()) {
            if (taken) {
                return *taken;
            }
            files_.wait();
        }
    }
    std::uint32_t width() { return arrival().frame->map.shape.width; }

    quadtile::test::TemporaryDirectory directory_;
    MapFiles files_{[] {}};
};

TEST_F(MapFilesTest, GoesThroughFilesInBothDirections) {
    files_.open({add("a.pfm", 3), add("b.pfm", 4), add("c.pfm", 5)}, {});
    EXPECT_TRUE(files_.is_loading());
    const auto first = arrival();
    EXPECT_EQ(first.frame->name, "a.pfm");
    EXPECT_EQ(first.frame->statistics.texels, 9U);
    EXPECT_EQ(first.frame->stamp, stamp_of(directory_.path() / "a.pfm"));
    EXPECT_FALSE(files_.is_loading() || files_.take());
    for (const auto& [step, side] : {std::pair(1, 4U), {1, 5U}, {1, 3U}, {-1, 5U}, {-7, 4U}}) {
        files_.step(step);
        EXPECT_EQ(width(), side);
    }
    EXPECT_EQ(files_.index(), 1U);
    files_.open({}, {});
    EXPECT_EQ(arrival().frame->name, "demo map");
}

// Catches a result of an earlier request, and one that never comes.
TEST_F(MapFilesTest, OnlyTheLastRequestArrives) {
    files_.open({add("a.pfm", 300), add("b.pfm", 4), add("c.pfm", 5)}, {});
    files_.step(1);
    files_.step(1);
    EXPECT_EQ(width(), 5U);
    EXPECT_FALSE(files_.is_loading());
    directory_.add("c.pfm", pfm(std::vector{1.0F}, 1));
    files_.reload();
    EXPECT_EQ(width(), 1U);
    files_.choose_channel("Z");
    EXPECT_THAT(arrival().error, ::testing::HasSubstr("Z"));
    EXPECT_EQ(stamp_of("missing.exr"), std::nullopt);
}

}  // namespace
}  // namespace quadtile::viewer
