// What each pixel of the camera's depth buffer needs of a light's map: the maximum, scattered. EDGES: more of it
// where the last picture's lit mask has edges of shadows.
// CPU twin: scatter_importance of lib/shadow/reference/shadow_fitter.cpp.
//
// Dispatch: workgroups of 32 x 8 threads for 32 x 32 pixels, four a thread; lights as z.
// Bindings: bindings.glsl; reads the depth buffer, the frame and the lit mask; raises the importance map.
// Where a surface is near, hundreds of pixels lie in one texel, and their atomics would wait for each other. So
// a workgroup first finds the maxima of texels in shared memory: texel (x, y) has a place there that it
// shares with those 16 texels away; who comes first has it, and the others go to the map by themselves.
// Memory order: places and maps are only raised, by atomics; barriers of the workgroup lie around, a barrier of the
// command buffer comes before they are read.
// Source: docs/shadows.md; after Giegl and Wimmer, "Fitted Virtual Shadow Maps" (2007), which asks each
// pixel likewise.
#version 460
#include "bindings.glsl"

const int BLOCK = 32;         // pixels on a side
const int EDGED = BLOCK + 2;  // with a pixel around
const int GROUP_ROWS = 8;
layout(local_size_x = BLOCK, local_size_y = GROUP_ROWS) in;
const uint THREADS = BLOCK * GROUP_ROWS;

shared float depths[EDGED][EDGED];
const uint PLACES_SIDE = 16;
const uint PLACES = PLACES_SIDE * PLACES_SIDE;  // as many as threads
shared uint place_texels[PLACES];  // 1 + x + (y << 16); 0: free
shared uint place_maxima[PLACES];  // bits of floats
shared ShadowLight light_here;

float background;

#if EDGES
layout(set = 0, binding = 4) uniform usampler2D lit_mask;

// What was seen in the blocks of this workgroup's pixels and those around; then of each with those around it.
const int SEEN_BLOCKS = BLOCK / int(SHADOW_EDGE_BLOCK) + 2;
const int SEEN_QUADS = SEEN_BLOCKS * int(SHADOW_EDGE_BLOCK) / 2;
const uint INNER_BLOCKS = BLOCK / SHADOW_EDGE_BLOCK;
shared uint seen[SEEN_BLOCKS * SEEN_BLOCKS];
shared uint seen_around[INNER_BLOCKS * INNER_BLOCKS];

void look_for_edges(ivec2 first_pixel, ivec2 extent) {
    const uint thread = gl_LocalInvocationIndex;
    if (thread < SEEN_BLOCKS * SEEN_BLOCKS) {
        seen[thread] = 0;
    }
    barrier();
    for (uint i = thread; i < SEEN_QUADS * SEEN_QUADS; i += THREADS) {
        const ivec2 quad = ivec2(i % SEEN_QUADS, i / SEEN_QUADS);
        const ivec2 place = 2 * quad + (quad.yx & 1);  // of a quad's pixels one; in turns, to see lines
        const ivec2 pixel = first_pixel + place - int(SHADOW_EDGE_BLOCK);
        if (all(greaterThanEqual(pixel, ivec2(0))) && all(lessThan(pixel, extent))) {
            const uint here = texelFetch(lit_mask, pixel, 0).x;
            const ivec2 block = place / int(SHADOW_EDGE_BLOCK);
            const uint word = block.y * SEEN_BLOCKS + block.x;
            // Most threads have nothing new to tell.
            if ((here & ~atomicLoad(seen[word], gl_ScopeWorkgroup, 0, 0)) != 0) {
                atomicOr(seen[word], here);
            }
        }
    }
    barrier();
    if (thread < INNER_BLOCKS * INNER_BLOCKS) {
        uint around = 0;
        for (uint i = 0; i < 9; ++i) {
            const uvec2 block = uvec2(thread % INNER_BLOCKS + i % 3, thread / INNER_BLOCKS + i / 3);
            around |= seen[block.y * SEEN_BLOCKS + block.x];
        }
        seen_around[thread] = around;
    }
}

