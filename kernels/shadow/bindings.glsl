// Bindings of the kernels of fitted shadow maps: one set of descriptors and one block of push constants for all. All
// buffers are parts of one: Vulkan guarantees only four storage buffers per stage, and culling needs three of the
// caller's. The heads of the kernels name the steps of docs/shadows_definition.md, and the functions of their CPU twin,
// lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch *by block*: workgroups of 256 threads, one per block (x, along the Z-order curve) and layer (z), with one
// thread per four texels.
//
// Memory order: barriers from COMPUTE_SHADER / SHADER_WRITE to COMPUTE_SHADER / SHADER_READ | SHADER_WRITE separate the
// dispatches of a frame, so each kernel sees all results of those before it.

#extension GL_EXT_control_flow_attributes : require

#include "hand_over.glsl"
#include "quadtile/quadtree.h"
#include "quadtile/shadow.h"
#include "quadtile/shadow_memory.h"
#include "quadtile/tile_list.h"

layout(set = 0, binding = 0) uniform sampler2D depth_buffer;
layout(set = 0, binding = 1, r32ui) nonprivate uniform uimage2DArray importance_map;  // bits of floats
layout(set = 0, binding = 2, r32ui) nonprivate uniform uimage2DArray page_table;
layout(set = 0, binding = 3, std430) nonprivate buffer Memory {
    ShadowFrame frame;
    uint behind_frame[60];  // to the next 256 bytes: callers bind the next part by itself
    ShadowHeader header;
    uint behind_header[44];
    uint words[];
};

layout(push_constant, std430) uniform PushConstants {
    ShadowParameters parameters;
    uint object_count;       // of cull.comp; of change.comp: capacity of the boxes
    uint instance_capacity;  // of cull.comp
    uint is_static;          // of cull.comp: 1: objects are drawn in tiles that are drawn whole
    uint lanes;              // of cull.comp: threads per object
    ShadowPlaces places;  // in `words`
};

// places.events: per factor the difference in tiles to the factor before, then per factor that in cells (modulo 2^32).
// All are 0 before and after a frame.

// Loads a tile without crop matrix and importance.
ShadowTile load_tile(uint index) {
    const uint first = places.tiles + SHADOW_TILE_WORDS * index;
    return ShadowTile(words[first], words[first + 1], words[first + 2], words[first + 3], 0.0, 0.0, 0.0, 0.0);
}

// ---- Blocks of 32 x 32 texels (or the whole of a smaller map), and the nodes within and above them

const uint BLOCK_NODES = (SHADOW_BLOCK_TEXELS - 1) / 3;  // of level 1 and above
const uint BLOCK_THREADS = SHADOW_BLOCK_TEXELS / 4;      // of kernels by block: one thread per four texels

// Gives all threads the same number of steps: LOST_THREADS (cpu_drivers.glsl).
#define FOR_EACH(item, count)                                                          \
    for (uint item = gl_LocalInvocationIndex, steps = 0; steps < (count);              \
         item += BLOCK_THREADS, steps += BLOCK_THREADS)                                \
        if (item < (count))

uint block_levels() { return min(SHADOW_BLOCK_LEVELS, parameters.map_levels); }
uint levels_above() { return shadow_levels_above(parameters); }
uint light_blocks() { return shadow_light_blocks(parameters); }
// Returns whether a layer has a light. Others have no tiles, and nobody reads their maps.
bool is_used(uint light) { return light < frame.layers && !shadow_is_unused(frame.lights[light]); }

uint all_blocks() { return parameters.lights * light_blocks(); }

// Nodes of a tree are counted from the root down, and along the Z-order curve within a level. Node i is the (i -
// shadow_first_nodes)-th of its level; its children are 4 i + 1 to 4 i + 4.
uint levels_below_root(uint i) { return uint(findMSB(3 * i + 1)) / 2; }

uvec2 z_order(uint place) { return uvec2(morton_x(place), morton_y(place)); }

// Two words per node: the number of factors with which it is split, and its importance, a float. First come the trees
// of all blocks, from level 1 on; then the nodes above the blocks of each light.
uint block_node_word(uint block, uint i) { return places.nodes + 2 * (BLOCK_NODES * block + i); }
uint upper_node_word(uint light, uint i) {
    return places.nodes + 2 * (BLOCK_NODES * all_blocks() + shadow_first_nodes(levels_above()) * light + i);
}
const uint NODE_END = 0;
const uint NODE_IMPORTANCE = 1;

// Words of a block: the tiles that begin in it, and its requested texels.
const uint BLOCK_COVER = 0;   // level of the tile that covers it; SHADOW_NONE if its tiles are smaller
const uint BLOCK_COUNT = 1;   // of tiles that begin in it
const uint BLOCK_FOUND = 2;   // index of the first among the found tiles
const uint BLOCK_STARTS = 3;  // of smaller tiles: a bit per texel where one begins, along the Z-order curve
const uint BLOCK_RANKS = BLOCK_STARTS + SHADOW_BLOCK_TEXELS / 32;  // number of bits before each of these words
// A bit per 8 x 8 texels, along the Z-order curve: a pixel has requested one of them. 0 before and after a frame.
const uint BLOCK_ASKED = BLOCK_RANKS + SHADOW_BLOCK_TEXELS / 32;
uint block_word(uint block) { return places.blocks + SHADOW_BLOCK_WORDS * block; }

// ---- Tallies: numbers of a block's tiles, two in a word. A binary tree over the blocks has their sums: the canonical
// order is that of blocks, so sums over the blocks before one give places in lists.

