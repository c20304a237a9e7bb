// When a node of the quadtree is fine enough: its importance is below its threshold.

#pragma once

#include <cstdint>
#include <vector>

namespace quadtile {

// A threshold for each level of the quadtree. Copyable, without any tie to a device.
//
// It is *monotone* where "a node is split" implies "all its ancestors are split". Maxima grow
// upwards, so that holds wherever the threshold does not grow with the level: constant and
// max_resolution always, per_level where its values do not increase.
class Threshold {
 public:
    // The same threshold at every level.
    // Throws Error(invalid_argument) for NaN and negative values.
    [[nodiscard]] static Threshold constant(float value);

    // values[l] at level l; a map needs exactly top_level + 1 values, which is checked when the
    // threshold meets the map. Throws Error(invalid_argument) for NaN and negative values.
    [[nodiscard]] static Threshold per_level(std::vector<float> values);

    // pixels / 2^l at level l. The importance is then the linear resolution needed per texel of the
    // map: a tile of level l needs importance * 2^l pixels on a side, and no tile but a clamped one
    // needs `pixels` or more. Throws Error(invalid_argument) for NaN and negative values.
    [[nodiscard]] static Threshold max_resolution(float pixels);

    // This threshold with that of each level times `factor`, rounded to the nearest float: what a
    // budget of tiles compares with (<quadtile/budget.h>). With the threshold_factor of a list it
    // gives that list again. Scaling what has been scaled rounds once more.
    // Throws Error(invalid_argument) for all but the factors of budgets, budget_factor(i).
    [[nodiscard]] Threshold scaled(float factor) const;

    // The thresholds of the levels 0 to `top`, -0 and denormals (below 2^-126) given as 0.
    // Throws Error(invalid_argument) when per_level has another number of values.
    [[nodiscard]] std::vector<float> levels(std::uint32_t top) const;

    // Whether no level's threshold is larger than that of the level below.
    // Throws Error(invalid_argument) where it does not fit so many levels.
    [[nodiscard]] bool is_monotone(std::uint32_t top) const;

    // Throws Error(invalid_argument), which names the levels, where the threshold of a level is
    // larger than that of the one below: it is not monotone.
    void check_monotone(std::uint32_t top) const;

 private:
    enum class Kind { constant, per_level, max_resolution };
    Threshold(Kind kind, std::vector<float> values);

    [[nodiscard]] std::vector<float> given_levels(std::uint32_t top) const;

    Kind kind_;
    std::vector<float> values_;
    std::vector<std::uint32_t> factors_;  // their indices, one after the other
};

}  // namespace quadtile
