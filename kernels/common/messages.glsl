// The hand-over of the fused kernels. It is that of hand_over.glsl, but for the nodes' importance: that is sent as a
// message, so a workgroup that has nothing else to hand over needs no release.
//
// 1. A workgroup sends its node: it stores the importance in the node's slot, as one word that is not 0.
// 2. It adds 1 to the counter of its group. The workgroup that sees the count complete is the last one.
// 3. The last one receives the messages of the whole group. A slot that still reads 0 is read again.
// 4. It sets slots and counter back to 0, so they are 0 between dispatches.
//
// Memory order (Vulkan memory model): all of these are relaxed atomics at device scope.
//   - A message is its whole content, so its reader needs no other memory: there is nothing to release, to acquire or
//     to make visible.
//   - A reader that sees 0 waits only for a store that its sender has issued: in the sender's program order it comes
//     before the addition that the reader has seen. So it waits for no workgroup that may not have started, and for
//     no progress of another.
//   - The reader stores 0 behind the value that it has read in the word's modification order (read-write coherence);
//     likewise behind all additions to the counter.
//
// Whatever else is handed over goes the way of hand_over.glsl: the sender releases before it counts itself in, the
// receiver acquires (acquire_arrivals). Only nodes that are split have more to hand over.
//
// On the H200 a release in every workgroup costs 0.3 us of a map of 1024 x 1024, 8 us of 8192 x 8192.

#include "hand_over.glsl"

// Bits of an importance; that is never NaN, so no message is 0.
#define SEND(slot, bits) atomicStore(slot, ~(bits), gl_ScopeDevice, 0, 0)
#define MESSAGE(slot) atomicLoad(slot, gl_ScopeDevice, 0, 0)
#define CLEAR_MESSAGE(slot) atomicStore(slot, 0U, gl_ScopeDevice, 0, 0)
uint bits_of_message(uint message) { return ~message; }

// Nodes of a level that are handed over to one workgroup. Their words in the state buffer: for each group a counter
// and a number of tiles, for each group its slots, row by row, then the nodes of the level.
struct Group {
    uint level;   // of the nodes
    uint levels;  // that are made of the nodes
    uvec2 index;
    uint counter;  // word of the nodes that have arrived
    uint tiles;    // word of the tiles below the group, above the blocks
    uint slots;    // first word
    uint nodes;    // first word of the level's nodes
};

// Returns the group of a level that has so many groups, in a hand-over whose words begin at `counters`.
Group make_group(uint level, uint levels, uvec2 index, uvec2 groups, uint counters) {
    const uint place = index.y * groups.x + index.x;
    const uint count = groups.x * groups.y;
    const uint slots = counters + 2 * count;
    return Group(level, levels, index, counters + place, counters + count + place,
                 slots + (place << 2 * levels), slots + (count << 2 * levels));
}
