#version 460
// Mip levels of every layer of an image, in one dispatch: the quadtree's maxima, depth pyramids,
// texture mipmaps.
//
// Dispatch: workgroups of 256 threads, one for each block of 64 x 64 texels of the base
// level (x, y) and layer (z); or, with BLOCKS_FROM_LIST, one for each entry of a list (x, y folded).
//
// A workgroup reduces its block to one texel six levels up: a quad of texels becomes one in registers,
// two more levels are made by shuffles among four threads, three by a few threads from shared memory. It leaves its texel in the state
// buffer and counts itself in; the last workgroup of a group (step_levels, kernel_parameters.h) goes on
// with the group's texels in the same way. So the counters cascade, and no workgroup ever waits for
// another. Items are handed over as they are, not rounded to the image's format (but for EDGE_DROP,
// where FidelityFX SPD rounds).
//
// Blocks with odd edges that the edge rule treats specially are reduced texel by texel instead
// (reduce_odd_block, in variants with ODD_BLOCKS); see mip.h for the rules.
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
// Memory order (Vulkan memory model). A workgroup's thread 0 writes its texel, then adds to the
// counter, a release at device scope: the texel is written before the count. The workgroup that
// finds the count full acquires: its thread 0 at device scope, and a workgroup barrier orders its
// other threads behind that. Texels are written and read by atomics at device scope, which need order
// only, no availability or visibility operation. That is why they are atomics: a MakeVisible at
// device scope anywhere in the kernel, run or not, cost a quarter of the time on the H200. The
// counter is reset by that workgroup, after every addition to it. NaN texels are added to the state
// by thread 0 before its release. All other barriers order shared memory only.
//
// After AMD's FidelityFX Single Pass Downsampler (blocks, counter, last workgroup goes on), with
// sizes of any kind, no limit of 4096, and the order stated.

#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#if HALVES
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#if SUBGROUPS
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#endif
#endif
#extension GL_GOOGLE_include_directive : require

#include "quadtile/dirty_blocks.h"
#include "quadtile/kernel_parameters.h"

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

layout(constant_id = 10) const bool COPY_SOURCE = false;
layout(constant_id = 11) const bool BLOCKS_FROM_LIST = false;
// Means of an image that is no square of a power of two. Code that is there and not run costs, too.
layout(constant_id = 13) const bool WEIGHTED = false;

layout(set = 0, binding = 0) uniform sampler2DArray source;
layout(set = 0, binding = 1, std430) nonprivate buffer State { uint state[]; };
#if CHANNELS == 2
layout(set = 0, binding = 2) uniform sampler2DArray source_maximum;
#endif
#if CHANNELS == 4
layout(set = 0, binding = 3, std430) readonly buffer Tables {
    float srgb_light[256];   // linear light of each code
    float srgb_border[256];  // between each code and the next
};
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

// Texels of the four levels that reduce_nodes makes, one level after the other, in Morton order.
const uint NODE_LEVELS = 4;
const uint MADE_NODES = 64 + 16 + 4 + 1;
shared ITEM made_items[MADE_NODES];
// Room for exchanges, and for levels of blocks with odd edges: 2 and 4 of up to 127 x 127 texels first,
// 3 and 5 behind them.
#if ODD_BLOCKS
const uint ODD_LEVELS_START = 31 * 31;
shared ITEM room[31 * 31 + 15 * 15];
#elif !SUBGROUPS
shared ITEM room[2 * WORKGROUP_SIZE];
#endif
shared uint nan_texels;
shared bool goes_on;

uint layer;

#if SUBGROUPS
uint thread_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint thread_index() { return gl_LocalInvocationIndex; }
#endif

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

