// Prefix sums over the threads of a workgroup of up to SCAN_THREADS, four at once. SUBGROUPS: by subgroups, which
// are full, so that threads lie in them in the order of their indices.

#include "subgroups.glsl"
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

shared uvec4 scanned[SCAN_THREADS];
shared uvec4 chunk_sums[SCAN_THREADS / 4];  // subgroups have four threads at least

// All that the workgroup has written is visible to all its threads.
void workgroup_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                   gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable |
                       gl_SemanticsMakeVisible);
}

// The sums of the values of the threads before this one (thread_index), and those of all. To be called by all
// threads; leaves the sums up to each thread's own in `scanned`, until the next call. Few barriers: lavapipe
// loses threads in loops with barriers, and behind too many.
uvec4 exclusive_sums(uvec4 value, out uvec4 total) {
    const uint thread = thread_index();
#if SUBGROUPS
    const uint chunk_size = gl_SubgroupSize;
    const uvec4 in_chunk = subgroupExclusiveAdd(value);
    const uvec4 with_own = in_chunk + value;
    workgroup_barrier();  // behind what reads the last sums
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        chunk_sums[gl_SubgroupID] = with_own;
    }
    workgroup_barrier();
#else
    const uint chunk_size = 32;
    workgroup_barrier();  // behind what reads the last sums
    scanned[thread] = value;
    workgroup_barrier();
    const uint chunk_begin = thread - thread % chunk_size;
    uvec4 in_chunk = uvec4(0);
    uvec4 chunk_sum = uvec4(0);
    for (uint i = 0; i < chunk_size; ++i) {
        const uvec4 of_thread = scanned[min(chunk_begin + i, gl_WorkGroupSize.x - 1)];
        in_chunk += chunk_begin + i < thread ? of_thread : uvec4(0);
        chunk_sum += chunk_begin + i < gl_WorkGroupSize.x ? of_thread : uvec4(0);
    }
    chunk_sums[thread / chunk_size] = chunk_sum;  // the same by all of the chunk
    workgroup_barrier();
#endif
    const uint chunks = (gl_WorkGroupSize.x + chunk_size - 1) / chunk_size;
    const uint own_chunk = thread / chunk_size;
    uvec4 before = uvec4(0);
    total = uvec4(0);
#if SUBGROUPS
    if (chunks <= gl_SubgroupSize) {  // the same for all: each subgroup sums them up at once
        const uint chunk = gl_SubgroupInvocationID;
        const uvec4 of_chunk = chunk < chunks ? chunk_sums[chunk] : uvec4(0);
        total = subgroupAdd(of_chunk);
        before = subgroupAdd(chunk < own_chunk ? of_chunk : uvec4(0));
    } else
#endif
        for (uint chunk = 0; chunk < chunks; ++chunk) {
            before += chunk < own_chunk ? chunk_sums[chunk] : uvec4(0);
            total += chunk_sums[chunk];
        }
    scanned[thread] = before + in_chunk + value;
    workgroup_barrier();
    return before + in_chunk;
}
