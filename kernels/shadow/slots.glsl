// Free slots of the atlas, and places in them for tiles, for allocate.comp.
// Source: docs/shadows_definition.md, step 8. Slots are the blocks of a two-dimensional buddy system (Knowlton, "A
// Fast Storage Allocator", 1965) along the Z-order curve.

// ---- Share of a thread: consecutive items

// All threads take the same number of steps, though the last ones may have fewer items: lavapipe loses threads in other
// loops after barriers.
uint share_of(uint count) { return (count + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x; }

uint first_of_share(uint count) { return thread_index() * share_of(count); }

#define FOR_SHARE(item, count)                                                                      \
    for (uint item = first_of_share(count); item < first_of_share(count) + share_of(count); ++item) \
        if (item < (count))

// ---- Free slots: maximal ones, within no larger free slot; as bits of a page's words, at the first cell of each. A
// page has two quads of words.

const uint PAGE_QUADS = 2;
const uint SCAN_LEVELS = 10;  // enough for 1024 threads

uvec4 page_quads[PAGE_QUADS];  // of the page that this thread has loaded

void look_at_page(uint page) {
    for (uint quad = 0; quad < PAGE_QUADS; ++quad) {
        const uint word = cells_word() + (page * PAGE_QUADS + quad) * 4;
        page_quads[quad] = uvec4(words[word], words[word + 1], words[word + 2], words[word + 3]);
    }
}

uvec4 free_slots(uint quad, uint slot_class) {
    const uvec4 cells = page_quads[quad];
    // Bits at the first cell of each slot of class 1 and 2 with an occupied cell, and words with a cell of one of class
    // 3.
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

// Returns the index of the rank-th set bit.
uint find_bit(uint bits, uint rank) {
    for (uint i = 0; i < rank; ++i) {
        bits &= bits - 1;
    }
    return uint(findLSB(bits));
}

// Returns the first cell of the rank-th free slot. `scanned` has the inclusive sums of the threads' shares of pages.
// All threads take the same number of steps: lavapipe loses threads otherwise.
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