#if !KEYS
// WEIGHTED: a mean is carried as a sum over 4^level texels, also where a texel covers another number of
// them, at the edges.
ITEM mean_of_sum(uint level, uvec2 position, ITEM item) {
    const uvec2 last = extent_of(level) - 1;
    if (position.x == last.x) {
        item *= SCALAR(mip_weight(level, mip_last_coverage(parameters.width, level, EDGE_RULE)));
    }
    if (position.y == last.y) {
        item *= SCALAR(mip_weight(level, mip_last_coverage(parameters.height, level, EDGE_RULE)));
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

// `steps`: see mip_images.glsl.
void store(uint level, uint steps, uvec2 position, ITEM item) {
    if (level <= parameters.top_level && all(lessThan(position, extent_of(level)))) {
#if !KEYS
        if (WEIGHTED) {
            item = mean_of_sum(level, position, item);
        }
#endif
#if TO_BUFFER
        write_pyramid(layer * parameters.floats_per_layer + parameters.level_start[level - 1] +
                          position.y * parameters.pitch + position.x,
                      encode(item));
#else
        store_texel(level - parameters.base_level, steps, ivec3(position, layer),
                    VEC4_OF(encode(item)));
#endif
    }
}

#if COUNT_NAN
// How many texels of a quad are NaN and inside the image.
uint count_nan(uvec2 quad, uint keys[4]) {
    const uvec2 last = uvec2(parameters.width, parameters.height) - 1;
    uint count = 0;
    for (uint i = 0; i < 4; ++i) {
        const uvec2 position = 2 * quad + uvec2(i & 1, i >> 1);
        count += uint(key_is_nan(keys[i]) && all(lessThanEqual(position, last)));
    }
    return count;
}
#endif

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
    ITEM items[4];
    for (uint i = 0; i < 4; ++i) {
        const TEXEL texel = quad_texel(quad, i);
#if !TO_BUFFER
        if (COPY_SOURCE) {
            const uvec2 place = 2 * position + uvec2(i & 1, i >> 1);
            if (all(lessThan(place, extent_of(0)))) {
                store_texel(0, 1, ivec3(place, layer), VEC4_OF(copy_of(texel)));
            }
        }
#endif
        items[i] = item_of(texel);
    }
    const ITEM item = reduce_four(items[0], items[1], items[2], items[3]);
#if COUNT_NAN
    if (key_is_nan(item)) {
        atomicAdd(nan_texels, count_nan(position, items));
    }
#endif
    return item;
}

// ---- Levels that were handed over ------------------------------------------------------------------

// Place in the state of a texel of the level that is being handed over.
uint handed_over(uint texels, uint width, uvec2 position) {
    return texels + CHANNELS * (position.y * width + position.x);
}

ITEM load_handed_over(uint place) {
    ITEM item;
    for (uint i = 0; i < CHANNELS; ++i) {
        set_word(item, i, atomicLoad(state[place + i], gl_ScopeDevice, 0, 0));
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

// The texel of 16 x 16 that a thread holds when two levels are made: threads 4n to 4n + 3 hold four that
// become one, column by column.
uvec2 held_position(uint thread) {
    return uvec2((thread & 31) >> 1, 2 * (thread >> 5) + (thread & 1));
}

// What reduce_quads has made. With one channel it is stored after the hand-over, so that the release
// there finds fewer stores to wait for; with more the registers are worth more.
struct MadeQuads {
    ITEM items[4];
    ITEM held;
};
MadeQuads made_quads;
const bool STORES_LATE = CHANNELS == 1;

void store_quads(Block block, uint thread) {
    const uvec2 first = uvec2(thread & 31, 4 * (thread >> 5));
    for (uint i = 0; i < 4; ++i) {
        store(block.level + 1, 1 << 1, 32 * block.index + first + uvec2(0, i), made_quads.items[i]);
    }
    store(block.level + 2, 1 << 2, 16 * block.index + held_position(thread), made_quads.held);
}

// The two levels above a block of the base level; returns the texel that the thread holds of the
// second. Quads are dealt out row by row, so that loads and stores of a subgroup lie side by side: each
// thread has four, one below the other. All loads are under way before the first is used.
ITEM reduce_quads(Block block, uint thread) {
    const uvec2 first = uvec2(thread & 31, 4 * (thread >> 5));
    Quad quads[4];
    for (uint i = 0; i < 4; ++i) {
        quads[i] = read_quad(32 * block.index + first + uvec2(0, i));
    }
    ITEM items[4];
    for (uint i = 0; i < 4; ++i) {
        items[i] = reduce_quad(quads[i], 32 * block.index + first + uvec2(0, i));
    }
    made_quads.items = items;
    // Neighbours of a row share their eight: the left makes the upper four one, the right the lower.
    const bool right = (thread & 1) != 0;
    const ITEM give_upper = right ? items[0] : items[2];
    const ITEM give_lower = right ? items[1] : items[3];
#if SUBGROUPS
    const ITEM got_upper = subgroupShuffleXor(give_upper, 1);
    const ITEM got_lower = subgroupShuffleXor(give_lower, 1);
#else
    room[2 * thread] = give_upper;
    room[2 * thread + 1] = give_lower;
    barrier();
    const ITEM got_upper = room[2 * (thread ^ 1)];
    const ITEM got_lower = room[2 * (thread ^ 1) + 1];
    barrier();
#endif
    made_quads.held = right ? reduce_four(got_upper, items[2], got_lower, items[3])
                            : reduce_four(items[0], got_upper, items[1], got_lower);
    if (!STORES_LATE) {
        store_quads(block, thread);
    }
    return made_quads.held;
}

ITEM load_inside(Block block, uvec2 node) {
    if (any(greaterThanEqual(node, block.extent))) {
        return nothing();
    }
    return load_handed_over(
        handed_over(block.texels, extent_of(block.level).x, first_texel(block) + node));
}

// The texel that the thread holds of a block of up to 16 x 16 texels that were handed over, or of the
// level above one of up to 32 x 32.
ITEM load_held(Block block, uint thread) {
    const uvec2 position = held_position(thread);
    if (block.levels <= NODE_LEVELS) {
        return load_inside(block, position);
    }
    const ITEM item = reduce_four(load_inside(block, 2 * position),
                                  load_inside(block, 2 * position + uvec2(1, 0)),
                                  load_inside(block, 2 * position + uvec2(0, 1)),
                                  load_inside(block, 2 * position + uvec2(1, 1)));
    if (all(lessThan(2 * position, block.extent))) {
        store(block.level + 1, 1 << 1, first_texel(block) / 2 + position, item);
    }
    return item;
}

ITEM reduce_made(uint first) {
    return reduce_four(made_items[first], made_items[first + 1], made_items[first + 2],
                       made_items[first + 3]);
}

// Four levels: the 16 x 16 texels that the threads hold become one. All are left in made_items; the
// last is returned to thread 0. What other threads wrote there is theirs after the next barrier.
ITEM reduce_nodes(ITEM item, uint thread) {
#if SUBGROUPS
    item = reduce_four(item, subgroupShuffleXor(item, 2), subgroupShuffleXor(item, 1),
                       subgroupShuffleXor(item, 3));
    if ((thread & 3) == 0) {
        made_items[morton_encode((thread & 31) >> 2, thread >> 5)] = item;
    }
#else
    room[thread] = item;
    barrier();
    if (thread < 64) {
        made_items[morton_encode(thread & 7, thread >> 3)] =
            reduce_four(room[4 * thread], room[4 * thread + 2], room[4 * thread + 1],
                        room[4 * thread + 3]);
    }
#endif
    barrier();
    if (thread < 16) {
        item = reduce_made(4 * thread);
        made_items[64 + thread] = item;
    }
#if SUBGROUPS
    if (gl_SubgroupSize >= 16) {
        item = reduce_four(item, subgroupShuffleXor(item, 1), subgroupShuffleXor(item, 2),
                           subgroupShuffleXor(item, 3));
        if (thread < 16 && (thread & 3) == 0) {
            made_items[64 + 16 + thread / 4] = item;
        }
        item = reduce_four(item, subgroupShuffleXor(item, 4), subgroupShuffleXor(item, 8),
                           subgroupShuffleXor(item, 12));
        if (thread == 0) {
            made_items[64 + 16 + 4] = item;
        }
        return item;
    }
#endif
    barrier();
    if (thread < 4) {
        made_items[64 + 16 + thread] = reduce_made(64 + 4 * thread);
    }
    barrier();
    if (thread == 0) {
        item = reduce_made(64 + 16);
        made_items[64 + 16 + 4] = item;
    }
    return item;
}

// Stores what reduce_nodes has made of the texels of `level` that the threads hold, up to the level that
// the block becomes one texel of.
void store_nodes(Block block, uint level, uint thread) {
    const uvec2 origin = first_texel(block) >> (level - block.level);
    const uint levels = block.levels - (level - block.level);
    uint first = 0;
    uint count = 64;
    for (uint step = 1; step <= NODE_LEVELS; ++step) {
        // Of 16 x 16 texels those that are the block's come first in Morton order.
        if (step <= levels && thread < 1 << 2 * (levels - step)) {
            const uvec2 local = uvec2(morton_x(thread), morton_y(thread));
            store(level + step, 63, (origin >> step) + local, made_items[first + thread]);
        }
        first += count;
        count /= 4;
    }
}

#if ODD_BLOCKS
// ---- Blocks with odd edges -----------------------------------------------------------------------------

// A texel of the level that the block is of.
ITEM load_texel(Block block, uvec2 position) {
    if (block.level != parameters.base_level) {
        return load_handed_over(handed_over(block.texels, extent_of(block.level).x, position));
    }
    ITEM item =
        item_of(TEXEL_OF(texelFetch(source, ivec3(position, layer), 0)));
#if CHANNELS == 2
    if (SOURCE_CHANNELS == 1) {
        item = item_of(texelFetch(source, ivec3(position, layer), 0).rr);
    }
#endif
#if !KEYS
    if (WEIGHTED && block.level > 0) {
        item = sum_of_mean(block.level, position, item);
    }
#endif
    return item;
}

// The texels below a texel: 1 to 3 along each axis.
struct Children {
    uvec2 first;
    uvec2 count;
};

Children children_of(uint level, uvec2 position) {
    const uvec2 last = uvec2(mip_last_child(parameters.width, level, position.x, EDGE_RULE),
                             mip_last_child(parameters.height, level, position.y, EDGE_RULE));
    return Children(2 * position, last - 2 * position + 1);
}

// Defines ITEM name(Block block, Children children), the reduction of up to 3 x 3 items CHILD(uvec2 at).
// Loops here take the same number of turns in all threads: lavapipe (Mesa 22.3) loses threads that leave
// loops early, after some barriers.
#if CUSTOM
// Keeps compilers from unrolling a loop: windows of windows are 256 texels.
uint rolled(uint turns) { return parameters.layers != 0 ? turns : 0; }

// The nearest one stands for a missing one; of three along an axis the 2 x 2 windows are reduced, then
// their results.
#define DEFINE_REDUCTION(name, CHILD)                                                         \
    ITEM name(Block block, Children children) {                                               \
        const uvec2 last = children.first + children.count - 1;                               \
        const uvec2 windows = max(children.count, uvec2(2)) - 1;                              \
        ITEM reduced[4];                                                                      \
        for (uint w = 0; w < rolled(4); ++w) {                                                \
            const uvec2 corner = children.first + min(uvec2(w & 1, w >> 1), windows - 1);     \
            ITEM texels[4];                                                                   \
            for (uint i = 0; i < 4; ++i) {                                                    \
                const uvec2 at = min(corner + uvec2(i & 1, i >> 1), last);                    \
                texels[i] = CHILD(at);                                                        \
            }                                                                                 \
            reduced[w] = reduce(texels[0], texels[1], texels[2], texels[3]);                  \
        }                                                                                     \
        return windows == uvec2(1) ? reduced[0]                                               \
                                   : reduce(reduced[0], reduced[1], reduced[2], reduced[3]);  \
    }
#else
#define DEFINE_REDUCTION(name, CHILD)                                                \
    ITEM name(Block block, Children children) {                                      \
        ITEM total = nothing();                                                      \
        ITEM row = nothing();                                                        \
        for (uint i = 0; i < 9; ++i) {                                               \
            const uvec2 child = uvec2(i % 3, i / 3);                                 \
            ITEM item = nothing();                                                   \
            if (all(lessThan(child, children.count))) {                              \
                item = CHILD(children.first + child);                                \
            }                                                                        \
            row = child.x == 0 ? item : reduce_two(row, item);                       \
            if (child.x == 2) {                                                      \
                total = child.y == 0 ? row : reduce_two(total, row);                 \
            }                                                                        \
        }                                                                            \
        return REDUCTION == REDUCE_MEAN ? mean_of_four(total) : total;               \
    }
#endif

#define CHILD_TEXEL(at) load_texel(block, at)
DEFINE_REDUCTION(reduce_texels, CHILD_TEXEL)

// A texel of the level above the block's.
ITEM make_texel(Block block, uvec2 position) {
    return reduce_texels(block, children_of(block.level + 1, position));
}
#define CHILD_MADE_AGAIN(at) make_texel(block, at)
DEFINE_REDUCTION(reduce_made_again, CHILD_MADE_AGAIN)

// The part of a level that is kept in shared memory.
uvec2 kept_first;
uvec2 kept_count;
uint kept_start;  // in room

ITEM kept_item(uvec2 position) {
    const uvec2 local = position - kept_first;
    const uint place = local.y * kept_count.x + local.x;
    return room[kept_start + place];
}
DEFINE_REDUCTION(reduce_kept, kept_item)

// First texel of a level above the block's, and the end of them.
uvec2 first_above(Block block, uint levels) { return first_texel(block) >> levels; }
uvec2 count_above(Block block, uint levels) {
    const uvec2 blocks = blocks_of(block.level, block.levels);
    const uvec2 first = first_above(block, levels);
    const uvec2 extent = extent_of(block.level + levels);
    const uvec2 own = uvec2((1 << block.levels) >> levels);
    const uvec2 rest = extent - min(first, extent);
    return mix(min(rest, own), rest, equal(block.index + 1, blocks));
}

// Turns in which a workgroup makes the texels of a level: (127 / 2^levels)^2 at most.
uint turns(uint levels) {
    const uint texels = (127 >> levels) * (127 >> levels);
    return (texels + WORKGROUP_SIZE - 1) / WORKGROUP_SIZE;
}

// Makes a level of the block from the one below, the second from texels; nothing above its last.
// Returns the last texel that the thread made, of this level or those before.
ITEM make_odd_level(Block block, uint levels, ITEM item, uint thread) {
    const uvec2 first = first_above(block, levels);
    const bool is_made =
        levels <= block.levels && block.level + levels <= parameters.top_level;
    const uvec2 count = is_made ? count_above(block, levels) : uvec2(0);
    const uint start = levels % 2 == 0 ? 0 : ODD_LEVELS_START;
    for (uint turn = 0; turn < turns(levels); ++turn) {
        const uint i = thread + WORKGROUP_SIZE * turn;
        if (i < count.x * count.y) {
            const uvec2 position = first + uvec2(i % count.x, i / count.x);
            const Children children = children_of(block.level + levels, position);
            if (levels == 2) {  // level 1 is made again: there is no room to keep it
                item = reduce_made_again(block, children);
            } else {
                item = reduce_kept(block, children);
            }
            store(block.level + levels, 1 << levels % BLOCK_LEVELS, position, item);
            room[start + i] = item;
        }
    }
    kept_first = first;
    kept_count = count;
    kept_start = start;
    return item;
}

// All levels of a block of any extent, up to 127 x 127. Returns the last one's to thread 0 (blocks that
// are handed on have three levels at least).
ITEM reduce_odd_block(Block block, uint thread) {
    uvec2 first = first_above(block, 1);
    uvec2 count = count_above(block, 1);
#if !TO_BUFFER
    if (COPY_SOURCE && block.level == 0) {
        for (uint turn = 0; turn < turns(0); ++turn) {
            const uint i = thread + WORKGROUP_SIZE * turn;
            if (i < block.extent.x * block.extent.y) {
                const uvec2 position =
                    first_texel(block) + uvec2(i % block.extent.x, i / block.extent.x);
                vec4 texel = texelFetch(source, ivec3(position, layer), 0);
                if (SOURCE_CHANNELS < CHANNELS) {
                    texel = texel.rrrr;
                }
                store_texel(0, 1, ivec3(position, layer), VEC4_OF(copy_of(TEXEL_OF(texel))));
            }
        }
    }
#endif
    for (uint turn = 0; turn < turns(1); ++turn) {
        const uint i = thread + WORKGROUP_SIZE * turn;
        if (i < count.x * count.y) {
            const uvec2 position = first + uvec2(i % count.x, i / count.x);
            store(block.level + 1, 1 << 1, position, make_texel(block, position));
        }
    }
    ITEM item = make_odd_level(block, 2, nothing(), thread);
    barrier();
    item = make_odd_level(block, 3, item, thread);
    barrier();
    item = make_odd_level(block, 4, item, thread);
    barrier();
    item = make_odd_level(block, 5, item, thread);
    barrier();
    return make_odd_level(block, 6, item, thread);
}

// Whether halving as if there were 2^levels texels a side gives the right ones: along both axes, either all
// levels up to the top halve evenly, or it is one power of two and the missing texels change nothing.
bool is_even(Block block) {
    const uint levels = min(block.levels, parameters.top_level - block.level);
    const uvec2 odd = block.extent & ((1U << levels) - 1);
    const bvec2 exact = lessThanEqual(block.extent, uvec2(1 << block.levels));
    bvec2 even = bvec2(exact.x && odd.x == 0, exact.y && odd.y == 0);
    if (CUSTOM == 0 && parameters.base_level == 0) {
        const uvec2 all_texels = extent_of(block.level);
        for (uint axis = 0; axis < 2; ++axis) {
            even[axis] = even[axis] ||
                         (block.extent[axis] == all_texels[axis] &&
                          all_texels[axis] < 1 << block.levels && bitCount(all_texels[axis]) == 1);
        }
    }
    if (WEIGHTED && block.level > 0 && block.level == parameters.base_level) {
        // Means that were stored and are read again weigh less, or more, at the edges.
        const bvec2 last = equal(block.index + 1, blocks_of(block.level, block.levels));
        const uint full = 1U << block.level;
        even.x = even.x &&
                 !(last.x && mip_last_coverage(parameters.width, block.level, EDGE_RULE) != full);
        even.y = even.y &&
                 !(last.y && mip_last_coverage(parameters.height, block.level, EDGE_RULE) != full);
    }
    return even.x && even.y;
}
#endif

// ---- The way up ------------------------------------------------------------------------------------------

#if !KEYS
// The item of the texel that an item is stored as.
ITEM item_of_stored(ITEM item) {
    TEXEL texel = encode(item);
#if CHANNELS == 4
    if (TARGET_ENCODING == ENCODING_SRGB8) {
        const uvec4 codes = uvec4(texel * 255.0 + 0.5);
        return ITEM(srgb_light[codes.r], srgb_light[codes.g], srgb_light[codes.b],
                    IN_CODES ? float(codes.a) : texel.a);
    }
#endif
    if (TARGET_ENCODING >= ENCODING_UNORM8) {
        const uint bits = TARGET_ENCODING == ENCODING_UNORM16 ? 16 : 8;
#if CHANNELS == 1
        const float code = floor(texel * LARGEST_TARGET_CODE + 0.5);
        texel = IN_CODES ? code : uintBitsToFloat(bits_from_unorm(uint(code), bits));
#else
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
#if !KEYS
    if (EDGE_RULE == EDGE_DROP && TARGET_ENCODING != ENCODING_FLOAT32 && level == BLOCK_LEVELS) {
        if (!WEIGHTED) {
            return item_of_stored(item);
        }
        return sum_of_mean(level, position, item_of_stored(mean_of_sum(level, position, item)));
    }
#endif
    return item;
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
#if !KEYS && CHANNELS == 4 && !ODD_BLOCKS
    if (SOURCE_ENCODING == ENCODING_SRGB8 && !FILTERED) {
        shared_light[thread] = srgb_light[thread];  // one each
        barrier();
    }
#endif
#if COUNT_NAN
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
#endif

    // First word of the layer's state.
    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
    uint counters = layer_state + 1;
    // The last workgroup does again what all do: other code would have to be fetched first.
    while (true) {
#if ODD_BLOCKS
        const bool even = is_even(block);
#else
        const bool even = true;
#endif
        ITEM item;
        uint held_level = 0;  // of the 16 x 16 texels that the threads hold
        if (even) {
            if (block.level == parameters.base_level) {
                item = reduce_quads(block, thread);
                held_level = block.level + 2;
            } else {
                item = load_held(block, thread);
                held_level = block.levels > NODE_LEVELS ? block.level + 1 : block.level;
            }
            if (held_level < parameters.top_level) {
                item = reduce_nodes(item, thread);
                if (block.levels == 3) {  // of 8 x 8 texels: one level less
                    item = made_items[64 + 16];
                }
            }
        }
#if ODD_BLOCKS
        else {
            item = reduce_odd_block(block, thread);
        }
#endif
#if COUNT_NAN
        if (block.level == 0) {
            barrier();
            if (thread == 0 && nan_texels > 0) {
                atomicAdd(state[layer_state], nan_texels, gl_ScopeDevice, 0, 0);
            }
        }
#endif
        const uint level = block.level + block.levels;  // of the one texel made
        const bool at_top = level >= parameters.top_level;

        // Hand over, unless this was the last.
        const uvec2 extent = extent_of(level);
        const uint levels = at_top ? 1 : step_levels(level, parameters.top_level);
        const uvec2 groups = blocks_of(level, levels);
        const uvec2 group = uvec2(block_of(block.index.x, levels, groups.x),
                                  block_of(block.index.y, levels, groups.y));
        const uint group_index = group.y * groups.x + group.x;
        const uint counter = counters + group_index;
        const uint expected_place = counter + groups.x * groups.y;
        const uint texels = counters + 2 * groups.x * groups.y;
        const uvec2 group_extent = extent_of_block(level, levels, group);
        const bool exists = all(lessThan(block.index, extent));
        if (thread == 0) {
            goes_on = false;
            if (!at_top && exists) {
                const uint place = handed_over(texels, extent.x, block.index);
                item = handed_over_item(level, block.index, item);
                for (uint i = 0; i < CHANNELS; ++i) {
                    atomicStore(state[place + i], word_of(item, i), gl_ScopeDevice, 0, 0);
                }
                uint expected = level == parameters.base_level + BLOCK_LEVELS
                                    ? parameters.expected_blocks
                                    : parameters.expected_groups;
                if (BLOCKS_FROM_LIST) {
                    expected = state[expected_place];
                } else if (expected == 0) {
                    expected = group_extent.x * group_extent.y;
                }
                const uint arrived = atomicAdd(state[counter], 1, gl_ScopeDevice,
                                               gl_StorageSemanticsBuffer, gl_SemanticsRelease);
                goes_on = arrived + 1 == expected;
            }
        }
        barrier();
        if (even) {
            if (STORES_LATE && block.level == parameters.base_level) {
                store_quads(block, thread);
            }
            if (held_level < parameters.top_level) {
                store_nodes(block, held_level, thread);
            }
        }
        if (at_top) {
            break;
        }
        if (!goes_on) {
            return;
        }
        if (thread == 0) {
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
            state[counter] = 0;
            if (BLOCKS_FROM_LIST) {
                state[expected_place] = 0;
            }
        }
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                       gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
        counters += handover_words(parameters.width, parameters.height, level, levels, EDGE_RULE,
                                   CHANNELS);
        block = Block(level, levels, group, group_extent, texels);
    }

#if COUNT_NAN
    // Only the workgroup that made the root is still here, after all others have counted.
    if (thread == 0) {
        state[layer] = atomicExchange(state[layer_state], 0, gl_ScopeDevice, 0, 0);
    }
#endif
}
