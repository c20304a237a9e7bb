// What becomes of each tile, slots for those that need one, and the outcome of the frame.
// CPU twin: classified, place_new, repack, set_crop and list_tiles of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of up to 1024 threads, as many as the device has, a thread for each of max_tiles: it
// looks after a tile of the list, and one of the last frame. The last workgroup goes on alone; each of its
// threads has as many tiles, side by side, and as many pages of the atlas.
// Bindings: bindings.glsl; reads the tile list and the tiles of the last frame; occupancy is 0. Writes work, then
// tiles, lists, removed tiles, header, the last lights. It does not look at the page table, which changes
// meanwhile.
// Memory order: the hand-over of last_workgroup.glsl; then barriers of the workgroup. Tiles of the last frame
// are read before the barrier behind which those of this one are written.
// Source: docs/shadows.md, steps 7 to 9. Slots are the blocks of a buddy system (Knowlton, "A Fast Storage
// Allocator", 1965) in two dimensions, along the Z-order curve.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
const uint SCAN_LEVELS = 10;
const uint SCAN_THREADS = 1U << SCAN_LEVELS;
#include "scan.glsl"
#include "last_workgroup.glsl"

shared uint used_cells;
shared uint resized;

void occupy(uint cell, uint slot_class) {
    const uint cells = shadow_slot_cells(slot_class);
    if (cells < 32) {
        atomicOr(work[occupied_word(cell / 32)], ((1U << cells) - 1) << (cell % 32));
    } else {
        for (uint word = 0; word < cells / 32; ++word) {
            work[occupied_word(cell / 32 + word)] = 0xffffffffU;
        }
    }
}

// ---- By all workgroups: what becomes of a tile

bool light_has_changed(uint light) {
    bool changed = false;
    for (uint i = 0; i < 16; ++i) {
        changed = changed || clip_has_changed(light, i);
    }
    return changed;
}

// Whether something has changed in what a slot shows.
bool is_touched(uint level, uvec2 node, uint light, uint slot_class) {
    const int gutter = int(shadow_gutter_map_texels(parameters, level, slot_class));
    const ivec2 first = ivec2(node << level) - gutter;
    const ivec2 end = ivec2((node + 1) << level) + gutter;
    bool touched = false;
    for (uint i = 0; i < frame.rectangle_count; ++i) {
        const ShadowRectangle rectangle = frame.rectangles[i];
        const ivec2 low = ivec2(rectangle.x, rectangle.y);
        const ivec2 high = ivec2(rectangle.end_x, rectangle.end_y);
        touched = touched || (rectangle.light == light && all(lessThan(low, high)) &&
                              all(lessThan(low, end)) && all(lessThan(first, high)));
    }
    return touched;
}

// Every so many-th key of the tiles of the last frame and of the list: a search begins in them.
shared uint last_keys[SCAN_THREADS];
shared uint list_keys[SCAN_THREADS];

