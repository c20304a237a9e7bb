// The definition of a frame, docs/shadows_definition.md, in plain loops and sets and without the
// twin's code.

#pragma once

#include <quadtile/shadow.hpp>

#include <span>
#include <string>

namespace quadtile::test {

using ShadowResult = reference::ShadowFitter::Result;

// Names what a frame's result breaks of steps 3 to 10, given its importance and the frame before it
// (an empty one at first). Empty where it is right.
[[nodiscard]] std::string broken_rule(const ShadowOptions& options, const ShadowFrame& last_frame,
                                      const ShadowResult& last, const ShadowFrame& frame,
                                      const ShadowResult& result,
                                      std::span<const ShadowChange> changes = {});

// The same for the tiles in which each object is drawn.
[[nodiscard]] std::string broken_culling(const ShadowOptions& options, const ShadowFrame& frame,
                                         const ShadowResult& result,
                                         std::span<const ShadowObject> objects,
                                         std::span<const std::vector<std::uint32_t>> drawn);

}  // namespace quadtile::test
