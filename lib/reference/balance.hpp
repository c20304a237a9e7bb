// Balanced lists, for reference::subdivide and the library.
//
// Not a public header, but libquadtile uses the functions of libquadtile_reference that are marked
// QUADTILE_API.

#pragma once

#include <quadtile/export.h>
#include <quadtile/reference.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::reference {

// Throws Error(invalid_argument) for a budget together with a balance.
QUADTILE_API void check_balance(const SubdivideOptions& options);

// Appends the balanced tiles of one layer, in canonical order. `balance` is not `none`.
void add_balanced_tiles(const Pyramid& pyramid, const ResolvedThreshold& thresholds,
                        std::uint32_t layer, Balance balance, std::vector<Tile>& tiles);

}  // namespace quadtile::reference
