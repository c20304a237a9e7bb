// Share of blocks of a workgroup, for fused_emit.comp and balance_tiles.comp, which are dispatched as one workgroup per
// 2^SHARE_LEVELS x 2^SHARE_LEVELS blocks (x, y) and layer (z). These blocks lie as far apart as possible, because
// blocks with small tiles are close to each other.

layout(constant_id = 26) const uint SHARE_LEVELS = 0;  // 0 to MAX_SHARE_LEVELS
const uint MAX_SHARE_LEVELS = 2;

// Returns the index of a block of the share.
uvec2 block_index(uint i) { return gl_WorkGroupID.xy + gl_NumWorkGroups.xy * morton(i); }
