#include "colour_scale.hpp"

#include <algorithm>
#include <cmath>

namespace quadtile::app {

namespace {

// "inferno" by S. van der Walt and N. Smith (CC0) at equal distances, without its blackest part, so
// that a low importance differs from none.
constexpr std::array<Rgb, 9> INFERNO{{{27, 12, 66},
                                      {75, 12, 107},
                                      {120, 28, 109},
                                      {165, 44, 96},
                                      {207, 68, 70},
                                      {237, 105, 37},
                                      {251, 154, 6},
                                      {247, 208, 60},
                                      {252, 255, 164}}};

}  // namespace

ColourScale::ColourScale(const std::vector<float>& importance) {
    // A million samples are enough for two percentiles.
    const std::size_t stride = importance.size() / 1'000'000 + 1;
    std::vector<float> samples;
    for (std::size_t i = 0; i < importance.size(); i += stride) {
        if (importance[i] > 0.0F && std::isfinite(importance[i])) {
            samples.push_back(std::log2(importance[i]));
        }
    }
    if (samples.empty()) {
        return;
    }
    const auto percentile = [&](double fraction) {
        const auto rank = samples.begin() + static_cast<std::ptrdiff_t>(
                                                fraction * static_cast<double>(samples.size() - 1));
        std::ranges::nth_element(samples, rank);
        return *rank;
    };
    const float low = percentile(0.005);
    const float high = percentile(0.995);
    // A map of nearly one value is drawn in nearly one colour of the middle.
    constexpr float LEAST_RANGE = 2.0F;
    const float margin = std::max(0.0F, LEAST_RANGE - (high - low)) / 2.0F;
    log_low_ = low - margin;
    log_range_ = high - low + 2.0F * margin;
}

Rgb ColourScale::colour(float importance) const noexcept {
    if (std::isnan(importance)) {
        return nan;
    }
    if (importance <= 0.0F) {
        return importance < 0.0F ? negative : zero;
    }
    if (std::isinf(importance)) {
        return infinite;
    }
    const float position = std::clamp((std::log2(importance) - log_low_) / log_range_, 0.0F, 1.0F) *
                           static_cast<float>(INFERNO.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(position), INFERNO.size() - 2);
    return mix(INFERNO[below], INFERNO[below + 1], position - static_cast<float>(below));
}

}  // namespace quadtile::app
