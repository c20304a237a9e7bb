// Hard shadows: which lights reach the point of each pixel of a depth buffer.
//
// Dispatch: (width / 8, height / 8) workgroups of 8 x 8 threads, rounded up: one thread a pixel.
// Bindings: 0: the frame; 1: nodes, 2: triangles, of the hierarchy; 3: depth, 4: normals, 5: the mask, which
// is written.
// Memory order: all that is read was written before; each texel of the mask has one thread.
// Source: the hierarchy without a stack is that of Smits, "Efficiency Issues for Ray Tracing" (1998): any
// triangle that is met ends a ray, so the order of the children does not matter much.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include "rays.h"

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, std430) readonly buffer FrameBuffer { RayFrame frame; };
layout(binding = 1, std430) readonly buffer NodeBuffer { RayNode nodes[]; };
layout(binding = 2, std430) readonly buffer TriangleBuffer { RayTriangle triangles[]; };
layout(binding = 3) uniform texture2D depth_map;
layout(binding = 4) uniform texture2D normal_map;
layout(binding = 5, r32ui) uniform writeonly uimage2D mask;

// A box is missed where the ray is behind one side before it is past another one. Boxes are wider than
// what is in them by more than is lost here by rounding.
bool crosses(RayNode node, vec3 origin, vec3 inverse, float farthest) {
    const vec3 a = (vec3(node.low[0], node.low[1], node.low[2]) - origin) * inverse;
    const vec3 b = (vec3(node.high[0], node.high[1], node.high[2]) - origin) * inverse;
    const vec3 entry = min(a, b);
    const vec3 leave = max(a, b);
    return max(max(entry.x, entry.y), max(entry.z, 0.0)) <=
           min(min(leave.x, leave.y), min(leave.z, farthest));
}

bool meets_leaf(Ray ray, uint leaf) {
    const uint first = leaf / RAY_LEAF_TRIANGLES;
    const uint count = leaf % RAY_LEAF_TRIANGLES + 1;
    bool is_met = false;
    for (uint i = 0; i < count && !is_met; ++i) {
        is_met = ray_meets(ray, triangles[first + i]);
    }
    return is_met;
}

// Directions along an axis have components of 0; of a box's two sides one is then far ahead and one far
// behind, or both are on one side.
float inverted(float component) {
    const float least = 1e-20;
    return 1.0 / (abs(component) < least ? least : component);
}

bool is_shadowed(Ray ray) {
    const vec3 origin = vec3(ray.origin.x, ray.origin.y, ray.origin.z);
    const vec3 inverse =
        vec3(inverted(ray.direction.x), inverted(ray.direction.y), inverted(ray.direction.z));
    const uint end = nodes[0].next;
    bool is_met = false;
    for (uint i = 0; i < end && !is_met;) {
        const RayNode node = nodes[i];
        const bool is_crossed = crosses(node, origin, inverse, ray.farthest);
        if (is_crossed && node.leaf != RAY_INNER_NODE) {
            is_met = meets_leaf(ray, node.leaf);
        }
        i = is_crossed ? i + 1 : node.next;
    }
    return is_met;
}

uint reached(uvec2 pixel, float depth) {
    const vec3 n = texelFetch(normal_map, ivec2(pixel), 0).xyz;
    const MaskVector normal = mask_vector(n.x, n.y, n.z);
    const MaskVector point = ray_surface_point(frame.camera, pixel.x, pixel.y, depth);
    const MaskVector origin = ray_origin(frame.camera, point, normal);
    uint lights = 0;
    for (uint i = 0; i < frame.light_count; ++i) {
        const MaskLight light = frame.lights[i];
        if (mask_may_light(light, point, normal) && !is_shadowed(ray_to_light(light, origin))) {
            lights |= 1u << i;
        }
    }
    return MASK_SURFACE | lights;
}

void main() {
    const uvec2 pixel = gl_GlobalInvocationID.xy;
    if (pixel.x >= frame.camera.width || pixel.y >= frame.camera.height) {
        return;
    }
    const float depth = texelFetch(depth_map, ivec2(pixel), 0).x;
    const bool is_surface = depth != frame.camera.background_depth;
    imageStore(mask, ivec2(pixel), uvec4(is_surface ? reached(pixel, depth) : 0u));
}
