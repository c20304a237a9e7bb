// Blocks with odd edges that the edge rule treats specially (mip.h), up to 127 x 127 texels, reduced by the whole
// workgroup of downsample.comp. Most texels of the second level have all their 4 x 4 texels: one thread makes each in
// registers. The rest of the first level are strips of up to three columns and three rows, made texel by texel and kept
// in shared memory for the second level. The levels above are made in shared memory.

struct Part {
    uvec2 first;
    uvec2 count;
};

// Returns the texels below a texel: 1 to 3 along each axis.
Part children_of(uint level, uvec2 position) {
    const uvec2 last = uvec2(mip_last_child(parameters.width, level, position.x, EDGE_RULE),
                             mip_last_child(parameters.height, level, position.y, EDGE_RULE));
    return Part(2 * position, last - 2 * position + 1);
}

TEXEL fetch_texel(uvec2 position) {
    const vec4 texel = texelFetch(source, ivec3(position, layer), 0);
    return SOURCE_CHANNELS == 1 ? TEXEL_OF(texel.rrrr) : TEXEL_OF(texel);
}

// Part of a level that is kept in room.
struct Kept {
    uint start;
    uvec2 first;  // first texel of the level
    uint pitch;
};

uint kept_place(Kept kept, uvec2 position) {
    const uvec2 local = position - kept.first;
    return kept.start + kept.pitch * local.y + local.x;
}

ITEM reduce_three(ITEM a, ITEM b, ITEM c, uint count) {
    return reduce_two(reduce_two(a, count > 1 ? b : nothing()), count > 2 ? c : nothing());
}

// Reduces 3 x 3 items, of which `count` exist.
ITEM reduce_nine(ITEM items[9], uvec2 count) {
#if CUSTOM
    // Three along an axis are reduced in 2 x 2 windows, then the results again.
    ITEM windows[4] = ITEM[](reduce(items[0], items[1], items[3], items[4]),
                             reduce(items[1], items[2], items[4], items[5]),
                             reduce(items[3], items[4], items[6], items[7]),
                             reduce(items[4], items[5], items[7], items[8]));
    if (count.x < 3) {
        windows[1] = windows[0];
        windows[3] = windows[2];
    }
    if (count.y < 3) {
        windows[2] = windows[0];
        windows[3] = windows[1];
    }
    const ITEM reduced = reduce(windows[0], windows[1], windows[2], windows[3]);
    return all(lessThan(count, uvec2(3))) ? windows[0] : reduced;
#else
    return finished(reduce_three(reduce_three(items[0], items[1], items[2], count.x),
                                 reduce_three(items[3], items[4], items[5], count.x),
                                 reduce_three(items[6], items[7], items[8], count.x), count.y));
#endif
}

// Returns child i of 3 x 3, or the nearest one if it is missing.
uvec2 child_at(Part children, uint i) { return children.first + min(uvec2(i % 3, i / 3), children.count - 1); }

// Reduces the children of a texel. All loads are issued before the first result is used.
ITEM reduce_texels(Block block, Part children) {
    ITEM items[9];
    if (block.level != parameters.base_level) {
        const uint width = extent_of(block.level).x;
        [[unroll]] for (uint i = 0; i < 9; ++i) {
            items[i] = load_item(handed_over(block.texels, width, child_at(children, i)));
        }
    } else {
        TEXEL texels[9];
        [[unroll]] for (uint i = 0; i < 9; ++i) { texels[i] = fetch_texel(child_at(children, i)); }
        [[unroll]] for (uint i = 0; i < 9; ++i) {
            items[i] = item_of(texels[i]);
            if (WEIGHTED && block.level > 0) {
                items[i] = sum_of_mean(block.level, child_at(children, i), items[i]);
            }
        }
    }
    return reduce_nine(items, children.count);
}

// Returns the part of the level `levels` above a block that the block makes.
Part part_above(Block block, uint levels) {
    if (levels > block.levels || block.level + levels > parameters.top_level) {
        return Part(uvec2(0), uvec2(0));
    }
    const uvec2 blocks = blocks_of(block.level, block.levels);
    const uvec2 first = first_texel(block) >> levels;
    const uvec2 extent = extent_of(block.level + levels);
    const uvec2 own = uvec2((1 << block.levels) >> levels);
    const uvec2 rest = extent - min(first, extent);
    return Part(first, mix(min(rest, own), rest, equal(block.index + 1, blocks)));
}

uvec2 place_in(uint i, uint width) { return uvec2(i % width, i / width); }

const uint PITCH = 31;  // of the second and fourth level in room; 15 for the others

// Makes the `count` texels of the second level whose 4 x 4 texels all exist, and those of the first level below them.
void reduce_regular(Block block, Part level_1, uvec2 count, uint thread) {
    for (uint i = 0; i < 4; ++i) {
        const uvec2 local = 16 * quarter(i) + place_in_quarter(thread);
        if (all(lessThan(local, count))) {
            const uvec2 position = level_1.first / 2 + local;
            ITEM items[4];
            if (block.level == parameters.base_level) {
                Quad quads[4];
                [[unroll]] for (uint q = 0; q < 4; ++q) { quads[q] = read_quad(2 * position + quarter(q)); }
                [[unroll]] for (uint q = 0; q < 4; ++q) { items[q] = reduce_quad(quads[q], 2 * position + quarter(q)); }
            } else {
                const uint width = extent_of(block.level).x;
                [[unroll]] for (uint q = 0; q < 4; ++q) {
                    const uint place = handed_over(block.texels, width, 4 * position + 2 * quarter(q));
                    items[q] = reduce_four(load_item(place), load_item(place + CHANNELS),
                                           load_item(place + CHANNELS * width),
                                           load_item(place + CHANNELS * (width + 1)));
                }
            }
            [[unroll]] for (uint q = 0; q < 4; ++q) { put(block.level + 1, 2 * position + quarter(q), items[q]); }
            const ITEM item = reduce_four(items[0], items[1], items[2], items[3]);
            if (is_made(block.level + 2, position)) {
                put(block.level + 2, position, item);
            }
            room[PITCH * local.y + local.x] = item;
        }
    }
}

