// The structs that C++ and GLSL share have one definition; this checks that both compilers lay it
// out alike, by the offsets that glslc wrote into a kernel that uses them all.

#include <quadtile/shadow.h>

#include "../unit/spirv_layout.hpp"

#include <gtest/gtest.h>

namespace quadtile {
namespace {

constexpr std::uint32_t CULL[] = {
#include "shadow_cull.spv.inc"
};

TEST(SharedShadowStructs, HaveTheSameMembersAtTheSamePlaces) {
    const auto structs = test::offsets_in(CULL);
    EXPECT_LAYOUT(structs, ShadowLight, clip_from_world, map_from_pixel, facing, texel_extent,
                  perspective, reserved);
    EXPECT_LAYOUT(structs, ShadowRectangle, light, x, y, end_x, end_y);
    EXPECT_LAYOUT(structs, ShadowFrame, depth_width, depth_height, background_depth,
                  rectangle_count, lights, rectangles);
    EXPECT_LAYOUT(structs, ShadowParameters, lights, map_levels, atlas_levels, tile_extent, gutter,
                  max_tiles, max_cells, least_area, resolution_scale, edge_scale, importance_decay,
                  cores, kept_cores);
    EXPECT_LAYOUT(structs, ShadowTile, position, node, slot, state, crop_scale, crop_x, crop_y,
                  importance);
    EXPECT_LAYOUT(structs, ShadowHeader, tiles, kept, added, removed, flags, used_cells,
                  factor_index, factor, render_vertex_count, render_count, render_first_vertex,
                  render_first_instance, resized, instances, reserved0, reserved1);
    EXPECT_LAYOUT(structs, ShadowObject, low, index_count, high, first_index, vertex_offset,
                  light_mask, reserved0, reserved1);
}

TEST(SharedShadowStructs, HaveTheSameSizes) {
    const auto strides = test::strides_in(CULL);
    EXPECT_EQ(strides.at("ShadowLight"), sizeof(ShadowLight));
    EXPECT_EQ(strides.at("ShadowRectangle"), sizeof(ShadowRectangle));
    EXPECT_EQ(strides.at("ShadowTile"), sizeof(ShadowTile));
    EXPECT_EQ(strides.at("ShadowObject"), sizeof(ShadowObject));
    const auto offsets = test::offsets_in(CULL);
    EXPECT_EQ(offsets.at("ShadowFrame").at("rectangles") +
                  SHADOW_MAX_RECTANGLES * sizeof(ShadowRectangle),
              sizeof(ShadowFrame));
    // What lies behind the parameters says how long they are.
    EXPECT_EQ(offsets.at("PushConstants").at("object_count"), sizeof(ShadowParameters));
    EXPECT_EQ(offsets.at("ShadowHeader").size() * sizeof(std::uint32_t), sizeof(ShadowHeader));
}

}  // namespace
}  // namespace quadtile
