#version 460
// Mip levels of every layer of an image, in one dispatch: the quadtree's maxima, depth pyramids,
// texture mipmaps.
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels of the base level (x, y) and
// layer (z); or, with BLOCKS_FROM_LIST, one for each entry of a list (x, y folded).
//
// A workgroup reduces its block to one texel six levels up. Each thread has four quads of texels: they
// become four texels in registers, one of the next level by an exchange among four threads, a part of the
// third among sixteen; the rest is made in shared memory (nodes), by the crew. The last texel is handed over
// (hand_over.glsl): the last workgroup of a group (step_levels, kernel_parameters.h) goes on with the group's
// texels in the same way. Items are handed over as they are, not rounded to the image's format (but for
// EDGE_DROP, where FidelityFX SPD rounds).
//
// Bindings, set 0:
//   0    source   the base level, sampler2DArray: clamped to the edge for minima and maxima, which
//                 repeats a texel of the same block and changes nothing; for sums with a border of 0
//   1    state    see kernel_parameters.h; counters are back at 0 when the dispatch ends
//   2    source   once more, with a sampler of MAX reduction (minimum and maximum together)
//   3    tables   of the sRGB curve
//   4    blocks   the list that BLOCKS_FROM_LIST takes
//   5    images   the base level and those above (mip_images.glsl); written only
//   5-8  pyramid  TO_BUFFER, instead: levels 1 to the top (quadtree.h), in chunks
//                 (pyramid_chunks.glsl)
//
// Memory order: the hand-over of hand_over.glsl; a barrier of the crew orders its threads behind thread 0. Thread
// 0 adds NaN texels to the state before its release. All other barriers order shared memory only.
//
// After AMD's FidelityFX Single Pass Downsampler, with sizes of any kind, no limit of 4096, and the order stated.

#if SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#if HALVES
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#if SUBGROUPS
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#endif
#endif
#extension GL_EXT_control_flow_attributes : require

#include "quadtile/dirty_blocks.h"
#include "quadtile/kernel_parameters.h"
#include "quadtile/texel_encoding.h"
#include "hand_over.glsl"
#include "subgroups.glsl"

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

layout(constant_id = 10) const bool COPY_SOURCE = false;
layout(constant_id = 11) const bool BLOCKS_FROM_LIST = false;
// Means of an image that is no square of a power of two. Code that is there and not run costs, too.
layout(constant_id = 13) const bool WEIGHTED = false;
// Some group has more than 16 x 16 texels.
layout(constant_id = 17) const bool WIDE_GROUPS = true;
// All blocks of a layer are one group, which makes the last level.
layout(constant_id = 18) const bool ONE_GROUP = false;
// All blocks of the base level are of 64 x 64 texels, and all six levels above it are made.
layout(constant_id = 14) const bool WHOLE_BLOCKS = false;
// Only some blocks run: those that rectangles touch. The other texels are those of earlier runs.
layout(constant_id = 15) const bool SOME_BLOCKS = false;

layout(set = 0, binding = 0) uniform sampler2DArray source;
layout(set = 0, binding = 1, std430) nonprivate buffer State { uint state[]; };
#if CHANNELS == 2
layout(set = 0, binding = 2) uniform sampler2DArray source_maximum;
#endif
#if CHANNELS == 4
layout(set = 0, binding = 3, std430) readonly buffer Tables { SrgbTables srgb; };
#endif
#if !TO_BUFFER
layout(set = 0, binding = 4, std430) buffer Blocks { DirtyBlocksHeader dirty; uint dirty_words[]; };
#endif
layout(push_constant) uniform Parameters { DownsampleParameters parameters; };

#include "downsample_items.glsl"
#if TO_BUFFER
#define PYRAMID_BINDING 5
#include "pyramid_chunks.glsl"
#else
#include "mip_images.glsl"
#endif
#if CUSTOM
#include "user_reduction.glsl"
#endif

