// The structs that C++ and GLSL share have one definition; this checks that both compilers lay it
// out alike, by the offsets that glslc wrote into a kernel that uses them all.

#include <quadtile/shadow.h>

#include "../unit/spirv_layout.hpp"

#include <gtest/gtest.h>

namespace quadtile {
namespace {

using test::Offsets;
using test::offsets_in;
using test::strides_in;

constexpr std::uint32_t CULL[] = {
#include "shadow_cull.spv.inc"
};

TEST(SharedShadowStructs, Strides) {
    const auto strides = strides_in(CULL);
    EXPECT_EQ(strides.at("ShadowLight"), sizeof(ShadowLight));
    EXPECT_EQ(strides.at("ShadowRectangle"), sizeof(ShadowRectangle));
    EXPECT_EQ(strides.at("ShadowTile"), sizeof(ShadowTile));
    EXPECT_EQ(strides.at("ShadowObject"), sizeof(ShadowObject));
}

TEST(SharedShadowStructs, Light) {
    const Offsets light = offsets_in(CULL).at("ShadowLight");
    ASSERT_EQ(light.size(), 6U);
    EXPECT_MEMBER(light, ShadowLight, clip_from_world);
    EXPECT_MEMBER(light, ShadowLight, map_from_pixel);
    EXPECT_MEMBER(light, ShadowLight, facing);
    EXPECT_MEMBER(light, ShadowLight, texel_extent);
    EXPECT_MEMBER(light, ShadowLight, perspective);
    EXPECT_MEMBER(light, ShadowLight, reserved);
}

TEST(SharedShadowStructs, Rectangle) {
    const Offsets rectangle = offsets_in(CULL).at("ShadowRectangle");
    ASSERT_EQ(rectangle.size(), 5U);
    EXPECT_MEMBER(rectangle, ShadowRectangle, light);
    EXPECT_MEMBER(rectangle, ShadowRectangle, x);
    EXPECT_MEMBER(rectangle, ShadowRectangle, y);
    EXPECT_MEMBER(rectangle, ShadowRectangle, end_x);
    EXPECT_MEMBER(rectangle, ShadowRectangle, end_y);
}

TEST(SharedShadowStructs, Frame) {
    const Offsets frame = offsets_in(CULL).at("ShadowFrame");
    ASSERT_EQ(frame.size(), 6U);
    EXPECT_MEMBER(frame, ShadowFrame, depth_width);
    EXPECT_MEMBER(frame, ShadowFrame, depth_height);
    EXPECT_MEMBER(frame, ShadowFrame, background_depth);
    EXPECT_MEMBER(frame, ShadowFrame, rectangle_count);
    EXPECT_MEMBER(frame, ShadowFrame, lights);
    EXPECT_MEMBER(frame, ShadowFrame, rectangles);
    EXPECT_EQ(frame.at("rectangles") + SHADOW_MAX_RECTANGLES * sizeof(ShadowRectangle),
              sizeof(ShadowFrame));
}

TEST(SharedShadowStructs, Parameters) {
    const Offsets parameters = offsets_in(CULL).at("ShadowParameters");
    ASSERT_EQ(parameters.size(), 13U);
    EXPECT_MEMBER(parameters, ShadowParameters, lights);
    EXPECT_MEMBER(parameters, ShadowParameters, map_levels);
    EXPECT_MEMBER(parameters, ShadowParameters, atlas_levels);
    EXPECT_MEMBER(parameters, ShadowParameters, tile_extent);
    EXPECT_MEMBER(parameters, ShadowParameters, gutter);
    EXPECT_MEMBER(parameters, ShadowParameters, max_tiles);
    EXPECT_MEMBER(parameters, ShadowParameters, max_cells);
    EXPECT_MEMBER(parameters, ShadowParameters, least_area);
    EXPECT_MEMBER(parameters, ShadowParameters, resolution_scale);
    EXPECT_MEMBER(parameters, ShadowParameters, edge_scale);
    EXPECT_MEMBER(parameters, ShadowParameters, importance_decay);
    EXPECT_MEMBER(parameters, ShadowParameters, cores);
    EXPECT_MEMBER(parameters, ShadowParameters, kept_cores);
    // What lies behind it says how long it is.
    EXPECT_EQ(offsets_in(CULL).at("PushConstants").at("object_count"), sizeof(ShadowParameters));
}

TEST(SharedShadowStructs, Tile) {
    const Offsets tile = offsets_in(CULL).at("ShadowTile");
    ASSERT_EQ(tile.size(), 8U);
    EXPECT_MEMBER(tile, ShadowTile, position);
    EXPECT_MEMBER(tile, ShadowTile, node);
    EXPECT_MEMBER(tile, ShadowTile, slot);
    EXPECT_MEMBER(tile, ShadowTile, state);
    EXPECT_MEMBER(tile, ShadowTile, crop_scale);
    EXPECT_MEMBER(tile, ShadowTile, crop_x);
    EXPECT_MEMBER(tile, ShadowTile, crop_y);
    EXPECT_MEMBER(tile, ShadowTile, importance);
}

TEST(SharedShadowStructs, Header) {
    const Offsets header = offsets_in(CULL).at("ShadowHeader");
    ASSERT_EQ(header.size(), 16U);
    EXPECT_MEMBER(header, ShadowHeader, tiles);
    EXPECT_MEMBER(header, ShadowHeader, kept);
    EXPECT_MEMBER(header, ShadowHeader, added);
    EXPECT_MEMBER(header, ShadowHeader, removed);
    EXPECT_MEMBER(header, ShadowHeader, flags);
    EXPECT_MEMBER(header, ShadowHeader, used_cells);
    EXPECT_MEMBER(header, ShadowHeader, factor_index);
    EXPECT_MEMBER(header, ShadowHeader, factor);
    EXPECT_MEMBER(header, ShadowHeader, render_vertex_count);
    EXPECT_MEMBER(header, ShadowHeader, render_count);
    EXPECT_MEMBER(header, ShadowHeader, render_first_vertex);
    EXPECT_MEMBER(header, ShadowHeader, render_first_instance);
    EXPECT_MEMBER(header, ShadowHeader, resized);
    EXPECT_MEMBER(header, ShadowHeader, instances);
    EXPECT_MEMBER(header, ShadowHeader, reserved0);
    EXPECT_MEMBER(header, ShadowHeader, reserved1);
    EXPECT_EQ(header.size() * sizeof(std::uint32_t), sizeof(ShadowHeader));
}

TEST(SharedShadowStructs, Object) {
    const Offsets object = offsets_in(CULL).at("ShadowObject");
    ASSERT_EQ(object.size(), 8U);
    EXPECT_MEMBER(object, ShadowObject, low);
    EXPECT_MEMBER(object, ShadowObject, index_count);
    EXPECT_MEMBER(object, ShadowObject, high);
    EXPECT_MEMBER(object, ShadowObject, first_index);
    EXPECT_MEMBER(object, ShadowObject, vertex_offset);
    EXPECT_MEMBER(object, ShadowObject, light_mask);
    EXPECT_MEMBER(object, ShadowObject, reserved0);
    EXPECT_MEMBER(object, ShadowObject, reserved1);
}

}  // namespace
}  // namespace quadtile
