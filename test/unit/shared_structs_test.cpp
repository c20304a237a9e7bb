// The structs that C++ and GLSL share have one definition; this checks that both compilers lay it
// out alike, by the offsets that glslc wrote into the kernels.

#include <quadtile/dirty_blocks.h>
#include <quadtile/kernel_parameters.h>
#include <quadtile/texel_encoding.h>
#include <quadtile/tile_list.h>

#include "spirv_layout.hpp"

#include <gtest/gtest.h>

namespace quadtile {
namespace {

using test::offsets_in;

constexpr std::uint32_t PYRAMID[] = {
#include "pyramid.spv.inc"
};
constexpr std::uint32_t DIRTY_BLOCKS[] = {
#include "dirty_blocks.spv.inc"
};
constexpr std::uint32_t FUSED[] = {
#include "fused_count.spv.inc"
};
constexpr std::uint32_t DOWNSAMPLE_COLOURS[] = {
#include "downsample_floats_4.spv.inc"
};
constexpr std::uint32_t SUBTREE[] = {
#include "subtree.spv.inc"
};

TEST(SharedStructs, Tiles) {
    const auto structs = offsets_in(SUBTREE);
    EXPECT_LAYOUT(structs, Tile, position, node, importance, threshold);
    EXPECT_LAYOUT(structs, TileListHeader, written, required, flags, capacity, dispatch_x,
                  dispatch_y, dispatch_z, first_tile, draw_vertex_count, draw_instance_count,
                  draw_first_vertex, draw_first_instance, threshold_factor, reserved2, reserved3,
                  reserved4);
    EXPECT_EQ(structs.at("TileListHeader").size() * sizeof(std::uint32_t), sizeof(TileListHeader));
    EXPECT_EQ(structs.at("Tiles0").at("header"), 0U);
    EXPECT_EQ(structs.at("Tiles0").at("tiles_0"), sizeof(TileListHeader));
}

TEST(SharedStructs, Subdivision) {
    const auto structs = offsets_in(SUBTREE);
    EXPECT_LAYOUT(structs, SubdivisionParameters, width, height, layers, pass, pass_flags,
                  upper_level, lower_level, next_depth, input_offset, output_offset,
                  max_workgroup_count, tile_capacity, unorm_bits, thresholds);
    EXPECT_LAYOUT(structs, SubdivisionState, tile_count, finished_workgroups, reserved0, reserved1,
                  passes);
    EXPECT_LAYOUT(structs, SubdivisionPass, dispatch_x, dispatch_y, dispatch_z, node_count);
    EXPECT_EQ(structs.at("State").at("nodes"), sizeof(SubdivisionState));
}

TEST(SharedStructs, Downsampling) {
    EXPECT_LAYOUT(offsets_in(PYRAMID), DownsampleParameters, width, height, layers, base_level,
                  top_level, base_texel_width, base_texel_height, state_words_per_layer,
                  first_block_x, first_block_y, first_layer, expected, first_image, pitch,
                  floats_per_layer, level_start);
    EXPECT_LAYOUT(offsets_in(DOWNSAMPLE_COLOURS), SrgbTables, light, border, starts);
}

TEST(SharedStructs, DirtyBlocks) {
    const auto structs = offsets_in(DIRTY_BLOCKS);
    EXPECT_LAYOUT(structs, DirtyBlocksParameters, width, height, layers, top_level,
                  state_words_per_layer, texel_words, rectangle_capacity, max_workgroup_count);
    EXPECT_LAYOUT(structs, DirtyRectangle, x, y, width, height, layer);
    EXPECT_LAYOUT(structs, DirtyBlocksHeader, dispatch_x, dispatch_y, dispatch_z, block_count,
                  blocks, listed, finished_workgroups, reserved);
}

TEST(SharedStructs, Fused) {
    const auto structs = offsets_in(FUSED);
    EXPECT_LAYOUT(structs, FusedParameters, width, height, layers, top_level, texel_width,
                  texel_height, state_words_per_layer, max_workgroup_count, tile_capacity,
                  max_tiles, thresholds, first_block, first_layer, running_layers, expected);
    EXPECT_LAYOUT(structs, FusedState, place_count, finished_layers, required_count, is_counted);
}

}  // namespace
}  // namespace quadtile
