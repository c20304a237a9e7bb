// Options of a subdivision, from Python's arguments.

#pragma once

#include "arrays.hpp"

#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <pybind11/pybind11.h>

namespace quadtile::python {

namespace py = pybind11;

// A map, its threshold and the options.
struct Subdivision {
    HostImage map;
    Threshold threshold;
    SubdivideOptions options;
};

// Returns a subdivision. `threshold` is (max_resolution, constant, per_level, memory,
// threshold_map, glsl, parameters), of which exactly one except the last is given. `options` is
// (order, max_tiles, balance). Throws TypeError, ValueError and Error(invalid_argument).
[[nodiscard]] Subdivision subdivision_from(py::handle map, const py::tuple& threshold,
                                           const py::tuple& options);

// Returns a strategy by its name. Throws TypeError; ValueError, which lists the names.
[[nodiscard]] Strategy strategy_from(py::handle given);

// Returns (array of the tiles, the list's other members in the order of quadtile._tiles.Run).
[[nodiscard]] py::tuple tile_list(TileList list);

}  // namespace quadtile::python