// Nodes of five levels of a block: 16 x 16, 8 x 8, 4 x 4, 2 x 2 and 1, each level row by row.
shared ITEM nodes[256 + 64 + 16 + 4 + 1];
// Room for exchanges, and for levels of blocks with odd edges: 2 and 4 of up to 127 x 127 texels first,
// 3 and 5 behind them.
#if ODD_BLOCKS
const uint ODD_LEVELS_START = 31 * 31;
shared ITEM room[31 * 31 + 15 * 15];
#elif !SUBGROUPS
shared ITEM room[4 * WORKGROUP_SIZE];
#endif
shared uint nan_texels;

uint layer;

// ---- The crew ------------------------------------------------------------------------------------

// The threads that reduce the upper levels of a block and go on with those of a group: all, or the first
// subgroup, so that no wide barrier lies on the way up. That pays where texels are handed over more than
// once; the host chooses (crew_size, kernel_constants.hpp).
layout(constant_id = 16) const uint CREW_SIZE = WORKGROUP_SIZE;
const bool CREW_IS_SUBGROUP = CREW_SIZE < WORKGROUP_SIZE;

shared bool shared_announcement;

void crew_barrier() {
    if (CREW_IS_SUBGROUP) {
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup,
                       gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
    } else {
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                       gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
    }
}

// What the first thread says, to all.
bool announced(bool said) {
#if SUBGROUPS
    if (CREW_IS_SUBGROUP) {
        return subgroupShuffle(uint(said), 0) != 0;
    }
#endif
    if (thread_index() == 0) {
        shared_announcement = said;
    }
    crew_barrier();
    return shared_announcement;
}

// ---- The image -----------------------------------------------------------------------------------

uvec2 extent_of(uint level) {
    return uvec2(mip_extent(parameters.width, level, EDGE_RULE),
                 mip_extent(parameters.height, level, EDGE_RULE));
}

uvec2 blocks_of(uint level, uint levels) {
    return uvec2(blocks_along(parameters.width, level, levels, EDGE_RULE),
                 blocks_along(parameters.height, level, levels, EDGE_RULE));
}

uvec2 extent_of_block(uint level, uint levels, uvec2 index) {
    return uvec2(block_extent(parameters.width, level, levels, index.x, EDGE_RULE),
                 block_extent(parameters.height, level, levels, index.y, EDGE_RULE));
}

#if !EXTREMES
// WEIGHTED: a mean is carried as a sum over 4^level texels, also where a texel covers another number of
// them, at the edges. By level and axis, what makes means of those sums there.
shared float edge_weights[MAX_LEVELS][2];

void make_edge_weights(uint thread) {
    if (thread < 2 * MAX_LEVELS) {
        const uint level = thread / 2;
        const uint axis = thread % 2;
        const uint extent = axis == 0 ? parameters.width : parameters.height;
        edge_weights[level][axis] = mip_weight(level, mip_last_coverage(extent, level, EDGE_RULE));
    }
    barrier();
}

ITEM mean_of_sum(uint level, uvec2 position, ITEM item) {
    const uvec2 last = extent_of(level) - 1;
    if (position.x == last.x) {
        item *= SCALAR(edge_weights[level][0]);
    }
    if (position.y == last.y) {
        item *= SCALAR(edge_weights[level][1]);
    }
    return item;
}

ITEM sum_of_mean(uint level, uvec2 position, ITEM item) {
    const uvec2 last = extent_of(level) - 1;
    const float unit = 1.0 / float(1U << level);
    precise ITEM sum = item;  // added to others later: no fused operation
    if (position.x == last.x) {
        sum *= SCALAR(float(mip_last_coverage(parameters.width, level, EDGE_RULE)) * unit);
    }
    if (position.y == last.y) {
        sum *= SCALAR(float(mip_last_coverage(parameters.height, level, EDGE_RULE)) * unit);
    }
    return sum;
}
#endif

bool is_made(uint level, uvec2 position) {
    return level <= parameters.top_level && all(lessThan(position, extent_of(level)));
}

void put(uint level, uvec2 position, ITEM item) {
#if !EXTREMES
    if (WEIGHTED) {
        item = mean_of_sum(level, position, item);
    }
#endif
#if TO_BUFFER
    write_pyramid(layer * parameters.floats_per_layer + parameters.level_start[level - 1] +
                      position.y * parameters.pitch + position.x,
                  encode(item));
#else
    store_texel(level - parameters.base_level, ivec3(position, layer), VEC4_OF(encode(item)));
#endif
}

