// Scatters the requests of the camera's pixels to the lights' maps, as maxima: of one pixel per square of 4 x 4. Raises
// them near edges of shadows, which a lookup of the same pixels in the last frame's maps finds. Of the pixels around a
// request only those count that lie near it on the light's map (shadow_is_near). Step 1; twin: scatter_importance. After
// Giegl and Wimmer, "Fitted Virtual Shadow Maps" (2007).
//
// Dispatch: workgroups of 256 threads, one per square; those at its edges only look up, so the requests are those of 14 x
// 14 squares (SHADOW_STEPS: of 256 layers). Each workgroup handles one after another the lights that may reach its pixels,
// with all layers of a light (faces or levels): each pixel has one of them. Raises the importance map, marks requested
// texels, and writes the steps and origins of the lights' maps.
//
// Hundreds of pixels of a near surface lie in one texel, and their atomics would wait for each other. So a workgroup
// first finds maxima of texels in shared memory. Texels 16 apart share a place there: the first request takes it.
// Memory order: places and maps are only raised, by atomics.
#version 460
#include "bindings.glsl"

const int SQUARE = int(SHADOW_SQUARE);
const int BLOCK = int(SHADOW_PICTURE_BLOCK);  // pixels on a side
const int SIDE = BLOCK / SQUARE + 2;          // squares of a workgroup, with those at its edges
const uint THREADS = SIDE * SIDE;
layout(local_size_x = THREADS) in;

const uint PLACES_SIDE = 16;
const uint PLACES = PLACES_SIDE * PLACES_SIDE;  // as many as threads
shared uint place_texels[PLACES];  // 1 + x + (y << 12) + (place among the light's layers << 24); 0: free
shared uint place_maxima[PLACES];  // bits of floats
shared ShadowLight layers_here[SHADOW_MAX_LEVELS];  // of the light
shared ShadowStep steps[SHADOW_MAX_LEVELS];         // of these
shared ivec2 origins[SHADOW_MAX_LEVELS];            // of these

// Part of the work: all of it if there is one layer at most, so that there is no light to choose. Otherwise first the steps
// of all layers, by a thread each, then the requests.
layout(constant_id = 1) const uint PART = SHADOW_WHOLE;
const bool ONE_LAYER = PART == SHADOW_WHOLE;

float background;
uint layers;

uint layer_of(ivec2 pixel, float depth) {
    uint layer = 0;
    float most = layers > 1 ? shadow_claim(parameters, layers_here[0], pixel.x, pixel.y, depth) : 0.0;
    for (uint i = 1; i < layers; ++i) {
        const float claim = shadow_claim(parameters, layers_here[i], pixel.x, pixel.y, depth);
        if (claim > most) {
            layer = i;
            most = claim;
        }
    }
    return layer;
}

float depth_step(float before, float depth, float after) {
    const float to_after = after != background ? after - depth : 0.0;
    const float from_before = before != background ? depth - before : to_after;
    return shadow_depth_step(from_before, after != background ? to_after : from_before);
}

bool is_inside(ivec2 pixel, ivec2 extent) {
    return all(greaterThanEqual(pixel, ivec2(0))) && all(lessThan(pixel, extent));
}

// Returns a pixel's depth; the background outside the picture.
float fetch_depth(ivec2 pixel, ivec2 extent) {
    return is_inside(pixel, extent) ? shadow_depth(texelFetch(depth_buffer, pixel, 0).x) : background;
}

// Depth of a pixel within the picture, and its change per column and row.
struct Depths {
    float here;
    float by_column;
    float by_row;
};

Depths depths_at(ivec2 pixel, ivec2 extent) {
    const float here = fetch_depth(pixel, extent);
    return Depths(here,
                  depth_step(fetch_depth(pixel - ivec2(1, 0), extent), here, fetch_depth(pixel + ivec2(1, 0), extent)),
                  depth_step(fetch_depth(pixel - ivec2(0, 1), extent), here, fetch_depth(pixel + ivec2(0, 1), extent)));
}

