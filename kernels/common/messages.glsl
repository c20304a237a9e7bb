// The hand-over of nodes as messages. It differs from that of hand_over.glsl: a workgroup that hands over nothing else
// needs no release, and its reader no acquire.
//
// 1. A workgroup sends its node: it stores each word of the node in the node's slot, as a word that is not 0.
// 2. It adds 1 to the counter of its group. The workgroup that sees the count complete is the last one.
// 3. The last one receives the messages of the whole group. It reads a slot that is still 0 again.
// 4. It sets slots and counter back to 0, so they are 0 between dispatches.
//
// Memory order (Vulkan memory model): all of these are relaxed atomics at device scope.
//   - Each word is its whole content. Its reader needs no other memory: nothing to release, acquire or make visible.
//   - A reader that sees 0 waits only for a store that its sender has issued: in the sender's program order it comes
//     before the addition that the reader has seen. So it waits for no workgroup that may not have started, and for
//     no progress of another.
//   - The reader stores 0 behind the value that it has read in the word's modification order (read-write coherence);
//     likewise behind all additions to the counter.
//
// Other results are handed over as in hand_over.glsl: the sender releases before it counts itself in, and the receiver
// acquires (acquire_arrivals).
//
// On the H200 a release in every workgroup costs 0.3 us for a map of 1024 x 1024, 8 us for 8192 x 8192.

#include "hand_over.glsl"

// Stores the bits of a float. One NaN becomes another, so that no message is 0.
#define SEND(slot, bits) atomicStore(slot, ~min(bits, 0xfffffffeU), gl_ScopeDevice, 0, 0)
#define MESSAGE(slot) atomicLoad(slot, gl_ScopeDevice, 0, 0)
#define CLEAR_MESSAGE(slot) atomicStore(slot, 0U, gl_ScopeDevice, 0, 0)
uint bits_of_message(uint message) { return ~message; }