void store(uint level, uvec2 position, ITEM item) {
    if (is_made(level, position)) {
        put(level, position, item);
    }
}

// A quad as the texture unit delivers it: the gathers of one or two channels, four texels of four,
// or, filtered, one texel (and its maximum).
const uint QUAD_READS = CHANNELS;
struct Quad {
    vec4 reads[QUAD_READS];
};

Quad read_quad(uvec2 position) {
    Quad quad;
    const vec2 texel_extent = vec2(parameters.base_texel_width, parameters.base_texel_height);
    const vec3 corner = vec3(vec2(2 * position + 1) * texel_extent, layer);
    if (FILTERED) {
        quad.reads[0] = textureLod(source, corner, 0.0);
#if CHANNELS == 2
        if (REDUCTION == REDUCE_MIN_MAX) {
            quad.reads[1] = textureLod(source_maximum, corner, 0.0);
        }
#endif
        return quad;
    }
#if CHANNELS == 4
    const ivec2 last = ivec2(extent_of(parameters.base_level)) - 1;
    for (int i = 0; i < 4; ++i) {
        const ivec2 texel = ivec2(2 * position) + ivec2(i & 1, i >> 1);
        quad.reads[i] = texelFetch(source, ivec3(min(texel, last), layer), 0);
        if (IS_SUM && any(greaterThan(texel, last))) {
            quad.reads[i] = vec4(0.0);
        }
    }
#else
    quad.reads[0] = textureGather(source, corner, 0);
#if CHANNELS == 2
    if (SOURCE_CHANNELS == 2) {
        quad.reads[1] = textureGather(source, corner, 1);
    }
#endif
#endif
    return quad;
}

// Texel i of a quad that was not filtered; x first.
TEXEL quad_texel(Quad quad, uint i) {
#if CHANNELS == 4
    return quad.reads[i];
#else
    const vec4 first = quad.reads[0].wzxy;
#if CHANNELS == 1
    return first[i];
#else
    return vec2(first[i], SOURCE_CHANNELS == 2 ? quad.reads[1].wzxy[i] : first[i]);
#endif
#endif
}

#if COUNT_NAN
bool meets_nan = false;  // whether a quad of the thread has a NaN texel, maybe one outside the image
#endif

ITEM reduce_quad(Quad quad, uvec2 position) {
    if (FILTERED) {
        TEXEL texel = TEXEL_OF(quad.reads[0]);
#if CHANNELS == 2
        if (REDUCTION == REDUCE_MIN_MAX) {
            texel = vec2(texel.x, SOURCE_CHANNELS == 2 ? quad.reads[1].y : quad.reads[1].x);
        }
#endif
        const ITEM item = item_of(texel);
        return REDUCTION == REDUCE_SUM ? item * SCALAR(4) : item;
    }
#if EXTREMES
    KEY items[4];
#else
    ITEM items[4];
#endif
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const TEXEL texel = quad_texel(quad, i);
#if !TO_BUFFER
        if (COPY_SOURCE) {
            const uvec2 place = 2 * position + uvec2(i & 1, i >> 1);
            if (all(lessThan(place, extent_of(0)))) {
                store_texel(0, ivec3(place, layer), VEC4_OF(copy_of(texel)));
            }
        }
#endif
#if EXTREMES
        items[i] = key_of(texel);
#else
        items[i] = item_of(texel);
#endif
    }
#if EXTREMES
    const KEY key = reduce_keys(reduce_keys(items[0], items[1]), reduce_keys(items[2], items[3]));
#if COUNT_NAN
    meets_nan = meets_nan || counts_as_nan(key);
#endif
    return item_of_key(key);
#else
    return reduce_four(items[0], items[1], items[2], items[3]);
#endif
}

// ---- Levels that were handed over ------------------------------------------------------------------

// Place in the state of a texel of the level that is handed over; see kernel_parameters.h.
uint handed_over(uint texels, uint width, uvec2 position) {
    return texels + CHANNELS * (position.y * width + position.x);
}

ITEM load_item(uint place) {
    ITEM item;
    [[unroll]]
    for (uint i = 0; i < CHANNELS; ++i) {
        set_word(item, i, HANDED_OVER(state[place + i]));
    }
    return item;
}

