// Which workgroup of a dispatch is the last to come: it goes on with what all have handed over (hand_over.glsl).

shared bool shared_is_last;

// To be called by all threads of all workgroups; the counter is 0 before and after.
#define IS_LAST_WORKGROUP(counter, workgroups)                   \
    workgroup_barrier();                                         \
    if (gl_LocalInvocationIndex == 0) {                          \
        shared_is_last = ARRIVE(counter) + 1 == (workgroups);    \
        if (shared_is_last) {                                    \
            acquire_arrivals();                                  \
            counter = 0;                                         \
        }                                                        \
    }                                                            \
    workgroup_barrier();
