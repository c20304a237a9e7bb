// Adds the light of a lamp's patch to every texel that is baked, by the share of it that the rays of one of its points
// have shown.
//
// Dispatch: a thread per texel of the lightmap, in workgroups of 8 x 8.
// Bindings: below. A covered texel belongs to one thread, which changes its sums.
// Memory: nothing is shared. The sums are whole numbers, so they do not depend on the order of points.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lamps.h"
#include "triangle.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(push_constant, std430) uniform PushConstants {
    LampParameters parameters;
};
layout(set = 0, binding = 0, std430) readonly buffer Triangles {
    LampTriangle triangles[];
};
layout(set = 0, binding = 1, std430) readonly buffer Accumulators {
    Accumulator accumulators[];
};
layout(set = 0, binding = 2, std430) readonly buffer CoveredWords {
    CoveredWord covered_words[];
};
layout(set = 0, binding = 3, std430) readonly buffer Radiance {
    uvec4 outgoing[];
};
// Centre, across and down of each texel's parallelogram.
layout(set = 0, binding = 4, std430) readonly buffer Patches {
    float patches[];
};
layout(set = 0, binding = 5, std430) readonly buffer Normals {
    float normals[];
};
// LampSums.
layout(set = 0, binding = 6, std430) buffer Irradiance {
    uvec2 irradiance[];
};
layout(set = 0, binding = 7, std430) buffer Shares {
    uvec2 shares[];
};
layout(set = 0, binding = 8, std430) buffer MomentsX {
    uvec2 moments_x[];
};
layout(set = 0, binding = 9, std430) buffer MomentsY {
    uvec2 moments_y[];
};
layout(set = 0, binding = 10, std430) buffer MomentsZ {
    uvec2 moments_z[];
};

vec3 normal_at(uint number) {
    return vec3(normals[3 * number], normals[3 * number + 1], normals[3 * number + 2]);
}

bool is_met(Accumulator light) {
    return (light.weight[0] | light.weight[1]) != 0;
}

// Returns the share of a texel's side, or that of its neighbours in its plane if no ray meets it. Negative: no ray meets
// them either.
vec3 share_at(ivec2 texel, uint number, uint side) {
    const Accumulator own = accumulators[number + side];
    if (is_met(own)) {
        return share_of(own, parameters.share_unit);
    }
    const ivec2 size = ivec2(parameters.light_map_width, parameters.light_map_height);
    const vec3 normal = normal_at(number);
    precise vec3 sum = vec3(0.0);
    float count = 0.0;
    for (int i = 0; i < 9; ++i) {
        const ivec2 at = texel + ivec2(i % 3, i / 3) - 1;
        if (i == 4 || any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, size))) {
            continue;
        }
        const uint place = uint(at.y) * parameters.light_map_width + uint(at.x);
        const uint neighbour =
            number_of(place, covered_words[place / 32], parameters.covered_texels);
        if (neighbour == parameters.covered_texels) {
            continue;
        }
        const Accumulator light = accumulators[neighbour + side];
        if (is_met(light) && product(normal, normal_at(neighbour)) > SAME_PLANE_COSINE) {
            sum = sum + share_of(light, parameters.share_unit);
            count += 1.0;
        }
    }
    precise const float root = inverse_root(count);
    precise const vec3 mean = sum * (root * root);
    return count > 0.0 ? mean : vec3(-1.0);
}

void receive(ivec2 texel, uint number, uint side, vec3 normal) {
    const uint first = 9 * number;
    const vec3 centre = vec3(patches[first], patches[first + 1], patches[first + 2]);
    const vec3 across = vec3(patches[first + 3], patches[first + 4], patches[first + 5]);
    const vec3 down = vec3(patches[first + 6], patches[first + 7], patches[first + 8]);
    if (across == vec3(0.0) && down == vec3(0.0)) {
        return;  // the texel is not baked
    }
    const float points = points_of(parameters, centre, across, down);
    precise vec3 of_points = vec3(0.0);
    for (uint i = parameters.first_triangle; i < parameters.end_triangle; ++i) {
        const LampTriangle triangle = triangles[i];
        precise float light = 0.0;
        for (float y = 0.0; y < points; ++y) {
            for (float x = 0.0; x < points; ++x) {
                const vec3 place = place_of(x, y, points, across, down);
                light = light + triangle_light(triangle, centre, place, normal);
            }
        }
        of_points = of_points + light * vector_of(triangle.radiance);
    }
    const vec3 open = mean_over(of_points, points);
    if (!(max(open.x, max(open.y, open.z)) > 0.0)) {
        return;
    }
    precise const float open_words = grey_of(open) * parameters.words;
    const uint share_place = 4 * (number + side);
    shares[share_place] = added(shares[share_place], open_words);
    const vec3 share = faces(parameters, centre) ? share_at(texel, number, side) : vec3(-1.0);
    if (share.x < 0.0) {
        return;
    }
    precise const vec3 words = (share * open) * parameters.words;
    shares[share_place + 1] = added(shares[share_place + 1], open_words);
    if (parameters.is_first_half != 0) {
        shares[share_place + 2] = added(shares[share_place + 2], grey_of(words));
        shares[share_place + 3] = added(shares[share_place + 3], open_words);
    }
    const vec3 direction = direction_to(parameters, centre);
    for (uint colour = 0; colour < 3; ++colour) {
        const uint place = 3 * (number + side) + colour;
        irradiance[place] = added(irradiance[place], words[colour]);
        if (parameters.has_moments != 0 && side == 0) {
            precise const vec3 moments = words[colour] * direction;
            moments_x[place] = added(moments_x[place], moments.x);
            moments_y[place] = added(moments_y[place], moments.y);
            moments_z[place] = added(moments_z[place], moments.z);
        }
    }
}

void main() {
    const uvec2 texel = gl_GlobalInvocationID.xy;
    if (texel.x >= parameters.light_map_width || texel.y >= parameters.light_map_height) {
        return;
    }
    const uint place = texel.y * parameters.light_map_width + texel.x;
    const uint number = number_of(place, covered_words[place / 32], parameters.covered_texels);
    if (number == parameters.covered_texels) {
        return;
    }
    const bool has_back = parameters.back_texels > 0 && (outgoing[number].w & TWO_SIDED) != 0;
    for (uint side = 0; side < (has_back ? 2 : 1); ++side) {
        receive(ivec2(texel), number, side * parameters.back_texels,
                side == 0 ? normal_at(number) : -normal_at(number));
    }
}
