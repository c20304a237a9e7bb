// The resources that the recording layer asks its caller for, made on a Gpu.

#pragma once

#include "support/gpu.hpp"

#include <quadtile/map.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiles.hpp>

#include <cstdint>
#include <vector>

namespace quadtile::test {

// A map on the GPU and room for its pyramid.
struct PyramidWorkspace {
    PyramidWorkspace(Gpu& gpu, const Pyramid& pyramid, const MapView& map);

    MapShape shape;
    Image map;
    Buffer levels;  // 1 to TOP (quadtree.h)
    Buffer state;   // zeros
    Pyramid::Binding binding;
};

// Room for the subdivision of a PyramidWorkspace, which must outlive it.
struct SubdivisionWorkspace {
    SubdivisionWorkspace(Gpu& gpu, const Subdivider& subdivider, const PyramidWorkspace& pyramid,
                         std::uint64_t tile_capacity);

    // Of the last run.
    [[nodiscard]] TileListHeader read_header(Gpu& gpu) const;
    // The `written` tiles of the last run, as they lie.
    [[nodiscard]] std::vector<Tile> read_tiles(Gpu& gpu) const;

    Buffer scratch;  // zeros
    Buffer tile_list;
    Subdivider::Binding binding;
};

}  // namespace quadtile::test