uint key_step(uint count) { return (count + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x; }

void load_keys() {
    const uint thread = gl_LocalInvocationIndex;
    const uint last_place = thread * key_step(header.tiles);
    const uint list_place = thread * key_step(list_header.written);
    last_keys[thread] = last_place < header.tiles
                            ? shadow_key(tiles[last_place].position, tiles[last_place].node)
                            : 0xffffffffU;
    list_keys[thread] = list_place < list_header.written
                            ? shadow_key(list_tiles[list_place].position, list_tiles[list_place].node)
                            : 0xffffffffU;
}

// The last of `count` tiles, whose keys ascend, with this key or less; the first where there is none.
#define FIND_KEY(keys, tiles, count, key)                                                          \
    uint low = 0;                                                                                  \
    uint high = gl_WorkGroupSize.x;                                                                \
    for (uint step = 0; step < SCAN_LEVELS; ++step) {                                              \
        const uint middle = (low + high) / 2;                                                      \
        const bool is_behind = keys[middle] > key;                                                 \
        low = is_behind ? low : middle;                                                            \
        high = is_behind ? middle : high;                                                          \
    }                                                                                              \
    low *= key_step(count);                                                                        \
    high = min(low + key_step(count), count);                                                      \
    while (high - low > 1) {                                                                       \
        const uint middle = (low + high) / 2;                                                      \
        const bool is_behind = shadow_key(tiles[middle].position, tiles[middle].node) > key;       \
        low = is_behind ? low : middle;                                                            \
        high = is_behind ? middle : high;                                                          \
    }

bool is_same_node(uint position, uint node, uint other_position, uint other_node) {
    const uint flags = 0xff00U;
    return position == other_position && (node & ~flags) == (other_node & ~flags);
}

// The place of a node among the tiles of the last frame, or SHADOW_NONE.
uint find_last(Tile tile) {
    const uint key = shadow_key(tile.position, tile.node);
    FIND_KEY(last_keys, tiles, header.tiles, key)
    const bool found = header.tiles > 0 && is_same_node(tiles[low].position, tiles[low].node,
                                                        tile.position, tile.node);
    return found ? low : SHADOW_NONE;
}

bool is_gone(ShadowTile tile) {
    const uint key = shadow_key(tile.position, tile.node);
    FIND_KEY(list_keys, list_tiles, list_header.written, key)
    return !is_same_node(list_tiles[low].position, list_tiles[low].node, tile.position, tile.node);
}

void classify(uint index) {
    const Tile tile = list_tiles[index];
    const uint level = tile_level(tile);
    const uvec2 node = uvec2(tile_x(tile), tile_y(tile));
    const uint light = tile_layer(tile);
    const uint last = find_last(tile);
    const bool kept = last != SHADOW_NONE;
    uint last_class = 0;
    uint last_slot = 0;
    if (kept) {
        last_class = tiles[last].state & 0xffU;
        last_slot = tiles[last].slot;
    }
    const uint slot_class =
        shadow_class(parameters, level, tile.importance, last_class, header.factor_index);
    const bool render = light_has_changed(light) || is_touched(level, node, light, slot_class);
    work[classified_word(index)] =
        slot_class | (kept ? CLASSIFIED_KEPT : 0) | (render ? CLASSIFIED_RENDER : 0);
    uint cell = SHADOW_NONE;
    if (kept && slot_class == last_class) {
        cell = shadow_cell_of_slot(parameters.tile_extent, last_slot);
        occupy(cell, slot_class);
    }
    work[cell_word(index)] = cell;
}

// ---- By the last workgroup: a thread's share, so many items from the first on

// All threads go through their shares in the same number of steps, though some of the last have less: lavapipe
// loses threads in other loops behind barriers.
uint share_of(uint count) { return (count + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x; }

uint first_of_share(uint count) { return thread_index() * share_of(count); }

#define FOR_SHARE(item, count)                                                              \
    for (uint item = first_of_share(count); item < first_of_share(count) + share_of(count); \
         ++item)                                                                            \
        if (item < (count))

uint class_of(uint tile) { return work[classified_word(tile)] & CLASSIFIED_CLASS; }

bool needs_slot(uint tile) { return work[cell_word(tile)] == SHADOW_NONE; }

// ---- Free slots of a page, as bits of its words: one at the first cell of each

uint page_words[PAGE_WORDS];  // of the page that this thread looks at

void look_at_page(uint page) {
    for (uint i = 0; i < PAGE_WORDS; ++i) {
        page_words[i] = work[occupied_word(page * PAGE_WORDS + i)];
    }
}

// A bit at the first cell of each slot of class 0 to 2 that has an occupied cell.
uint occupied_slots(uint cells, uint slot_class) {
    if (slot_class == 0) {
        return cells;
    }
    if (slot_class == 1) {
        return (cells | cells >> 1 | cells >> 2 | cells >> 3) & 0x11111111U;
    }
    return ((cells & 0xffffU) != 0 ? 1 : 0) | ((cells >> 16) != 0 ? 0x10000U : 0);
}

// Free slots whose enclosing slot has an occupied cell (x), and the others (y).
uvec2 free_slots(uint word, uint slot_class) {
    const uint cells = page_words[word];
    if (slot_class == 0) {
        const uint native = ~cells & (occupied_slots(cells, 1) * 0xfU);
        return uvec2(native, ~cells & ~native);
    }
    if (slot_class == 1) {
        const uint free = ~occupied_slots(cells, 1) & 0x11111111U;
        const uint native = free & (occupied_slots(cells, 2) * 0x1111U);
        return uvec2(native, free & ~native);
    }
    const uint pair = cells | page_words[word ^ 1U];
    if (slot_class == 2) {
        const uint free = ~occupied_slots(cells, 2) & 0x10001U;
        return pair != 0 ? uvec2(free, 0) : uvec2(0, free);
    }
    uint any = 0;
    for (uint i = 0; i < PAGE_WORDS; ++i) {
        any |= page_words[i];
    }
    if (slot_class == 3) {
        const uint free = pair == 0 && word % 2 == 0 ? 1 : 0;
        return any != 0 ? uvec2(free, 0) : uvec2(0, free);
    }
    return uvec2(any == 0 && word == 0 ? 1 : 0, 0);
}

uvec2 count_free_slots(uint slot_class) {
    uvec2 count = uvec2(0);
    for (uint word = 0; word < PAGE_WORDS; ++word) {
        count += uvec2(bitCount(free_slots(word, slot_class)));
    }
    return count;
}

// The place of the rank-th bit.
uint find_bit(uint bits, uint rank) {
    for (uint i = 0; i < rank; ++i) {
        bits &= bits - 1;
    }
    return uint(findLSB(bits));
}

// The first cell of the rank-th free slot: of those whose enclosing slots are in use (kind 0), or the others
// (1). `scanned` has what pages have, up to and with each thread's share. All loops have the same length for
// all threads: lavapipe loses threads otherwise.
uint find_free_slot(uint slot_class, uint rank, uint kind) {
    uint low = 0;
    uint high = gl_WorkGroupSize.x - 1;
    for (uint step = 0; step < SCAN_LEVELS; ++step) {
        const uint middle = (low + high) / 2;
        const bool is_here = scanned[middle][kind] > rank;
        high = is_here ? middle : high;
        low = is_here ? low : min(middle + 1, high);
    }
    rank -= low > 0 ? scanned[low - 1][kind] : 0;
    const uint share = (page_count() + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;
    uint cell = SHADOW_NONE;
    for (uint i = 0; i < share; ++i) {
        const uint page = min(low * share + i, page_count() - 1);
        look_at_page(page);
        for (uint word = 0; word < PAGE_WORDS; ++word) {
            const uint free = free_slots(word, slot_class)[kind];
            const uint count = uint(bitCount(free));
            if (cell == SHADOW_NONE && rank < count) {
                cell = page * SHADOW_PAGE_CELLS + word * 32 + find_bit(free, rank);
            }
            rank -= min(rank, count);
        }
    }
    return cell;
}

// ---- The steps

// Sums by class, two in a word: there are less than 2^16 tiles.
void add_class(inout uvec4 sums, uint slot_class) {
    sums[slot_class / 2] += 1U << (16 * (slot_class % 2));
}

uint of_class(uvec4 sums, uint slot_class) {
    return (sums[slot_class / 2] >> (16 * (slot_class % 2))) & 0xffffU;
}

// Slots of one class for the tiles that need one. Whether there are enough; once there were not, nothing.
bool allocate_class(uint slot_class, bool had_room, uvec4 needed_before, uvec4 needed) {
    bool has_room = had_room;
    if (had_room && of_class(needed, slot_class) > 0) {  // the same for all threads
        uvec4 free = uvec4(0);
        FOR_SHARE(page, page_count()) {
            look_at_page(page);
            free.xy += count_free_slots(slot_class);
        }
        uvec4 total;
        exclusive_sums(free, total);
        has_room = total.x + total.y >= of_class(needed, slot_class);
        const uint count = has_room ? list_header.written : 0;
        uint rank = of_class(needed_before, slot_class);
        FOR_SHARE(tile, count) {
            if (needs_slot(tile) && class_of(tile) == slot_class) {
                const uint kind = rank < total.x ? 0 : 1;
                work[cell_word(tile)] =
                    find_free_slot(slot_class, kind == 0 ? rank : rank - total.x, kind);
                work[classified_word(tile)] |= CLASSIFIED_NEW;
                ++rank;
            }
        }
        workgroup_barrier();
        // Only now: what is free is what was before.
        FOR_SHARE(tile, count) {
            const uint word = work[classified_word(tile)];
            if ((word & CLASSIFIED_NEW) != 0 && (word & CLASSIFIED_CLASS) == slot_class) {
                occupy(work[cell_word(tile)], slot_class);
            }
        }
        workgroup_barrier();
    }
    return has_room;
}

// All slots anew, the largest first.
void repack() {
    const uint count = list_header.written;
    uvec4 classes = uvec4(0);
    FOR_SHARE(tile, count) {
        add_class(classes, class_of(tile));
    }
    uvec4 total;
    uvec4 rank = exclusive_sums(classes, total);
    FOR_SHARE(tile, count) {
        const uint slot_class = class_of(tile);
        uint first_cell = 0;
        for (uint c = slot_class + 1; c < SHADOW_CLASSES; ++c) {
            first_cell += of_class(total, c) * shadow_slot_cells(c);
        }
        work[cell_word(tile)] =
            first_cell + of_class(rank, slot_class) * shadow_slot_cells(slot_class);
        work[classified_word(tile)] |= CLASSIFIED_NEW;
        add_class(rank, slot_class);
    }
    workgroup_barrier();
}

// The lists of what is kept, added and removed; and how many slots of each class are needed (by this thread
// before, in all).
void list_changes(out uvec4 needed_before, out uvec4 needed) {
    const uint count = list_header.written;
    const uint last_count = header.tiles;
    uvec4 sums = uvec4(0);  // needed by class, in z above: removed; in w: kept
    FOR_SHARE(tile, count) {
        if (needs_slot(tile)) {
            add_class(sums, class_of(tile));
        }
        sums.w += (work[classified_word(tile)] & CLASSIFIED_KEPT) != 0 ? 1 : 0;
    }
    FOR_SHARE(tile, last_count) {
        sums.z += work[removed_word(tile)] << 16;
    }
    needed_before = exclusive_sums(sums, needed);

    uint kept = needed_before.w;
    FOR_SHARE(tile, count) {
        if ((work[classified_word(tile)] & CLASSIFIED_KEPT) != 0) {
            lists[list_word(LIST_KEPT, kept)] = tile;
            ++kept;
        } else {
            lists[list_word(LIST_ADDED, tile - kept)] = tile;
        }
    }
    uint removed = needed_before.z >> 16;
    FOR_SHARE(tile, last_count) {
        if (work[removed_word(tile)] != 0) {
            removed_tiles[removed] = tiles[tile];
            ++removed;
        }
    }
}

void write_tile(uint index) {
    const Tile tile = list_tiles[index];
    const uint word = work[classified_word(index)];
    const uint slot_class = word & CLASSIFIED_CLASS;
    const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
    const bool is_rendered = (word & (CLASSIFIED_RENDER | CLASSIFIED_NEW)) != 0;
    const uint level = tile_level(tile);

    ShadowTile result;
    result.position = tile.position;
    result.node = tile.node;
    result.slot = shadow_slot_of_cell(parameters.tile_extent, work[cell_word(index)]);
    result.state =
        slot_class | (((is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0)) << 8);
    result.crop_scale = shadow_crop_scale(parameters, level, slot_class);
    result.crop_x = shadow_crop_offset(parameters, level, slot_class, tile_x(tile),
                                       result.slot & 0xffffU);
    result.crop_y =
        shadow_crop_offset(parameters, level, slot_class, tile_y(tile), result.slot >> 16);
    result.importance = tile.importance;
    tiles[index] = result;
    atomicAdd(used_cells, shadow_slot_cells(slot_class));
    atomicAdd(resized, is_kept && (word & CLASSIFIED_NEW) != 0 ? 1 : 0);
}

// Writes the tiles, and lists those that must be drawn. Their number.
uint write_tiles() {
    const uint count = list_header.written;
    uvec4 rendered = uvec4(0);
    FOR_SHARE(tile, count) {
        const uint word = work[classified_word(tile)];
        rendered.x += (word & (CLASSIFIED_RENDER | CLASSIFIED_NEW)) != 0 ? 1 : 0;
    }
    uvec4 total;
    uint place = exclusive_sums(rendered, total).x;
    FOR_SHARE(tile, count) {
        if ((work[classified_word(tile)] & (CLASSIFIED_RENDER | CLASSIFIED_NEW)) != 0) {
            lists[list_word(LIST_RENDER, place)] = tile;
            ++place;
        }
        write_tile(tile);
    }
    return total.x;
}

void finish_frame() {
    const uint thread = thread_index();
    uvec4 needed_before;
    uvec4 needed;
    list_changes(needed_before, needed);
    // No loop, as in exclusive_sums.
    bool has_room = true;
    has_room = allocate_class(4, has_room, needed_before, needed);
    has_room = allocate_class(3, has_room, needed_before, needed);
    has_room = allocate_class(2, has_room, needed_before, needed);
    has_room = allocate_class(1, has_room, needed_before, needed);
    has_room = allocate_class(0, has_room, needed_before, needed);
    if (!has_room) {
        repack();
    }
    const uint rendered = write_tiles();
    for (uint i = thread; i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
        last_clip_from_world[i] = floatBitsToUint(frame.lights[i / 16].clip_from_world[i % 16]);
    }
    workgroup_barrier();
    if (thread == 0) {
        header.tiles = list_header.written;
        header.kept = needed.w;
        header.added = list_header.written - needed.w;
        header.removed = needed.z >> 16;
        header.flags = has_room ? 0 : SHADOW_REPACKED;
        header.used_cells = used_cells;
        header.render_vertex_count = 4;
        header.render_count = rendered;
        header.render_first_vertex = 0;
        header.render_first_instance = 0;
        header.resized = resized;
        header.instances = 0;
    }
}

void main() {
    if (gl_LocalInvocationIndex == 0) {
        used_cells = 0;
        resized = 0;
    }
    load_keys();
    workgroup_barrier();
    const uint index = gl_GlobalInvocationID.x;
    if (index < list_header.written) {
        classify(index);
    }
    if (index < header.tiles) {
        work[removed_word(index)] = is_gone(tiles[index]) ? 1 : 0;
    }
    IS_LAST_WORKGROUP(work[arrived_word()], gl_NumWorkGroups.x)
    if (shared_is_last) {
        finish_frame();
    }
}
