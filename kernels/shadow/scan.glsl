// Prefix sums over the threads of a workgroup, of SUMS (default: uvec4).
// SUBGROUPS: sums by subgroups. These are full, so threads lie in them in the order of their indices.

#include "subgroups.glsl"
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

#ifndef SUMS
#define SUMS uvec4
#endif

shared SUMS scanned[gl_WorkGroupSize.x];
#if SUBGROUPS
shared SUMS chunk_sums[gl_WorkGroupSize.x / 4];  // subgroups have at least four threads
#endif

// Makes the workgroup's writes visible to all its threads.
void workgroup_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

// Returns the sums of the values of the threads before this one (thread_index); `total` gets those of all. All threads
// call it. It leaves each thread's inclusive sums in `scanned`, until the next call. Few barriers: lavapipe loses
// threads in loops with barriers, and after too many.
SUMS exclusive_sums(SUMS value, out SUMS total) {
    const uint thread = thread_index();
    SUMS before = SUMS(0);
    total = SUMS(0);
    workgroup_barrier();  // after reads of the last sums
#if SUBGROUPS
    const SUMS in_chunk = subgroupExclusiveAdd(value);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        chunk_sums[gl_SubgroupID] = in_chunk + value;
    }
    workgroup_barrier();
    const uint chunks = (gl_WorkGroupSize.x + gl_SubgroupSize - 1) / gl_SubgroupSize;
    if (chunks <= gl_SubgroupSize) {  // uniform: each subgroup sums up all chunks
        const uint chunk = gl_SubgroupInvocationID;
        const SUMS of_chunk = chunk < chunks ? chunk_sums[chunk] : SUMS(0);
        total = subgroupAdd(of_chunk);
        before = subgroupAdd(chunk < gl_SubgroupID ? of_chunk : SUMS(0));
    } else {
        for (uint chunk = 0; chunk < chunks; ++chunk) {
            before += chunk < gl_SubgroupID ? chunk_sums[chunk] : SUMS(0);
            total += chunk_sums[chunk];
        }
    }
    before += in_chunk;
#else
    scanned[thread] = value;
    workgroup_barrier();
    for (uint i = 0; i < gl_WorkGroupSize.x; ++i) {
        before += i < thread ? scanned[i] : SUMS(0);
        total += scanned[i];
    }
    workgroup_barrier();
#endif
    scanned[thread] = before + value;
    workgroup_barrier();
    return before;
}
