#include <quadtile/budget.h>
#include <quadtile/error.hpp>
#include <quadtile/threshold.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

namespace quadtile {

namespace {

std::string text_of(float value) {
    return std::isnan(value) ? "NaN" : std::to_string(value);
}

}  // namespace

Threshold::Threshold(Kind kind, std::vector<float> values)
    : kind_(kind), values_(std::move(values)) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (std::isnan(values_[i]) || values_[i] < 0.0F) {
            throw Error(ErrorCode::invalid_argument,
                        "a threshold must not be negative or NaN, but " +
                            (kind == Kind::per_level ? "that of level " + std::to_string(i)
                                                     : std::string("this one")) +
                            " is " + text_of(values_[i]));
        }
        values_[i] += 0.0F;  // -0 + 0 is 0
    }
}

Threshold Threshold::constant(float value) {
    return {Kind::constant, {value}};
}

Threshold Threshold::per_level(std::vector<float> values) {
    return {Kind::per_level, std::move(values)};
}

Threshold Threshold::max_resolution(float pixels) {
    return {Kind::max_resolution, {pixels}};
}

Threshold Threshold::scaled(float factor) const {
    const std::uint32_t above_one = bits_from_float(factor) - bits_from_float(1.0F);
    const std::uint32_t step = bits_from_float(budget_factor(1)) - bits_from_float(1.0F);
    if (above_one % step != 0 || above_one / step >= BUDGET_FACTORS) {
        throw Error(ErrorCode::invalid_argument,
                    "thresholds are scaled by the factors of budgets only, 1 to 2^32 in steps of "
                    "1/64 of a power of two, but this one is " +
                        text_of(factor) + "; take the threshold_factor of a tile list");
    }
    Threshold threshold = *this;
    threshold.factors_.push_back(above_one / step);
    return threshold;
}

std::vector<float> Threshold::levels(std::uint32_t top) const {
    std::vector<float> levels = given_levels(top);
    for (float& value : levels) {
        value = value < std::numeric_limits<float>::min() ? 0.0F : value;
        for (const std::uint32_t factor : factors_) {
            value = scaled_threshold(value, factor);
        }
    }
    return levels;
}

std::vector<float> Threshold::given_levels(std::uint32_t top) const {
    const std::size_t count = std::size_t{top} + 1;
    switch (kind_) {
        case Kind::constant:
            return std::vector<float>(count, values_[0]);
        case Kind::max_resolution: {
            std::vector<float> levels;
            for (std::uint32_t level = 0; level <= top; ++level) {
                levels.push_back(std::ldexp(values_[0], -static_cast<int>(level)));
            }
            return levels;
        }
        case Kind::per_level:
            break;
    }
    if (values_.size() != count) {
        throw Error(ErrorCode::invalid_argument,
                    "this map has " + std::to_string(count) + " levels, 0 to " +
                        std::to_string(top) + ", but " + std::to_string(values_.size()) +
                        " level thresholds were given; give one for each");
    }
    return values_;
}

bool Threshold::is_monotone(std::uint32_t top) const {
    return std::ranges::is_sorted(levels(top), std::ranges::greater());
}

void Threshold::check_monotone(std::uint32_t top) const {
    const std::vector<float> values = levels(top);
    for (std::size_t level = 1; level < values.size(); ++level) {
        if (values[level] > values[level - 1]) {
            throw Error(
                ErrorCode::invalid_argument,
                "the strategy fused and budgets of tiles need thresholds that do not grow with the "
                "level, but level " +
                    std::to_string(level) + " has " + text_of(values[level]) +
                    " and the one below it " + text_of(values[level - 1]) +
                    "; use the strategy subtree or per level, and no budget");
        }
    }
}

}  // namespace quadtile
