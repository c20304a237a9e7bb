// Number of NaN texels in a block, of which each thread has read four quads, one in each quarter.

shared uint nan_texels;  // 0 before

// Returns whether a node may hold NaN texels, which count as infinity.
bool may_hold_nan(float importance) { return importance == uintBitsToFloat(0x7f800000U); }

// Counts the NaN texels inside the map of a thread that has met one, from its first quad. It reads its texels again.
void count_nan(uvec2 first_quad) {
    uint count = 0;
    // Not a constant, so that drivers do not unroll the loop: code costs time even if it is not run.
    const uint step = 1 + (parameters.layers >> 31);
    [[dont_unroll]] for (uint i = 0; i < 16; i += step) {
        const uvec2 quad = first_quad + 16 * uvec2(i >> 2 & 1, i >> 3);
        const uvec2 texel = 2 * quad + uvec2(i & 1, i >> 1 & 1);
        if (all(lessThan(texel, extent_of(0)))) {
            count += uint(counts_as_nan(key_of(texel_at(texel))));
        }
    }
    atomicAdd(nan_texels, count);
}
