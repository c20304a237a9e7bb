// Blocks with odd edges that the edge rule treats specially (mip.h): reduced texel by texel, by the whole
// workgroup. Part of downsample.comp.

// A texel of the level that the block is of.
ITEM load_texel(Block block, uvec2 position) {
    if (block.level != parameters.base_level) {
        const uvec2 extent = extent_of(block.level);
        return load_item(handed_over(block.texels, extent.x, position));
    }
    ITEM item =
        item_of(TEXEL_OF(texelFetch(source, ivec3(position, layer), 0)));
#if CHANNELS == 2
    if (SOURCE_CHANNELS == 1) {
        item = item_of(texelFetch(source, ivec3(position, layer), 0).rr);
    }
#endif
#if !EXTREMES
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
            store(block.level + levels, position, item);
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
                store_texel(0, ivec3(position, layer), VEC4_OF(copy_of(TEXEL_OF(texel))));
            }
        }
    }
#endif
    for (uint turn = 0; turn < turns(1); ++turn) {
        const uint i = thread + WORKGROUP_SIZE * turn;
        if (i < count.x * count.y) {
            const uvec2 position = first + uvec2(i % count.x, i / count.x);
            store(block.level + 1, position, make_texel(block, position));
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
