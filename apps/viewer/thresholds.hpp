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
// Multiplies the threshold of each node by the factor: all values, and the nodes of memory, which
// stand under a root, by its square. An infinite product becomes the largest float, 0 the smallest
// normal one. The factor is positive. GLSL stays as it is.
[[nodiscard]] ThresholdSettings scaled(const ThresholdSettings& settings, double factor);

// `digits`: significant digits, as in printf's %g.
[[nodiscard]] std::string number_text(double value, int digits = 5);

// Returns for example "resolution 16" or "threshold in GLSL".
[[nodiscard]] std::string describe(const ThresholdSettings& threshold);

}  // namespace quadtile::viewer
