#version 460
// The maximum quadtree of every layer of a map, in one dispatch.
//
// Dispatch: (ceil(width / 64), ceil(height / 64), layers) workgroups of 256 threads.
//
// A workgroup reduces its block of 64 x 64 texels to one node of level 6: levels 1 and 2 from the
// texture unit and shared memory, then four levels at a time, 16 x 16 nodes to one, thread i holding
// node i in Morton order. It leaves its node in the state buffer and counts itself in; the last of
// each 16 x 16 workgroups goes on with the group's 256 nodes in the same way. So the counters
// cascade (levels 6, 10, 14), and no workgroup ever waits for another.
//
// Bindings, set 0:
//   0  map      sampler2DArray, clamped to the edge; nearest with gather, or linear with MAX
//               reduction. Clamping repeats a texel of the same block, which changes no maximum, so
//               the map's edge needs no care.
//   1  pyramid  image2DArray r32f, levels 1 to TOP side by side (quadtree.h); written only
//   2  state    see kernel_parameters.h; counters are back at 0 when the dispatch ends
//
// Memory order (Vulkan memory model). A workgroup's thread 0 writes its node, then adds to the
// counter: release and acquire at device scope, so the node is available before the count, and who
// reads the full count sees all nodes of the group. The others of that last workgroup read the nodes
// after a workgroup barrier with device memory scope, which makes visible to them what thread 0
// acquired. The counter is reset by the last one, after every addition to it.
//
// After AMD's FidelityFX Single Pass Downsampler (blocks, counter, last workgroup goes on), with
// sizes of any kind, no limit of 4096, and the order stated.

#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#extension GL_GOOGLE_include_directive : require

#include "quadtile/kernel_parameters.h"
#include "quadtile/quadtree.h"
#include "texel_key.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const bool MAX_SAMPLER = false;

layout(set = 0, binding = 0) uniform sampler2DArray map;
layout(set = 0, binding = 1, r32f) uniform writeonly image2DArray pyramid;
layout(set = 0, binding = 2, std430) nonprivate buffer State { uint state[]; };
layout(push_constant) uniform Parameters { PyramidParameters parameters; };

const uint KEY_OF_NOTHING = 0;  // the identity of the maximum

shared uint level_1_keys[32 * 32];
shared uint node_keys[256 + 64 + 16 + 4];
shared uint nan_texels;
shared bool goes_on;

uint layer;

#if SUBGROUPS
uint thread_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint thread_index() { return gl_LocalInvocationIndex; }
#endif

uint max4(uint a, uint b, uint c, uint d) { return max(max(a, b), max(c, d)); }

void store(uint level, uvec2 node, uint key) {
    const uvec2 extent = uvec2(level_extent(parameters.width, level),
                               level_extent(parameters.height, level));
    if (level <= parameters.top_level && all(lessThan(node, extent))) {
        const uvec2 offset = uvec2(level_offset_x(parameters.width, level),
                                   level_offset_y(parameters.height, level));
        imageStore(pyramid, ivec3(offset + node, layer),
                   vec4(uintBitsToFloat(bits_from_key(settle_key(key)))));
    }
}

// How many of the four texels of a quad are NaN and inside the map. `keys` in the order of a gather.
uint count_nan(uvec2 quad, uvec4 keys) {
    const uvec2 last = uvec2(parameters.width, parameters.height) - 1;
    const uvec2 texels[4] = {2 * quad + uvec2(0, 1), 2 * quad + uvec2(1, 1),
                             2 * quad + uvec2(1, 0), 2 * quad};
    uint count = 0;
    for (uint i = 0; i < 4; ++i) {
        count += uint(key_is_nan(keys[i]) && all(lessThanEqual(texels[i], last)));
    }
    return count;
}

// Key of the 2 x 2 texels of a node of level 1, by one access to the texture unit.
uint reduce_quad(uvec2 quad) {
    const vec2 size = vec2(parameters.width, parameters.height);
    const vec3 position = vec3((2.0 * vec2(quad) + 1.0) / size, layer);
    if (MAX_SAMPLER) {
        return texel_key(textureLod(map, position, 0.0).r, parameters.unorm_bits);  // formats without NaN only
    }
    const vec4 texels = textureGather(map, position, 0);
    if (parameters.unorm_bits != 0) {
        return texel_key(max(max(texels.x, texels.y), max(texels.z, texels.w)),
                         parameters.unorm_bits);
    }
    const uvec4 keys = uvec4(texel_key(texels.x, 0), texel_key(texels.y, 0),
                             texel_key(texels.z, 0), texel_key(texels.w, 0));
    const uint key = max4(keys.x, keys.y, keys.z, keys.w);
    if (key_is_nan(key)) {
        atomicAdd(nan_texels, count_nan(quad, keys));
    }
    return key;
}

