// Allocates slots for the tiles that need one, and writes the outcome of the frame.
// CPU twin: place_new, set_crop and list_tiles of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 128 to 1024 threads; the device's limit decides. Each has 64 tiles, and 64 of the last
// frame's. Each looks at all pages of the atlas: its threads have equal numbers of consecutive pages.
// Bindings: bindings.glsl. Reads cells, found tiles, tallies and the copy of the last frame's tiles. Writes tiles,
// lists, removed tiles, header and the last lights.
// Memory order: no workgroup reads what another one writes.
// Source: docs/shadows.md, steps 8 and 9.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
#include "scan.glsl"
#include "slots.glsl"

const uint TILE_GROUP = 64;  // tiles of a workgroup

// Returns the numbers of tiles that need a slot, by class (of_class). `anew`: all need a slot.
uvec4 needed_slots(bool anew) {
    const uint word = (anew ? TALLY_BY_CLASS : TALLY_NEW_BY_CLASS) / 2;
    return uvec4(tallies_of_all(word), tallies_of_all(word + 1), tallies_of_all(word + 2), 0);
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
    words[first + 5] =
        floatBitsToUint(shadow_crop_offset(parameters, level, slot_class, position & 0xffffU, slot & 0xffffU));
    words[first + 6] = floatBitsToUint(shadow_crop_offset(parameters, level, slot_class, position >> 16, slot >> 16));
    words[first + 7] = importance;
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

// Writes a found tile and its places in the lists, with a slot if it needs one.
void list_tile(uint found_index, bool anew, uvec4 needed, uvec4 free) {
    const uint found = found_word(found_index);
    const uint block = words[found + FOUND_BLOCK];
    const uint ranks = words[found + FOUND_RANKS];
    const uint word = words[found + FOUND_CLASSIFIED];
    uint cell = words[found + FOUND_CELL];
    const uint first_found = words[block_word(block) + BLOCK_FOUND];
    const uint slot_class = word & CLASSIFIED_CLASS;
    const uint tally = (anew ? TALLY_BY_CLASS : TALLY_NEW_BY_CLASS) + slot_class;
    const uint before = tallies_before(block, TALLY_ALL / 2);
    const uint rendered_before = tallies_before(block, TALLY_RENDERED / 2) & 0xffffU;
    const uint of_class = tallies_before(block, tally / 2) >> (16 * (tally % 2)) & 0xffffU;
    const uint index = (before & 0xffffU) + found_index - first_found;
    const uint kept = (before >> 16) + (ranks >> 20);
    if (anew || cell == SHADOW_NONE) {
        cell = find_place(anew, slot_class, of_class + (ranks >> (anew ? 10 : 0) & 0x3ffU), needed, free);
    }
    const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
    const bool is_rendered = anew || (words[rendered_word() + found_index / 32] >> (found_index % 32) & 1U) != 0;
    write_tile(index, found, slot_class, cell, (is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0));
    if (is_rendered) {
        const uint rendered = anew ? index : rendered_before + count_rendered(first_found, found_index);
        words[list_word(LIST_RENDER, rendered)] = index;
    }
    words[is_kept ? list_word(LIST_KEPT, kept) : list_word(LIST_ADDED, index - kept)] = index;
}

// Copies a tile of the last frame if it is removed. `stay`: tiles of the last frame before word `first_word` of their
// bits that are still tiles.
void list_removed(uint last, uint first_word, uint stay) {
    const uint stays = words[stays_word() + last / 32];
    if ((stays >> (last % 32) & 1U) == 0) {
        for (uint word = first_word; word < last / 32; ++word) {
            stay += uint(bitCount(words[stays_word() + word]));
        }
        stay += uint(bitCount(stays & ((1U << (last % 32)) - 1)));
        for (uint i = 0; i < TILE_WORDS; ++i) {
            words[places.removed + TILE_WORDS * (last - stay) + i] = words[last_tile_word(last) + i];
        }
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
    header.tiles = count;
    header.kept = kept;
    header.added = count - kept;
    header.removed = words[last_count_word()] - kept;
    header.flags = anew ? SHADOW_REPACKED : 0;
    header.used_cells = used_cells;
    header.render_vertex_count = 4;
    header.render_count = anew ? count : tallies_of_all(TALLY_RENDERED / 2) & 0xffffU;
    header.render_first_vertex = 0;
    header.render_first_instance = 0;
    header.resized = new_slots - (count - kept);
    header.instances = 0;
    // Members of TileListHeader. The capacity suffices, and so does the limit of a dispatch.
    const uint list_header[16] = uint[](count, count, 0, parameters.max_tiles, count, 1, 1, 0, 4, count, 0, 0,
                                        floatBitsToUint(1.0), 0, 0, 0);
    for (uint i = 0; i < 16; ++i) {
        words[places.tile_list + i] = list_header[i];
    }
}

shared uint stay_before;  // tiles of the last frame before this workgroup's that are still tiles

void main() {
    const uint group = gl_WorkGroupID.x;
    const uint thread = thread_index();
    const uint first_word = TILE_GROUP / 32 * group;
    if (thread == 0) {
        stay_before = 0;
    }
    uvec4 free_here = uvec4(0);
    FOR_SHARE(page, page_count()) {
        look_at_page(page);
        free_here += count_free_slots();
    }
    uvec4 free;
    exclusive_sums(free_here, free);  // leaves `scanned` for find_free_slot
    for (uint word = thread; word < first_word; word += gl_WorkGroupSize.x) {
        atomicAdd(stay_before, bitCount(words[stays_word() + word]));
    }
    workgroup_barrier();
    const bool anew = !has_places(needed_slots(false), free);
    if (anew) {
        free = uvec4(0, 0, 0, page_count() << 16);
    }
    const uvec4 needed = needed_slots(anew);
    const uint item = TILE_GROUP * group + thread % TILE_GROUP;
    if (thread < TILE_GROUP) {
        if (item < listed_tiles()) {
            list_tile(item, anew, needed, free);
        }
    } else if (thread < 2 * TILE_GROUP && item < words[last_count_word()]) {
        list_removed(item, first_word, stay_before);
    }
    if (group == 0) {
        for (uint i = thread; i < 16 * parameters.lights; i += gl_WorkGroupSize.x) {
            words[last_light_word(i / 16, i % 16)] = floatBitsToUint(frame.lights[i / 16].clip_from_world[i % 16]);
        }
        if (thread == gl_WorkGroupSize.x - 1) {
            write_header(anew, needed, free);
        }
    }
}
