// Thresholds from settings, and changes of them.

#pragma once

#include "settings.hpp"

#include <quadtile/image.hpp>

namespace quadtile::viewer {

// Makes the threshold for a map. Only memory uses `fragments`, only glsl uses `function`. Throws
// Error as Threshold's makers do, and if memory has no fragments of the map's size, or per_level no
// value. per_level may have more or fewer values than the map has levels: the last value stands for
// missing ones, extra ones are ignored.
[[nodiscard]] Threshold make_threshold(const ThresholdSettings& settings, const MapShape& shape,
                                       const MapView* fragments = nullptr,
                                       const std::string* function = nullptr);
// Tells whether scaled() has an effect: it has none on GLSL.
[[nodiscard]] bool can_scale(const ThresholdSettings& settings);
// Multiplies the threshold of each node by the factor: all values, and the nodes of memory, which
// stand under a root, by its square. An infinite product becomes the largest float, 0 the smallest
// normal one. The factor is positive.
[[nodiscard]] ThresholdSettings scaled(const ThresholdSettings& settings, double factor);

// Returns up to six digits, as printf's %g.
[[nodiscard]] std::string short_text(float value);

// Returns for example "resolution 16" or "threshold in GLSL".
[[nodiscard]] std::string describe(const ThresholdSettings& threshold);

// History of a run's thresholds, for undo and redo.
class ThresholdHistory {
 public:
    // Adds the threshold after a completed change. Forgets those that were undone.
    void note(const ThresholdSettings& now);
    // Tells whether there is a threshold this many changes later (1) or earlier (-1).
    [[nodiscard]] bool can_go(std::ptrdiff_t changes) const;
    // Changes `threshold` if can_go().
    void go(std::ptrdiff_t changes, ThresholdSettings& threshold);
    // Returns the first threshold of the run; `threshold` itself if none was noted.
    [[nodiscard]] const ThresholdSettings& first(const ThresholdSettings& threshold) const;

 private:
    std::vector<ThresholdSettings> all_;
    std::size_t at_ = 0;
};

}  // namespace quadtile::viewer
