// Ascent of the fused kernels that read blocks (fused_all.comp, fused_count.comp, fused_budget.comp,
// balance_marks.comp): from a block to the root, as long as this workgroup is the last of its group.
//
// Each workgroup sends its block's node to its group (messages.glsl). The last workgroup of a group treats the group's
// nodes like the quads of texels before.
//
// Shared memory: thread 0 writes the messages to all threads (below) once per group. The barrier after that comes
// before their reads; the barrier of the next group, after its nodes are received, comes behind them. A root that is
// not split needs no such barrier: only thread 0 reads a message then.

#include "nan_count.glsl"

// The kernel defines the following functions.

// Returns the number of tiles in the block, or the mask of its node. All threads call this if the block's node is
// split; with PASS_MARKS for all groups.
uint find(Block block, uint thread);
// All threads call this after places are reserved, if the block's node is split. `total`: the result of find.
void write(Block block, uint thread, uint total);
// All threads of the workgroup that has made the root of a layer call this after the layer's tiles are counted. If
// there are tiles to write, the finisher is another thread than 0, so that it works beside thread 0.
void finish_layer(bool is_finisher, float importance, uint total, uint below, uint thread);
#if PASS == PASS_MARKS
// Thread 0 calls this for a node before it counts it in.
void keep_node(uint level, uvec2 index, float importance, uint mask);
#else
void keep_node(uint level, uvec2 index, float importance, uint mask) {
    HAND_OVER(words[node_word(NODE_IMPORTANCE, level, index)], floatBitsToUint(importance));
}
#endif

// ---- NaN -------------------------------------------------------------------------------------------------

// Returns the number of NaN texels of a block that has some. All threads call this.
uint nan_texels_of(Block block, uvec4 keys, uint thread) {
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    if (counts_as_nan(largest_of_four(keys))) {
        count_nan(first_of_step_1(block) + morton(thread));
    }
    barrier();
    return nan_texels;
}

// Adds a block's NaN texels to those of the layer. Thread 0 calls this before it sends the node.
void publish_nan(uint nan, uint layer_state) {
    if (nan != 0) {
        ADD_RELAXED(words[layer_state + LAYER_NAN_WORD], nan);
    }
}

// Removes the NaN texels of a layer from the state and returns their number.
uint take_nan_texels(float importance, uint layer_state) {
    return may_hold_nan(importance) ? TAKE_RELAXED(words[layer_state + LAYER_NAN_WORD]) : 0;
}

// ---- Groups ----------------------------------------------------------------------------------------------

// Messages of thread 0 to all threads.
shared Group ahead;                       // group whose nodes this workgroup reads next
shared uint ahead_tiles;                  // tiles below that group's blocks, modulo 2^(32 - ARRIVAL_BITS)
shared uint largest_keys[MAX_HANDOVERS];  // largest key of each group that this workgroup reads
shared uint place;                        // place of the block's first tile in the list
shared uint tiles_below;                  // tiles below the nodes of the group that was read last

// Low bits of a group's counter, which hold the number of arrived nodes. The bits above hold the number of tiles below
// them, if they are blocks of texels and the pass is PASS_ALL.
const uint ARRIVAL_BITS = 10;

// Returns the first word of the slots of a group's second messages.
uint second_slots(Group group) { return group.slots + slots_of_group(group.levels); }

void acquire_for_all(uint thread) {
    if (thread == 0) {
        acquire_arrivals();
    }
    order_threads();
}

