// Allocates slots for the tiles that need one, and writes the outcome of the frame. Slots are the blocks of a
// two-dimensional buddy system (Knowlton, "A Fast Storage Allocator", 1965) along the Z-order curve. Steps 8 and 9; twin:
// place_new, set_crop, count_tiles.
//
// Dispatch: workgroups of 128 to 1024 threads; the device's limit decides. Each has 64 tiles. Each looks at all pages
// of the atlas: its threads have equal numbers of consecutive pages. Writes tiles, `render`, header and the last lights.
// Memory order: no workgroup reads what another one writes.
#version 460
#include "bindings.glsl"

layout(local_size_x_id = 0) in;
#define SUMS uvec4
#include "workgroup.glsl"

// ---- Free slots: maximal ones, within no larger free slot; as bits of a page's words, at the first cell of each. A
// page has two quads of words.

const uint PAGE_QUADS = 2;
const uint SCAN_LEVELS = 10;  // enough for 1024 threads

// Returns the pages that a thread looks at. The last threads may have fewer, but take as many steps: LOST_THREADS
// (cpu_drivers.glsl).
uint pages_per_thread() { return (page_count() + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x; }

uvec4 page_quads[PAGE_QUADS];  // of the page that this thread has loaded

void look_at_page(uint page) {
    for (uint quad = 0; quad < PAGE_QUADS; ++quad) {
        const uint word = cells_word() + (page * PAGE_QUADS + quad) * 4;
        page_quads[quad] = uvec4(words[word], words[word + 1], words[word + 2], words[word + 3]);
    }
}

uvec4 free_slots(uint quad, uint slot_class) {
    const uvec4 cells = page_quads[quad];
    // Bits at the first cell of each slot of class 1 and 2 with an occupied cell; words with a cell of one of class 3.
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

// Counts free slots by class: 0, 1, 2, and in one word 3 and, in the upper half, 4. A page has at most three free slots
// of class 3, or one of class 4.
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

// Returns the first cell of the rank-th free slot. `scanned` has the inclusive sums of the threads' shares of pages.
// All threads take the same number of steps: LOST_THREADS.
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
    const uint share = pages_per_thread();
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
    for (uint i = 0; i < found_rank; ++i) {
        found_bits &= found_bits - 1;
    }
    return found_word * 32 + uint(findLSB(found_bits));
}

// ---- Places of a class: its free slots, then quarters of places of the next class that its own tiles leave

// Returns a sum by class. Two sums share a word: there are less than 2^16 tiles.
uint of_class(uvec4 sums, uint slot_class) { return (sums[slot_class / 2] >> (16 * (slot_class % 2))) & 0xffffU; }

// Returns whether all tiles that need a slot find a place.
bool has_places(uvec4 needed, uvec4 free) {
    uint beyond = 0;  // places beyond the free slots of the class
    for (uint c = 0; c < SHADOW_CLASSES; ++c) {
        const uint taken = of_class(needed, c) + (beyond + 3) / 4;
        beyond = taken - min(taken, free_of_class(free, c));
    }
    return beyond == 0;
}

// Returns the first cell of a place. `anew`: all pages are free.
uint find_place(bool anew, uint slot_class, uint place, uvec4 needed, uvec4 free) {
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
    return (anew ? place * SHADOW_PAGE_CELLS : find_free_slot(at, place)) + first_cell;
}

// ---- Tiles

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

// Returns the number of bits that are set for found tiles from `first` to below `end`. `bits_word`: rendered_word or
// static_word.
uint count_bits(uint bits_word, uint first, uint end) {
    uint count = 0;
    for (uint word = first / 32; word * 32 < end; ++word) {
        uint bits = words[bits_word + word];
        bits &= word == first / 32 ? 0xffffffffU << (first % 32) : 0xffffffffU;
        bits &= word == end / 32 ? (1U << (end % 32)) - 1 : 0xffffffffU;
        count += uint(bitCount(bits));
    }
    return count;
}

bool has_bit(uint bits_word, uint found_index) {
    return (words[bits_word + found_index / 32] >> (found_index % 32) & 1U) != 0;
}

uint all_static() { return tallies_of_all(TALLY_STATIC / 2) >> 16; }

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
    const uint static_before = tallies_before(block, TALLY_STATIC / 2) >> 16;
    const uint of_class = tallies_before(block, tally / 2) >> (16 * (tally % 2)) & 0xffffU;
    const uint index = (tallies_before(block, TALLY_ALL / 2) & 0xffffU) + found_index - first_found;
    if (anew || cell == SHADOW_NONE) {
        cell = find_place(anew, slot_class, of_class + (ranks >> (anew ? 16 : 0) & 0xffffU), needed, free);
    }
    const bool is_kept = (word & CLASSIFIED_KEPT) != 0;
    const bool is_rendered = anew || has_bit(rendered_word(), found_index);
    write_tile(index, found, slot_class, cell, (is_kept ? SHADOW_KEPT : 0) | (is_rendered ? SHADOW_RENDER : 0));
    if (is_rendered) {
        const uint statics = static_before + count_bits(static_word(), first_found, found_index);
        const uint rendered = rendered_before + count_bits(rendered_word(), first_found, found_index);
        const uint place = has_bit(static_word(), found_index) ? statics : all_static() + rendered - statics;
        words[places.render + (anew ? index : place)] = index;
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
    const uint added = count - kept;
    const uint removed = header.tiles - kept;  // of the last frame's
    const uint rendered = anew ? count : tallies_of_all(TALLY_RENDERED / 2) & 0xffffU;
    header = ShadowHeader(count, kept, added, removed, anew ? SHADOW_REPACKED : 0, used_cells, header.factor_index,
                          header.factor, 4, rendered, 0, 0, 4, anew ? count : all_static(), 0, 0, new_slots - added, 0,
                          0, 0);
}

void main() {
    const uint group = gl_WorkGroupID.x;
    const uint thread = thread_index();
    uvec4 free_here = uvec4(0);
    for (uint i = 0; i < pages_per_thread(); ++i) {
        const uint page = thread * pages_per_thread() + i;
        if (page < page_count()) {
            look_at_page(page);
            free_here += count_free_slots();
        }
    }
    uvec4 free;
    const uvec4 free_before = scan(free_here, thread, free);
    barrier();
    scanned[thread] = free_before + free_here;  // for find_free_slot
    barrier();
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
            const float element = is_used(i / 16) ? frame.lights[i / 16].clip_from_world[i % 16] : 0.0;
            words[last_light_word(i / 16, i % 16)] = floatBitsToUint(element);
        }
        if (thread == gl_WorkGroupSize.x - 1) {
            write_header(anew, needed, free);
        }
    }
}
