#version 460

// Moves boxes: writes their corners, their bounds for culling, and the changes for shadow maps.
//
// Dispatch: workgroups of 64 threads, one thread per box.
// Bindings: 0: the boxes; 1: vertices of the scene, whose last ones are the boxes'; 2: their objects; 3: changes, 4: their
// number, to which it adds.
// Memory order: each thread has its own vertices and object; an atomic reserves places among the changes.

#extension GL_GOOGLE_include_directive : require
#include "moving_box.h"

layout(local_size_x = 64) in;

layout(push_constant) uniform Movement {
    float second;
    uint box_count;
    uint first_vertex;
};

struct Vertex {
    float position[3];
    uint colour;
};

layout(std430, binding = 0) readonly buffer Boxes { MovingBox boxes[]; };
layout(std430, binding = 1) writeonly buffer Vertices { Vertex vertices[]; };
layout(std430, binding = 2) buffer Objects { ShadowObject objects[]; };
layout(std430, binding = 3) writeonly buffer Changes { ShadowChange changes[]; };
layout(std430, binding = 4) buffer Count { uint change_count; };

ShadowChange change_of(ShadowObject object) { return ShadowChange(object.low, 0, object.high, 0); }

void main() {
    const uint index = gl_GlobalInvocationID.x;
    if (index >= box_count) {
        return;
    }
    const MovingBox box = boxes[index];
    const uint place = atomicAdd(change_count, 2);
    changes[place] = change_of(objects[index]);
    vec3 low = vec3(1e30);
    vec3 high = vec3(-1e30);
    for (uint corner = 0; corner < MOVING_BOX_CORNERS; ++corner) {
        const vec3 at = vec3(moving_corner(box, corner, 0, second), moving_corner(box, corner, 1, second),
                             moving_corner(box, corner, 2, second));
        vertices[first_vertex + MOVING_BOX_CORNERS * index + corner] =
            Vertex(float[](at.x, at.y, at.z), box.colour);
        low = min(low, at);
        high = max(high, at);
    }
    for (int axis = 0; axis < 3; ++axis) {
        objects[index].low[axis] = low[axis];
        objects[index].high[axis] = high[axis];
    }
    changes[place + 1] = change_of(objects[index]);
}
