// The hand-over: each group of workgroups passes its results to its last workgroup, within one dispatch. (Elsewhere: the
// last-block pattern, as in CUDA's threadFenceReduction, and for mip levels single-pass downsampling.) No workgroup ever
// waits for another. docs/kernels.md (the hand-over) has the steps, and why their order in memory is right.
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

// Most times that a receiver reads its slots while it waits. Vulkan's memory model says which value a relaxed load may
// return, but not when a store must be seen. So a wait needs a bound. If no message comes, the receiver takes a lost
// node in its place and continues. Then the run is *lost*: its result is wrong and says so. A late message may stay in a
// slot. So all later runs are lost, too, until the host fills the buffer with zeros. docs/kernels.md (lost runs) has more.
const uint MOST_TURNS = 1U << 11;

// Stores the bits of a float. One NaN becomes another, so that no message is 0.
#define SEND(slot, bits) atomicStore(slot, ~min(bits, 0xfffffffeU), gl_ScopeDevice, 0, 0)
#define MESSAGE(slot) atomicLoad(slot, gl_ScopeDevice, 0, 0)
#define CLEAR_MESSAGE(slot) atomicStore(slot, 0U, gl_ScopeDevice, 0, 0)
uint bits_of_message(uint message) { return ~message; }
