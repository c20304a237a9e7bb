// The image of downsample.comp: its base level, the levels above, and weights of texels at the edges.
//
// Bindings, set 0:
//   0    source   base level, sampler2DArray: clamped to the edge for minima and maxima; for sums with a border of 0
//   1    state    see kernel_parameters.h; counters are 0 again when the dispatch ends
//   2    source   the same with a sampler of MAX reduction (minimum and maximum together)
//   3    tables   of the sRGB curve
//   5    images   base level and the levels above; only written
//   5-8  pyramid  instead of images, with PYRAMID: levels 1 to the top (quadtree.h), in chunks (chunks.glsl)

#extension GL_EXT_control_flow_attributes : require

#include "quadtile/kernel_parameters.h"
#include "quadtile/texel_encoding.h"
#include "hand_over.glsl"

const uint WORKGROUP_SIZE = 256;
layout(local_size_x = WORKGROUP_SIZE) in;

layout(constant_id = 15) const bool SOME_BLOCKS = false;  // whether only the blocks run that a rectangle touches
// Whether means of an image that is not a square of a power of two are made. Code costs time even if it is not run.
#if EXTREMES
const bool WEIGHTED = false;
#else
layout(constant_id = 13) const bool WEIGHTED = false;
#endif
// Whether all blocks of the base level have 64 x 64 texels, and all six levels above it are made.
layout(constant_id = 14) const bool WHOLE_BLOCKS = false;
layout(constant_id = 17) const uint GROUP_LEVELS = 5;   // most levels that are made from a group
layout(constant_id = 18) const bool ONE_GROUP = false;  // whether all blocks of a layer are one, which makes the top

layout(set = 0, binding = 0) uniform sampler2DArray source;
layout(set = 0, binding = 1, std430) nonprivate buffer State { uint state[]; };
#if CHANNELS == 2
layout(set = 0, binding = 2) uniform sampler2DArray source_maximum;
#elif CHANNELS == 4
layout(set = 0, binding = 3, std430) readonly buffer Tables { SrgbTables srgb; };
#endif
layout(push_constant) uniform Parameters { DownsampleParameters parameters; };

#include "downsample_items.glsl"

uint layer;

uvec2 extent_of(uint level) {
    return uvec2(mip_extent(parameters.width, level, EDGE_RULE), mip_extent(parameters.height, level, EDGE_RULE));
}

uvec2 blocks_of(uint level, uint levels) {
    return uvec2(blocks_along(parameters.width, level, levels, EDGE_RULE),
                 blocks_along(parameters.height, level, levels, EDGE_RULE));
}

// Returns the block, of so many, that a texel lies in.
uvec2 block_of(uvec2 texel, uint levels, uvec2 blocks) {
    return EDGE_RULE == EDGE_FOLD ? min(texel >> levels, blocks - 1) : texel >> levels;
}

uvec2 extent_of_block(uint level, uint levels, uvec2 index) {
    return uvec2(block_extent(parameters.width, level, levels, index.x, EDGE_RULE),
                 block_extent(parameters.height, level, levels, index.y, EDGE_RULE));
}

uint layer_words() { return parameters.layers + layer * parameters.state_words_per_layer; }

uvec2 words_of(uint word) { return uvec2(word & 0xffffU, word >> 16); }

// Stores a texel above the base level (put_texel), and copies one of the base level if the destination needs it.
#if PYRAMID
#define PYRAMID_BINDING 5
#include "chunks.glsl"

void put_texel(uint level, uvec2 position, float texel) {
    write_pyramid(layer * parameters.floats_per_layer + parameters.level_start[level - 1] +
                      position.y * parameters.pitch + position.x, texel);
}

void copy_texel(uvec2 position, float texel) {}

bool meets_nan = false;  // whether a quad of the thread has a NaN texel, perhaps outside the map

float texel_at(uvec2 position) { return texelFetch(source, ivec3(position, layer), 0).r; }
#else
layout(constant_id = 10) const bool COPY_SOURCE = false;

// Mip levels as storage images: image i is the level i above the base level. Devices that cannot index them at run time
// get a ladder of constant indices. If shaders have room for fewer images than there are levels, there is a window of
// the levels, and the host runs the whole dispatch again per window. So every level is made from the same values.
layout(constant_id = 9) const bool DYNAMIC_INDEXING = false;
layout(constant_id = 19) const uint MIP_IMAGES = MAX_LEVELS;  // or the most that a shader of the device can use
// Bound for devices with fewer images. EAGER_IMAGES (cpu_drivers.glsl).
const uint LARGEST_INDEX = MIP_IMAGES < MAX_LEVELS ? MIP_IMAGES - 1 : ~0U;

layout(set = 0, binding = 5) uniform writeonly image2DArray mip_images[MIP_IMAGES];

// No case names an image behind the last, because drivers also check cases that never run.
#define STORE_IN(i) case i: imageStore(mip_images[i < MIP_IMAGES ? i : 0], position, texel); break;

