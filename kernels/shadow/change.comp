// Marks slots that show a change: they must be drawn again. It runs only if the caller gives boxes. The test is that of
// culling, so a slot is drawn again if the box would be drawn in it. Step 7; twin: drawn_for.
//
// Dispatch: workgroups of 64 threads, for 64 boxes of the capacity (x) and 8 of max_tiles (y). Sets the bits of found
// tiles in rendered_word and static_word, and raises tallies.
// Memory order: bits and tallies are read and written by atomics only. The workgroup that sets a bit raises the tallies.
#version 460
#include "bindings.glsl"

layout(local_size_x = SHADOW_CHANGE_GROUP) in;

layout(set = 1, binding = 0, std430) readonly buffer Changes { ShadowChange changes[]; };
layout(set = 1, binding = 1, std430) readonly buffer Count { uint change_count; };

shared ShadowTile staged[SHADOW_CHANGE_TILES];
const uint CHANGED = 1;
const uint CHANGED_STATIC = 2;  // of a static caster
shared uint changed[SHADOW_CHANGE_TILES];  // the OR of its changes

// Sets a tile's bit. Returns 1 if it was not set, else 0.
uint mark(uint bits_word, uint found_index) {
    const uint bit = 1U << (found_index % 32);
    return (atomicOr(words[bits_word + found_index / 32], bit) & bit) == 0 ? 1 : 0;
}

void main() {
    const uint thread = gl_LocalInvocationIndex;
    const uint first_tile = gl_WorkGroupID.y * SHADOW_CHANGE_TILES;
    const uint first_change = gl_WorkGroupID.x * SHADOW_CHANGE_GROUP;
    const uint tiles = min(listed_tiles() - min(first_tile, listed_tiles()), SHADOW_CHANGE_TILES);
    // Boxes beyond the capacity are unknown, so all slots must be drawn, and whole.
    const bool has_room = change_count <= object_count;
    const uint count = has_room ? change_count : 1;
    if (tiles == 0 || first_change >= count) {
        return;
    }
    const uint found_index = first_tile + thread;
    const uint found = found_word(found_index);
    if (thread < tiles) {
        changed[thread] = 0;
        staged[thread] = ShadowTile(words[found + FOUND_POSITION], words[found + FOUND_NODE], 0,
                                    words[found + FOUND_CLASSIFIED] & CLASSIFIED_CLASS, 0.0, 0.0, 0.0, 0.0);
    }
    barrier();
    ShadowChange change = changes[min(first_change + thread, object_count - 1)];
    if (first_change + thread >= count) {
        change.low[0] = 1.0;  // an empty box
        change.high[0] = 0.0;
    }
    for (uint i = 0; i < tiles; ++i) {
        const uint light = staged[i].node >> 16;
        const ShadowBounds bounds = shadow_bounds(parameters, frame.lights[light], change.low, change.high);
        if (!has_room || shadow_overlaps(parameters, bounds, staged[i])) {
            atomicOr(changed[i], !has_room || change.is_static != 0 ? CHANGED | CHANGED_STATIC : CHANGED);
        }
    }
    barrier();
    uint newly_rendered = 0;
    uint newly_static = 0;
    if (thread < tiles && changed[thread] != 0) {
        newly_rendered = mark(rendered_word(), found_index);
        newly_static = (changed[thread] & CHANGED_STATIC) != 0 ? mark(static_word(), found_index) : 0;
    }
    const uint block = thread < tiles ? words[found + FOUND_BLOCK] : 0;
    add_tally(block, TALLY_RENDERED, newly_rendered);
    add_tally(block, TALLY_STATIC, newly_static);
}
