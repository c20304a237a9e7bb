// What becomes of each tile, slots for those that need one, and the outcome of the frame.
// CPU twin: classified, place_new, repack, set_crop and list_tiles of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of up to 1024 threads, as many as the device has, for shadow_allocate_group_tiles of max_tiles
// each: a thread looks after a tile of the list, another after one of the last frame. The last workgroup goes on
// alone; each of its threads has as many tiles, side by side, and as many pages of the atlas.
// Bindings: bindings.glsl; reads the tile list and the tiles of the last frame; occupancy is 0 before and after.
// Writes work, then tiles, lists, removed tiles, header, the last lights. It does not look at the page table, which
// changes meanwhile.
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

void occupy(uint cell, uint slot_class) {
    const uint cells = shadow_slot_cells(slot_class);
    if (cells < 32) {
        atomicOr(work[cell / 32], ((1U << cells) - 1) << (cell % 32));
    } else {
        for (uint word = 0; word < cells / 32; ++word) {
            work[cell / 32 + word] = 0xffffffffU;
        }
    }
}

// ---- By all workgroups: what becomes of a tile

shared uint changed_lights;  // a bit for each

void compare_lights() {
    for (uint i = gl_LocalInvocationIndex; i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
        if (clip_has_changed(i / 16, i % 16)) {
            atomicOr(changed_lights, 1U << (i / 16));
        }
    }
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
    const bool render = (changed_lights >> light & 1U) != 0 || is_touched(level, node, light, slot_class);
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

// ---- Free slots: the maximal ones, which the larger slot around is not; as bits of a page's words, at the first
// cell of each. A page is two quads of words.

const uint PAGE_QUADS = 2;

uvec4 page_quads[PAGE_QUADS];  // of the page that this thread looks at

void look_at_page(uint page) {
    for (uint quad = 0; quad < PAGE_QUADS; ++quad) {
        const uint word = (page * PAGE_QUADS + quad) * 4;
        page_quads[quad] = uvec4(work[word], work[word + 1], work[word + 2], work[word + 3]);
    }
}

uvec4 free_slots(uint quad, uint slot_class) {
    const uvec4 cells = page_quads[quad];
    // A bit at the first cell of each slot of class 1 and 2 that has an occupied cell; words with one of class 3.
    const uvec4 occupied_1 = (cells | cells >> 1 | cells >> 2 | cells >> 3) & 0x11111111U;
    const uvec4 occupied_2 = (occupied_1 | occupied_1 >> 4 | occupied_1 >> 8 | occupied_1 >> 12) & 0x10001U;
    const bvec4 occupied_3 = notEqual(cells | cells.yxwz, uvec4(0));
    const bool occupied_4 = (page_quads[0] | page_quads[1]) != uvec4(0);
    if (slot_class == 0) {
        return ~cells & (occupied_1 * 0xfU);
    }
    if (slot_class == 1) {
        return ~occupied_1 & 0x11111111U & (occupied_2 * 0x1111U);
    }
    if (slot_class == 2) {
        return mix(uvec4(0), ~occupied_2 & 0x10001U, occupied_3);
    }
    if (slot_class == 3) {
        return occupied_4 ? uvec4(not(occupied_3)) * uvec4(1, 0, 1, 0) : uvec4(0);
    }
    return uvec4(!occupied_4 && quad == 0 ? 1 : 0, 0, 0, 0);
}

uint sum(ivec4 v) { return uint((v.x + v.y) + (v.z + v.w)); }

// Counts by class: 0, 1, 2, and two in a word, 3 below 4: a page has three of class 3 at most, or one of class 4.
uvec4 count_free_slots() {
    uvec4 count = uvec4(0);
    for (uint quad = 0; quad < PAGE_QUADS; ++quad) {
        count.x += sum(bitCount(free_slots(quad, 0)));
        count.y += sum(bitCount(free_slots(quad, 1)));
        count.z += sum(bitCount(free_slots(quad, 2)));
        count.w += sum(ivec4(free_slots(quad, 3))) | free_slots(quad, 4).x << 16;
    }
    return count;
}

uint free_of_class(uvec4 count, uint slot_class) {
    return slot_class < 3 ? count[slot_class] : (count.w >> (16 * (slot_class - 3))) & 0xffffU;
}

// The place of the rank-th bit.
uint find_bit(uint bits, uint rank) {
    for (uint i = 0; i < rank; ++i) {
        bits &= bits - 1;
    }
    return uint(findLSB(bits));
}

// The first cell of the rank-th free slot. `scanned` has what pages have, up to and with each thread's share. All
// loops have the same length for all threads: lavapipe loses threads otherwise.
uint find_free_slot(uint slot_class, uint rank) {
    uint low = 0;
    uint high = gl_WorkGroupSize.x - 1;
    for (uint step = 0; step < SCAN_LEVELS; ++step) {
        const uint middle = (low + high) / 2;
        const bool is_here = free_of_class(scanned[middle], slot_class) > rank;
        high = is_here ? middle : high;
        low = is_here ? low : min(middle + 1, high);
    }
    rank -= low > 0 ? free_of_class(scanned[low - 1], slot_class) : 0;
    const uint share = share_of(page_count());
    uint found_word = 0;
    uint found_bits = 0;
    uint found_rank = 0;
    for (uint i = 0; i < share; ++i) {
        const uint page = min(low * share + i, page_count() - 1);
        look_at_page(page);
        for (uint quad = 0; quad < PAGE_QUADS; ++quad) {
            const uvec4 free = free_slots(quad, slot_class);
            const ivec4 counts = bitCount(free);
            for (uint word = 0; word < 4; ++word) {
                const uint count = uint(counts[word]);
                if (found_bits == 0 && rank < count) {
                    found_word = (page * PAGE_QUADS + quad) * 4 + word;
                    found_bits = free[word];
                    found_rank = rank;
                }
                rank -= min(rank, count);
            }
        }
    }
    return found_word * 32 + find_bit(found_bits, found_rank);
}

// ---- Places: of each class, its free slots, then the quarters of the next class's places that its own tiles leave

// Sums by class, two in a word: there are less than 2^16 tiles.
void add_class(inout uvec4 sums, uint slot_class) {
    sums[slot_class / 2] += 1U << (16 * (slot_class % 2));
}

uint of_class(uvec4 sums, uint slot_class) {
    return (sums[slot_class / 2] >> (16 * (slot_class % 2))) & 0xffffU;
}

// Whether all tiles that need a slot find a place.
bool has_places(uvec4 needed, uvec4 free) {
    uint beyond = 0;  // places that free slots of the class are too few for
    for (uint c = 0; c < SHADOW_CLASSES; ++c) {
        const uint taken = of_class(needed, c) + (beyond + 3) / 4;
        beyond = taken - min(taken, free_of_class(free, c));
    }
    return beyond == 0;
}

// The first cell of a place.
uint find_place(uint slot_class, uint place, uvec4 needed, uvec4 free) {
    uint first_cell = 0;  // within the slot that is quartered
    uint at = slot_class;
    for (uint c = 0; c < SHADOW_CLASSES - 1; ++c) {
        const uint slots = free_of_class(free, c);
        if (c == at && place >= slots) {
            first_cell += (place - slots) % 4 * shadow_slot_cells(c);
            place = of_class(needed, c + 1) + (place - slots) / 4;
            ++at;
        }
    }
    return find_free_slot(at, place) + first_cell;
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
        add_class(rank, slot_class);
    }
}

