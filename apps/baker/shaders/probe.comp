// Finds the nearest surfaces to probes along rays through them, ahead and behind: a list of one pixel whose centre is
// the probe, of which only the two neighbours are kept.
//
// Dispatch: (rays / 64) workgroups of 64 threads.
// Bindings: below. A ray belongs to one thread, which writes its sight.
// Memory: nothing is shared. Boxes only skip triangles that are not met, so the sights do not depend on them, nor on
// rounding in may_meet.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "triangle.glsl"

layout(local_size_x = 64) in;

layout(push_constant, std430) uniform PushConstants {
    ProbeParameters parameters;
};
layout(set = 0, binding = 0, std430) readonly buffer Triangles {
    TracedTriangle triangles[];
};
layout(set = 0, binding = 1, std430) readonly buffer Boxes {
    TriangleBox boxes[];
};
layout(set = 0, binding = 2, std430) readonly buffer Frames {
    ProjectionFrame frames[];
};
// w: depth steps ahead that count.
layout(set = 0, binding = 3, std430) readonly buffer Points {
    vec4 points[];
};
layout(set = 0, binding = 4, std430) writeonly buffer Sights {
    ProbeSight sights[];
};
layout(set = 0, binding = 5, std430) readonly buffer CoveredWords {
    CoveredWord covered_words[];
};

const vec2 ORIGIN = vec2(-0.5);  // the probe is the middle of pixel (0, 0)
const float FLOAT_ERROR = 1.0 / 1048576.0;  // 2^-20: of some sums and products, with a margin

// Nearest fragment so far.
struct Neighbour {
    float depth;  // whole steps
    uint order;   // like ListNode::order
    uint texel;
};

vec3 vector_of(float values[3]) {
    return vec3(values[0], values[1], values[2]);
}

// Returns whether the box may hold a fragment on the ray that is not beyond both neighbours.
bool may_meet(TriangleBox box, vec3 point, ProjectionFrame frame, Neighbour ahead,
              Neighbour behind) {
    const vec3 low = vector_of(box.low);
    const vec3 high = vector_of(box.high);
    const vec3 middle = 0.5 * (low + high) - point;
    const vec3 reach =
        0.5 * (high - low) + FLOAT_ERROR * (max(abs(low), abs(high)) + abs(point));
    const vec3 x = vector_of(frame.axis_x);
    const vec3 y = vector_of(frame.axis_y);
    const vec3 z = vector_of(frame.axis_z);
    const float depth = dot(z, middle);
    const float depth_reach = dot(abs(z), reach) + 2.0;  // steps, which are rounded
    // A margin of one pixel, because vertices are rounded and the probe is at the centre of a pixel.
    return abs(dot(x, middle)) <= dot(abs(x), reach) + 1.0 &&
           abs(dot(y, middle)) <= dot(abs(y), reach) + 1.0 &&
           depth - depth_reach <= ahead.depth && depth + depth_reach >= behind.depth;
}

TracedTriangle relative_to(vec3 point, uint index) {
    TracedTriangle triangle = triangles[index];
    for (uint i = 0; i < 9; i += 3) {
        precise const vec3 position =
            vec3(triangle.positions[i], triangle.positions[i + 1], triangle.positions[i + 2]) -
            point;
        triangle.positions[i] = position.x;
        triangle.positions[i + 1] = position.y;
        triangle.positions[i + 2] = position.z;
    }
    return triangle;
}

// Returns whether the centre of the pixel lies in the box around the triangle's pixels.
bool may_cover(uint index, vec3 point, ProjectionFrame frame) {
    const TracedTriangle triangle = relative_to(point, index);
    const vec2 a = projected(frame, ORIGIN, 1.0, position_of(triangle, 0));
    const vec2 b = projected(frame, ORIGIN, 1.0, position_of(triangle, 1));
    const vec2 c = projected(frame, ORIGIN, 1.0, position_of(triangle, 2));
    return all(lessThanEqual(min(a, min(b, c)), vec2(0.5))) &&
           all(greaterThanEqual(max(a, max(b, c)), vec2(0.5)));
}

void look_at(uint index, vec3 point, ProjectionFrame frame, inout Neighbour ahead,
             inout Neighbour behind) {
    const PixelTriangle triangle = pixel_triangle(relative_to(point, index), frame, ORIGIN, 1.0,
                                                  0.0, ivec2(0), ivec2(0));
    if (triangle.last.x < 0 || !covers(triangle, ivec2(0))) {
        return;
    }
    const vec2 weights = weights_at(triangle, ivec2(0));
    const float depth = floor(interpolated(triangle.depth, weights.x, weights.y) + 0.5);
    const uint order = (triangle.faces_forward ? 0 : FACES_BACK) | index;
    const uint place = light_map_texel(triangle, weights, parameters.light_map_width,
                                       parameters.light_map_height);
    const uint texel =
        number_of(place, covered_words[place / 32], parameters.covered_texels) |
        ((depth > 0.0) == triangle.faces_forward ? SEES_BACK : 0);
    if (depth > 0.0 && (depth < ahead.depth || (depth == ahead.depth && order < ahead.order))) {
        ahead = Neighbour(depth, order, texel);
    } else if (depth < 0.0 &&
               (depth > behind.depth || (depth == behind.depth && order > behind.order))) {
        behind = Neighbour(depth, order, texel);
    }
}

void main() {
    const uint ray = parameters.first_ray + gl_GlobalInvocationID.x;
    if (ray >= parameters.end_ray) {
        return;
    }
    const ProjectionFrame frame = frames[ray / parameters.points];
    const vec4 point = points[ray % parameters.points];
    Neighbour ahead = Neighbour(point.w, 0xffffffffU, NO_TEXEL);
    Neighbour behind = Neighbour(-NOWHERE, 0, NO_TEXEL);
    uint box_index = 0;
    uint next = 0;  // triangle of the box, before `end`
    uint end = 0;
    uint steps = 0;
    while ((next < end || box_index < parameters.boxes) && steps < parameters.most_steps) {
        // To the next box with triangles, then to its next triangle that may count, so that threads do the same for a
        // while.
        while (next == end && box_index < parameters.boxes && steps < parameters.most_steps) {
            const TriangleBox box = boxes[box_index];
            const bool is_met = may_meet(box, point.xyz, frame, ahead, behind);
            if (is_met && box.first_triangle != NO_NODE) {
                next = box.first_triangle;
                end = min(next + BOX_TRIANGLES, parameters.triangles);
            }
            box_index = is_met ? box_index + 1 : box.next;
            ++steps;
        }
        bool may_be_met = false;
        while (!may_be_met && next < end) {
            may_be_met = may_cover(next, point.xyz, frame);
            ++next;
            ++steps;
        }
        if (may_be_met) {
            look_at(next - 1, point.xyz, frame, ahead, behind);
            steps += 32;  // with the loops inside
        }
    }
    sights[ray] = ProbeSight(steps < parameters.most_steps ? ahead.texel : TOO_MANY_BOXES,
                             behind.texel);
}
