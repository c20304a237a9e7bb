// Operations of a workgroup. SUBGROUPS: with subgroup operations; subgroups are full, and threads lie in them in the order
// of their indices.

#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
uint thread_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint thread_index() { return gl_LocalInvocationIndex; }
#endif

#ifdef SUMS
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

shared SUMS scanned[gl_WorkGroupSize.x];

// Scan (prefix sum) of the threads' values, of type SUMS: returns to each thread the sum of those of earlier threads, and
// the sum of all. All threads call it in uniform control flow. A barrier must lie between two calls.
SUMS scan(SUMS value, uint thread, out SUMS total) {
    SUMS before = SUMS(0);
    total = SUMS(0);
#if SUBGROUPS
    const SUMS inclusive = subgroupInclusiveAdd(value);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        scanned[gl_SubgroupID] = inclusive;
    }
    barrier();
    before = inclusive - value;
    const uint usual = gl_WorkGroupSize.x / 32;  // subgroups of 32: all loads at once
    [[unroll]] for (uint i = 0; i < usual; ++i) {
        const SUMS other = i < gl_NumSubgroups ? scanned[i] : SUMS(0);
        before += i < gl_SubgroupID ? other : SUMS(0);
        total += other;
    }
    for (uint i = usual; i < gl_NumSubgroups; ++i) {
        before += i < gl_SubgroupID ? scanned[i] : SUMS(0);
        total += scanned[i];
    }
#else
    scanned[thread] = value;
    barrier();
    for (uint i = 0; i < gl_WorkGroupSize.x; ++i) {
        before += i < thread ? scanned[i] : SUMS(0);
        total += scanned[i];
    }
#endif
    return before;
}
#endif
