// Steps of the fused kernels that read blocks (fused_all.comp, fused_count.comp, fused_budget.comp, balance_marks.comp):
// the ascent from a block to the root, as long as this workgroup is the last of its group. Each main calls
//
//   1. start: the maximum of the workgroup's block. If the block's node is not split, there are no tiles below it;
//      most blocks are sent at once and end there.
//   2. If the node is split, begin_search, then the kernel's own work on the nodes below it.
//   3. On thread 0, what the kernel hands over itself, then send_node. The root ends the ascent.
//   4. In the last workgroup of the group, receive_group, then 2: the group's nodes are treated like quads of texels.
//
// Thread 0 writes its messages to all threads (below) once per group. The barrier after that comes before their reads;
// the barrier of the next group, after its nodes are received, comes behind them. A root that is not split needs no such
// barrier: only thread 0 reads a message then.

uvec2 blocks_of(uint level, uint levels) { return extent_of(level + levels); }
uvec2 block_of(uvec2 texel, uint levels, uvec2 blocks) { return texel >> levels; }

const bool ONE_GROUP = false;
const uint GROUP_LEVELS = 0;
#define COUNTS_NAN 1
#include "blocks.glsl"

// Adds the NaN texels of a block that has some to those of the layer. Its node is infinite, so it is sent by a release
// afterwards. All threads call this.
void publish_nan(Block block, uvec4 keys, uint thread) {
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    if (counts_as_nan(largest_of_four(keys))) {
        count_nan(first_of_step_1(block) + morton(thread));
    }
    barrier();
    if (thread == 0) {
        ADD_RELAXED(words[layer_words() + LAYER_NAN_WORD], nan_texels);
    }
}

// ---- Groups ----------------------------------------------------------------------------------------------

// Messages of thread 0 to all threads.
shared Group ahead;                       // group whose nodes this workgroup reads next
shared uint ahead_tiles;                  // tiles below that group's blocks, modulo 2^(32 - ARRIVAL_BITS)
shared uint largest_keys[MAX_HANDOVERS];  // largest key of each group that this workgroup reads; NaN: it is lost

// Low bits of a group's counter, which hold the number of arrived nodes. The bits above hold the number of tiles below
// them, if they are blocks of texels and the kernel is fused_all.comp.
const uint ARRIVAL_BITS = 10;

// Returns the first word of the slots of a group's second messages.
uint second_slots(Group group) { return group.slots + slots_of_group(group.levels); }

// The block or group of nodes that the workgroup treats.
struct Ascent {
    Block block;
    uint handovers;    // earlier ones of this workgroup: 0 for texels
    uvec4 keys;        // of the thread's nodes of step 1
    uint texel_key;    // largest key of the texels of the first block
    float importance;  // of the block's node
    bool splits;       // whether that is split
};

uint level_of(Ascent at) { return at.block.base + at.block.steps; }

Group group_of(Ascent at) {
    const uint counters = at.handovers == 0 ? layer_words() + LAYER_WORDS : ahead.end;
    return group_of(level_of(at), at.block.index, counters, 0, FUSED_SLOT_WORDS);
}

uint slot_of(Group group, uvec2 index) {
    const uvec2 local = index - (group.index << group.levels);
    return (local.y << group.levels) + local.x;
}

// Whether the largest key of a group says that it is lost: a message has not come, or was NaN. Nodes are never NaN, so NaN
// carries the loss up to the root. A lost node counts as infinite, so it is split and sent by a release.
bool is_lost(uint key) { return SOURCE_UNORM_BITS != 0 ? key > INFINITY_BITS : key_is_nan(key); }
bool is_lost(Ascent at) { return at.handovers > 0 && is_lost(largest_keys[at.handovers - 1]); }

// Sends the second message of a split node, which is not 0. Thread 0 calls this before send_node.
void send_second(Group group, Ascent at, uint message) {
    HAND_OVER(words[second_slots(group) + slot_of(group, at.block.index)], message);
}

// Returns the number of nodes of a group.
uint nodes_in(Group group) {
    const uvec2 all = min(extent_of(group.level) - (group.index << group.levels), uvec2(1U << group.levels));
    return all.x * all.y;
}

