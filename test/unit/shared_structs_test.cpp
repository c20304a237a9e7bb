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

TEST(SharedStructs, TileAndHeader) {
    const auto structs = offsets_in(SUBTREE);
    const Offsets& tile = structs.at("Tile");
    EXPECT_EQ(tile.size(), 4U);
    EXPECT_MEMBER(tile, Tile, position);
    EXPECT_MEMBER(tile, Tile, node);
    EXPECT_MEMBER(tile, Tile, importance);
    EXPECT_MEMBER(tile, Tile, threshold);
    const Offsets& header = structs.at("TileListHeader");
    EXPECT_EQ(header.size() * sizeof(std::uint32_t), sizeof(TileListHeader));
    EXPECT_MEMBER(header, TileListHeader, written);
    EXPECT_MEMBER(header, TileListHeader, required);
    EXPECT_MEMBER(header, TileListHeader, flags);
    EXPECT_MEMBER(header, TileListHeader, capacity);
    EXPECT_MEMBER(header, TileListHeader, dispatch_x);
    EXPECT_MEMBER(header, TileListHeader, dispatch_y);
    EXPECT_MEMBER(header, TileListHeader, dispatch_z);
    EXPECT_MEMBER(header, TileListHeader, draw_vertex_count);
    EXPECT_MEMBER(header, TileListHeader, draw_instance_count);
    EXPECT_MEMBER(header, TileListHeader, draw_first_vertex);
    EXPECT_MEMBER(header, TileListHeader, draw_first_instance);
    const Offsets& list = structs.at("Tiles0");
    EXPECT_EQ(list.at("header"), 0U);
    EXPECT_EQ(list.at("tiles_0"), sizeof(TileListHeader));
}

TEST(SharedStructs, SubdivisionParametersAndState) {
    const auto structs = offsets_in(SUBTREE);
    const Offsets& parameters = structs.at("SubdivisionParameters");
    EXPECT_EQ(parameters.size(), 14U);
    EXPECT_MEMBER(parameters, SubdivisionParameters, width);
    EXPECT_MEMBER(parameters, SubdivisionParameters, height);
    EXPECT_MEMBER(parameters, SubdivisionParameters, layers);
    EXPECT_MEMBER(parameters, SubdivisionParameters, pass);
    EXPECT_MEMBER(parameters, SubdivisionParameters, pass_flags);
    EXPECT_MEMBER(parameters, SubdivisionParameters, upper_level);
    EXPECT_MEMBER(parameters, SubdivisionParameters, lower_level);
    EXPECT_MEMBER(parameters, SubdivisionParameters, next_depth);
    EXPECT_MEMBER(parameters, SubdivisionParameters, input_offset);
    EXPECT_MEMBER(parameters, SubdivisionParameters, output_offset);
    EXPECT_MEMBER(parameters, SubdivisionParameters, max_workgroup_count);
    EXPECT_MEMBER(parameters, SubdivisionParameters, tile_capacity);
    EXPECT_MEMBER(parameters, SubdivisionParameters, unorm_bits);
    EXPECT_MEMBER(parameters, SubdivisionParameters, thresholds);
    const Offsets& state = structs.at("SubdivisionState");
    EXPECT_MEMBER(state, SubdivisionState, tile_count);
    EXPECT_MEMBER(state, SubdivisionState, finished_workgroups);
    EXPECT_MEMBER(state, SubdivisionState, passes);
    const Offsets& pass = structs.at("SubdivisionPass");
    EXPECT_MEMBER(pass, SubdivisionPass, dispatch_x);
    EXPECT_MEMBER(pass, SubdivisionPass, dispatch_y);
    EXPECT_MEMBER(pass, SubdivisionPass, dispatch_z);
    EXPECT_MEMBER(pass, SubdivisionPass, node_count);
    EXPECT_EQ(structs.at("State").at("nodes"), sizeof(SubdivisionState));
}