// Returns the pixel that is read of a square of the picture: places alternate, to meet thin lines.
ivec2 taken_pixel(ivec2 square) { return SQUARE * square + SQUARE / 2 * (square.yx & 1); }

layout(set = 0, binding = 4) uniform sampler2D atlas;

// What each thread's pixel tells: its word, and its layer and place on the layer's map.
shared uint seen[THREADS];
shared uint seen_layers[THREADS];
shared vec2 seen_places[THREADS];

// Returns a pixel's word.
uint look_up(ShadowMapping mapping, uint light, uint layer) {
    const ShadowSight last = shadow_sight(parameters, layers_here[layer], mapping, steps[layer]);
    if (last.inside == 0 || !has_last_frame()) {
        return 0;
    }
    const uint page = imageLoad(page_table, ivec3(last.x, last.y, light + layer)).x;
    const ShadowTile tile = load_tile(shadow_page_tile(page));
    const uint column = shadow_atlas_texel(parameters, tile, last.x, tile.position & 0xffffU, tile.slot & 0xffffU);
    const uint row = shadow_atlas_texel(parameters, tile, last.y, tile.position >> 16, tile.slot >> 16);
    const float stored = texelFetch(atlas, ivec2(column, row), 0).x;
    return shadow_is_reached(parameters, last, tile, column, row, stored) ? SHADOW_LIT : SHADOW_SHADED;
}

// Joins the words of a thread's square and those around, if they are near its request.
uint words_around(ShadowMapping mapping, uint layer) {
    uint around = 0;
    [[unroll]] for (uint i = 0; i < 9; ++i) {  // a loop in a branch: LOST_THREADS (cpu_drivers.glsl)
        const uint square = gl_LocalInvocationIndex + i / 3 * SIDE + i % 3 - SIDE - 1;
        // Most words have no new bits. Squares outside the picture have none.
        if ((seen[square] & ~around) != 0 && seen_layers[square] == layer &&
            shadow_is_near(mapping, seen_places[square].x, seen_places[square].y)) {
            around |= seen[square];
        }
    }
    return around;
}

// ---- Lights

ShadowStep find_step(uint layer) {
    ShadowLight last;
    last.perspective = frame.lights[layer].perspective;
    for (uint i = 0; i < 16; ++i) {
        last.clip_from_world[i] = uintBitsToFloat(words[last_light_word(layer, i)]);
    }
    return shadow_step(parameters, frame.lights[layer], last);
}

ivec2 find_origin(uint layer) {
    return ivec2(shadow_origin(parameters, frame.lights[layer], 0), shadow_origin(parameters, frame.lights[layer], 1));
}

// Writes the step and the origin of a layer's map, for step_of and origin_of.
void write_step(uint layer) {
    const ShadowStep step = find_step(layer);
    const ivec2 origin = find_origin(layer);
    const uint found[5] = uint[](step.changed, uint(step.x), uint(step.y), uint(origin.x), uint(origin.y));
    [[unroll]] for (uint i = 0; i < 5; ++i) {
        words[last_light_word(layer, 16 + i)] = found[i];
    }
}

// Lights that may reach a pixel of the workgroup, by their first layers, in any order.
shared uint reaching[SHADOW_MAX_LIGHTS];
shared uint reaching_count;
// Least and greatest depth of the pixels that make requests, as ordered by ordered_bits.
shared uint least_depth;
shared uint greatest_depth;

// Returns a word that compares like the float.
uint ordered_bits(float value) {
    const uint bits = floatBitsToUint(value);
    return bits ^ (int(bits) < 0 ? 0xffffffffU : 0x80000000U);
}

float of_ordered_bits(uint word) { return uintBitsToFloat(word ^ (int(word) < 0 ? 0x80000000U : 0xffffffffU)); }

bool is_finite(float value) { return (floatBitsToUint(value) & 0x7f800000U) != 0x7f800000U; }

vec4 row_of(uint layer, uint row) {
    return vec4(frame.lights[layer].map_from_pixel[4 * row], frame.lights[layer].map_from_pixel[4 * row + 1],
                frame.lights[layer].map_from_pixel[4 * row + 2], frame.lights[layer].map_from_pixel[4 * row + 3]);
}

