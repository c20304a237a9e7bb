// What the kernels of fitted shadow maps work with: one set of descriptors and one block of push constants
// for all (lib/shadow/shadow_fitter.cpp). What a kernel does not use costs nothing.
//
// All buffers are parts of one: every Vulkan device allows four storage buffers in a stage, and culling needs three
// of the caller's.
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
layout(set = 0, binding = 3, std430) nonprivate buffer Memory {
    ShadowFrame frame;
    uint behind_frame[44];  // to the next 256 bytes: callers bind what follows by itself
    ShadowHeader header;
    uint behind_header[48];
    uint words[];
};

// Where the parts begin in `words`; made by the host.
struct Places {
    uint tiles;        // ShadowTile[max_tiles]
    uint lists;        // three lists of indices of tiles, shadow_list_stride words apart
    uint removed;      // ShadowTile[max_tiles]
    uint tile_list;    // TileListHeader and Tile[max_tiles]
    uint work;         // below
    uint events;       // below
    uint nodes;        // below
    uint blocks;       // below
    uint last_lights;  // clip_from_world of each light in the last frame
};

layout(push_constant, std430) uniform PushConstants {
    ShadowParameters parameters;
    uint object_count;       // of cull.comp; of change.comp: boxes for which there is room
    uint instance_capacity;  // of cull.comp alone
    Places places;
};

// ---- Tiles and lists of them

const uint TILE_WORDS = 8;
const uint LIST_KEPT = 0;
const uint LIST_ADDED = 1;
const uint LIST_RENDER = 2;

// Without the crop matrix and what was needed.
ShadowTile load_tile(uint index) {
    const uint first = places.tiles + TILE_WORDS * index;
    return ShadowTile(words[first], words[first + 1], words[first + 2], words[first + 3], 0.0, 0.0, 0.0, 0.0);
}

uint list_word(uint list, uint place) {
    return places.lists + list * shadow_list_stride(parameters.max_tiles) + place;
}

// TileListHeader::written.
uint listed_tiles() { return words[places.tile_list]; }

// ---- Work: a bit for each cell of the atlas, page by page; then of each tile of the last frame, whether it still is
// one, 0 before and after a frame; then tiles as list.comp finds them, in any order; then the order of the list.

const uint PAGE_WORDS = SHADOW_PAGE_CELLS / 32;
uint page_count() { return shadow_atlas_cells(parameters) / SHADOW_PAGE_CELLS; }
uint cells_word() { return places.work; }
uint stays_word(uint tile) { return places.work + page_count() * PAGE_WORDS + tile; }

// Of a tile that was found.
const uint FOUND_POSITION = 0;   // as Tile has it, and the three that follow
const uint FOUND_NODE = 1;
const uint FOUND_IMPORTANCE = 2;
const uint FOUND_THRESHOLD = 3;
const uint FOUND_CLASSIFIED = 4;  // what becomes of it
const uint FOUND_CELL = 5;        // of its slot, SHADOW_NONE where it needs one
const uint FOUND_BLOCK = 6;       // that it begins in
const uint FOUND_WORDS = 8;
uint found_word(uint found) { return stays_word(parameters.max_tiles) + FOUND_WORDS * found; }

const uint CLASSIFIED_CLASS = 0xffU;
const uint CLASSIFIED_KEPT = 0x100U;    // was a tile of the last frame
const uint CLASSIFIED_RENDER = 0x200U;  // must be drawn although its slot may stay

// Of a tile of the list: where it was found.
uint order_word(uint tile) { return found_word(parameters.max_tiles) + tile; }
uint found_of(uint tile) { return found_word(words[order_word(tile)]); }

// ---- Events: by factor how many tiles it has more than the factor before, then how many cells (modulo 2^32); then
// counters. All are 0 before and after a frame.

