// Culls objects against slots: makes draws with instances, which are in any order. Static objects
// are drawn in the first tiles of `render` alone. Section "Culling"; twin: ShadowFitter::cull.
//
// Dispatch: workgroups of 64 threads, one per tile of max_tiles, and `lanes` per object, a power of two: many for few
// objects. Adds to the header's instances, which allocate.comp has set to 0.
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
shared uint counts[SHADOW_CULL_GROUP];     // of instances, by object of the workgroup
shared uint places_of[SHADOW_CULL_GROUP];  // among the instances, alike
shared uint all_counted;                   // by the workgroup

uint drawn_tiles() { return is_static != 0 ? header.static_count : header.render_count; }

// Counts, or writes from `place` on, those of the first `tile_count` tiles of `render` that show the object; this lane
// has each `lanes`-th. All threads call it.
uint visit_tiles(ShadowObject object, uint tile_count, bool writes, uint place) {
    const uint thread = gl_LocalInvocationIndex;
    uint visited = 0;
    uint light = SHADOW_NONE;
    ShadowBounds bounds;
    for (uint first = 0; first < tile_count; first += SHADOW_CULL_GROUP) {
        barrier();
        if (first + thread < tile_count) {
            staged_index[thread] = words[places.render + first + thread];
            staged[thread] = load_tile(staged_index[thread]);
        }
        barrier();
        const uint count = min(SHADOW_CULL_GROUP, tile_count - first);
        for (uint step = 0; step < count; step += lanes) {  // as many for all threads: LOST_THREADS (cpu_drivers.glsl)
            const uint i = min(step + thread % lanes, count - 1);
            const uint tile_light = staged[i].node >> 16;
            if (tile_light != light) {
                light = tile_light;
                bounds = shadow_bounds(parameters, frame.lights[light], object.low, object.high);
            }
            if (step + thread % lanes < count && shadow_overlaps(parameters, bounds, staged[i])) {
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
    const uint thread = gl_LocalInvocationIndex;
    if (gl_GlobalInvocationID.x < drawn_tiles()) {
        instances[gl_GlobalInvocationID.x] = words[places.render + gl_GlobalInvocationID.x];
    }
    if (gl_WorkGroupID.x * SHADOW_CULL_GROUP >= object_count * lanes) {
        return;
    }
    const uint index = gl_GlobalInvocationID.x / lanes;
    ShadowObject object = objects[min(index, object_count - 1)];
    if (index >= object_count) {
        object.low[0] = 1.0;  // an empty box
        object.high[0] = 0.0;
    }
    const uint here = thread / lanes;
    counts[thread] = 0;
    places_of[thread] = 0;
    all_counted = 0;
    barrier();
    const uint own = visit_tiles(object, drawn_tiles(), false, 0);
    const uint before = atomicAdd(counts[here], own);
    atomicAdd(all_counted, own);
    barrier();
    const uint count = counts[here];
    if (thread % lanes == 0 && count > 0) {
        places_of[here] = parameters.max_tiles + atomicAdd(header.instances, count);
    }
    barrier();
    const uint place = places_of[here];
    const bool finds_room = place + count <= instance_capacity;
    visit_tiles(object, all_counted > 0 ? drawn_tiles() : 0, own > 0 && finds_room, place + before);
    if (thread % lanes == 0 && index < object_count) {
        draws[index] = DrawIndexedIndirectCommand(object.index_count, finds_room ? count : drawn_tiles(),
                                                  object.first_index, object.vertex_offset, finds_room ? place : 0);
    }
}