const uint TALLY_ALL = 0;
const uint TALLY_KEPT = 1;
const uint TALLY_RENDERED = 2;
const uint TALLY_NEW = 3;           // needs a slot
const uint TALLY_NEW_BY_CLASS = 4;  // and the next four
const uint TALLY_STATIC = 9;        // rendered, and static casters are drawn, too
const uint TALLY_BY_CLASS = 10;     // and the next four

uint tally_levels() { return uint(findMSB(2 * all_blocks() - 1)); }
uint tallied_blocks() { return 1U << tally_levels(); }

// ---- Work. Its first part is 0 before list.comp, since count.comp clears it: a bit per cell of the atlas, page by
// page; a bit per found tile, whether it is drawn, and another one, whether static casters are drawn, too; tallies; the
// number of found tiles. Then follow tiles as list.comp finds them, in any order.

const uint PAGE_WORDS = SHADOW_PAGE_CELLS / 32;
uint page_count() { return shadow_atlas_cells(parameters) / SHADOW_PAGE_CELLS; }
uint cells_word() { return places.work; }
uint rendered_word() { return cells_word() + page_count() * PAGE_WORDS; }
uint static_word() { return rendered_word() + (parameters.max_tiles + 31) / 32; }
uint tallies_word() { return static_word() + (parameters.max_tiles + 31) / 32; }
uint found_count_word() { return tallies_word() + 2 * SHADOW_TALLY_WORDS * tallied_blocks(); }
uint cleared_words() { return found_count_word() + 1 - cells_word(); }

// Words of a tile that was found.
const uint FOUND_POSITION = 0;  // as in Tile, and the next two
const uint FOUND_NODE = 1;
const uint FOUND_IMPORTANCE = 2;
const uint FOUND_CLASSIFIED = 3;  // bits below
const uint FOUND_CELL = 4;        // of its slot; SHADOW_NONE if it needs one
const uint FOUND_BLOCK = 5;       // in which it begins
// Numbers of tiles before it in its block: those of its class that need a slot, and << 16 all those of its class.
const uint FOUND_RANKS = 6;
uint found_word(uint found) { return found_count_word() + 1 + SHADOW_FOUND_WORDS * found; }

const uint CLASSIFIED_CLASS = 0xffU;
const uint CLASSIFIED_KEPT = 0x100U;  // was a tile of the last frame

// Words of a node; level 0 has the blocks.
uint tally_word(uint level, uint node) {
    return tallies_word() + SHADOW_TALLY_WORDS * (2 * tallied_blocks() - (2 * tallied_blocks() >> level) + node);
}

// Adds to a tally of a block. All threads call it, those that add nothing with 0: LOST_THREADS (cpu_drivers.glsl).
void add_tally(uint block, uint tally, uint count) {
    for (uint level = 0; level <= tally_levels(); ++level) {
        if (count > 0) {
            atomicAdd(words[tally_word(level, block >> level) + tally / 2], count << (16 * (tally % 2)));
        }
    }
}

const uint MOST_TALLY_LEVELS = 13;  // 2^23 texels at most in all layers together

// Returns a word of tallies of all blocks before this one. Loads do not wait for each other.
uint tallies_before(uint block, uint word) {
    uint sum = 0;
    [[unroll]] for (uint level = 0; level < MOST_TALLY_LEVELS; ++level) {
        const bool counts = level < tally_levels() && (block >> level & 1U) != 0;
        const uint from = words[tally_word(counts ? level : 0, counts ? (block >> level) - 1 : 0) + word];
        sum += counts ? from : 0;
    }
    return sum;
}

uint tallies_of_all(uint word) { return words[tally_word(tally_levels(), 0) + word]; }
uint listed_tiles() { return tallies_of_all(TALLY_ALL) & 0xffffU; }

// ---- The last frame

bool has_last_frame() { return header.tiles > 0; }

// Words of a light: 16 of clip_from_world in the last frame, then the step and the origin of this one's map, which
// importance.comp finds.
uint last_light_word(uint light, uint element) {
    return places.last_lights + SHADOW_LAST_LIGHT_WORDS * light + element;
}

ShadowStep step_of(uint light) {
    const uint first = last_light_word(light, 16);
    return ShadowStep(words[first], int(words[first + 1]), int(words[first + 2]));
}

ivec2 origin_of(uint light) { return ivec2(words[last_light_word(light, 19)], words[last_light_word(light, 20)]); }

ivec3 importance_place(uvec2 texel, ivec2 origin, uint light) {
    return ivec3(shadow_importance_texel(parameters, origin.x, texel.x),
                 shadow_importance_texel(parameters, origin.y, texel.y), light);
}
// A bit of importance_map, above all floats there: a request of this frame to a texel that was outside of the last
// frame's map. The texel of the image still has the needs of another place.
const uint IS_NEW = 0x80000000U;

const uint NO_PAGE = 0xff0000U;  // of no node's level

// Returns the page of the last frame's tile with this texel of this frame's map. It always loads, so that loads do not
// wait for each other.
uint last_page(uvec2 texel, ShadowStep step, uint light) {
    const uvec2 then = texel + uvec2(step.x, step.y);
    const uint page = imageLoad(page_table, ivec3(then & ((1U << parameters.map_levels) - 1), light)).x;
    return has_last_frame() && shadow_was_inside(parameters, step, texel.x, texel.y) ? page : NO_PAGE;
}

// Returns the page of the last frame's tile with a node's first texel, if the node may have been one of that frame.
uint last_node_page(uint page, ShadowStep step, uint level) { return shadow_keeps_level(step, level) ? page : NO_PAGE; }