// ---- Even blocks -------------------------------------------------------------------------------------

// A block: of texels of `level`, the base level, or a level whose texels were handed over and lie from
// `texels` on in the state.
struct Block {
    uint level;
    uint levels;  // that are made of it: its sides have 2^levels texels
    uvec2 index;
    uvec2 extent;  // texels of the level in the block: fewer, or more, at the edges
    uint texels;
};

uvec2 first_texel(Block block) { return block.index << block.levels; }

// Where a level begins in nodes: 0 is that of 16 x 16.
uint nodes_start(uint step) { return (1024 - (1024 >> 2 * step)) / 3; }

// Keeps a node of a block in nodes (`step` is its level there) and stores it; it is `levels` above the block's
// texels.
void make_node(Block block, uint step, uint levels, uvec2 local, ITEM item) {
    nodes[nodes_start(step) + (local.y << (4 - step)) + local.x] = item;
    if ((WHOLE_BLOCKS && block.level == parameters.base_level) ||
        (levels <= min(block.levels, parameters.top_level - block.level) &&
         all(lessThan(local << levels, block.extent)))) {
        put(block.level + levels, (first_texel(block) >> levels) + local, item);
    }
}

// Makes the nodes of a level, `levels` above the block's texels, of those of the level below; returns the
// last that the thread made.
ITEM reduce_level(Block block, uint step, uint levels, uint thread) {
    crew_barrier();
    const uint width = 16 >> step;
    const uint below = nodes_start(step - 1);
    ITEM item;
    for (uint start = 0; start < width * width; start += CREW_SIZE) {
        const uint node = start + thread;
        if (node < width * width) {
            const uvec2 local = uvec2(node & (width - 1), node >> (4 - step));
            const uint child = below + 4 * width * local.y + 2 * local.x;
            item = reduce_four(nodes[child], nodes[child + 1], nodes[child + 2 * width],
                               nodes[child + 2 * width + 1]);
            make_node(block, step, levels, local, item);
        }
    }
    return item;
}

// Makes the levels above 8 x 8 nodes, which are `levels` above the block's texels; the last is returned to
// thread 0.
ITEM reduce_nodes(Block block, uint levels, uint thread) {
    reduce_level(block, 2, levels + 1, thread);
    reduce_level(block, 3, levels + 2, thread);
    return reduce_level(block, 4, levels + 3, thread);
}

// A texel of a group; no branch, so that many loads get under way at once.
ITEM load_inside(Block block, uint width, uvec2 local) {
    const bool inside = all(lessThan(local, block.extent));
    const uint place = handed_over(block.texels, width, first_texel(block) + local);
    const ITEM item = load_item(inside ? place : block.texels);
    return inside ? item : nothing();
}

// A group's texels, or the level above them if they are more than 16 x 16, in nodes.
void load_group(Block block, uint thread) {
    const uint width = extent_of(block.level).x;
    const uint share = 256 / CREW_SIZE;  // of a column, for each thread: 8 at most
    const uvec2 first = uvec2(thread & 15, (thread >> 4) * share);
    for (uint n = 0; n < share; ++n) {
        const uvec2 local = first + uvec2(0, n);
        if (WIDE_GROUPS && block.levels > 4) {
            const ITEM item = reduce_four(load_inside(block, width, 2 * local),
                                          load_inside(block, width, 2 * local + uvec2(1, 0)),
                                          load_inside(block, width, 2 * local + uvec2(0, 1)),
                                          load_inside(block, width, 2 * local + uvec2(1, 1)));
            make_node(block, 0, 1, local, item);
        } else {
            nodes[16 * local.y + local.x] = load_inside(block, width, local);
        }
    }
}

// Each thread has four quads of a block, one in each quarter, where all have the same place: along the
// Z-order curve, so that loads and stores of a subgroup are of compact patches, as images are laid out.
uvec2 place_in_quarter(uint thread) {
    return uvec2((thread & 1) | ((thread >> 1) & 2) | ((thread >> 2) & 4) | ((thread >> 3) & 8),
                 ((thread >> 1) & 1) | ((thread >> 2) & 2) | ((thread >> 3) & 4) | ((thread >> 4) & 8));
}
uvec2 quarter(uint i) { return uvec2(i & 1, i >> 1); }

