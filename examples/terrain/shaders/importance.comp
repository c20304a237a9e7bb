// Makes the importance map: the error in pixels of a patch of the finest tiles that has only every
// second vertex. Doubling the steps doubles the error, as Threshold::max_resolution assumes.
//
// Dispatch: a workgroup per texel, an invocation for each of its squares.
#version 460

#include "resources.glsl"

layout(local_size_x = PATCH, local_size_y = PATCH) in;

shared uint roughness_bits;  // bits of non-negative floats, which compare as integers
shared uint highest_bits;

void main() {
    if (gl_LocalInvocationIndex == 0) {
        roughness_bits = 0;
        highest_bits = 0;
    }
    barrier();
    const ivec2 place = ivec2(gl_GlobalInvocationID.xy);
    const float here = height_at(place);
    const vec2 bend = abs(vec2(height_at(place - ivec2(1, 0)) + height_at(place + ivec2(1, 0)),
                               height_at(place - ivec2(0, 1)) + height_at(place + ivec2(0, 1))) / 2.0 - here);
    atomicMax(roughness_bits, floatBitsToUint(max(bend.x, bend.y)));
    atomicMax(highest_bits, floatBitsToUint(max(here, 0.0)));
    barrier();
    if (gl_LocalInvocationIndex != 0) {
        return;
    }
    const vec3 centre = vec3((vec2(gl_WorkGroupID.xy) + 0.5) * float(PATCH), uintBitsToFloat(highest_bits));
    const float radius = float(PATCH);
    const vec3 from_eye = centre - view.eye;
    // Planes through the eye and the picture's sides. Patches outside need no vertices.
    const float depth = dot(from_eye, view.forward);
    const float reach_x = (depth + radius * 4.0) / view.scale_x * 1.1 + radius * 4.0;
    const float reach_y = (depth + radius * 4.0) / view.scale_y * 1.1 + radius * 4.0;
    const bool is_seen = depth > -radius * 4.0 && abs(dot(from_eye, view.right)) < reach_x &&
                         abs(dot(from_eye, view.down)) < reach_y;
    const float distance = max(length(from_eye) - radius, 1.0);
    const float pixels = uintBitsToFloat(roughness_bits) * view.pixels_per_unit / distance;
    imageStore(importance_map, ivec3(gl_WorkGroupID.xy, 0), vec4(is_seen ? pixels : 0.0));
}
