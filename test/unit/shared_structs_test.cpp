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

using test::Offsets;
using test::offsets_in;

// A member's name and its offset in C++.
#define AT(Struct, member) \
    { #member, offsetof(Struct, member) }

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
    EXPECT_EQ(structs.at("Tile"), (Offsets{AT(Tile, position), AT(Tile, node), AT(Tile, importance),
                                           AT(Tile, threshold)}));
    EXPECT_EQ(
        structs.at("TileListHeader"),
        (Offsets{AT(TileListHeader, written), AT(TileListHeader, required),
                 AT(TileListHeader, flags), AT(TileListHeader, capacity),
                 AT(TileListHeader, dispatch_x), AT(TileListHeader, dispatch_y),
                 AT(TileListHeader, dispatch_z), AT(TileListHeader, draw_vertex_count),
                 AT(TileListHeader, draw_instance_count), AT(TileListHeader, draw_first_vertex),
                 AT(TileListHeader, draw_first_instance), AT(TileListHeader, first_tile),
                 AT(TileListHeader, threshold_factor), AT(TileListHeader, reserved2),
                 AT(TileListHeader, reserved3), AT(TileListHeader, reserved4)}));
    EXPECT_EQ(structs.at("TileListHeader").size() * sizeof(std::uint32_t), sizeof(TileListHeader));
    EXPECT_EQ(structs.at("Tiles0").at("header"), 0U);
    EXPECT_EQ(structs.at("Tiles0").at("tiles_0"), sizeof(TileListHeader));
}

TEST(SharedStructs, Subdivision) {
    const auto structs = offsets_in(SUBTREE);
    EXPECT_EQ(
        structs.at("SubdivisionParameters"),
        (Offsets{AT(SubdivisionParameters, width), AT(SubdivisionParameters, height),
                 AT(SubdivisionParameters, layers), AT(SubdivisionParameters, pass),
                 AT(SubdivisionParameters, pass_flags), AT(SubdivisionParameters, upper_level),
                 AT(SubdivisionParameters, lower_level), AT(SubdivisionParameters, next_depth),
                 AT(SubdivisionParameters, input_offset), AT(SubdivisionParameters, output_offset),
                 AT(SubdivisionParameters, max_workgroup_count),
                 AT(SubdivisionParameters, tile_capacity), AT(SubdivisionParameters, unorm_bits),
                 AT(SubdivisionParameters, thresholds)}));
    EXPECT_EQ(structs.at("SubdivisionState"),
              (Offsets{AT(SubdivisionState, tile_count), AT(SubdivisionState, finished_workgroups),
                       AT(SubdivisionState, passes), AT(SubdivisionState, reserved0),
                       AT(SubdivisionState, reserved1)}));
    EXPECT_EQ(structs.at("SubdivisionPass"),
              (Offsets{AT(SubdivisionPass, dispatch_x), AT(SubdivisionPass, dispatch_y),
                       AT(SubdivisionPass, dispatch_z), AT(SubdivisionPass, node_count)}));
    EXPECT_EQ(structs.at("State").at("nodes"), sizeof(SubdivisionState));
}

TEST(SharedStructs, Downsampling) {
    EXPECT_EQ(
        offsets_in(PYRAMID).at("DownsampleParameters"),
        (Offsets{AT(DownsampleParameters, width), AT(DownsampleParameters, height),
                 AT(DownsampleParameters, layers), AT(DownsampleParameters, base_level),
                 AT(DownsampleParameters, top_level), AT(DownsampleParameters, base_texel_width),
                 AT(DownsampleParameters, base_texel_height),
                 AT(DownsampleParameters, state_words_per_layer),
                 AT(DownsampleParameters, first_block_x), AT(DownsampleParameters, first_block_y),
                 AT(DownsampleParameters, first_layer), AT(DownsampleParameters, expected),
                 AT(DownsampleParameters, first_image), AT(DownsampleParameters, pitch),
                 AT(DownsampleParameters, floats_per_layer),
                 AT(DownsampleParameters, level_start)}));
    EXPECT_EQ(offsets_in(DOWNSAMPLE_COLOURS).at("SrgbTables"),
              (Offsets{AT(SrgbTables, light), AT(SrgbTables, border), AT(SrgbTables, starts)}));
}

TEST(SharedStructs, DirtyBlocks) {
    const auto structs = offsets_in(DIRTY_BLOCKS);
    EXPECT_EQ(structs.at("DirtyBlocksParameters"),
              (Offsets{AT(DirtyBlocksParameters, width), AT(DirtyBlocksParameters, height),
                       AT(DirtyBlocksParameters, layers), AT(DirtyBlocksParameters, top_level),
                       AT(DirtyBlocksParameters, state_words_per_layer),
                       AT(DirtyBlocksParameters, texel_words),
                       AT(DirtyBlocksParameters, rectangle_capacity),
                       AT(DirtyBlocksParameters, max_workgroup_count)}));
    EXPECT_EQ(structs.at("DirtyRectangle"),
              (Offsets{AT(DirtyRectangle, x), AT(DirtyRectangle, y), AT(DirtyRectangle, width),
                       AT(DirtyRectangle, height), AT(DirtyRectangle, layer)}));
    EXPECT_EQ(
        structs.at("DirtyBlocksHeader"),
        (Offsets{AT(DirtyBlocksHeader, dispatch_x), AT(DirtyBlocksHeader, dispatch_y),
                 AT(DirtyBlocksHeader, dispatch_z), AT(DirtyBlocksHeader, block_count),
                 AT(DirtyBlocksHeader, blocks), AT(DirtyBlocksHeader, listed),
                 AT(DirtyBlocksHeader, finished_workgroups), AT(DirtyBlocksHeader, reserved)}));
}

TEST(SharedStructs, Fused) {
    const auto structs = offsets_in(FUSED);
    EXPECT_EQ(
        structs.at("FusedParameters"),
        (Offsets{AT(FusedParameters, max_tiles), AT(FusedParameters, first_block),
                 AT(FusedParameters, first_layer), AT(FusedParameters, running_layers),
                 AT(FusedParameters, expected), AT(FusedParameters, width),
                 AT(FusedParameters, height), AT(FusedParameters, layers),
                 AT(FusedParameters, top_level), AT(FusedParameters, texel_width),
                 AT(FusedParameters, texel_height), AT(FusedParameters, state_words_per_layer),
                 AT(FusedParameters, max_workgroup_count), AT(FusedParameters, tile_capacity),
                 AT(FusedParameters, thresholds)}));
    EXPECT_EQ(structs.at("FusedState"),
              (Offsets{AT(FusedState, tile_count), AT(FusedState, finished_layers),
                       AT(FusedState, written_count), AT(FusedState, is_counted)}));
}

}  // namespace
}  // namespace quadtile
