// What the kernels of fitted shadow maps work with: one set of descriptors and one block of push constants
// for all (lib/shadow/shadow_fitter.cpp). What a kernel does not use costs nothing.
//
// Memory order: between the dispatches of a frame lie barriers from COMPUTE_SHADER / SHADER_WRITE to
// COMPUTE_SHADER / SHADER_READ | SHADER_WRITE, so each kernel sees all that those before it have written.

#include "hand_over.glsl"
#include "quadtile/quadtree.h"
#include "quadtile/shadow.h"
#include "quadtile/tile_list.h"

layout(set = 0, binding = 0) uniform sampler2D depth_buffer;
layout(set = 0, binding = 1, r32ui) nonprivate uniform uimage2DArray importance_map;  // bits of floats
layout(set = 0, binding = 2, r32ui) nonprivate uniform uimage2DArray page_table;
layout(set = 0, binding = 3, std430) readonly buffer Frame { ShadowFrame frame; };
layout(set = 0, binding = 4, std430) nonprivate buffer Header { ShadowHeader header; };
layout(set = 0, binding = 5, std430) nonprivate buffer Tiles { ShadowTile tiles[]; };
// Three lists of indices of tiles, shadow_list_stride words apart.
layout(set = 0, binding = 6, std430) nonprivate buffer Lists { uint lists[]; };
const uint LIST_KEPT = 0;
const uint LIST_ADDED = 1;
const uint LIST_RENDER = 2;
layout(set = 0, binding = 7, std430) nonprivate buffer Removed { ShadowTile removed_tiles[]; };
layout(set = 0, binding = 8, std430) readonly buffer Levels { float pyramid[]; };
layout(set = 0, binding = 9, std430) writeonly buffer Thresholds { float thresholds[]; };
// By factor: how many tiles it has more than the factor before, then how many cells (modulo 2^32); then the
// workgroups of count.comp that have come.
layout(set = 0, binding = 10, std430) nonprivate buffer Events { uint events[]; };
layout(set = 0, binding = 11, std430) readonly buffer TileList {
    TileListHeader list_header;
    Tile list_tiles[];
};
layout(set = 0, binding = 12, std430) nonprivate buffer Work { uint work[]; };
layout(set = 0, binding = 13, std430) nonprivate buffer LastLights { uint last_clip_from_world[]; };

layout(push_constant, std430) uniform PushConstants {
    ShadowParameters parameters;
    uint object_count;       // of cull.comp alone
    uint instance_capacity;  // of cull.comp alone
};

uint list_word(uint list, uint place) {
    return list * shadow_list_stride(parameters.max_tiles) + place;
}

// ---- The words of `work`

// First a bit for each cell of the atlas, page by page.
const uint PAGE_WORDS = SHADOW_PAGE_CELLS / 32;
uint page_count() { return shadow_atlas_cells(parameters) / SHADOW_PAGE_CELLS; }
uint tile_words_begin() { return page_count() * PAGE_WORDS; }

// Of each tile: what becomes of it; then of each the cell of its slot, SHADOW_NONE where it needs one.
const uint CLASSIFIED_CLASS = 0xffU;
const uint CLASSIFIED_KEPT = 0x100U;    // was a tile of the last frame
const uint CLASSIFIED_RENDER = 0x200U;  // must be drawn although its slot may stay
uint classified_word(uint tile) { return tile_words_begin() + tile; }
uint cell_word(uint tile) { return tile_words_begin() + parameters.max_tiles + tile; }
// Of each tile of the last frame: 1 where it still is one; 0 before and after.
uint stays_word(uint tile) { return tile_words_begin() + 2 * parameters.max_tiles + tile; }
// The workgroups of allocate.comp that have come.
uint arrived_word() { return tile_words_begin() + 3 * parameters.max_tiles; }

// ---- The last frame

bool has_last_frame() { return header.tiles > 0; }

bool clip_has_changed(uint light, uint element) {
    return floatBitsToUint(frame.lights[light].clip_from_world[element]) !=
           last_clip_from_world[16 * light + element];
}

// Of the last frame's tile that holds a node's first texel.
uint last_page(uint level, uvec2 node, uint light) {
    return imageLoad(page_table, ivec3(node << level, light)).x;
}

// Of a node of level 1 or above.
bool was_split(uint level, uvec2 node, uint light) {
    return has_last_frame() && shadow_page_level(last_page(level, node, light)) < level;
}

// Of all nodes of a map, or all of level 1 and above, counted from the root down, each level along the
// Z-order curve: the node's level below the root. Node i is the (i - first_node)-th of it.
uint levels_below_root(uint i) { return uint(findMSB(3 * i + 1)) / 2; }

uint first_node(uint below_root) { return ((1U << (2 * below_root)) - 1) / 3; }

uvec2 node_position(uint place) { return uvec2(morton_x(place), morton_y(place)); }

float node_importance(uint level, uvec2 node, uint light) {
    if (level == 0) {
        return uintBitsToFloat(imageLoad(importance_map, ivec3(node, light)).x);
    }
    const uint extent = 1U << parameters.map_levels;
    return pyramid[pyramid_index(extent, extent, level, node.x, node.y, light)];
}
