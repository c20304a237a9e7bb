// Balanced lists, for reference::subdivide.

#pragma once

#include <quadtile/reference.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::reference {

// Appends the balanced tiles of one layer, in canonical order. `balance` is not `none`.
void add_balanced_tiles(const Pyramid& pyramid, const ResolvedThreshold& thresholds,
                        std::uint32_t layer, Balance balance, std::vector<Tile>& tiles);

}  // namespace quadtile::reference
