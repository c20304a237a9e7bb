// Masks of the kernels of balanced lists (balance_marks.comp, balance_tiles.comp): of each node 9 bits for the nodes of
// its level around it, itself in the middle, that the splits in its own subtree force to be split. The mask of a node
// follows from those of its children. A node is split if one of the 3 x 3 masks around it has the bit that points at it.
// docs/kernels.md (balanced lists) has the proof.

layout(constant_id = 27) const bool CORNERS = false;  // whether nodes with a common corner are neighbours

layout(set = 0, binding = 11, std430) nonprivate buffer Balance { uint records[]; };

const uint MASK_OF_SELF = 1U << 4;

// Returns the word of the mask of a node of level BLOCK_LEVELS or above.
uint word_of_mask(uint level, uvec2 index) {
    return fused_node_index(parameters.width, parameters.height, level, index.x, index.y, layer);
}

uint word_of_importance(uint level, uvec2 index) {
    return fused_nodes(parameters.width, parameters.height, parameters.layers) + word_of_mask(level, index);
}

// Returns the first word of a block's part.
uint words_of_block(uvec2 index) {
    const uvec2 extent = extent_of(BLOCK_LEVELS);
    const uint place = (layer * extent.y + index.y) * extent.x + index.x;
    return 2 * fused_nodes(parameters.width, parameters.height, parameters.layers) + BALANCE_BLOCK_WORDS * place;
}
