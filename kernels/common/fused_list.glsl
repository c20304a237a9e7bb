// Output of a block's tiles to the list, for fused_all.comp, fused_emit.comp and balance_tiles.comp. Each thread lays
// out its tiles in shared memory, after keep_thresholds. Then neighbouring threads write to neighbouring places.

#include "cpu_drivers.glsl"
#include "fused_tiles.glsl"

shared uint thread_tiles[WORKGROUP_SIZE];
shared uint thread_places[WORKGROUP_SIZE];

// Lays out a thread's tiles in shared memory.
void lay_out(Block block, uint thread, uint tiles, float importance, uint before) {
    thread_tiles[thread] = tiles;
    thread_places[thread] = before;
    if (tiles >> TILE_STEP_SHIFT != 0) {
        step_1[4 * thread] = importance;
    }
}

Node make_node(Block block, uint step, uvec2 position, float importance) {
    const uint level = block.base + step;
    return Node(level, position, importance, kept_threshold(level, position));
}

// Returns the last thread whose tiles begin at a place or before. No loop: LOST_THREADS (cpu_drivers.glsl).
uint owner_of(uint place) {
    uint owner = 0;
#define DESCEND(reach) owner += thread_places[owner + reach] <= place ? reach : 0;
    FOR_BITS_OF_256(DESCEND)
#undef DESCEND
    return owner;
}

// Returns the tile of a place, counted from the block's first tile.
Node tile_at(Block block, uint place) {
    const uint owner = owner_of(place);
    uint rest = place - thread_places[owner];
    const uint tiles = thread_tiles[owner];
    const uvec2 position = position_of(block, owner);
    const uint step = tiles >> TILE_STEP_SHIFT;
    if (step != 0) {
        return make_node(block, step, position >> (step - 2), step_1[4 * owner]);
    }
    // A quad and its texels are not tiles together.
    uint quad = 0;
    [[unroll]] for (uint i = 0; i < 3; ++i) {
        const uint in_quad = bitCount(tiles & (0xfU << 4 * i)) + (tiles >> (QUAD_TILES_SHIFT + i) & 1);
        if (quad == i && rest >= in_quad) {
            rest -= in_quad;
            ++quad;
        }
    }
    const uvec2 node = 2 * position + morton(quad);
    if ((tiles >> (QUAD_TILES_SHIFT + quad) & 1) != 0) {
        return make_node(block, 1, node, step_1[4 * owner + quad]);
    }
    // At the right edge of the map only the first and the third exist.
    const uint texels = tiles >> 4 * quad & 0xfU;
    const uvec2 texel = 2 * node + morton(texels == 0x5U ? 2 * rest : rest);
    return make_node(block, 0, texel, item_of(texel_at(texel)));
}

// Writes all tiles of the block, from a place in the list on.
void write_tiles(Block block, uint thread, uint total, uint first_place) {
    [[dont_unroll]] for (uint start = 0; start < total; start += WORKGROUP_SIZE) {
        const uint place = start + thread;
        if (place < total) {
            write_node(first_place + place, parameters.tile_capacity, layer, tile_at(block, place), 0);
        }
    }
}
