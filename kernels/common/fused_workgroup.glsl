// Operations of the fused kernels over a workgroup, with and without subgroup operations. All threads call them, in
// uniform control flow.

#include "subgroups.glsl"
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

shared bool goes_on;  // message of thread 0 to all threads
shared uint counts[WORKGROUP_SIZE];

// Returns to each thread the sum of the counts of earlier threads, and the sum of all counts.
uint scan(uint count, uint thread, out uint total) {
#if SUBGROUPS
    const uint inclusive = subgroupInclusiveAdd(count);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        counts[gl_SubgroupID] = inclusive;
    }
    barrier();
    uint before = inclusive - count;
    total = 0;
    const uint usual = 8;  // subgroups of 32: all loads at once
    [[unroll]] for (uint i = 0; i < usual; ++i) {
        const uint other = i < gl_NumSubgroups ? counts[i] : 0;
        before += i < gl_SubgroupID ? other : 0;
        total += other;
    }
    for (uint i = usual; i < gl_NumSubgroups; ++i) {
        before += i < gl_SubgroupID ? counts[i] : 0;
        total += counts[i];
    }
    return before;
#else
    counts[thread] = count;
    barrier();
    uint before = 0;
    total = 0;
    for (uint i = 0; i < WORKGROUP_SIZE; ++i) {
        before += i < thread ? counts[i] : 0;
        total += counts[i];
    }
    return before;
#endif
}

// Returns the largest key of all threads. A barrier must lie between two calls.
uint largest_of_all(uint key, uint thread) {
#if SUBGROUPS
    key = subgroupMax(key);
    if (subgroupElect()) {
        counts[gl_SubgroupID] = key;
    }
    barrier();
    if (gl_NumSubgroups == 8) {  // the usual number: all loads at once
        return max(max(max(counts[0], counts[1]), max(counts[2], counts[3])),
                   max(max(counts[4], counts[5]), max(counts[6], counts[7])));
    }
    for (uint i = gl_SubgroupInvocationID; i < gl_NumSubgroups; i += gl_SubgroupSize) {
        key = max(key, counts[i]);
    }
    return subgroupMax(key);
#else
    counts[thread] = key;
    barrier();
    for (uint i = 0; i < WORKGROUP_SIZE; ++i) {
        key = max(key, counts[i]);
    }
    return key;
#endif
}

// ---- The nodes of a block ------------------------------------------------------------------------------

// Keeps the nodes of a thread's keys of step 1, which are siblings or lie in all quarters (read_quads).
void keep_step_1(bool siblings, uvec4 keys, uint thread) {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        step_1[siblings ? 4 * thread + i : WORKGROUP_SIZE * i + thread] = item_of_key(keys[i]);
    }
    if (!siblings) {
        barrier();
    }
}

shared float nodes_of_step_2[WORKGROUP_SIZE];
shared float nodes_of_step_4[WORKGROUP_SIZE / 16];

float four_nodes(uint first) {
    return reduce_four(nodes_of_step_2[first], nodes_of_step_2[first + 1],
                       nodes_of_step_2[first + 2], nodes_of_step_2[first + 3]);
}

// Makes the nodes of the steps 3 to 6 around a thread's node of step 2.
void find_upper_nodes(uint thread, inout float nodes[7]) {
#if SUBGROUPS
    float node = reduce_two(nodes[2], subgroupShuffleXor(nodes[2], 1));
    nodes[3] = reduce_two(node, subgroupShuffleXor(node, 2));
    node = reduce_two(nodes[3], subgroupShuffleXor(nodes[3], 4));
    nodes[4] = reduce_two(node, subgroupShuffleXor(node, 8));
    if (gl_SubgroupSize < 16)
#endif
    {
        nodes_of_step_2[thread] = nodes[2];
        barrier();
        nodes[3] = four_nodes(thread & ~3U);
        const uint first = thread & ~15U;
        nodes[4] = reduce_four(four_nodes(first), four_nodes(first + 4), four_nodes(first + 8), four_nodes(first + 12));
    }
    if ((thread & 15) == 0) {
        nodes_of_step_4[thread / 16] = nodes[4];
    }
    barrier();
    float of_step_5[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        of_step_5[i] = reduce_four(nodes_of_step_4[4 * i], nodes_of_step_4[4 * i + 1],
                                   nodes_of_step_4[4 * i + 2], nodes_of_step_4[4 * i + 3]);
    }
    const uint quarter = thread / 64;
    nodes[5] = quarter < 2 ? (quarter < 1 ? of_step_5[0] : of_step_5[1]) : (quarter < 3 ? of_step_5[2] : of_step_5[3]);
    nodes[6] = reduce_four(of_step_5[0], of_step_5[1], of_step_5[2], of_step_5[3]);
}

// Makes the nodes of the steps 2 to 6, after keep_step_1.
void find_nodes(uint thread, out float nodes[7]) {
    nodes[2] = reduce_four(step_1[4 * thread], step_1[4 * thread + 1], step_1[4 * thread + 2], step_1[4 * thread + 3]);
    find_upper_nodes(thread, nodes);
}
