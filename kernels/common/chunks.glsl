// The pyramid and the tile list as storage buffers. One descriptor may not reach the whole, so there are four for each,
// of a chunk each, at a binding and the three after it.

#ifdef PYRAMID_BINDING
// Chunks of 2^PYRAMID_CHUNK_SHIFT floats.
layout(constant_id = 3) const uint PYRAMID_CHUNK_SHIFT = 25;
layout(constant_id = 4) const bool PYRAMID_IN_ONE_CHUNK = false;  // the cost of the choice shows in the pyramid kernel

layout(set = 0, binding = PYRAMID_BINDING, std430) buffer Pyramid0 { float pyramid_0[]; };
layout(set = 0, binding = PYRAMID_BINDING + 1, std430) buffer Pyramid1 { float pyramid_1[]; };
layout(set = 0, binding = PYRAMID_BINDING + 2, std430) buffer Pyramid2 { float pyramid_2[]; };
layout(set = 0, binding = PYRAMID_BINDING + 3, std430) buffer Pyramid3 { float pyramid_3[]; };

void write_pyramid(uint index, float importance) {
    const uint place = PYRAMID_IN_ONE_CHUNK ? index : index & ((1U << PYRAMID_CHUNK_SHIFT) - 1);
    switch (PYRAMID_IN_ONE_CHUNK ? 0 : index >> PYRAMID_CHUNK_SHIFT) {
        case 0: pyramid_0[place] = importance; break;
        case 1: pyramid_1[place] = importance; break;
        case 2: pyramid_2[place] = importance; break;
        default: pyramid_3[place] = importance;
    }
}

float read_pyramid(uint index) {
    const uint place = PYRAMID_IN_ONE_CHUNK ? index : index & ((1U << PYRAMID_CHUNK_SHIFT) - 1);
    switch (PYRAMID_IN_ONE_CHUNK ? 0 : index >> PYRAMID_CHUNK_SHIFT) {
        case 0: return pyramid_0[place];
        case 1: return pyramid_1[place];
        case 2: return pyramid_2[place];
        default: return pyramid_3[place];
    }
}
#endif

#ifdef TILES_BINDING
// Chunks of 2^TILE_CHUNK_SHIFT tiles. A view begins before its chunk by the size of the header; only the first view's
// bytes there are the header.
layout(constant_id = 20) const uint TILE_CHUNK_SHIFT = 23;
layout(constant_id = 21) const bool TILES_IN_ONE_CHUNK = false;

layout(set = 0, binding = TILES_BINDING, std430) writeonly buffer Tiles0 { TileListHeader header; Tile tiles_0[]; };
layout(set = 0, binding = TILES_BINDING + 1, std430) writeonly buffer Tiles1 { TileListHeader before_1; Tile tiles_1[]; };
layout(set = 0, binding = TILES_BINDING + 2, std430) writeonly buffer Tiles2 { TileListHeader before_2; Tile tiles_2[]; };
layout(set = 0, binding = TILES_BINDING + 3, std430) writeonly buffer Tiles3 { TileListHeader before_3; Tile tiles_3[]; };

void write_tile(uint place, Tile tile) {
    const uint index = TILES_IN_ONE_CHUNK ? place : place & ((1U << TILE_CHUNK_SHIFT) - 1);
    switch (TILES_IN_ONE_CHUNK ? 0 : place >> TILE_CHUNK_SHIFT) {
        case 0: tiles_0[index] = tile; break;
        case 1: tiles_1[index] = tile; break;
        case 2: tiles_2[index] = tile; break;
        default: tiles_3[index] = tile;
    }
}

// A node that may become a tile.
struct Node {
    uint level;
    uvec2 position;
    float importance;
    float threshold;
};

// Writes a node as a tile if its place is before `end`. `sides`: flags of the sides where its neighbour is coarser.
void write_node(uint place, uint end, uint layer, Node node, uint sides) {
    if (place < end) {
        const bool is_clamped = node.level == 0 && node.importance >= node.threshold;
        const uint flags = sides | (is_clamped ? TILE_CLAMPED : 0);
        write_tile(place, Tile(tile_position(node.position.x, node.position.y), tile_node(node.level, flags, layer),
                               node.importance, node.threshold));
    }
}

// Returns the header of a list that has room for `capacity` tiles.
TileListHeader tile_list_header(uint required, uint capacity, uint max_workgroup_count, float threshold_factor) {
    const uint written = min(required, capacity);
    return TileListHeader(written, required, required > written ? TILE_LIST_OVERFLOW : 0, capacity,
                          folded_x(written, max_workgroup_count), folded_y(written, max_workgroup_count), 1, 0, 4,
                          written, 0, 0, threshold_factor, 0, 0, 0);
}
#endif