// Returns whether a * row + b * other is below `limit` at all places of a box, by more than rounding.
bool is_below(float a, vec4 row, float b, vec4 other, vec3 low, vec3 high, float limit) {
    const vec4 sum = a * row + b * other;
    const vec4 size = abs(a * row) + abs(b * other);
    const float most = dot(max(sum.xyz * low, sum.xyz * high), vec3(1.0)) + sum.w;
    const float error = 1e-5 * (dot(size.xyz * max(abs(low), abs(high)), vec3(1.0)) + size.w);
    return most + error < limit;
}

// Returns whether a light may reach a pixel of a box in the camera's view: from `low` to `high` in columns, rows and
// depths. A face of a point light that sees the whole box beyond its range tells that all pixels are: a pixel's own
// face has a greater w.
bool may_reach(uint light, vec3 low, vec3 high) {
    const vec4 w = row_of(light, 3);
    const float extent = float(1U << parameters.map_levels);
    const uint last_face = min(max(frame.lights[light].layers, 1), SHADOW_FACES) - 1;
    bool is_beyond = false;  // the range
    [[unroll]] for (uint i = 0; i < SHADOW_FACES; ++i) {
        const vec4 w_of_face = row_of(light + min(i, last_face), 3);
        is_beyond = is_below(-1.0, w_of_face, 0.0, w, low, high, -frame.lights[light].range) || is_beyond;
    }
    bool is_beside = is_below(1.0, w, 0.0, w, low, high, 0.0);  // the view of a light with one layer
    [[unroll]] for (uint axis = 0; axis < 2; ++axis) {
        const vec4 place = row_of(light, axis);
        is_beside = is_below(1.0, place, 0.0, w, low, high, 0.0) ||
                    is_below(-1.0, place, extent, w, low, high, 0.0) || is_beside;
    }
    return frame.lights[light].perspective == 0.0 || !(is_beyond || (is_beside && last_face == 0));
}

// Finds the lights that may reach the workgroup's pixels. `requests`: whether the thread's pixel makes requests.
void find_reaching(ivec2 first_pixel, bool requests, float depth) {
    const uint thread = gl_LocalInvocationIndex;
    const bool is_only = frame.layers > 0 && frame.layers == frame.lights[0].layers;  // it reaches most pixels
    if (thread == 0) {
        reaching_count = is_only ? 1 : 0;
        reaching[0] = 0;
        least_depth = 0xffffffffU;
        greatest_depth = 0;
    }
    barrier();
    if (is_only) {
        return;
    }
    if (requests) {
        const uint bits = ordered_bits(depth);
        // Most threads come too late to change these.
        if (bits < atomicLoad(least_depth, gl_ScopeWorkgroup, 0, 0)) {
            atomicMin(least_depth, bits);
        }
        if (bits > atomicLoad(greatest_depth, gl_ScopeWorkgroup, 0, 0)) {
            atomicMax(greatest_depth, bits);
        }
    }
    barrier();
    const vec3 low = vec3(vec2(first_pixel), of_ordered_bits(least_depth));
    const vec3 high = vec3(vec2(first_pixel + BLOCK), of_ordered_bits(greatest_depth));
    // One thread per layer, without loops in branches: LOST_THREADS (cpu_drivers.glsl).
    const uint light = min(thread, max(frame.layers, 1) - 1);
    const bool reaches = may_reach(light, low, high);
    if (reaches && thread < frame.layers && frame.lights[light].layers > 0 &&
        least_depth <= greatest_depth) {
        reaching[atomicAdd(reaching_count, 1)] = light;
    }
    barrier();
}

void begin(uint light) {
    const uint thread = gl_LocalInvocationIndex;
    place_texels[thread] = 0;
    place_maxima[thread] = 0;
    layers = ONE_LAYER ? 1 : frame.lights[light].layers;
    if (thread < layers) {
        layers_here[thread] = frame.lights[light + thread];
        steps[thread] = ONE_LAYER ? find_step(0) : step_of(light + thread);
        origins[thread] = ONE_LAYER ? find_origin(0) : origin_of(light + thread);
    }
}

