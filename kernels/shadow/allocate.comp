// Allocates slots for the tiles that need one, and writes the outcome of the frame and the page table.
// CPU twin: place_new, set_crop and list_tiles of lib/shadow/reference/shadow_fitter.cpp; page_table.glsl names its
// own.
//
// Dispatch: workgroups of up to 1024 threads; the device's limit decides. The first workgroup allocates: its threads
// have equal numbers of consecutive tiles, and of pages of the atlas. In the others a thread writes four texels of the
// page table.
// Bindings: bindings.glsl. The first workgroup reads the results of list.comp and the tiles of the last frame. It
// writes tiles, lists, removed tiles, header and the last lights, and leaves cells, `stays`, and the importance of
// nodes above blocks at 0. The others read blocks and the results of list.comp, write the page table, and read and
// write the importance map.
// Memory order: neither the first workgroup nor the others read data that the other side writes. A barrier of the
// workgroup separates the reads of the last frame's tiles from the writes of this frame's. Each texel has one thread.
// Source: docs/shadows.md, steps 8 to 10.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
#include "scan.glsl"
#include "slots.glsl"
#include "page_table.glsl"

// Counts this thread's tiles: those that need a slot, by class; in the upper half of z, the last frame's that are
// removed; in the lower half of w, those kept; in its upper half, those to draw. `anew`: all need a slot.
uvec4 count_changes(bool anew) {
    uvec4 sums = uvec4(0);
    FOR_SHARE(tile, listed_tiles()) {
        const uint found = found_of(tile);
        const uint word = words[found + FOUND_CLASSIFIED];
        const bool is_new = anew || words[found + FOUND_CELL] == SHADOW_NONE;
        if (is_new) {
            add_class(sums, word & CLASSIFIED_CLASS);
        }
        sums.w += ((word & CLASSIFIED_KEPT) != 0 ? 1U : 0U) +
                  (is_new || (word & CLASSIFIED_RENDER) != 0 ? 0x10000U : 0U);
    }
    FOR_SHARE(tile, header.tiles) {
        sums.z += (1 - words[stays_word(tile)]) << 16;
    }
    return sums;
}

void list_removed(uint removed) {
    FOR_SHARE(tile, header.tiles) {
        if (words[stays_word(tile)] == 0) {
            for (uint i = 0; i < TILE_WORDS; ++i) {
                words[places.removed + TILE_WORDS * removed + i] = words[places.tiles + TILE_WORDS * tile + i];
            }
            ++removed;
        }
    }
}

void write_tile(uint index, uint found, uint slot_class, uint cell, uint flags) {
    const uint position = words[found + FOUND_POSITION];
    const uint node = words[found + FOUND_NODE];
    const uint importance = words[found + FOUND_IMPORTANCE];
    const uint listed = places.tile_list + 16 + 4 * index;
    words[listed] = position;
    words[listed + 1] = node;
    words[listed + 2] = importance;
    words[listed + 3] = words[found + FOUND_THRESHOLD];

    const uint level = node & 0xffU;
    const uint slot = shadow_slot_of_cell(parameters.tile_extent, cell);
    const uint first = places.tiles + TILE_WORDS * index;
    words[first] = position;
    words[first + 1] = node;
    words[first + 2] = slot;
    words[first + 3] = slot_class | flags << 8;
    words[first + 4] = floatBitsToUint(shadow_crop_scale(parameters, level, slot_class));
    words[first + 5] = floatBitsToUint(
        shadow_crop_offset(parameters, level, slot_class, position & 0xffffU, slot & 0xffffU));
    words[first + 6] =
        floatBitsToUint(shadow_crop_offset(parameters, level, slot_class, position >> 16, slot >> 16));
    words[first + 7] = importance;
}

// Writes the tiles and their lists, with slots for those that need one. `before`: count_changes of the tiles before
// this thread's.
void write_tiles(bool anew, uvec4 before, uvec4 changes, uvec4 free) {
    uint kept = before.w & 0xffffU;
    uint rendered = before.w >> 16;
    FOR_SHARE(tile, listed_tiles()) {
        const uint found = found_of(tile);
        const uint word = words[found + FOUND_CLASSIFIED];
        const uint slot_class = word & CLASSIFIED_CLASS;
        const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
        uint cell = words[found + FOUND_CELL];
        const bool is_new = anew || cell == SHADOW_NONE;
        if (is_new) {
            cell = find_place(anew, slot_class, of_class(before, slot_class), changes, free);
            add_class(before, slot_class);
        }
        const bool is_rendered = is_new || (word & CLASSIFIED_RENDER) != 0;
        write_tile(tile, found, slot_class, cell,
                   (is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0));
        if (is_rendered) {
            words[list_word(LIST_RENDER, rendered)] = tile;
            ++rendered;
        }
        if (is_kept) {
            words[list_word(LIST_KEPT, kept)] = tile;
            ++kept;
        } else {
            words[list_word(LIST_ADDED, tile - kept)] = tile;
        }
    }
}

void write_header(bool anew, uvec4 changes, uvec4 free) {
    const uint count = listed_tiles();
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

// Sets the order of the list: list.comp has found the tiles of a block in sequence.
void order_tiles() {
    for (uint i = 0; i < listed_tiles(); i += gl_WorkGroupSize.x) {
        const uint found = i + gl_LocalInvocationIndex;
        if (found < listed_tiles()) {
            const uint word = block_word(words[found_word(found) + FOUND_BLOCK]);
            words[order_word(words[word + BLOCK_FIRST] + found - words[word + BLOCK_FOUND])] = found;
        }
    }
}

// Sets the importance of nodes above blocks to 0 for the next frame.
void clear_upper_nodes() {
    const uint nodes = parameters.lights * first_node(levels_above());
    for (uint i = 0; i < nodes; i += gl_WorkGroupSize.x) {
        if (i + gl_LocalInvocationIndex < nodes) {
            words[upper_node_word(0, i + gl_LocalInvocationIndex) + NODE_IMPORTANCE] = 0;
        }
    }
}

void finish_frame() {
    order_tiles();
    clear_upper_nodes();
    workgroup_barrier();
    uvec4 free_here = uvec4(0);
    FOR_SHARE(page, page_count()) {
        look_at_page(page);
        free_here += count_free_slots();
    }
    uvec4 changes;
    uvec4 before = exclusive_sums(count_changes(false), changes);
    list_removed(before.z >> 16);
    uvec4 free;
    exclusive_sums(free_here, free);  // leaves `scanned` for find_free_slot
    const bool anew = !has_places(changes, free);
    if (anew) {
        free = uvec4(0, 0, 0, page_count() << 16);
        before = exclusive_sums(count_changes(true), changes);
    }
    write_tiles(anew, before, changes, free);
    for (uint i = thread_index(); i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
        words[last_light_word(i / 16, i % 16)] = floatBitsToUint(frame.lights[i / 16].clip_from_world[i % 16]);
    }
    FOR_SHARE(tile, header.tiles) {
        words[stays_word(tile)] = 0;
    }
    workgroup_barrier();  // all threads have read the last frame's header and the cells
    if (thread_index() == 0) {
        write_header(anew, changes, free);
    }
    FOR_SHARE(page, page_count()) {
        for (uint word = page * PAGE_WORDS; word < (page + 1) * PAGE_WORDS; ++word) {
            words[cells_word() + word] = 0;
        }
    }
}

void main() {
    if (gl_WorkGroupID.x == 0) {
        finish_frame();
    } else {
        write_pages((gl_WorkGroupID.x - 1) * gl_WorkGroupSize.x + gl_LocalInvocationIndex);
    }
}