// Sends a block's node to its group and counts it in. Returns whether it was the last. Thread 0 calls this. `tiles`: of
// the block and below; or the mask. Only split nodes send them; they are not 0 then, so they are messages as they are.
bool arrive(Group group, uint handover, Block block, float importance, bool splits, uint tiles) {
    bool releases = may_hold_nan(importance);
    uint added = 1;
    if (PASS == PASS_ALL) {
        if (group.level == BLOCK_LEVELS) {
            added += tiles << ARRIVAL_BITS;
        } else if (tiles != 0) {
            ADD_RELAXED(words[group.second], tiles);
            releases = true;
        }
    } else {
        keep_node(group.level, block.index, importance, splits ? tiles : 0);
        if (PASS == PASS_COUNT && splits) {
            HAND_OVER(words[node_word(NODE_TILES, group.level, block.index)], tiles);
        }
        releases = releases || (PASS == PASS_BUDGET && splits);
    }
    if (releases) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    }
    const uvec2 first = group.index << group.levels;
    const uvec2 local = block.index - first;
    const uint slot = (local.y << group.levels) + local.x;
    if (PASS != PASS_ALL && PASS != PASS_BUDGET && splits) {
        HAND_OVER(words[second_slots(group) + slot], tiles);
    }
    SEND(words[group.slots + slot], floatBitsToUint(importance));
    const uvec2 all = min(extent_of(group.level) - first, uvec2(1U << group.levels));
    const uint expected = all.x * all.y;
    const uint arrived = ADD_RELAXED(words[group.counter], added) + added;
    if (((arrived - expected) & ((1U << ARRIVAL_BITS) - 1)) != 0) {
        return false;
    }
    CLEAR_MESSAGE(words[group.counter]);
    ahead = group;
    largest_keys[handover] = 0;
    ahead_tiles = (arrived - expected) >> ARRIVAL_BITS;
    return true;
}

// Returns bits of those of a thread's four nodes of step 1 that exist.
uint nodes_of(Block block, uint thread) {
    const bool in_block = block.steps > 0 && is_in_block(block, thread);
    return in_block ? inside(2 * position_of(block, thread), extent_of(block.base + 1)) : 0;
}

// Receives the messages of a thread's four nodes of a group from the slots that begin at `slots`; 0 for nodes without a
// bit in `sent`.
uvec4 receive(uint thread, uint sent, uint slots) {
    uvec4 received = uvec4(0);
    if (sent != 0) {
        const uvec2 local = 2 * morton(thread);
        const uint first = slots + (local.y << ahead.levels) + local.x;
        const uint second = first + (1U << ahead.levels);
        // Messages that are never sent are not waited for.
        const uvec4 absent = uvec4(not(notEqual(uvec4(sent) & uvec4(1, 2, 4, 8), uvec4(0))));
        [[dont_unroll]] do {
            received = uvec4(MESSAGE(words[first]), MESSAGE(words[first + 1]),
                             MESSAGE(words[second]), MESSAGE(words[second + 1]));
        } while (any(equal(received | absent, uvec4(0))));
        CLEAR_MESSAGE(words[first]);
        CLEAR_MESSAGE(words[first + 1]);
        CLEAR_MESSAGE(words[second]);
        CLEAR_MESSAGE(words[second + 1]);
    }
    return received;
}

// Receives the keys of a group's nodes, four siblings per thread; 0 for nodes that do not exist.
uvec4 receive_nodes(Block block, uint thread) {
    const uint exist = nodes_of(block, thread);
    uvec4 keys = receive(thread, exist, ahead.slots);
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        keys[i] = (exist >> i & 1) != 0 ? key_of_bits(bits_of_message(keys[i])) : 0;
    }
    return keys;
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

// Returns the number of tiles below the nodes of a split group. Thread 0 calls this, which has the first node's key.
uint receive_tiles(Block block, uint first_key) {
    if (ahead.level > BLOCK_LEVELS) {
        acquire_arrivals();
        return TAKE_RELAXED(words[ahead.second]);
    }
    // If all blocks of the largest group are split into texels, their number reads 0.
    const bool is_full = ahead_tiles == 0 && is_split(ahead.level, first_of_step_1(block), item_of_key(first_key));
    return is_full ? 1U << (32 - ARRIVAL_BITS) : ahead_tiles;
}

// Keeps the nodes of a split group between those that were handed over and its own node.
void keep_nodes(Block block, uint thread, float nodes[7]) {
    const uvec2 position = position_of(block, thread);
    [[unroll]] for (uint step = 2; step <= 5; ++step) {
        const uint level = block.base + step;
        const uvec2 index = position >> (step - 2);
        if (step < block.steps && begins(step, thread) && is_in_block(block, thread) && exists(level, index)) {
            keep_node(level, index, nodes[step], 0);
        }
    }
}

