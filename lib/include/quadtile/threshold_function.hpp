/// \file
/// A threshold per node from a function in the user's GLSL.

#pragma once

#include <quadtile/export.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quadtile {

/// A threshold function: its text, or the code that compile_threshold (quadtile/glsl.hpp) made of
/// it. Cheap to copy, independent of devices. Two are equal if their text and code are.
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
///     layout(set = 1, binding = ...)          read-only resources, if the Subdivider has
///                                             SubdividerOptions::threshold_resources
///     #include "quadtile/quadtree.h"          and the other installed shared headers
///
/// The kernel's other names are not part of this interface and may change. When the function is
/// used with a device, quadtile refuses resources elsewhere, types of other sizes than 32 bits, and
/// other features that not every Vulkan device has, with Error(invalid_argument) that names the
/// line. Subgroup operations are refused only if the device has them off (Features). A text may
/// have 16384 tokens after the expansion of macros, and a kernel 131072 instructions if calls of
/// functions are replaced by their bodies.
class QUADTILE_API ThresholdFunction {
 public:
    /// Makes a function from GLSL. Throws Error(invalid_argument) for an empty text. The text is
    /// compiled when it is used with a device or with compile_threshold.
    [[nodiscard]] static ThresholdFunction from_glsl(std::string text);

    /// Makes a function from code, which needs no compiler. Throws Error(invalid_argument) for
    /// empty code. The code is checked when it is used with a device: it must be whole, of this
    /// version of quadtile, and without unbound resources.
    [[nodiscard]] static ThresholdFunction from_compiled(std::vector<std::byte> code);

    /// Returns the text; empty for compiled code.
    [[nodiscard]] const std::string& glsl() const noexcept;
    /// Returns the code; empty for a text.
    [[nodiscard]] std::span<const std::byte> compiled() const noexcept;

    /// Returns whether text and code are equal.
    friend QUADTILE_API bool operator==(const ThresholdFunction& a,
                                        const ThresholdFunction& b) noexcept;

 private:
    struct QUADTILE_LOCAL Code;
    explicit ThresholdFunction(std::shared_ptr<const Code> code);

    std::shared_ptr<const Code> code_;
};

}  // namespace quadtile