// The texel of each quarter that four neighbours on the curve make of theirs: the first of them has that
// of the first quarter, and so on.
ITEM reduce_neighbours(ITEM items[4], uint thread) {
    const bool right = (thread & 1) != 0;
    const bool lower = (thread & 2) != 0;
#if !SUBGROUPS
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        room[4 * thread + i] = items[i];
    }
    barrier();
    const uint first = 4 * (thread & ~3U) + (thread & 3);
    return reduce_four(room[first], room[first + 4], room[first + 8], room[first + 12]);
#elif CUSTOM
    ITEM own[4];  // those of the four threads, of the thread's quarter
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {  // to the thread i places on, around the four
        const uint other = (thread + i) & 3;
        const ITEM given = other < 2 ? (other == 0 ? items[0] : items[1])
                                     : (other == 2 ? items[2] : items[3]);
        own[i] = subgroupShuffle(given, (gl_SubgroupInvocationID & ~3U) + ((thread - i) & 3));
    }
    // own[i] is from the thread i places before.
    ITEM by_thread[4];
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uint before = (thread - i) & 3;
        by_thread[i] = before < 2 ? (before == 0 ? own[0] : own[1])
                                  : (before == 2 ? own[2] : own[3]);
    }
    return reduce(by_thread[0], by_thread[1], by_thread[2], by_thread[3]);
#else
#if HALVES
    if (REDUCTION == REDUCE_MEAN) {  // see reduce_four
        [[unroll]]
        for (uint i = 0; i < 4; ++i) {
            items[i] *= SCALAR(0.25);
        }
    }
#endif
    // Side by side first, as everywhere.
    ITEM upper = reduce_two(right ? items[1] : items[0],
                            subgroupShuffleXor(right ? items[0] : items[1], 1));
    ITEM under = reduce_two(right ? items[3] : items[2],
                            subgroupShuffleXor(right ? items[2] : items[3], 1));
    const ITEM item = reduce_two(lower ? under : upper, subgroupShuffleXor(lower ? upper : under, 2));
    return REDUCTION == REDUCE_MEAN && HALVES == 0 ? mean_of_four(item) : item;
#endif
}

#if COUNT_NAN
// Counts the NaN texels of the thread's quads that are inside the image. There are few: it reads them again.
void count_nan(uvec2 first_quad) {
    uint count = 0;
    [[dont_unroll]]
    for (uint i = 0; i < 16; ++i) {
        const uvec2 texel = 2 * (first_quad + 16 * quarter(i >> 2)) + quarter(i & 3);
        if (all(lessThan(texel, extent_of(0)))) {
            count += uint(counts_as_nan(key_of(texelFetch(source, ivec3(texel, layer), 0).r)));
        }
    }
    atomicAdd(nan_texels, count);
}
#endif

// Whether subgroups make the third level of a block, too.
bool base_has_level_1() {
#if SUBGROUPS
    return gl_SubgroupSize >= 16;
#else
    return false;
#endif
}

// Makes and stores the first levels of a block of the base level, and leaves the last of them in nodes. All
// loads are under way before the first is used.
void reduce_base(Block block, uint thread) {
    const uvec2 place = place_in_quarter(thread);
    const uvec2 first = 32 * block.index + place;
    const bool copies_tables =
        SOURCE_ENCODING == ENCODING_SRGB8 || TARGET_ENCODING == ENCODING_SRGB8;
    Quad quads[4];
#if !EXTREMES && CHANNELS == 4
    if (copies_tables && !FILTERED) {  // all its texels are too many registers to hold meanwhile
        copy_srgb_tables(thread, WORKGROUP_SIZE);
    }
#endif
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        quads[i] = read_quad(first + 16 * quarter(i));
    }
#if !EXTREMES && CHANNELS == 4
    if (copies_tables && FILTERED) {
        copy_srgb_tables(thread, WORKGROUP_SIZE);
    }
#endif
#if !EXTREMES
    if (WEIGHTED) {
        make_edge_weights(thread);
    }
