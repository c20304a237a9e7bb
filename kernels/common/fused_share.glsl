// Main function of fused_emit.comp and balance_tiles.comp, which write the tiles of nodes that an earlier pass has
// kept: by STAGE in any order, or to their places in canonical order; or they count them.
//
// Dispatch: workgroups of 256 threads, one per share of 2^SHARE_LEVELS x 2^SHARE_LEVELS blocks (x, y) and layer (z).
// The blocks of a share lie as far apart as possible, because blocks with small tiles are close to each other.
//
// A thread per block and level finds the tile of that level that begins in the block. Then all threads treat the split
// blocks, which have smaller tiles.

layout(constant_id = 26) const uint SHARE_LEVELS = 0;  // 0 to MAX_SHARE_LEVELS
const uint MAX_SHARE_LEVELS = 2;

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

void mark_split(uint own, uint own_place) {
    places[own] = own_place;
    atomicOr(split_blocks, 1U << own);
}

// The node of a level around a block, which is of BLOCK_LEVELS or above.
struct Around {
    uint own;  // number of the block in the share
    uvec2 block;
    uint level;
    uvec2 index;
    bool exists;
    bool begins;  // whether the block is its first one
};

// The kernel defines the following functions.

// Returns whether the node is a tile, its importance and, in canonical order, its place. All threads call this. It
// calls keep_thresholds, and mark_split for a split block.
bool find_large(Around around, uint thread, out float importance, out uint own_place);
// Reserves places for so many tiles. Thread RESERVER calls this.
void reserve(uint total);
// Ends the workgroup's reservations. Thread RESERVER calls this. `has_tiles`: whether it has reserved places.
void finish(bool has_tiles);
// Returns the tiles of a split block that begin in the thread's texels (tiles_of). All threads call this.
uint find_small(Block block, uint thread, out float importance);
// Leaves the importances of those of step 1 in step_1. All threads call this before lay_out.
void keep_importances(Block block, uint thread, uint tiles);
// Returns the flags of the sides of a tile of the blocks' level or above, but below the root.
uint sides_of_large(Node node);
// Hands over the number of a block's tiles. One thread calls this.
void count_tiles(uvec2 block, uint tiles);
// Ends the counting stage. All threads call this.
void finish_counts(uint thread);

void main() {
    const uint thread = thread_index();
    layer = gl_WorkGroupID.z;
    const uint blocks = 1U << 2 * SHARE_LEVELS;
    const uint own = thread & (blocks - 1);
    const uint above = thread >> 2 * SHARE_LEVELS;  // levels above the blocks
    const uint level = BLOCK_LEVELS + above;
    const uvec2 block = block_index(own);
    const uvec2 index = block >> above;
    const bool is_there = level <= root_level() && exists(BLOCK_LEVELS, block);
    const Around around = Around(own, block, level, index, is_there, is_there && index << above == block);
    if (thread == 0) {
        split_blocks = 0;
        if (STAGE != STAGE_CANONICAL) {
            tile_blocks = 0;
        }
    }
    float importance;
    uint own_place;
    const bool is_tile = find_large(around, thread, importance, own_place);
    if (is_tile && STAGE != STAGE_CANONICAL) {
        atomicOr(tile_blocks, 1U << own);
    }
    barrier();
    if (STAGE == STAGE_COUNT) {
        if (thread < blocks && is_there && (split_blocks >> own & 1) == 0) {
            count_tiles(block, tile_blocks >> own & 1);
        }
    } else {
        if (STAGE == STAGE_ANY && thread == RESERVER && tile_blocks != 0) {
            reserve(bitCount(tile_blocks));
        }
        Node node = Node(min(level, parameters.top_level), index, importance, 0.0);
        uint sides = 0;
        if (is_tile) {
            node.threshold = kept_threshold(node.level, index);
            sides = level < parameters.top_level ? sides_of_large(node) : 0;
        }
        if (STAGE == STAGE_ANY) {
            barrier();
            own_place = place + bitCount(tile_blocks & ((1U << own) - 1));
            if (thread == RESERVER && split_blocks == 0) {
                finish(tile_blocks != 0);
            }
        }
        if (is_tile) {
            write_node(own_place, parameters.tile_capacity, layer, node, sides);
        }
    }
    [[dont_unroll]] for (uint i = 0; i < blocks; ++i) {
        if ((split_blocks >> i & 1) != 0) {
            barrier();  // the shared variables are free again
            const Block split = Block(0, min(BLOCK_LEVELS, parameters.top_level), block_index(i));
            float tile_importance;
            const uint tiles = find_small(split, thread, tile_importance);
            uint total;
            const uint before = scan(tile_count(tiles), thread, total);
            if (STAGE == STAGE_COUNT) {
                if (thread == 0) {
                    count_tiles(split.index, total);
                }
            } else {
                if (thread == RESERVER && STAGE == STAGE_ANY) {
                    reserve(total);
                }
                keep_importances(split, thread, tiles);
                lay_out(split, thread, tiles, tile_importance, before);
                barrier();
                if (thread == RESERVER && STAGE == STAGE_ANY && split_blocks >> i == 1) {
                    finish(true);
                }
                write_tiles(split, thread, total, STAGE == STAGE_ANY ? place : places[i]);
            }
        }
    }
    if (STAGE == STAGE_COUNT) {
        finish_counts(thread);
    }
}
