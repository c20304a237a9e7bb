// The hand-over: each group of workgroups passes its results to its last workgroup, within one dispatch. (Elsewhere: the
// last-block pattern, as in CUDA's threadFenceReduction, and for mip levels single-pass downsampling.)
//
// A workgroup writes its results, then adds 1 to the counter of its group. The workgroup that sees the count complete
// is the last one: it reads the results of the whole group, makes the next levels from them, and hands its own result
// over to a group of the next level. No workgroup ever waits for another.
//
// Memory order (Vulkan memory model):
//   - Thread 0 counts its workgroup in by a release at device scope. The results come before: those of thread 0 in
//     program order, those of other threads by a barrier of the workgroup between.
//   - Thread 0 of the last workgroup acquires at device scope, and a barrier orders its other threads behind.
//   - Results are atomics at device scope, which need order only: a MakeVisible at device scope anywhere in a kernel,
//     run or not, cost a quarter of the time on the H200.
//   - The last workgroup sets the counter back to 0, after every addition to it. So counters are 0 between dispatches.
//
// Source: AMD's FidelityFX Single Pass Downsampler (blocks, counter, last workgroup goes on).

#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

// Macros, because a buffer's member cannot be passed to a function by reference.
#define HAND_OVER(word, result) atomicStore(word, result, gl_ScopeDevice, 0, 0)
#define HANDED_OVER(word) atomicLoad(word, gl_ScopeDevice, 0, 0)
#define ADD_RELAXED(word, count) atomicAdd(word, count, gl_ScopeDevice, 0, 0)
#define TAKE_RELAXED(word) atomicExchange(word, 0, gl_ScopeDevice, 0, 0)  // leaves 0

// Counts an arrival, by thread 0. Returns the number of earlier arrivals.
#define ARRIVE(counter) atomicAdd(counter, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease)

// Orders the accesses of the workgroup's threads.
void order_threads() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
}

// Acquires the results of all arrivals. Thread 0 of the last workgroup calls this.
void acquire_arrivals() { memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire); }

// ---- Messages: nodes are handed over with no release and no acquire, if nothing else is.
//
// A workgroup stores each word of its node, never 0, in the node's slot, and adds 1 to the counter of its group. The last
// one reads each slot of the group again until it is not 0. It sets slots and counter back to 0, so they are 0 between
// dispatches. Memory order: all of these are relaxed atomics at device scope.
//   - Each word is its whole content: nothing to release, acquire or make visible.
//   - A reader that sees 0 waits only for a store that its sender has issued, since in the sender's program order it
//     comes before the addition that the reader has seen. So it waits for no progress of another workgroup.
//   - The reader stores 0 behind the value that it has read in the word's modification order (read-write coherence);
//     likewise behind all additions to the counter.
// Other results need both: the sender releases before it counts itself in, and the receiver acquires. On the H200 a
// release in every workgroup costs 0.3 us for a map of 1024 x 1024, 8 us for 8192 x 8192.

// Stores the bits of a float. One NaN becomes another, so that no message is 0.
#define SEND(slot, bits) atomicStore(slot, ~min(bits, 0xfffffffeU), gl_ScopeDevice, 0, 0)
#define MESSAGE(slot) atomicLoad(slot, gl_ScopeDevice, 0, 0)
#define CLEAR_MESSAGE(slot) atomicStore(slot, 0U, gl_ScopeDevice, 0, 0)
uint bits_of_message(uint message) { return ~message; }
