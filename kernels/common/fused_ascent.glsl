// The way up of the fused kernels that read blocks (fused_all.comp, fused_count.comp, fused_budget.comp): from a
// block to the root, as long as this workgroup is the last of its group.
//
// Each workgroup hands its block's node over (hand_over.glsl). The workgroup of a group that finishes last treats the
// group's nodes as it treated quads of texels before. The last layer to finish is found by a counter, too.

#include "nan_count.glsl"

// What a workgroup finds in a block.
struct Found {
    uint total;         // tiles that the kernel counts, the same for all threads
    uint before;        // of them, those of the threads before
    uint tiles;         // that begin in the thread's texels (fused_tiles.glsl)
    float importance;   // of the larger tile
    uvec4 handed_over;  // tiles below the thread's nodes, of a group
};

// The kernel defines these four.

// All threads call this, if the block has tiles: if its node is split, or the root.
Found find(Block block, bool is_root, uint thread);
// Thread 0 calls this, before it hands the block's node over to the group.
void publish(Block block, Group group, bool is_root, bool has_tiles, uint total, uint layer_state);
// All threads call this behind that, if the block has tiles.
void write(Block block, uint thread, Found found);
// All threads of the workgroup that has made the root of a layer call this, when the layer's tiles are counted.
void finish_layer(uint layer_state, uint total, uint thread);

// Tells whether only some blocks run.
bool is_update() { return PASS == PASS_COUNT && parameters.expected[0] != 0; }

// ---- NaN -------------------------------------------------------------------------------------------------

uvec2 own_texel(uvec2 first, uint thread, uint i) { return first + morton(16 * thread + i); }

void add_nan_texels(uint added, uint layer_state) {
    if (added != 0) {
        atomicAdd(words[layer_state + LAYER_NAN_WORD], added, gl_ScopeDevice, 0, 0);
    }
}

// ---- Groups ----------------------------------------------------------------------------------------------

// Returns the first word of the node of a group at a place on the curve; 0 if there is none.
uint word_of_node(Block block, uint place) {
    const uvec2 local = morton(place);
    const uvec2 position = first_of_step_1(block) + local;
    const uvec2 extent = extent_of(block.base + 1);
    const bool is_there = place < 1U << 2 * (block.steps - 1) && all(lessThan(position, extent));
    return is_there ? block.nodes + position.y * extent.x + position.x : 0;
}

// Loads step 1 of a group: nodes that were handed over. Returns the largest key.
uint load_step_1(Block block, uint thread) {
    uint largest = 0;
    [[unroll]]
    for (uint i = 0; i < 4; ++i) {  // no branch, so that all loads get under way at once
        const uint place = 4 * thread + i;
        const uint word = word_of_node(block, place);
        const uint bits = HANDED_OVER(words[word != 0 ? word : block.nodes]);
        step_1[place] = word != 0 ? uintBitsToFloat(bits) : nothing();
        largest = max(largest, word != 0 ? key_of_bits(bits) : 0);
    }
    return largest;
}

// Hands over a block's node. Tells whether it was the last of its group. Thread 0 calls this.
bool arrive(Group group, uint handover, uvec2 index, float importance, uint tiles) {
    const uint node = word_of(group, index);
    HAND_OVER(words[node], floatBitsToUint(importance));
    if (PASS == PASS_COUNT) {
        HAND_OVER(words[node + NODE_TILES * nodes_of_level(group.level)], tiles);
    }
    const uvec2 all =
        min(extent_of(group.level) - (group.index << group.levels), uvec2(1U << group.levels));
    const uint expected = is_update() ? parameters.expected[handover] : all.x * all.y;
    if (ARRIVE(words[group.counter]) + 1 != expected) {
        return false;
    }
    acquire_arrivals();
    words[group.counter] = 0;
    return true;
}

// Tells whether all other layers are finished. Thread 0 asks, once for each layer.
bool is_last_layer() {
    if (parameters.running_layers > 1) {
        if (ARRIVE(state.finished_layers) + 1 != parameters.running_layers) {
            return false;
        }
        acquire_arrivals();
        state.finished_layers = 0;
    }
    return true;
}

// ---- The way up --------------------------------------------------------------------------------------------

// What thread 0 says to all.
shared bool goes_on;

void announce() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                   gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

void ascend() {
    const uint thread = thread_index();
    layer = parameters.first_layer + gl_WorkGroupID.z;
    const uvec2 first_block = uvec2(parameters.first_block & 0xffffU, parameters.first_block >> 16);
    Block block = Block(0, min(BLOCK_LEVELS, parameters.top_level),
                        first_block + gl_WorkGroupID.xy, 0);
    const uint layer_state = layer_words();
    uint counters = layer_state + LAYER_WORDS;
    uint handovers = 0;

    if (thread == 0) {
        if (PASS != PASS_BUDGET) {
            nan_texels = 0;
        }
        [[unroll]]
        for (uint i = 0; i <= MAX_HANDOVERS; ++i) {
            largest_keys[i] = 0;
        }
    }
    barrier();
    // With a budget, fused_budget.comp has left the block's node: if it is not split the block need not be read. (It
    // has no NaN texel then.)
    bool is_known = false;
    float importance = 0.0;
    if (WITH_BUDGET && parameters.top_level > BLOCK_LEVELS) {
        const Group group = group_of(BLOCK_LEVELS, block.index, counters);
        importance = uintBitsToFloat(words[word_of(group, block.index)]);
        is_known = !is_split(BLOCK_LEVELS, block.index, importance);
    }
    uint largest = 0;
    if (!is_known) {
        largest = make_step_1(block, thread);
        if (PASS != PASS_BUDGET && counts_as_nan(largest)) {
            count_nan(64 * block.index, thread);
        }
    }
    while (true) {
        if (!is_known) {
            importance = largest_of_all(largest, handovers);
        }
        is_known = false;
        const uint level = block.base + block.steps;
        const bool is_root = level == parameters.top_level;
        // If a node is not split, none below it is, and they have no tiles.
        const bool has_tiles = is_root || is_split(level, block.index, importance);
        Found found = Found(0, 0, 0, 0.0, uvec4(0));
        if (has_tiles) {
            found = find(block, is_root, thread);
        }
        const Group group = group_of(level, block.index, counters);
        counters = next_counters(group, extent_of(level), FUSED_NODE_WORDS);
        if (thread == 0) {
            publish(block, group, is_root, has_tiles, found.total, layer_state);
            goes_on = !is_root && arrive(group, handovers, block.index, importance, found.total);
        }
        announce();
        if (has_tiles) {
            write(block, thread, found);
        }
        if (is_root) {
            finish_layer(layer_state, found.total, thread);
            return;
        }
        if (!goes_on) {
            return;
        }
        block = Block(level - 1, group.levels + 1, group.index, group.nodes);
        ++handovers;
        barrier();  // the last step 1 is no longer needed
        largest = load_step_1(block, thread);
    }
}