// Levels 1 and 2 of a block. Thread i gets node i of the block's 16 x 16 nodes of level 2. The quads
// are dealt out row by row, so that loads and stores of a subgroup lie side by side.
uint reduce_texels(uvec2 block, uint thread) {
    for (uint part = 0; part < 4; ++part) {
        const uvec2 local = uvec2(thread & 31, (thread >> 5) + 8 * part);
        const uvec2 node = 32 * block + local;
        const uint key = reduce_quad(node);
        level_1_keys[32 * local.y + local.x] = key;
        store(1, node, key);
    }
    barrier();
    const uvec2 local = uvec2(morton_x(thread), morton_y(thread));
    const uint corner = 64 * local.y + 2 * local.x;
    const uint key = max4(level_1_keys[corner], level_1_keys[corner + 1],
                          level_1_keys[corner + 32], level_1_keys[corner + 33]);
    store(2, 16 * block + local, key);
    return key;
}

// Four levels: the 16 x 16 nodes of `level` that the threads hold become one, in thread 0.
uint reduce_nodes(uint level, uvec2 block, uint thread, uint key) {
    uint first_key = 0;  // of this step in node_keys; each step has its own words
    uint count = PYRAMID_STEP_NODES;
#if SUBGROUPS
    uint stride = 1;  // node i is in thread stride * i
    for (uint step = 1; step <= PYRAMID_STEP_LEVELS; ++step) {
        if (4 * stride > gl_SubgroupSize) {
            if (thread % stride == 0 && thread / stride < count) {
                node_keys[first_key + thread / stride] = key;
            }
            barrier();
            key = thread < count ? node_keys[first_key + thread] : KEY_OF_NOTHING;
            first_key += count;
            stride = 1;
        }
        key = max(key, subgroupShuffleXor(key, stride));
        key = max(key, subgroupShuffleXor(key, 2 * stride));
        stride *= 4;
        count /= 4;
        const uint node = thread / stride;
        if (thread % stride == 0 && node < count) {
            const uint extent_log2 = PYRAMID_STEP_LEVELS - step;
            store(level + step, (block << extent_log2) + uvec2(morton_x(node), morton_y(node)),
                  key);
        }
    }
#else
    for (uint step = 1; step <= PYRAMID_STEP_LEVELS; ++step) {
        if (thread < count) {
            node_keys[first_key + thread] = key;
        }
        barrier();
        const uint child = first_key + 4 * thread;
        first_key += count;
        count /= 4;
        if (thread < count) {
            key = max4(node_keys[child], node_keys[child + 1], node_keys[child + 2],
                       node_keys[child + 3]);
            const uint extent_log2 = PYRAMID_STEP_LEVELS - step;
            store(level + step, (block << extent_log2) + uvec2(morton_x(thread), morton_y(thread)),
                  key);
        }
    }
#endif
    return key;
}

void main() {
    const uint thread = thread_index();
    uvec2 block = gl_WorkGroupID.xy;
    layer = gl_WorkGroupID.z;

    const uint layer_state = parameters.layers + layer * parameters.state_words_per_layer;
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    uint key = reduce_texels(block, thread);
    key = reduce_nodes(PYRAMID_BLOCK_LEVEL - PYRAMID_STEP_LEVELS, block, thread, key);
    if (thread == 0 && nan_texels > 0) {
        atomicAdd(state[layer_state], nan_texels, gl_ScopeDevice, 0, 0);
    }

    uint counters = layer_state + 1;
    for (uint level = PYRAMID_BLOCK_LEVEL; level < parameters.top_level;
         level += PYRAMID_STEP_LEVELS) {
        const uvec2 extent = uvec2(level_extent(parameters.width, level),
                                   level_extent(parameters.height, level));
        const uvec2 group = block / 16;
        const uint group_index =
            group.y * level_extent(parameters.width, level + PYRAMID_STEP_LEVELS) + group.x;
        const uvec2 group_extent = min(extent - 16 * group, uvec2(16));
        const uint nodes = counters +
                           handover_groups(parameters.width, parameters.height, level) +
                           PYRAMID_STEP_NODES * group_index;
        if (thread == 0) {
            state[nodes + morton_encode(block.x % 16, block.y % 16)] = key;
            const uint arrived = atomicAdd(
                state[counters + group_index], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
            goes_on = arrived + 1 == group_extent.x * group_extent.y;
            if (goes_on) {
                state[counters + group_index] = 0;
            }
        }
        controlBarrier(
            gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
            gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
        if (!goes_on) {
            return;
        }
        const bool inside =
            all(lessThan(uvec2(morton_x(thread), morton_y(thread)), group_extent));
        key = inside ? state[nodes + thread] : KEY_OF_NOTHING;
        block = group;
        key = reduce_nodes(level, block, thread, key);
        counters += handover_words(parameters.width, parameters.height, level);
    }

    // Only the workgroup that made the root is still here, after all others have counted.
    if (thread == 0) {
        state[layer] = atomicExchange(state[layer_state], 0, gl_ScopeDevice, 0, 0);
    }
}