TEST(SharedStructs, DownsampleParameters) {
    const Offsets parameters = offsets_in(PYRAMID).at("DownsampleParameters");
    EXPECT_EQ(parameters.size(), 16U);
    EXPECT_MEMBER(parameters, DownsampleParameters, width);
    EXPECT_MEMBER(parameters, DownsampleParameters, height);
    EXPECT_MEMBER(parameters, DownsampleParameters, layers);
    EXPECT_MEMBER(parameters, DownsampleParameters, base_level);
    EXPECT_MEMBER(parameters, DownsampleParameters, top_level);
    EXPECT_MEMBER(parameters, DownsampleParameters, base_texel_width);
    EXPECT_MEMBER(parameters, DownsampleParameters, base_texel_height);
    EXPECT_MEMBER(parameters, DownsampleParameters, state_words_per_layer);
    EXPECT_MEMBER(parameters, DownsampleParameters, first_block_x);
    EXPECT_MEMBER(parameters, DownsampleParameters, first_block_y);
    EXPECT_MEMBER(parameters, DownsampleParameters, first_layer);
    EXPECT_MEMBER(parameters, DownsampleParameters, expected);
    EXPECT_MEMBER(parameters, DownsampleParameters, first_image);
    EXPECT_MEMBER(parameters, DownsampleParameters, pitch);
    EXPECT_MEMBER(parameters, DownsampleParameters, floats_per_layer);
    EXPECT_MEMBER(parameters, DownsampleParameters, level_start);
}

TEST(SharedStructs, DirtyBlocks) {
    const auto structs = offsets_in(DIRTY_BLOCKS);
    const Offsets& parameters = structs.at("DirtyBlocksParameters");
    EXPECT_EQ(parameters.size(), 8U);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, width);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, height);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, layers);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, top_level);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, state_words_per_layer);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, texel_words);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, rectangle_capacity);
    EXPECT_MEMBER(parameters, DirtyBlocksParameters, max_workgroup_count);
    const Offsets& rectangle = structs.at("DirtyRectangle");
    EXPECT_MEMBER(rectangle, DirtyRectangle, x);
    EXPECT_MEMBER(rectangle, DirtyRectangle, y);
    EXPECT_MEMBER(rectangle, DirtyRectangle, width);
    EXPECT_MEMBER(rectangle, DirtyRectangle, height);
    EXPECT_MEMBER(rectangle, DirtyRectangle, layer);
    const Offsets& header = structs.at("DirtyBlocksHeader");
    EXPECT_MEMBER(header, DirtyBlocksHeader, dispatch_x);
    EXPECT_MEMBER(header, DirtyBlocksHeader, dispatch_y);
    EXPECT_MEMBER(header, DirtyBlocksHeader, dispatch_z);
    EXPECT_MEMBER(header, DirtyBlocksHeader, block_count);
    EXPECT_MEMBER(header, DirtyBlocksHeader, blocks);
    EXPECT_MEMBER(header, DirtyBlocksHeader, listed);
    EXPECT_MEMBER(header, DirtyBlocksHeader, finished_workgroups);
    EXPECT_MEMBER(header, DirtyBlocksHeader, reserved);
}

TEST(SharedStructs, FusedParametersAndState) {
    const auto structs = offsets_in(FUSED);
    const Offsets& parameters = structs.at("FusedParameters");
    ASSERT_EQ(parameters.size(), 15U);
    EXPECT_MEMBER(parameters, FusedParameters, max_tiles);
    EXPECT_MEMBER(parameters, FusedParameters, first_block);
    EXPECT_MEMBER(parameters, FusedParameters, first_layer);
    EXPECT_MEMBER(parameters, FusedParameters, running_layers);
    EXPECT_MEMBER(parameters, FusedParameters, expected);
    EXPECT_MEMBER(parameters, FusedParameters, width);
    EXPECT_MEMBER(parameters, FusedParameters, height);
    EXPECT_MEMBER(parameters, FusedParameters, layers);
    EXPECT_MEMBER(parameters, FusedParameters, top_level);
    EXPECT_MEMBER(parameters, FusedParameters, texel_width);
    EXPECT_MEMBER(parameters, FusedParameters, texel_height);
    EXPECT_MEMBER(parameters, FusedParameters, state_words_per_layer);
    EXPECT_MEMBER(parameters, FusedParameters, max_workgroup_count);
    EXPECT_MEMBER(parameters, FusedParameters, tile_capacity);
    EXPECT_MEMBER(parameters, FusedParameters, thresholds);
    const Offsets& state = structs.at("FusedState");
    ASSERT_EQ(state.size(), 4U);
    EXPECT_MEMBER(state, FusedState, tile_count);
    EXPECT_MEMBER(state, FusedState, finished_layers);
    EXPECT_MEMBER(state, FusedState, written_count);
    EXPECT_MEMBER(state, FusedState, is_counted);
}

TEST(SharedStructs, SrgbTables) {
    const Offsets tables = offsets_in(DOWNSAMPLE_COLOURS).at("SrgbTables");
    ASSERT_EQ(tables.size(), 3U);
    EXPECT_MEMBER(tables, SrgbTables, light);
    EXPECT_MEMBER(tables, SrgbTables, border);
    EXPECT_MEMBER(tables, SrgbTables, starts);
}

}  // namespace
}  // namespace quadtile