// Takes the group ahead. `arrived`: its counter, beyond the number of its nodes.
void take_group(Group group, uint handovers, uint arrived) {
    ahead = group;
    largest_keys[handovers] = 0;
    ahead_tiles = arrived >> ARRIVAL_BITS;
}

// Sends a block's node to its group and counts it in. Returns whether it was the last. Thread 0 calls this. `added`: to
// the group's counter, 1 in its low bits. `releases`: whether other results are handed over, as by each infinite node.
bool send_node(Group group, Ascent at, uint added, bool releases) {
    uint bits = floatBitsToUint(at.importance);
    if (releases || may_hold_nan(at.importance)) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        bits = is_lost(at) ? NAN_BITS : bits;
    }
    SEND(words[group.slots + slot_of(group, at.block.index)], bits);
    const uint arrived = ADD_RELAXED(words[group.counter], added) + added - nodes_in(group);
    if (BY_STEPS || (arrived & ((1U << ARRIVAL_BITS) - 1)) != 0) {
        return false;
    }
    CLEAR_MESSAGE(words[group.counter]);
    take_group(group, at.handovers, arrived);
    return true;
}

// Returns bits of those of a thread's four nodes of step 1 that exist.
uint nodes_of(Block block, uint thread) {
    const bool in_block = block.steps > 0 && is_in_block(block, thread);
    return in_block ? inside(2 * position_of(block, thread), extent_of(block.base + 1)) : 0;
}

// Returns other words than 0 for nodes without a bit in `sent`: such messages are not waited for.
uvec4 absent(uint sent) { return uvec4(not(notEqual(uvec4(sent) & uvec4(1, 2, 4, 8), uvec4(0)))); }

// Receives the messages of a thread's four nodes of a group from the slots that begin at `slots`; 0 for nodes without a
// bit in `sent`, and for messages that do not come.
uvec4 receive(uint thread, uint sent, uint slots) {
    uvec4 received = uvec4(0);
    if (sent != 0) {
        const uvec2 local = 2 * morton(thread);
        const uint first = slots + (local.y << ahead.levels) + local.x;
        const uint second = first + (1U << ahead.levels);
        uint turns = 0;
        [[dont_unroll]] do {
            received = uvec4(MESSAGE(words[first]), MESSAGE(words[first + 1]),
                             MESSAGE(words[second]), MESSAGE(words[second + 1]));
        } while (any(equal(received | absent(sent), uvec4(0))) && ++turns < MOST_TURNS);
        CLEAR_MESSAGE(words[first]);
        CLEAR_MESSAGE(words[first + 1]);
        CLEAR_MESSAGE(words[second]);
        CLEAR_MESSAGE(words[second + 1]);
    }
    return received;
}

// Receives the second messages of those of a thread's nodes that have a bit in `sent`. If one does not come, the group is
// lost: a barrier and renew_node must follow.
uvec4 receive_second(Ascent at, uint thread, uint sent) {
    const uvec4 received = receive(thread, sent, second_slots(ahead));
    if (any(equal(received | absent(sent), uvec4(0)))) {
        atomicMax(largest_keys[at.handovers - 1], LOST_RUN);
    }
    return received;
}

// Makes the node of a group; infinite if that is lost, as keys of floats that are NaN are.
void renew_node(inout Ascent at) {
    const uint key = largest_keys[at.handovers - 1];
    at.importance = item_of_key(SOURCE_UNORM_BITS != 0 ? min(key, INFINITY_BITS) : key);
}

// Returns bits of those of a thread's four nodes of step 1 that are split.
uint split_nodes_of(Block block, uint thread) {
    uint split = 0;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uvec2 index = 2 * position_of(block, thread) + morton(i);
        split |= uint(is_split(block.base + 1, index, step_1[4 * thread + i])) << i;
    }
    return split & nodes_of(block, thread);
}

// Keeps the importance of a node for the next pass.
void keep_node(uint level, uvec2 index, float importance) {
    HAND_OVER(words[node_word(NODE_IMPORTANCE, level, index)], floatBitsToUint(importance));
}

