// Culls objects against slots: makes draws with instances. Those of different objects are in any order. Static objects
// are drawn in the first tiles of `render` alone. Section "Culling"; twin: ShadowFitter::cull.
//
// Dispatch: workgroups of 64 threads, one thread per object, and per tile of max_tiles. Adds to the header's instances,
// which allocate.comp has set to 0.
// Memory order: an atomic reserves places among the instances; each thread writes its own.
#version 460
#include "bindings.glsl"

layout(local_size_x = SHADOW_CULL_GROUP) in;

struct DrawIndexedIndirectCommand {
    uint index_count;
    uint instance_count;
    uint first_index;
    int vertex_offset;
    uint first_instance;
};

layout(set = 1, binding = 0, std430) readonly buffer Objects { ShadowObject objects[]; };
layout(set = 1, binding = 1, std430) writeonly buffer Draws { DrawIndexedIndirectCommand draws[]; };
layout(set = 1, binding = 2, std430) writeonly buffer Instances { uint instances[]; };

shared ShadowTile staged[SHADOW_CULL_GROUP];
shared uint staged_index[SHADOW_CULL_GROUP];

uint drawn_tiles() { return is_static != 0 ? header.static_count : header.render_count; }

// Counts, or writes from `place` on, the tiles of `render` that show the object. All threads call it.
uint visit_tiles(ShadowObject object, bool writes, uint place) {
    const uint thread = gl_LocalInvocationIndex;
    const uint render_count = drawn_tiles();
    uint visited = 0;
    uint light = SHADOW_NONE;
    ShadowBounds bounds;
    for (uint first = 0; first < render_count; first += SHADOW_CULL_GROUP) {
        barrier();
        if (first + thread < render_count) {
            staged_index[thread] = words[places.render + first + thread];
            staged[thread] = load_tile(staged_index[thread]);
        }
        barrier();
        const uint count = min(SHADOW_CULL_GROUP, render_count - first);
        for (uint i = 0; i < count; ++i) {
            const uint tile_light = staged[i].node >> 16;
            if (tile_light != light) {
                light = tile_light;
                bounds = shadow_bounds(parameters, frame.lights[light], object.low, object.high);
            }
            if (shadow_overlaps(parameters, bounds, staged[i])) {
                if (writes) {
                    instances[place + visited] = staged_index[i];
                }
                ++visited;
            }
        }
    }
    return visited;
}

void main() {
    const uint index = gl_GlobalInvocationID.x;
    if (index < drawn_tiles()) {
        instances[index] = words[places.render + index];
    }
    if (gl_WorkGroupID.x * SHADOW_CULL_GROUP >= object_count) {
        return;
    }
    ShadowObject object = objects[min(index, object_count - 1)];
    if (index >= object_count) {
        object.low[0] = 1.0;  // an empty box
        object.high[0] = 0.0;
    }
    const uint count = visit_tiles(object, false, 0);
    uint place = 0;
    if (count > 0) {
        place = parameters.max_tiles + atomicAdd(header.instances, count);
    }
    const bool finds_room = place + count <= instance_capacity;
    visit_tiles(object, count > 0 && finds_room, place);
    if (index < object_count) {
        draws[index] = DrawIndexedIndirectCommand(object.index_count, finds_room ? count : drawn_tiles(),
                                                  object.first_index, object.vertex_offset, finds_room ? place : 0);
    }
}