#endif
    ITEM items[4];
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {
        const uvec2 position = first + 16 * quarter(i);
        items[i] = reduce_quad(quads[i], position);
        if (WHOLE_BLOCKS || is_made(block.level + 1, position)) {
            put(block.level + 1, position, items[i]);
        }
    }
#if COUNT_NAN
    if (meets_nan) {
        count_nan(first);
    }
#endif
    ITEM item = reduce_neighbours(items, thread);
    const uvec2 local = 8 * quarter(thread & 3) + place / 2;
    const uvec2 position = 16 * block.index + local;
    if (WHOLE_BLOCKS || is_made(block.level + 2, position)) {
        put(block.level + 2, position, item);
    }
#if SUBGROUPS
    if (base_has_level_1()) {
        item = reduce_four(item, subgroupShuffleXor(item, 4), subgroupShuffleXor(item, 8),
                           subgroupShuffleXor(item, 12));
        if ((thread & 12) == 0) {
            make_node(block, 1, 3, local / 2, item);
        }
        return;
    }
#endif
    nodes[16 * local.y + local.x] = item;
}

#if ODD_BLOCKS
#include "downsample_odd_blocks.glsl"
#endif

// ---- The way up ------------------------------------------------------------------------------------------

#if !EXTREMES
// The item of the texel that an item is stored as.
ITEM item_of_stored(ITEM item) {
    TEXEL texel = encode(item);
#if CHANNELS == 4
    if (TARGET_ENCODING == ENCODING_SRGB8) {
        const uvec4 codes = uvec4(texel * 255.0 + 0.5);
        return ITEM(srgb.light[codes.r], srgb.light[codes.g], srgb.light[codes.b],
                    IN_CODES ? float(codes.a) : texel.a);
    }
#endif
    if (TARGET_ENCODING >= ENCODING_UNORM8) {
        const uint bits = TARGET_ENCODING == ENCODING_UNORM16 ? 16 : 8;
#if CHANNELS == 1
        const float code = floor(texel * LARGEST_TARGET_CODE + 0.5);
        texel = IN_CODES ? code : uintBitsToFloat(bits_from_unorm(uint(code), bits));
#else
        [[unroll]]
        for (uint i = 0; i < CHANNELS; ++i) {
            const float code = floor(texel[i] * LARGEST_TARGET_CODE + 0.5);
            texel[i] = IN_CODES ? code : uintBitsToFloat(bits_from_unorm(uint(code), bits));
        }
#endif
    }
    return ITEM(texel);
}
#endif

// What is handed over: under EDGE_DROP, the first time, the texel as it is stored.
ITEM handed_over_item(uint level, uvec2 position, ITEM item) {
#if !EXTREMES
    if (EDGE_RULE == EDGE_DROP && TARGET_ENCODING != ENCODING_FLOAT32 && level == BLOCK_LEVELS) {
        if (!WEIGHTED) {
            return item_of_stored(item);
        }
        return sum_of_mean(level, position, item_of_stored(mean_of_sum(level, position, item)));
    }
#endif
    return item;
}

// Hands over the texel that a block became, for the `handovers`th time; false if the workgroup was not the
// last of its group. If it was, `block` is the group's texels then, and `counters` the place of the next
// hand-over's.
bool hand_over(inout Block block, inout uint counters, uint handovers, ITEM item, uint thread) {
    const uint level = block.level + block.levels;
    const uvec2 extent = extent_of(level);
    uint levels = parameters.top_level - level;
    uvec2 groups = uvec2(1);
    uvec2 index = uvec2(0);
    uvec2 group_extent = extent;
    if (!ONE_GROUP) {
        levels = step_levels(level, parameters.top_level);
        groups = blocks_of(level, levels);
        index = uvec2(block_of(block.index.x, levels, groups.x),
                      block_of(block.index.y, levels, groups.y));
        group_extent = extent_of_block(level, levels, index);
    }
    const Group group = make_group(level, levels, index, groups, counters);
    bool is_last = false;
    // Under EDGE_DROP there are blocks that become no texel.
    if (thread == 0 && (EDGE_RULE != EDGE_DROP || all(lessThan(block.index, extent)))) {
        const uint place = handed_over(group.nodes, extent.x, block.index);
        item = handed_over_item(level, block.index, item);
        [[unroll]]
        for (uint i = 0; i < CHANNELS; ++i) {
            HAND_OVER(state[place + i], word_of(item, i));
        }
        uint expected = group_extent.x * group_extent.y;
        if (BLOCKS_FROM_LIST) {
            expected = state[group.expected];
        } else if (SOME_BLOCKS) {
            expected = parameters.expected[handovers];
        }
        uint arrived = 0;
        if (!SOME_BLOCKS || expected > 1) {  // alone, it need not ask
            arrived = ARRIVE(state[group.counter]);
        }
        is_last = arrived + 1 == expected;
    }
    if (!announced(is_last)) {
        return false;
    }

    if (thread == 0) {
        acquire_arrivals();
        state[group.counter] = 0;
        if (BLOCKS_FROM_LIST) {
            state[group.expected] = 0;
        }
    }
    crew_barrier();
    counters = next_counters(group, extent, CHANNELS);
    block = Block(level, levels, index, group_extent, group.nodes);
    return true;
}