// ---- The outcome

// Of this thread's tiles: how many need a slot, by class; in z above, of the last frame's: are removed; in w: kept,
// and above, must be drawn.
uvec4 count_changes() {
    uvec4 sums = uvec4(0);
    FOR_SHARE(tile, list_header.written) {
        const uint word = work[classified_word(tile)];
        const bool is_new = needs_slot(tile);
        if (is_new) {
            add_class(sums, word & CLASSIFIED_CLASS);
        }
        sums.w += ((word & CLASSIFIED_KEPT) != 0 ? 1U : 0U) +
                  (is_new || (word & CLASSIFIED_RENDER) != 0 ? 0x10000U : 0U);
    }
    FOR_SHARE(tile, header.tiles) {
        sums.z += work[removed_word(tile)] << 16;
    }
    return sums;
}

void list_removed(uint removed) {
    FOR_SHARE(tile, header.tiles) {
        if (work[removed_word(tile)] != 0) {
            removed_tiles[removed] = tiles[tile];
            ++removed;
        }
    }
}

void write_tile(uint index, uint slot_class, uint cell, uint flags) {
    const Tile tile = list_tiles[index];
    const uint level = tile_level(tile);

    ShadowTile result;
    result.position = tile.position;
    result.node = tile.node;
    result.slot = shadow_slot_of_cell(parameters.tile_extent, cell);
    result.state = slot_class | flags << 8;
    result.crop_scale = shadow_crop_scale(parameters, level, slot_class);
    result.crop_x = shadow_crop_offset(parameters, level, slot_class, tile_x(tile),
                                       result.slot & 0xffffU);
    result.crop_y =
        shadow_crop_offset(parameters, level, slot_class, tile_y(tile), result.slot >> 16);
    result.importance = tile.importance;
    tiles[index] = result;
}

