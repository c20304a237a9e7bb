// Common parts of the kernels of balanced lists (balance_marks.comp, balance_tiles.comp).
//
// With O_l the nodes of level l that the ordinary list splits, the balanced list splits
//
//     S_1 = O_1,  S_l = O_l + the parents of all nodes that are in S_(l-1) or neighbours of one
//
// (neighbours by edges, or by edges and corners). Two facts make this a reduction like the maximum:
//
//   - S is the union of the nodes that each split node forces by itself, because neighbours and parents of a union are
//     the unions of neighbours and parents.
//   - The nodes that splits below a node force at its level lie within the 3 x 3 nodes around it. The neighbours of the
//     4 x 4 nodes around its children lie within 6 x 6, whose parents are those 3 x 3.
//
// So a node has a mask of 9 bits: the nodes of its level, itself in the middle, that the splits in its own subtree
// force to be split. The mask of a node follows from those of its children. A node is split if one of the 3 x 3 masks
// around it has the bit that points at it. Nodes outside the map need no care. Moving each to the nearest node inside,
// level by level, keeps neighbours neighbours (or makes them one node) and parents parents. So each force of a node
// outside on a node inside is also one of a node inside.

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