#endif

// Of a pixel of this workgroup's, from (-1, -1) on. Outside the picture is background.
float depth_at(ivec2 pixel) { return depths[pixel.y + 1][pixel.x + 1]; }

// The differences to the pixels beside it, where these are no background.
float depth_step(ivec2 pixel, ivec2 step) {
    const float depth = depth_at(pixel);
    const float before = depth_at(pixel - step);
    const float after = depth_at(pixel + step);
    const bool has_before = before != background;
    const bool has_after = after != background;
    if (has_before && has_after) {
        return shadow_depth_step(depth - before, after - depth);
    }
    return has_before ? depth - before : has_after ? after - depth : 0.0;
}

void begin(ivec2 first_pixel, ivec2 extent, uint light) {
    const uint thread = gl_LocalInvocationIndex;
    for (uint i = thread; i < EDGED * EDGED; i += THREADS) {
        const ivec2 place = ivec2(i % EDGED, i / EDGED);
        const ivec2 pixel = first_pixel + place - 1;
        const bool inside = all(greaterThanEqual(pixel, ivec2(0))) && all(lessThan(pixel, extent));
        depths[place.y][place.x] = inside ? shadow_depth(texelFetch(depth_buffer, pixel, 0).x) : background;
    }
    place_texels[thread] = 0;
    place_maxima[thread] = 0;
    if (thread < 12) {
        light_here.map_from_pixel[thread] = frame.lights[light].map_from_pixel[thread];
    }
    if (thread == 12) {
        light_here.facing = frame.lights[light].facing;
    }
}

void raise(ShadowRequest request, uint light) {
    const uint texel = 1 + request.x + (request.y << 16);
    const uint place = request.x % PLACES_SIDE + request.y % PLACES_SIDE * PLACES_SIDE;
    const uint bits = floatBitsToUint(request.importance);
    // Changes of one place wait for each other, loads do not: most threads come too late to change it.
    uint owner = atomicLoad(place_texels[place], gl_ScopeWorkgroup, 0, 0);
    if (owner == 0) {
        owner = atomicCompSwap(place_texels[place], 0, texel);
    }
    if (owner == 0 || owner == texel) {
        if (atomicLoad(place_maxima[place], gl_ScopeWorkgroup, 0, 0) < bits) {
            atomicMax(place_maxima[place], bits);
        }
    } else {
        imageAtomicMax(importance_map, ivec3(request.x, request.y, light), bits);
    }
}

void main() {
    background = frame.background_depth;
    const uint light = gl_WorkGroupID.z;
    const ivec2 extent = ivec2(frame.depth_width, frame.depth_height);
    const ivec2 first_pixel = ivec2(gl_WorkGroupID.xy) * BLOCK;
    begin(first_pixel, extent, light);
#if EDGES
    look_for_edges(first_pixel, extent);
#endif
    barrier();

    for (uint row = 0; row < BLOCK; row += GROUP_ROWS) {
        const ivec2 local = ivec2(gl_LocalInvocationID.xy) + ivec2(0, row);
        const ivec2 pixel = first_pixel + local;
        const float depth = depth_at(local);
        if (all(lessThan(pixel, extent)) && depth != background) {
            ShadowRequest request =
                shadow_request(parameters, light_here, pixel.x, pixel.y, depth,
                               depth_step(local, ivec2(1, 0)), depth_step(local, ivec2(0, 1)));
#if EDGES
            const uvec2 block = uvec2(local) / SHADOW_EDGE_BLOCK;
            request.importance = shadow_beside_edge(
                parameters, request.importance, seen_around[block.y * INNER_BLOCKS + block.x], light);
#endif
            if (request.inside != 0) {
                raise(request, light);
            }
        }
    }
    barrier();

    const uint thread = gl_LocalInvocationIndex;
    if (place_texels[thread] != 0) {
        const uint texel = place_texels[thread] - 1;
        imageAtomicMax(importance_map, ivec3(texel & 0xffffU, texel >> 16, light),
                       place_maxima[thread]);
    }
}