// Makes and keeps texels from `first` on, `levels` above a block's, from the level kept below. Returns the thread's.
ITEM make_part(Block block, uint levels, uvec2 first, uvec2 extent, Kept below, Kept kept, uint thread) {
    ITEM item = nothing();
    if (thread < extent.x * extent.y) {
        const uvec2 position = first + place_in(thread, extent.x);
        const Part children = children_of(block.level + levels, position);
        ITEM items[9];
        [[unroll]] for (uint i = 0; i < 9; ++i) { items[i] = room[kept_place(below, child_at(children, i))]; }
        item = reduce_nine(items, children.count);
        put(block.level + levels, position, item);
        room[kept_place(kept, position)] = item;
    }
    return item;
}

// Makes the texels from `start` to `end` of the first level of a block, and those of the second level above them.
void reduce_strip(Block block, Part level_1, uvec2 start, uvec2 end, uint thread) {
    const uvec2 extent = end - start;
    const Kept strip = Kept(ODD_LEVELS_START, level_1.first + start, extent.x);
    barrier();  // the previous strip is no longer needed
    if (thread < extent.x * extent.y) {
        const uvec2 position = strip.first + place_in(thread, extent.x);
        const ITEM item = reduce_texels(block, children_of(block.level + 1, position));
        put(block.level + 1, position, item);
        room[ODD_LEVELS_START + thread] = item;
    }
    barrier();
    const Part level_2 = part_above(block, 2);
    const uvec2 start_2 = start / 2;
    const uvec2 end_2 = uvec2(end.x == level_1.count.x ? level_2.count.x : end.x / 2, level_2.count.y);
    make_part(block, 2, level_2.first + start_2, end_2 - min(start_2, end_2), strip, Kept(0, level_2.first, PITCH),
              thread);
}

// Copies the texels of a part of a block: all of it if no level is made.
void copy_part(Block block, uvec2 start, uvec2 end, uint thread) {
    const uvec2 extent = end - start;
    for (uint first = 0; first < extent.x * extent.y; first += WORKGROUP_SIZE) {
        const uint i = first + thread;
        if (i < extent.x * extent.y) {
            const uvec2 position = first_texel(block) + start + place_in(i, extent.x);
            store_texel(0, ivec3(position, layer), VEC4_OF(copy_of(fetch_texel(position))));
        }
    }
}

// Makes all levels of a block of any extent, up to 127 x 127. Returns the texel of the last one to thread 0 (blocks
// that are handed on have at least three levels).
ITEM reduce_odd_block(Block block, uint thread) {
    const Part level_1 = part_above(block, 1);
    // Texels of the second level except the last, along each axis: they have 4 x 4 texels.
    const uvec2 regular = max(level_1.count / 2, uvec2(1)) - 1;
    reduce_regular(block, level_1, regular, thread);
    for (uint axis = 0; axis < 2; ++axis) {
        const uvec2 start = axis == 0 ? uvec2(2 * regular.x, 0) : uvec2(0, 2 * regular.y);
        const uvec2 end = uvec2(axis == 0 ? level_1.count.x : 2 * regular.x, level_1.count.y);
        if (COPY_SOURCE && block.level == 0) {
            copy_part(block, 2 * start, uvec2(axis == 0 ? block.extent.x : 4 * regular.x, block.extent.y), thread);
        }
        reduce_strip(block, level_1, start, end, thread);
    }

    ITEM item;
    Kept below = Kept(0, first_texel(block) >> 2, PITCH);
    for (uint levels = 3; levels <= 6; ++levels) {
        barrier();
        const Part part = part_above(block, levels);
        const bool is_odd = (levels & 1) != 0;
        const Kept kept = Kept(is_odd ? ODD_LEVELS_START : 0, part.first, is_odd ? 15 : PITCH);
        if (part.count != uvec2(0)) {
            item = make_part(block, levels, part.first, part.count, below, kept, thread);
        }
        below = kept;
    }
    return item;
}

// Returns whether halving a block of 2^levels texels a side gives the right levels along an axis of the image: all
// levels up to the top halve evenly, or the extent is one power of two and the missing texels change nothing.
bool is_even_along(uint axis, uint image_extent, Block block) {
    const uint extent = block.extent[axis];
    const uint levels = min(block.levels, parameters.top_level - block.level);
    bool even = extent <= 1U << block.levels && (extent & ((1U << levels) - 1)) == 0;
    if (CUSTOM == 0 && parameters.base_level == 0) {
        const bool is_whole = extent == mip_extent(image_extent, block.level, EDGE_RULE);
        even = even || (is_whole && extent < 1U << block.levels && bitCount(extent) == 1);
    }
    if (WEIGHTED && block.level > 0 && block.level == parameters.base_level) {
        // Means that were stored and are read again have another weight at the edges.
        const bool is_last = block.index[axis] + 1 == blocks_along(image_extent, block.level, block.levels, EDGE_RULE);
        even = even && !(is_last && mip_last_coverage(image_extent, block.level, EDGE_RULE) != 1U << block.level);
    }
    return even;
}

bool is_even(Block block) {
    return is_even_along(0, parameters.width, block) && is_even_along(1, parameters.height, block);
}
