/// \file
/// A threshold per node from a function in the user's GLSL.

#pragma once

#include <quadtile/export.h>

#include <memory>
#include <string>

namespace quadtile {

/// A threshold function. Cheap to copy, independent of devices. Two are equal if their texts are.
///
/// The text is GLSL 4.60 that defines
///
///     float threshold(uint level, uvec2 position, uint layer)
///
/// for a node inside the map. Position (0, 0) is the node at the map's upper left corner; level 0
/// is the texels. A kernel may call it several times for a node, in any order and from any thread,
/// so it must return the same value each time. NaN counts as +infinity, -0 and denormals as 0; a
/// node with a negative threshold is always split. The text may use
///
///     uvec2 map_extent()                      texels of the map
///     uint  map_layers()
///     float threshold_parameter(uint index)   parameter of Threshold::function, 0 if not given;
///                                             the index is the same in all threads
///     #include "quadtile/quadtree.h"          and the other installed shared headers
///
/// The kernel's other names are not part of this interface and may change. When the function is
/// used with a device, quadtile refuses resources of its own, types of other sizes than 32 bits,
/// and other features that not every Vulkan device has, with Error(invalid_argument) that names the
/// line. Subgroup operations are refused only if the device has them off (Features). A text may
/// have 64 KiB. The compiler has no limit of time or memory, so compile only texts that you trust.
class QUADTILE_API ThresholdFunction {
 public:
    /// Makes a function from GLSL. Throws Error(invalid_argument) for an empty text. The text is
    /// compiled when it is used with a device.
    [[nodiscard]] static ThresholdFunction from_glsl(std::string text);

    /// Returns the text.
    [[nodiscard]] const std::string& glsl() const noexcept;

    /// Returns whether the texts are equal.
    friend QUADTILE_API bool operator==(const ThresholdFunction& a,
                                        const ThresholdFunction& b) noexcept;

 private:
    explicit ThresholdFunction(std::shared_ptr<const std::string> text);

    std::shared_ptr<const std::string> text_;
};

}  // namespace quadtile