// Slots for those that need one, the tiles, and the lists of them. `before`: as count_changes says it of the
// tiles before this thread's.
void write_tiles(bool has_room, uvec4 before, uvec4 changes, uvec4 free) {
    uint kept = before.w & 0xffffU;
    uint rendered = before.w >> 16;
    FOR_SHARE(tile, list_header.written) {
        const uint word = work[classified_word(tile)];
        const uint slot_class = word & CLASSIFIED_CLASS;
        const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
        uint cell = work[cell_word(tile)];
        const bool is_new = !has_room || cell == SHADOW_NONE;
        if (has_room && is_new) {
            cell = find_place(slot_class, of_class(before, slot_class), changes, free);
            add_class(before, slot_class);
        }
        const bool is_rendered = is_new || (word & CLASSIFIED_RENDER) != 0;
        write_tile(tile, slot_class, cell,
                   (is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0));
        if (is_rendered) {
            lists[list_word(LIST_RENDER, has_room ? rendered : tile)] = tile;
            ++rendered;
        }
        if (is_kept) {
            lists[list_word(LIST_KEPT, kept)] = tile;
            ++kept;
        } else {
            lists[list_word(LIST_ADDED, tile - kept)] = tile;
        }
    }
}

void write_header(bool has_room, uvec4 changes, uvec4 free) {
    const uint count = list_header.written;
    const uint kept = changes.w & 0xffffU;
    uint used_cells = shadow_atlas_cells(parameters);
    uint new_slots = 0;
    for (uint c = 0; c < SHADOW_CLASSES; ++c) {
        used_cells += (of_class(changes, c) - free_of_class(free, c)) * shadow_slot_cells(c);
        new_slots += of_class(changes, c);
    }
    header.tiles = count;
    header.kept = kept;
    header.added = count - kept;
    header.removed = changes.z >> 16;
    header.flags = has_room ? 0 : SHADOW_REPACKED;
    header.used_cells = used_cells;
    header.render_vertex_count = 4;
    header.render_count = has_room ? changes.w >> 16 : count;
    header.render_first_vertex = 0;
    header.render_first_instance = 0;
    header.resized = has_room ? new_slots - (count - kept) : kept;
    header.instances = 0;
}

void finish_frame() {
    uvec4 free_here = uvec4(0);
    FOR_SHARE(page, page_count()) {
        look_at_page(page);
        free_here += count_free_slots();
    }
    uvec4 changes;
    const uvec4 before = exclusive_sums(count_changes(), changes);
    list_removed(before.z >> 16);
    uvec4 free;
    exclusive_sums(free_here, free);  // `scanned` stays, for find_free_slot
    const bool has_room = has_places(changes, free);
    if (!has_room) {
        repack();
    }
    write_tiles(has_room, before, changes, free);
    for (uint i = thread_index(); i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
        last_clip_from_world[i] = floatBitsToUint(frame.lights[i / 16].clip_from_world[i % 16]);
    }
    workgroup_barrier();  // all have read the last frame's header, and what is occupied
    if (thread_index() == 0) {
        write_header(has_room, changes, free);
    }
    FOR_SHARE(page, page_count()) {
        for (uint word = page * PAGE_WORDS; word < (page + 1) * PAGE_WORDS; ++word) {
            work[word] = 0;
        }
    }
}

void main() {
    if (gl_LocalInvocationIndex == 0) {
        changed_lights = 0;
    }
    load_keys();
    workgroup_barrier();
    compare_lights();
    workgroup_barrier();
    const uint group_tiles = shadow_allocate_group_tiles(gl_WorkGroupSize.x);
    const uint part = gl_LocalInvocationIndex / group_tiles;  // 0 and 1: two kinds of work at once
    const uint index = gl_WorkGroupID.x * group_tiles + gl_LocalInvocationIndex % group_tiles;
    if (part == 0 && index < list_header.written) {
        classify(index);
    }
    if (part == 1 && index < header.tiles) {
        work[removed_word(index)] = is_gone(tiles[index]) ? 1 : 0;
    }
    IS_LAST_WORKGROUP(work[arrived_word()], gl_NumWorkGroups.x)
    if (shared_is_last) {
        finish_frame();
    }
}
