#include <quadtile/error.hpp>
#include <quadtile/threshold.hpp>

#include <cmath>
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

std::vector<float> Threshold::levels(std::uint32_t top) const {
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

void Threshold::check_monotone(std::uint32_t top) const {
    const std::vector<float> values = levels(top);
    for (std::size_t level = 1; level < values.size(); ++level) {
        if (values[level] > values[level - 1]) {
            throw Error(
                ErrorCode::invalid_argument,
                "the strategy fused needs thresholds that do not grow with the level, but level " +
                    std::to_string(level) + " has " + text_of(values[level]) +
                    " and the one below it " + text_of(values[level - 1]) +
                    "; use the strategy subtree or per level");
        }
    }
}

}  // namespace quadtile
