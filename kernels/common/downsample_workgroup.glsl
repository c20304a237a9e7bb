// The crew of a downsampling kernel, and exchanges among threads, with and without subgroup operations.

#include "subgroups.glsl"
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

// Threads that reduce the upper levels of a block and go on with those of a group: all, or the first subgroup, so that
// the ascent has no wide barrier. The latter pays if texels are handed over more than once; the host chooses
// (crew_size, kernel_constants.hpp).
layout(constant_id = 16) const uint CREW_SIZE = WORKGROUP_SIZE;
const bool CREW_IS_SUBGROUP = CREW_SIZE < WORKGROUP_SIZE;

shared bool shared_announcement;

void crew_barrier() {
    if (CREW_IS_SUBGROUP) {
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
    } else {
        order_threads();
    }
}

// Returns the value of the first thread to all threads.
bool announced(bool said) {
#if SUBGROUPS
    if (CREW_IS_SUBGROUP) {
        return subgroupShuffle(uint(said), 0) != 0;
    }
#endif
    if (thread_index() == 0) {
        shared_announcement = said;
    }
    crew_barrier();
    return shared_announcement;
}

// Room for exchanges, and for levels of blocks with odd edges: 2 and 4 of up to 127 x 127 first, 3 and 5 behind them.
#if ODD_BLOCKS
const uint ODD_LEVELS_START = 31 * 31;
shared ITEM room[31 * 31 + 15 * 15];
#elif !SUBGROUPS
shared ITEM room[4 * WORKGROUP_SIZE];
#endif

// Returns item i, without an array that is indexed at run time.
ITEM one_of(ITEM items[4], uint i) { return i < 2 ? (i == 0 ? items[0] : items[1]) : (i == 2 ? items[2] : items[3]); }

// Reduces the items of four neighbours on the curve, quarter by quarter. Thread i of them returns that of quarter i.
ITEM reduce_neighbours(ITEM items[4], uint thread) {
    const bool right = (thread & 1) != 0;
    const bool lower = (thread & 2) != 0;
#if !SUBGROUPS
    [[unroll]] for (uint i = 0; i < 4; ++i) { room[4 * thread + i] = items[i]; }
    barrier();
    const uint first = 4 * (thread & ~3U) + (thread & 3);
    return reduce_four(room[first], room[first + 4], room[first + 8], room[first + 12]);
#elif CUSTOM
    // Of each pair of threads that differ by i, each gives the item of the other's quarter.
    ITEM from[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) { from[i] = subgroupShuffleXor(one_of(items, (thread ^ i) & 3), i); }
    const uint own = thread & 3;
    return reduce(one_of(from, own), one_of(from, own ^ 1), one_of(from, own ^ 2), one_of(from, own ^ 3));
#else
    // Pairs side by side come first, as everywhere.
    ITEM upper = reduce_two(right ? items[1] : items[0], subgroupShuffleXor(right ? items[0] : items[1], 1));
    ITEM under = reduce_two(right ? items[3] : items[2], subgroupShuffleXor(right ? items[2] : items[3], 1));
    return finished(reduce_two(lower ? under : upper, subgroupShuffleXor(lower ? upper : under, 2)));
#endif
}

// Subgroups of at least 16 threads also make the third level. Returns the item that 16 threads make together.
#if SUBGROUPS
bool has_sixteen() { return gl_SubgroupSize >= 16; }

ITEM reduce_sixteen(ITEM item) {
    return reduce_four(item, subgroupShuffleXor(item, 4), subgroupShuffleXor(item, 8), subgroupShuffleXor(item, 12));
}
#else
bool has_sixteen() { return false; }
ITEM reduce_sixteen(ITEM item) { return item; }
#endif
