// Casts shadow rays: finds the lights that reach the point of each pixel of a depth buffer, and the visible share of
// lights with an extent.
//
// Dispatch: (width / 8, height / 8) workgroups of 8 x 8 threads, rounded up: one thread per pixel.
// Bindings: 0: the frame; 1: nodes, 2: triangles, of the hierarchy; 3: depth, 4: normals; 5: the mask, 6:
// the light, which are written.
// Memory order: all that is read was written before; each texel that is written has one thread.
// Source: the hierarchy without a stack is that of Smits, "Efficiency Issues for Ray Tracing" (1998): any
// triangle that is met ends a ray, so the order of the children does not matter much.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include "light.h"
#include "rays.h"

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, std430) readonly buffer FrameBuffer { RayFrame frame; };
layout(binding = 1, std430) readonly buffer NodeBuffer { RayNode nodes[]; };
layout(binding = 2, std430) readonly buffer TriangleBuffer { RayTriangle triangles[]; };
layout(binding = 3) uniform texture2D depth_map;
layout(binding = 4) uniform texture2D normal_map;
layout(binding = 5, r32ui) uniform writeonly uimage2D mask;
layout(binding = 6, r32ui) uniform writeonly uimage2D light_image;

// A ray misses a box if it leaves one slab before it enters another one. Boxes are wider than their contents by more
// than rounding loses here.
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

// Returns the light as seen from a place of its disc: number i of a pattern that differs from pixel to pixel.
MaskLight light_at(MaskLight light, float radius, MaskVector origin, uint i, uvec2 pixel) {
    const float noise =
        fract(52.9829189 * fract(dot(vec2(pixel), vec2(0.06711056, 0.00583715))));
    const float angle = 2.3999632 * float(i) + 6.2831853 * noise;
    const float distance = radius * sqrt((float(i) + 0.5) / float(frame.samples));
    const MaskVector way = mask_way(light, origin);
    const vec3 forward = normalize(vec3(way.x, way.y, way.z));
    const vec3 axis = abs(forward.x) < 0.7 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    const vec3 side = normalize(cross(forward, axis));
    const vec3 offset = distance * (cos(angle) * side + sin(angle) * cross(forward, side));
    for (int k = 0; k < 3; ++k) {
        light.towards[k] += offset[k];
    }
    return light;
}

// Returns the share of a light's disc that reaches a point.
float part_of(uint i, MaskVector point, MaskVector normal, MaskVector origin, uvec2 pixel) {
    const MaskLight light = frame.lights[i];
    uint lit = 0;
    for (uint sample_index = 0; sample_index < frame.samples; ++sample_index) {
        const MaskLight seen = light_at(light, frame.radii[i], origin, sample_index, pixel);
        lit += mask_may_light(light, point, normal) && !is_shadowed(ray_to_light(seen, origin)) ? 1 : 0;
    }
    return float(lit) / float(frame.samples);
}

uint reached(uvec2 pixel, float depth, out uint light_word) {
    const vec3 n = texelFetch(normal_map, ivec2(pixel), 0).xyz;
    const MaskVector normal = mask_vector(n.x, n.y, n.z);
    const MaskVector point = ray_surface_point(frame.camera, pixel.x, pixel.y, depth);
    const MaskVector origin = ray_origin(frame.camera, point, normal);
    uint lights = 0;
    light_word = 0;
    for (uint i = 0; i < frame.light_count; ++i) {
        const MaskLight light = frame.lights[i];
        if (mask_may_light(light, point, normal) && !is_shadowed(ray_to_light(light, origin))) {
            lights |= 1u << i;
        }
        const float part = frame.samples > 1 && i < LIGHT_BYTES
                               ? part_of(i, point, normal, origin, pixel)
                               : float(lights >> i & 1u);
        light_word |= light_bits(i, part);
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
    uint light_word = 0;
    imageStore(mask, ivec2(pixel), uvec4(is_surface ? reached(pixel, depth, light_word) : 0u));
    imageStore(light_image, ivec2(pixel), uvec4(light_word));
}