// `image` must be the same for all threads of a subgroup.
void store_texel(uint image, ivec3 position, vec4 texel) {
    if (MIP_IMAGES < MAX_LEVELS) {
        image -= parameters.first_image;
        if (image >= MIP_IMAGES) {  // or below the window
            return;
        }
    }
    if (DYNAMIC_INDEXING) {
        imageStore(mip_images[min(image, LARGEST_INDEX)], position, texel);
        return;
    }
    switch (image) {
        STORE_IN(0) STORE_IN(1) STORE_IN(2) STORE_IN(3) STORE_IN(4) STORE_IN(5)
        STORE_IN(6) STORE_IN(7) STORE_IN(8) STORE_IN(9) STORE_IN(10) STORE_IN(11)
        STORE_IN(12) STORE_IN(13) STORE_IN(14) STORE_IN(15) STORE_IN(16)
    }
}

void put_texel(uint level, uvec2 position, TEXEL texel) {
    store_texel(level - parameters.base_level, ivec3(position, layer), VEC4_OF(texel));
}

void copy_texel(uvec2 position, TEXEL texel) {
    if (COPY_SOURCE) {
        if (all(lessThan(position, extent_of(0)))) {
            store_texel(0, ivec3(position, layer), VEC4_OF(copy_of(texel)));
        }
    }
}
#endif

#define COUNTS_NAN PYRAMID
#include "blocks.glsl"

// ---- Weights ---------------------------------------------------------------------------------------------

// Factors that turn sums into means, per level and axis. A mean is carried as a sum over 4^level texels, also at the
// edges, where a texel covers another number of them.
shared float edge_weights[MAX_LEVELS][2];

void make_edge_weights(uint thread) {
    if (thread < 2 * MAX_LEVELS) {
        const uint level = thread / 2;
        const uint axis = thread % 2;
        const uint extent = axis == 0 ? parameters.width : parameters.height;
        edge_weights[level][axis] = mip_weight(level, mip_last_coverage(extent, level, EDGE_RULE));
    }
    barrier();
}

ITEM mean_of_sum(uint level, uvec2 position, ITEM item) {
    const uvec2 last = extent_of(level) - 1;
    if (position.x == last.x) {
        item *= edge_weights[level][0];
    }
    if (position.y == last.y) {
        item *= edge_weights[level][1];
    }
    return item;
}

ITEM sum_of_mean(uint level, uvec2 position, ITEM item) {
    const uvec2 last = extent_of(level) - 1;
    const float unit = 1.0 / float(1U << level);
    precise ITEM sum = item;  // precise: later additions must not become fused operations
    if (position.x == last.x) {
        sum *= float(mip_last_coverage(parameters.width, level, EDGE_RULE)) * unit;
    }
    if (position.y == last.y) {
        sum *= float(mip_last_coverage(parameters.height, level, EDGE_RULE)) * unit;
    }
    return sum;
}

// ---- Texels ------------------------------------------------------------------------------------------------

bool is_made(uint level, uvec2 position) {
    return level <= parameters.top_level && all(lessThan(position, extent_of(level)));
}

void put(uint level, uvec2 position, ITEM item) {
    if (WEIGHTED) {
        item = mean_of_sum(level, position, item);
    }
    put_texel(level, position, encode(item));
}

// The four texels of a quad, x first; only the first one if they are filtered.
struct Quad {
    TEXEL texels[4];
};

Quad read_quad(uvec2 position) {
    Quad quad;
    const vec2 texel_extent = vec2(parameters.base_texel_width, parameters.base_texel_height);
    const vec3 corner = vec3(vec2(2 * position + 1) * texel_extent, layer);  // between the four texels
    if (FILTERED) {
        quad.texels[0] = TEXEL_OF(textureLod(source, corner, 0.0));
#if CHANNELS == 2
        if (REDUCTION == REDUCE_MIN_MAX) {
            const vec4 maximum = textureLod(source_maximum, corner, 0.0);
            quad.texels[0].y = SOURCE_CHANNELS == 2 ? maximum.y : maximum.x;
        }
#endif
        return quad;
    }
#if CHANNELS == 4
    const ivec2 last = ivec2(extent_of(parameters.base_level)) - 1;
    for (int i = 0; i < 4; ++i) {
        const ivec2 texel = ivec2(2 * position) + ivec2(i & 1, i >> 1);
        quad.texels[i] = texelFetch(source, ivec3(min(texel, last), layer), 0);
        if (IS_SUM && any(greaterThan(texel, last))) {
            quad.texels[i] = vec4(0.0);
        }
    }
#else
    const vec4 first = textureGather(source, corner, 0).wzxy;
    const vec4 second = SOURCE_CHANNELS == 2 ? textureGather(source, corner, 1).wzxy : first;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
#if CHANNELS == 1
        quad.texels[i] = first[i];
#else
        quad.texels[i] = vec2(first[i], second[i]);
#endif
    }
#endif
    return quad;
}

ITEM reduce_quad(Quad quad, uvec2 position) {
    if (FILTERED) {
        const ITEM item = item_of(quad.texels[0]);
        return REDUCTION == REDUCE_SUM ? item * 4.0 : item;
    }
    KEY from[4];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
        copy_texel(2 * position + uvec2(i & 1, i >> 1), quad.texels[i]);
        from[i] = key_of(quad.texels[i]);
    }
    const KEY key = reduce_four(from[0], from[1], from[2], from[3]);
#if PYRAMID
    meets_nan = meets_nan || counts_as_nan(key);
#endif
    return item_of_key(key);
}