// Keeps the nodes of a split group between those that were handed over and its own node.
void keep_nodes(Block block, uint thread, float nodes[7]) {
    const uvec2 position = position_of(block, thread);
    [[unroll]] for (uint step = 2; step <= 5; ++step) {
        const uint level = block.base + step;
        const uvec2 index = position >> (step - 2);
        if (step < block.steps && begins(step, thread) && is_in_block(block, thread) && exists(level, index)) {
            keep_node(level, index, nodes[step]);
        }
    }
}

// Reads the workgroup's block of texels. With a budget, fused_budget.comp has kept the block's node: if it is not
// split, no texel is NaN or need be read.
Ascent read_block(uint thread) {
    const Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level), gl_WorkGroupID.xy);
    Ascent at = Ascent(block, 0, uvec4(0), 0, 0.0, false);
    bool is_known = false;
    if (WITH_BUDGET && parameters.top_level > BLOCK_LEVELS) {
        at.importance = uintBitsToFloat(words[node_word(NODE_IMPORTANCE, BLOCK_LEVELS, at.block.index)]);
        is_known = !is_split(BLOCK_LEVELS, at.block.index, at.importance);
    }
    if (!is_known) {
        at.keys = read_quads(at.block, false, thread);
        at.texel_key = largest_of_all(largest_of_four(at.keys), thread);
        at.importance = item_of_key(at.texel_key);
        at.splits = is_split(at.block.steps, at.block.index, at.importance);
    }
    return at;
}

// Receives the nodes of the group ahead, four siblings per thread; 0 for nodes that do not exist. A message that has not
// come, 0, has the key of a NaN. The last thread, which often has no nodes, asks whether an earlier run was lost.
void receive_group(inout Ascent at, uint thread) {
    ++at.handovers;
    at.block = Block(ahead.level - 1, ahead.levels + 1, ahead.index);
    const uint exist = nodes_of(at.block, thread);
    if (thread == WORKGROUP_SIZE - 1) {
        atomicMax(largest_keys[at.handovers - 1], HANDED_OVER(state.lost));
    }
    at.keys = receive(thread, exist, ahead.slots);
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        at.keys[i] = (exist >> i & 1) != 0 ? key_of_bits(bits_of_message(at.keys[i])) : 0;
    }
    atomicMax(largest_keys[at.handovers - 1], largest_of_four(at.keys));
    barrier();
    renew_node(at);
    at.splits = is_split(level_of(at), at.block.index, at.importance);
}

// Reads the workgroup's block of texels, or takes its group if an earlier dispatch has made the group's nodes.
Ascent start(uint thread) {
    if (!starts_from_group()) {
        return read_block(thread);
    }
    Ascent at;
    at.handovers = parameters.handovers - 1;
    if (thread == 0) {
        const Group group = group_of_workgroup(BLOCK_LEVELS, layer_words() + LAYER_WORDS, 0, FUSED_SLOT_WORDS);
        take_group(group, at.handovers, TAKE_RELAXED(words[group.counter]) - nodes_in(group));
    }
    barrier();
    return at;
}

// Leaves the nodes of step 1 in shared memory. `acquires`: other results that were handed over, as by each infinite node.
void begin_search(Ascent at, bool acquires, uint thread) {
    // A block with NaN is split, because NaN counts as infinity.
    if (at.handovers == 0 && counts_as_nan(at.texel_key)) {
        publish_nan(at.block, at.keys, thread);
    }
    if (at.handovers > 0 && (acquires || may_hold_nan(at.importance))) {
        if (thread == 0) {
            acquire_arrivals();
        }
        order_threads();
    }
    keep_step_1(at.handovers > 0, at.keys, thread);
}

// Moves the number of NaN texels of a layer to where the host reads it, and keeps that the run is lost. One thread calls
// this at the root.
void finish_root(Ascent at) {
    words[layer] = may_hold_nan(at.importance) ? TAKE_RELAXED(words[layer_words() + LAYER_NAN_WORD]) : 0;
    if (may_hold_nan(at.importance) && is_lost(at)) {
        HAND_OVER(state.lost, LOST_RUN);
    }
}
