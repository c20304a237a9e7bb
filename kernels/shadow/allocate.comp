// Allocates slots for the tiles that need one, and writes the outcome of the frame.
// CPU twin: place_new, set_crop and count_tiles of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 128 to 1024 threads; the device's limit decides. Each has 64 tiles. Each looks at all pages
// of the atlas: its threads have equal numbers of consecutive pages.
// Bindings: bindings.glsl. Reads cells, found tiles, tallies and the last frame's number of tiles. Writes tiles, their
// list `render`, header and the last lights. Sets the counters of cull.comp to 0.
// Memory order: no workgroup reads what another one writes.
// Source: docs/shadows_definition.md, steps 8 and 9.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
#include "scan.glsl"
#include "slots.glsl"

// Returns the numbers of tiles that need a slot, by class (of_class). `anew`: all need a slot.
uvec4 needed_slots(bool anew) {
    const uint word = (anew ? TALLY_BY_CLASS : TALLY_NEW_BY_CLASS) / 2;
    return uvec4(tallies_of_all(word), tallies_of_all(word + 1), tallies_of_all(word + 2), 0);
}

void write_tile(uint index, uint found, uint slot_class, uint cell, uint flags) {
    const uint position = words[found + FOUND_POSITION];
    const uint node = words[found + FOUND_NODE];
    const uint level = node & 0xffU;
    const uint slot = shadow_slot_of_cell(parameters.tile_extent, cell);
    const uint first = places.tiles + SHADOW_TILE_WORDS * index;
    words[first] = position;
    words[first + 1] = node;
    words[first + 2] = slot;
    words[first + 3] = slot_class | flags << 8;
    words[first + 4] = floatBitsToUint(shadow_crop_scale(parameters, level, slot_class));
    words[first + 5] =
        floatBitsToUint(shadow_crop_offset(parameters, level, slot_class, position & 0xffffU, slot & 0xffffU));
    words[first + 6] = floatBitsToUint(shadow_crop_offset(parameters, level, slot_class, position >> 16, slot >> 16));
    words[first + 7] = words[found + FOUND_IMPORTANCE];
}

// Returns the number of tiles to draw among the found ones from `first` to below `end`.
uint count_rendered(uint first, uint end) {
    uint count = 0;
    for (uint word = first / 32; word * 32 < end; ++word) {
        uint rendered = words[rendered_word() + word];
        rendered &= word == first / 32 ? 0xffffffffU << (first % 32) : 0xffffffffU;
        rendered &= word == end / 32 ? (1U << (end % 32)) - 1 : 0xffffffffU;
        count += uint(bitCount(rendered));
    }
    return count;
}

// Writes a found tile, with a slot if it needs one, and its place in `render` if it is drawn.
void list_tile(uint found_index, bool anew, uvec4 needed, uvec4 free) {
    const uint found = found_word(found_index);
    const uint block = words[found + FOUND_BLOCK];
    const uint ranks = words[found + FOUND_RANKS];
    const uint word = words[found + FOUND_CLASSIFIED];
    uint cell = words[found + FOUND_CELL];
    const uint first_found = words[block_word(block) + BLOCK_FOUND];
    const uint slot_class = word & CLASSIFIED_CLASS;
    const uint tally = (anew ? TALLY_BY_CLASS : TALLY_NEW_BY_CLASS) + slot_class;
    const uint rendered_before = tallies_before(block, TALLY_RENDERED / 2) & 0xffffU;
    const uint of_class = tallies_before(block, tally / 2) >> (16 * (tally % 2)) & 0xffffU;
    const uint index = (tallies_before(block, TALLY_ALL / 2) & 0xffffU) + found_index - first_found;
    if (anew || cell == SHADOW_NONE) {
        cell = find_place(anew, slot_class, of_class + (ranks >> (anew ? 16 : 0) & 0xffffU), needed, free);
    }
    const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
    const bool is_rendered = anew || (words[rendered_word() + found_index / 32] >> (found_index % 32) & 1U) != 0;
    write_tile(index, found, slot_class, cell, (is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0));
    if (is_rendered) {
        const uint rendered = anew ? index : rendered_before + count_rendered(first_found, found_index);
        words[places.render + rendered] = index;
    }
}

void write_header(bool anew, uvec4 needed, uvec4 free) {
    const uint count = listed_tiles();
    const uint kept = tallies_of_all(TALLY_KEPT / 2) >> 16;
    uint used_cells = shadow_atlas_cells(parameters);
    uint new_slots = 0;
    for (uint c = 0; c < SHADOW_CLASSES; ++c) {
        used_cells += (of_class(needed, c) - free_of_class(free, c)) * shadow_slot_cells(c);
        new_slots += of_class(needed, c);
    }
    header.removed = header.tiles - kept;  // of the last frame's
    header.tiles = count;
    header.kept = kept;
    header.added = count - kept;
    header.flags = anew ? SHADOW_REPACKED : 0;
    header.used_cells = used_cells;
    header.render_vertex_count = 4;
    header.render_count = anew ? count : tallies_of_all(TALLY_RENDERED / 2) & 0xffffU;
    header.render_first_vertex = 0;
    header.render_first_instance = 0;
    header.resized = new_slots - (count - kept);
    header.instances = 0;
}

void main() {
    const uint group = gl_WorkGroupID.x;
    const uint thread = thread_index();
    uvec4 free_here = uvec4(0);
    FOR_SHARE(page, page_count()) {
        look_at_page(page);
        free_here += count_free_slots();
    }
    uvec4 free;
    exclusive_sums(free_here, free);  // leaves `scanned` for find_free_slot
    const bool anew = !has_places(needed_slots(false), free);
    if (anew) {
        free = uvec4(0, 0, 0, page_count() << 16);
    }
    const uvec4 needed = needed_slots(anew);
    const uint found = SHADOW_ALLOCATE_GROUP * group + thread;
    if (thread < SHADOW_ALLOCATE_GROUP && found < listed_tiles()) {
        list_tile(found, anew, needed, free);
    }
    if (group == 0) {
        for (uint i = thread; i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
            words[last_light_word(i / 16, i % 16)] = floatBitsToUint(frame.lights[i / 16].clip_from_world[i % 16]);
        }
        for (uint i = thread; i < SHADOW_CULLS; i += gl_WorkGroupSize.x) {
            cull_counters[i] = 0;
        }
        if (thread == gl_WorkGroupSize.x - 1) {
            write_header(anew, needed, free);
        }
    }
}
