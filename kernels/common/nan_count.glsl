// Number of NaN texels in a block, of which each thread has read 16.

shared uint nan_texels;  // 0 before

// Returns the position of texel i of a thread's 16, which may be outside the map; `first` is the argument of count_nan.
// The kernel defines this function.
uvec2 own_texel(uvec2 first, uint thread, uint i);
float texel_at(uvec2 position);

// Returns whether a node may hold NaN texels, which count as infinity.
bool may_hold_nan(float importance) { return importance == uintBitsToFloat(0x7f800000U); }

// Counts a thread's NaN texels. The few threads that have met a NaN call this, and read their texels again.
void count_nan(uvec2 first, uint thread) {
    uint count = 0;
    // Not a constant, so that drivers do not unroll the loop: code costs time even if it is not run.
    const uint step = 1 + (parameters.layers >> 31);
    [[dont_unroll]]
    for (uint i = 0; i < 16; i += step) {
        const uvec2 texel = own_texel(first, thread, i);
        if (all(lessThan(texel, extent_of(0)))) {
            count += uint(counts_as_nan(key_of(texel_at(texel))));
        }
    }
    atomicAdd(nan_texels, count);
}