void main() {
    const uint thread = thread_index();
    Block block;
    block.level = parameters.base_level;
    block.levels = BLOCK_LEVELS;
    block.texels = 0;
#if !TO_BUFFER
    if (BLOCKS_FROM_LIST) {
        const uint entry = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        if (entry >= dirty.block_count) {
            return;
        }
        const uint mark = dirty_words[entry];
        const uvec2 blocks = blocks_of(0, BLOCK_LEVELS);
        block.index = uvec2(mark % blocks.x, mark / blocks.x % blocks.y);
        layer = mark / (blocks.x * blocks.y);
        if (thread == 0) {
            dirty_words[dirty.blocks + mark] = 0;
        }
    } else
#endif
    {
        block.index = gl_WorkGroupID.xy + uvec2(parameters.first_block_x, parameters.first_block_y);
        layer = gl_WorkGroupID.z + parameters.first_layer;
    }
    block.extent = extent_of_block(block.level, block.levels, block.index);
#if COUNT_NAN
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
#endif

#if ODD_BLOCKS
    bool even = is_even(block);
#else
    const bool even = true;
#endif
    if (even) {
        reduce_base(block, thread);
#if !COUNT_NAN
        if (parameters.top_level <= parameters.base_level + 2) {
            return;
        }
#endif
    }
#if !EXTREMES
    else if (WEIGHTED) {
        make_edge_weights(thread);
    }
#endif
    barrier();
    if (thread >= CREW_SIZE) {
        return;
    }

    // First word of the layer's state.
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
#if COUNT_NAN
    if (thread == 0 && nan_texels > 0) {
        atomicAdd(state[layer_state], nan_texels, gl_ScopeDevice, 0, 0);
    }
#endif
    uint counters = layer_state + 1;
    uint handovers = 0;
    uint levels_made = 3;  // from the block's level to that of 8 x 8 nodes
    bool has_level_1 = base_has_level_1();  // whether the nodes begin with those of 8 x 8
    while (true) {
        ITEM item;
        if (even) {
            if (!has_level_1) {
                reduce_level(block, 1, levels_made, thread);
            }
            item = reduce_nodes(block, levels_made, thread);
            if (!ONE_GROUP && block.levels == 3) {  // a group of 8 x 8: one level less
                item = nodes[nodes_start(3)];
            }
        }
#if ODD_BLOCKS
        else {
            item = reduce_odd_block(block, thread);
        }
#endif
        if (block.level + block.levels >= parameters.top_level) {
            break;
        }
        if (!hand_over(block, counters, handovers, item, thread)) {
            return;
        }
        ++handovers;
#if ODD_BLOCKS
        even = is_even(block);
#endif
        if (even) {
            load_group(block, thread);
            levels_made = WIDE_GROUPS && block.levels > 4 ? 2 : 1;
            has_level_1 = false;
        }
    }

#if COUNT_NAN
    // Only the workgroup that made the root is still here, after all others have counted.
    if (thread == 0) {
        state[layer] = atomicExchange(state[layer_state], 0, gl_ScopeDevice, 0, 0);
    }
#endif
}
