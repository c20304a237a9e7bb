// What becomes of each tile, slots for those that need one, and the outcome of the frame.
// CPU twin: classified, place_new, set_crop and list_tiles of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of up to 1024 threads, as many as the device has, for shadow_allocate_group_tiles of max_tiles
// each: a thread looks after a tile. The last workgroup goes on alone; each of its threads has as many tiles, side by
// side, and as many pages of the atlas.
// Bindings: bindings.glsl; reads the tile list and the tiles of the last frame; occupancy is 0 before and after.
// Writes work, then tiles, lists, removed tiles, header, the last lights. It does not look at the page table, which
// changes meanwhile.
// Memory order: the hand-over of hand_over.glsl; then barriers of the workgroup. The last workgroup reads all words
// of work as handed over. Tiles of the last frame are read before the barrier behind which those of this one are
// written.
// Source: docs/shadows.md, steps 7 to 9.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
const uint SCAN_LEVELS = 10;
const uint SCAN_THREADS = 1U << SCAN_LEVELS;
#include "scan.glsl"
#include "classify.glsl"
#include "slots.glsl"

// Of this thread's tiles: how many need a slot, by class; in z above, of the last frame's: are removed; in w: kept,
// and above, must be drawn. `anew`: all need a slot.
uvec4 count_changes(bool anew) {
    uvec4 sums = uvec4(0);
    FOR_SHARE(tile, list_header.written) {
        const uint word = HANDED_OVER(work[classified_word(tile)]);
        const bool is_new = anew || HANDED_OVER(work[cell_word(tile)]) == SHADOW_NONE;
        if (is_new) {
            add_class(sums, word & CLASSIFIED_CLASS);
        }
        sums.w += ((word & CLASSIFIED_KEPT) != 0 ? 1U : 0U) +
                  (is_new || (word & CLASSIFIED_RENDER) != 0 ? 0x10000U : 0U);
    }
    FOR_SHARE(tile, header.tiles) {
        sums.z += (1 - HANDED_OVER(work[stays_word(tile)])) << 16;
    }
    return sums;
}

void list_removed(uint removed) {
    FOR_SHARE(tile, header.tiles) {
        if (HANDED_OVER(work[stays_word(tile)]) == 0) {
            removed_tiles[removed] = tiles[tile];
            ++removed;
        }
    }
}

void write_tile(uint index, uint slot_class, uint cell, uint flags) {
    const Tile tile = list_tiles[index];
    const uint level = tile_level(tile);

    const uint slot = shadow_slot_of_cell(parameters.tile_extent, cell);
    tiles[index] = ShadowTile(
        tile.position, tile.node, slot, slot_class | flags << 8,
        shadow_crop_scale(parameters, level, slot_class),
        shadow_crop_offset(parameters, level, slot_class, tile_x(tile), slot & 0xffffU),
        shadow_crop_offset(parameters, level, slot_class, tile_y(tile), slot >> 16), tile.importance);
}

// Slots for those that need one, the tiles, and the lists of them. `before`: as count_changes says it of the tiles
// before this thread's.
void write_tiles(bool anew, uvec4 before, uvec4 changes, uvec4 free) {
    uint kept = before.w & 0xffffU;
    uint rendered = before.w >> 16;
    FOR_SHARE(tile, list_header.written) {
        const uint word = HANDED_OVER(work[classified_word(tile)]);
        const uint slot_class = word & CLASSIFIED_CLASS;
        const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
        uint cell = HANDED_OVER(work[cell_word(tile)]);
        const bool is_new = anew || cell == SHADOW_NONE;
        if (is_new) {
            cell = find_place(anew, slot_class, of_class(before, slot_class), changes, free);
            add_class(before, slot_class);
        }
        const bool is_rendered = is_new || (word & CLASSIFIED_RENDER) != 0;
        write_tile(tile, slot_class, cell,
                   (is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0));
        if (is_rendered) {
            lists[list_word(LIST_RENDER, rendered)] = tile;
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

void write_header(bool anew, uvec4 changes, uvec4 free) {
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
    header.flags = anew ? SHADOW_REPACKED : 0;
    header.used_cells = used_cells;
    header.render_vertex_count = 4;
    header.render_count = changes.w >> 16;
    header.render_first_vertex = 0;
    header.render_first_instance = 0;
    header.resized = new_slots - (count - kept);
    header.instances = 0;
}

void finish_frame() {
    uvec4 free_here = uvec4(0);
    FOR_SHARE(page, page_count()) {
        look_at_page(page);
        free_here += count_free_slots();
    }
    uvec4 changes;
    uvec4 before = exclusive_sums(count_changes(false), changes);
    list_removed(before.z >> 16);
    uvec4 free;
    exclusive_sums(free_here, free);  // `scanned` stays, for find_free_slot
    const bool anew = !has_places(changes, free);
    if (anew) {
        free = uvec4(0, 0, 0, page_count() << 16);
        before = exclusive_sums(count_changes(true), changes);
    }
    write_tiles(anew, before, changes, free);
    for (uint i = thread_index(); i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
        last_clip_from_world[i] = floatBitsToUint(frame.lights[i / 16].clip_from_world[i % 16]);
    }
    FOR_SHARE(tile, header.tiles) {
        work[stays_word(tile)] = 0;
    }
    workgroup_barrier();  // all have read the last frame's header, and what is occupied
    if (thread_index() == 0) {
        write_header(anew, changes, free);
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
    const uint index = gl_WorkGroupID.x * group_tiles + gl_LocalInvocationIndex;
    const bool has_tile = gl_LocalInvocationIndex < group_tiles && index < list_header.written;
    const uint last = find_last(list_tiles[has_tile ? index : 0]);  // not within the branch: lavapipe loses threads
    if (has_tile) {
        classify(index, last);
    }
    IS_LAST_WORKGROUP(work[arrived_word()], gl_NumWorkGroups.x)
    if (shared_is_last) {
        finish_frame();
    }
}