// ---- Ascent --------------------------------------------------------------------------------------------------

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level), gl_WorkGroupID.xy);
    // With a budget, fused_budget.comp has kept the block's node. If it is not split, no texel is NaN or need be read.
    bool is_known = false;
    float importance = 0.0;
    if (WITH_BUDGET && parameters.top_level > BLOCK_LEVELS) {
        importance = uintBitsToFloat(words[node_word(NODE_IMPORTANCE, BLOCK_LEVELS, block.index)]);
        is_known = !is_split(BLOCK_LEVELS, block.index, importance);
    }
    uvec4 keys = uvec4(0);
    uint largest = 0;
    bool splits = false;
    if (!is_known) {
        keys = read_quads(block, false, thread);
        largest = largest_of_all(largest_of_four(keys), thread);
        importance = item_of_key(largest);
        splits = is_split(block.steps, block.index, importance);
    }
    // If a node is not split, no node below it is, and they have no tiles. Most blocks end here, so this code comes
    // first: contiguous code is fetched sooner.
    uint handovers = 0;
    if (!splits && parameters.top_level > BLOCK_LEVELS) {
        if (thread == 0) {
            const uint layer_state = layer_words();
            const Group group = group_of(BLOCK_LEVELS, block.index, layer_state + LAYER_WORDS, 0, FUSED_SLOT_WORDS);
            publish_nan(0, layer_state);
            goes_on = arrive(group, 0, block, importance, false, 0);
        }
        barrier();
        if (!goes_on) {
            return;
        }
        handovers = 1;
    }
    while (true) {
        if (handovers > 0) {
            block = Block(ahead.level - 1, ahead.levels + 1, ahead.index);
            keys = receive_nodes(block, thread);
            atomicMax(largest_keys[handovers - 1], largest_of_four(keys));
            barrier();
            importance = item_of_key(largest_keys[handovers - 1]);
            splits = is_split(block.base + block.steps, block.index, importance);
        }
        const uint level = block.base + block.steps;
        const bool is_root = level == parameters.top_level;
        uint nan = 0;
        uint total = uint(is_root);  // a root that is not split is a tile
        if (splits || (PASS == PASS_MARKS && handovers > 0)) {
            // A block with NaN is split, because NaN counts as infinity.
            if (handovers == 0 && counts_as_nan(largest)) {
                nan = nan_texels_of(block, keys, thread);
            }
            // NaN texels count as infinity, and their sender releases; so does one that adds to a histogram.
            if (handovers > 0 && (PASS == PASS_BUDGET || may_hold_nan(importance))) {
                acquire_for_all(thread);
            }
            keep_step_1(handovers > 0, keys, thread);
            total = find(block, thread);
        }
        if (thread == 0) {
            const uint layer_state = layer_words();
            const uint counters = handovers == 0 ? layer_state + LAYER_WORDS : ahead.end;
            const Group group = group_of(level, block.index, counters, 0, FUSED_SLOT_WORDS);
            if (handovers == 0) {
                publish_nan(nan, layer_state);
            }
            const bool has_tiles_below = PASS == PASS_ALL && splits && handovers > 0;
            const uint below = has_tiles_below ? receive_tiles(block, keys.x) : 0;
            uint reserved = 0;
            if (PASS == PASS_ALL && (splits || is_root)) {
                reserved = is_root && parameters.layers == 1 ? below : reserve_places(total);
            }
            goes_on = !is_root && arrive(group, handovers, block, importance, splits, total + below);
            place = reserved;
            tiles_below = below;
        }
        if (splits || !is_root) {
            barrier();
        }
        if (splits) {
            write(block, thread, total);
        }
        if (is_root) {
            const bool is_finisher = thread == (splits ? WORKGROUP_SIZE - 1 : 0);
            finish_layer(is_finisher, importance, total, splits ? tiles_below : 0, thread);
            return;
        }
        if (!goes_on) {
            return;
        }
        ++handovers;
    }
}
