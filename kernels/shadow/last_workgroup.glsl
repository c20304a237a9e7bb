// Which workgroup of a dispatch is the last to come: it goes on with what all have written.

shared bool shared_is_last;

// To be called by all threads of all workgroups; the counter is 0 before and after. What other workgroups
// have written before is visible to those of the last one: each releases by its addition, and it acquires.
#define IS_LAST_WORKGROUP(counter, workgroups)                                                            \
    workgroup_barrier();                                                                                  \
    if (gl_LocalInvocationIndex == 0) {                                                                   \
        shared_is_last =                                                                                  \
            atomicAdd(counter, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsImage,   \
                      gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible) + \
                1 ==                                                                                      \
            (workgroups);                                                                                 \
        if (shared_is_last) {                                                                             \
            counter = 0;                                                                                  \
        }                                                                                                 \
    }                                                                                                     \
    workgroup_barrier();
