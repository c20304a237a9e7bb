// A search in a list of tiles whose keys (shadow_key) ascend. The kernel has SEARCH_THREADS threads at most, and defines

uint searched_tiles();       // in the list
uint searched_key(uint i);   // of one of them

// Every so many-th key: a search begins in them.
shared uint sparse_keys[SEARCH_THREADS];

uint key_step() { return (searched_tiles() + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x; }

// All threads call this, before a barrier.
void load_keys() {
    const uint i = gl_LocalInvocationIndex * key_step();
    sparse_keys[gl_LocalInvocationIndex] = i < searched_tiles() ? searched_key(i) : SHADOW_NONE;
}

// Returns the last tile with this key or less; the first if there is none.
uint find_tile(uint key) {
    uint low = 0;
    uint high = gl_WorkGroupSize.x;
    for (uint step = 1; step < SEARCH_THREADS; step *= 2) {
        const uint middle = (low + high) / 2;
        const bool is_behind = sparse_keys[middle] > key;
        low = is_behind ? low : middle;
        high = is_behind ? middle : high;
    }
    low *= key_step();
    high = min(low + key_step(), searched_tiles());
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        const bool is_behind = searched_key(middle) > key;
        low = is_behind ? low : middle;
        high = is_behind ? middle : high;
    }
    return low;
}
