// Options of a subdivision, from Python's arguments.

#pragma once

#include "arrays.hpp"

#include <quadtile/strategy.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiles.hpp>

#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <string>

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

// Returns a strategy by its name. Throws ValueError, which lists the names.
[[nodiscard]] Strategy strategy_from(const std::string& name);

// Returns the index of a name in a list. Throws ValueError, which lists the names.
[[nodiscard]] std::size_t choice_from(const std::string& argument, const std::string& given,
                                      std::initializer_list<const char*> names);

// Returns an integer from 0 to `most`. Throws TypeError, ValueError.
[[nodiscard]] std::uint64_t count_from(py::handle given, const char* name,
                                       std::uint64_t most = UINT64_MAX);
[[nodiscard]] inline std::uint32_t count32_from(py::handle given, const char* name) {
    return static_cast<std::uint32_t>(count_from(given, name, UINT32_MAX));
}

// Returns a number as a 32-bit float. Throws TypeError.
[[nodiscard]] float number_from(py::handle given, const char* name);

// Returns (array of the tiles, the list's other members in the order of quadtile._tiles.Run).
[[nodiscard]] py::tuple tile_list(TileList list);

}  // namespace quadtile::python