// Raises a texel of the map, and marks it as requested.
void raise_texel(uvec2 texel, uint light, uint layer, uint bits) {
    const bool is_new = !shadow_was_inside(parameters, steps[layer], texel.x, texel.y);
    imageAtomicMax(importance_map, importance_place(texel, origins[layer], light + layer),
                   bits | (is_new ? IS_NEW : 0));
    const uint place = morton_encode(texel.x, texel.y);
    const uint word = block_word((light + layer) * light_blocks() + (place >> (2 * block_levels()))) + BLOCK_ASKED;
    const uint bit = 1U << (place % (1U << (2 * block_levels())) / 64);
    if ((HANDED_OVER(words[word]) & bit) == 0) {  // most are marked already
        atomicOr(words[word], bit);
    }
}

void raise(uvec2 at, uint light, uint layer, uint bits) {
    const uint texel = 1 + at.x + (at.y << 12) + (layer << 24);
    const uint place = at.x % PLACES_SIDE + at.y % PLACES_SIDE * PLACES_SIDE;
    // Atomics on one place wait for each other, loads do not. Most threads come too late to change it.
    uint owner = atomicLoad(place_texels[place], gl_ScopeWorkgroup, 0, 0);
    if (owner == 0) {
        owner = atomicCompSwap(place_texels[place], 0, texel);
    }
    if (owner == 0 || owner == texel) {
        if (atomicLoad(place_maxima[place], gl_ScopeWorkgroup, 0, 0) < bits) {
            atomicMax(place_maxima[place], bits);
        }
    } else {
        raise_texel(at, light, layer, bits);
    }
}

void main() {
    background = frame.background_depth;
    const uint thread = gl_LocalInvocationIndex;
    if (PART != SHADOW_REQUESTS && gl_WorkGroupID.y == 0 && gl_GlobalInvocationID.x < max(frame.layers, 1)) {
        write_step(gl_GlobalInvocationID.x);
    }
    if (PART == SHADOW_STEPS) {
        return;
    }
    const ivec2 extent = ivec2(frame.depth_width, frame.depth_height);
    const ivec2 first_pixel = ivec2(gl_WorkGroupID.xy) * BLOCK;
    const ivec2 place = ivec2(thread % SIDE, thread / SIDE);
    const ivec2 pixel = taken_pixel(first_pixel / SQUARE + place - 1);
    const Depths depths = depths_at(pixel, extent);
    const bool is_surface = is_inside(pixel, extent) && depths.here != background;
    const bool requests = is_surface && all(greaterThan(place, ivec2(0))) && all(lessThan(place, ivec2(SIDE - 1)));
    if (!ONE_LAYER) {
        find_reaching(first_pixel, requests && is_finite(depths.here), depths.here);
    }

    const uint count = ONE_LAYER ? frame.lights[0].layers : reaching_count;
    for (uint i = 0; i < count; ++i) {
        const uint light = ONE_LAYER ? 0 : reaching[i];
        begin(light);
        barrier();
        const uint layer = layer_of(pixel, depths.here);
        const ShadowMapping mapping =
            shadow_mapping(parameters, layers_here[layer], pixel.x, pixel.y, depths.here, depths.by_column,
                           depths.by_row);
        seen[thread] = is_surface ? look_up(mapping, light, layer) : 0;
        seen_layers[thread] = layer;
        seen_places[thread] = vec2(mapping.at[0], mapping.at[1]);
        barrier();
        if (requests && mapping.inside != 0) {
            const float request = shadow_request(parameters, layers_here[layer], mapping);
            raise(uvec2(mapping.at[0], mapping.at[1]), light, layer,
                  floatBitsToUint(shadow_beside_edge(request, words_around(mapping, layer))));
        }
        barrier();
        if (place_texels[thread] != 0) {
            const uint texel = place_texels[thread] - 1;
            raise_texel(uvec2(texel & 0xfffU, texel >> 12 & 0xfffU), light, texel >> 24, place_maxima[thread]);
        }
        if (!ONE_LAYER) {
            barrier();
        }
    }
}
