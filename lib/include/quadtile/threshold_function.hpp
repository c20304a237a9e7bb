/// \file
/// A function of the user's, in GLSL, that gives each node of the quadtree its threshold.

#pragma once

#include <quadtile/export.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quadtile {

/// The function's text, or what compile_threshold (quadtile/glsl.hpp) made of it. Cheap to copy,
/// without any tie to a device; equal where its text or code is.
///
/// The text is GLSL 4.60 that defines
///
///     float threshold(uint level, uvec2 position, uint layer)
///
/// for a node inside the map: position (0, 0) is the node at the map's upper left corner, and level
/// 0 are the texels. It is called more than once for a node, in any order and from any thread, and
/// must give the same each time. NaN counts as +infinity, -0 and denormals as 0, and a negative
/// threshold splits whatever it meets. It may use
///
///     uvec2 map_extent()                      texels of the map
///     uint  map_layers()
///     float threshold_parameter(uint index)   of Threshold::function, 0 for those not given; the
///                                             index is the same in all threads
///     layout(set = 1, binding = ...)          resources of its own, only read, where a Subdivider
///                                             is made with SubdividerOptions::threshold_resources
///     #include "quadtile/quadtree.h"          and the other shared headers that are installed
///
/// The kernel's other names are not part of this and change. Resources elsewhere, types of other
/// sizes than 32 bits and other features that not every Vulkan device has are refused with
/// Error(invalid_argument), which names the line, where the function meets a device; subgroup
/// operations only where the device has them off (Features). With macros expanded a text may have
/// 16384 tokens, and with calls of functions replaced by their bodies a kernel 131072 instructions.
class QUADTILE_API ThresholdFunction {
 public:
    /// Throws Error(invalid_argument) for an empty text. Whether it compiles is found out where it
    /// meets a device or compile_threshold.
    [[nodiscard]] static ThresholdFunction from_glsl(std::string text);

    /// Needs no compiler where it is used. Throws Error(invalid_argument) for empty code. Whether
    /// it is whole, of this version of quadtile, and without resources that are not bound, is found
    /// out where it meets a device.
    [[nodiscard]] static ThresholdFunction from_compiled(std::vector<std::byte> code);

    /// Empty where it was compiled before.
    [[nodiscard]] const std::string& glsl() const noexcept;
    /// Empty where it is a text.
    [[nodiscard]] std::span<const std::byte> compiled() const noexcept;

    /// Whether text and code are the same.
    friend QUADTILE_API bool operator==(const ThresholdFunction& a,
                                        const ThresholdFunction& b) noexcept;

 private:
    struct QUADTILE_LOCAL Code;
    explicit ThresholdFunction(std::shared_ptr<const Code> code);

    std::shared_ptr<const Code> code_;
};

}  // namespace quadtile
