// Properties of every result of a fitter, checked without its code.

#pragma once

#include <quadtile/shadow.hpp>

#include <span>

namespace quadtile::test {

using ShadowResult = reference::ShadowFitter::Result;

// Everything that docs/shadows_definition.md says of one frame's tiles, slots, counts and page
// table, beside the one before it (an empty one at first).
void check_shadow_frame(const ShadowOptions& options, const ShadowFrame& last_frame,
                        const ShadowResult& last, const ShadowFrame& frame,
                        const ShadowResult& result, std::span<const ShadowChange> changes = {});

// Tells whether a factor keeps the budgets.
[[nodiscard]] bool fits_budgets(const ShadowOptions& options, const ShadowFrame& last_frame,
                                const ShadowResult& last, const ShadowFrame& frame,
                                const std::vector<float>& importance, std::uint32_t factor);

}  // namespace quadtile::test
