// Steps of fused_emit.comp and balance_tiles.comp, which by STAGE write or count the tiles of nodes that an earlier pass
// has kept. A thread per block and level (Around) finds the tile of that level that begins in the block. Then all threads
// treat the split blocks, which have smaller tiles.
//
// Dispatch: workgroups of 256 threads, one per share of 2^SHARE_LEVELS x 2^SHARE_LEVELS blocks (x, y) and layer (z).
// The blocks of a share lie as far apart as possible, because blocks with small tiles are close to each other.

layout(constant_id = 26) const uint SHARE_LEVELS = 0;  // 0 to MAX_SHARE_LEVELS
layout(constant_id = 28) const uint STAGE = STAGE_ANY;
const uint MAX_SHARE_LEVELS = 2;

const uint SHARE_BLOCKS = 1U << 2 * SHARE_LEVELS;

// Returns the index of a block of the share.
uvec2 block_index(uint i) { return gl_WorkGroupID.xy + gl_NumWorkGroups.xy * morton(i); }

// Returns the level of the root. On a map of one block the root takes the place of the block's node.
uint root_level() { return max(parameters.top_level, BLOCK_LEVELS); }

// Bits of blocks: those that are split, and those where a tile of the blocks' level or above begins.
shared uint split_blocks;
shared uint tile_blocks;                        // not in canonical order
shared uint places[1 << 2 * MAX_SHARE_LEVELS];  // of the first tile of each split block, in canonical order
shared uint place;                              // of the first tile, in any order
// Thread that reserves places: the last one writes the fewest tiles.
const uint RESERVER = WORKGROUP_SIZE - 1;

// The node of a level around a block, which is of BLOCK_LEVELS or above.
struct Around {
    uint own;  // number of the block in the share
    uvec2 block;
    uint level;
    uvec2 index;
    bool exists;
    bool begins;  // whether the block is its first one
};

Around around_of(uint thread) {
    const uint own = thread & (SHARE_BLOCKS - 1);
    const uint above = thread >> 2 * SHARE_LEVELS;  // levels above the blocks
    const uint level = BLOCK_LEVELS + above;
    const uvec2 block = block_index(own);
    const uvec2 index = block >> above;
    const bool is_there = level <= root_level() && exists(BLOCK_LEVELS, block);
    return Around(own, block, level, index, is_there, is_there && index << above == block);
}

// Returns the node of an Around after keep_thresholds. On maps of one block it is the root.
Node node_of(Around around, float importance) {
    const uint level = min(around.level, parameters.top_level);
    return Node(level, around.index, importance, kept_threshold(level, around.index));
}

// A barrier must follow.
void clear_share(uint thread) {
    if (thread == 0) {
        split_blocks = 0;
        if (STAGE != STAGE_CANONICAL) {
            tile_blocks = 0;
        }
    }
}

// Returns the place of a block's tile in any order, from the first place of the share on.
uint place_in_share(uint own) { return place + bitCount(tile_blocks & ((1U << own) - 1)); }

Block split_block(uint i) { return Block(0, min(BLOCK_LEVELS, parameters.top_level), block_index(i)); }

// Returns whether no split block comes behind block i.
bool is_last_split(uint i) { return split_blocks >> i == 1; }