uint events_word(uint factor) { return places.events + factor; }
uint counted_word() { return places.events + 2 * BUDGET_FACTORS; }   // workgroups of count.comp that have come
uint listed_word() { return counted_word() + 1; }                    // of list.comp
uint found_count_word() { return counted_word() + 2; }               // tiles that were found

// ---- Blocks of the map, of 32 x 32 texels where it has as many, and the nodes within and above them

const uint BLOCK_LEVELS = 5;
const uint BLOCK_TEXELS = 1U << (2 * BLOCK_LEVELS);
const uint BLOCK_NODES = (BLOCK_TEXELS - 1) / 3;  // of level 1 and above
const uint BLOCK_THREADS = BLOCK_TEXELS / 4;      // of the kernels that work on blocks: a thread for four texels

// All threads go through their items in the same number of steps: lavapipe loses threads in other loops.
#define FOR_EACH(item, count)                                                          \
    for (uint item = gl_LocalInvocationIndex, steps = 0; steps < (count);              \
         item += BLOCK_THREADS, steps += BLOCK_THREADS)                                \
        if (item < (count))

uint block_levels() { return min(BLOCK_LEVELS, parameters.map_levels); }
// Levels from the root's to that of the blocks.
uint levels_above() { return parameters.map_levels - block_levels(); }
uint light_blocks() { return 1U << (2 * levels_above()); }
uint all_blocks() { return parameters.lights * light_blocks(); }

// Of the nodes of a tree, counted from the root down, each level along the Z-order curve: the level of node i below
// the root. It is the (i - first_node)-th of it; its children are 4 i + 1 to 4 i + 4.
uint levels_below_root(uint i) { return uint(findMSB(3 * i + 1)) / 2; }

uint first_node(uint below_root) { return ((1U << (2 * below_root)) - 1) / 3; }

uvec2 z_order(uint place) { return uvec2(morton_x(place), morton_y(place)); }

// Of each node two words: under how many factors it is split, and what it needs, a float. First those of all blocks,
// from level 1 on, as trees; then those above the blocks of each light.
uint block_node_word(uint block, uint i) { return places.nodes + 2 * (BLOCK_NODES * block + i); }
uint upper_node_word(uint light, uint i) {
    return places.nodes + 2 * (BLOCK_NODES * all_blocks() + first_node(levels_above()) * light + i);
}
const uint NODE_END = 0;
const uint NODE_IMPORTANCE = 1;

// Of each block which tiles begin in it, and where pixels have asked.
const uint BLOCK_COVER = 0;   // level of the tile that it lies in, SHADOW_NONE where it has smaller ones
const uint BLOCK_COUNT = 1;   // of tiles that begin in it
const uint BLOCK_FOUND = 2;   // the first that was found of them
const uint BLOCK_FIRST = 3;   // of them, in the list
const uint BLOCK_STARTS = 4;  // with smaller ones: a bit for each texel where one begins, along the Z-order curve
const uint BLOCK_RANKS = BLOCK_STARTS + BLOCK_TEXELS / 32;  // how many begin before each word of these
// A bit for each 8 x 8 texels, along the Z-order curve: a pixel has asked there. 0 before and after a frame.
const uint BLOCK_ASKED = BLOCK_RANKS + BLOCK_TEXELS / 32;
const uint BLOCK_WORDS = BLOCK_ASKED + 1;
uint block_word(uint block) { return places.blocks + BLOCK_WORDS * block; }

// ---- The last frame

bool has_last_frame() { return header.tiles > 0; }

uint last_light_word(uint light, uint element) { return places.last_lights + 16 * light + element; }

// Of the last frame's tile that holds a node's first texel.
uint last_page(uint level, uvec2 node, uint light) {
    return imageLoad(page_table, ivec3(node << level, light)).x;
}

// Of a node of level 1 or above.
bool was_split(uint level, uvec2 node, uint light) {
    return has_last_frame() && shadow_page_level(last_page(level, node, light)) < level;
}
