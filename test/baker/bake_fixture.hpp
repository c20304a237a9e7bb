// Common parts of the tests of the whole bake.

#pragma once

#include "quads.hpp"

#include "reference_tracer.hpp"

#include <gtest/gtest.h>

namespace quadtile::baker::test {

inline BakeResult bake_by_reference(const Prepared& what, const BakeOptions& options,
                                    const BakeWatcher& watcher = {}) {
    return bake_with(*make_reference_tracer(what.traced, what.tiles, 2), what, options, watcher);
}

// A room with a window, a lamp, a block and a panel: 13 of 4 by `rows` cells.
inline Quads small_room(std::uint32_t rows = 4) {
    Quads room(4, rows, 6);
    room.add_material({.albedo = {0.7F, 0.6F, 0.5F}});
    const std::uint32_t red = room.add_material({.albedo = {0.6F, 0.1F, 0.1F}});
    const std::uint32_t lamp =
        room.add_material({.albedo = glm::vec3(0.0F), .emission = glm::vec3(4.0F)});
    const std::uint32_t panel =
        room.add_material({.albedo = {0.2F, 0.7F, 0.3F}, .double_sided = true});
    room.add({0, 0, 0}, 3.0F * Z, 3.0F * X);
    room.add({0, 2, 0}, 3.0F * X, 3.0F * Z);
    room.add({0, 0, 0}, 3.0F * X, 2.0F * Y);
    room.add({0, 0, 0}, 2.0F * Y, 3.0F * Z, red);
    room.add({3, 0, 0}, 3.0F * Z, 2.0F * Y);
    room.add({1, 1.75F, 1}, X, Z, lamp);
    room.add_block({0.5F, 0.125F, 1.5F}, {0.75F, 0.75F, 0.75F}, red);
    room.add({2, 0.25F, 1}, glm::vec3(0.25F, 0, 1.5F), glm::vec3(0.25F, 1.25F, 0), panel);
    return room;
}

}  // namespace quadtile::baker::test
