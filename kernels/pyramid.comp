#version 460
// The maximum quadtree of every layer of a map, in one dispatch.
//
// Dispatch: (ceil(width / 64), ceil(height / 64), layers) workgroups of 256 threads.
//
// A workgroup reduces its block of 64 x 64 texels to one node of level 6: levels 1 and 2 from the
// texture unit and shared memory, then four levels from 16 x 16 nodes to one, thread i holding node i
// in Morton order. It leaves its node in the state buffer and counts itself in; the last of a group of
// 64 x 64 workgroups goes on with the group's nodes in the same way. So the counters cascade (levels 6
// and 12), and no workgroup ever waits for another.
//
// Bindings, set 0:
//   0    map      sampler2DArray, clamped to the edge; nearest with gather, or linear with MAX
//                 reduction. Clamping repeats a texel of the same block, which changes no maximum,
//                 so the map's edge needs no care.
//   1    state    see kernel_parameters.h; counters are back at 0 when the dispatch ends
//   2-5  pyramid  levels 1 to TOP (quadtree.h), in chunks (pyramid_chunks.glsl); written only
//
// Memory order (Vulkan memory model). A workgroup's thread 0 writes its node, then adds to the
// counter, a release at device scope: the node is written before the count. The workgroup that finds
// the count full acquires: its thread 0 at device scope, and a workgroup barrier orders its other
// threads behind that. Nodes are written and read by atomics at device scope, which need order only,
// no availability or visibility operation. That is why they are atomics: a MakeVisible at device scope
// anywhere in the kernel, run or not, cost a quarter of the time on the H200. The counter is reset by
// that workgroup, after every addition to it. NaN texels are added to the state by thread 0 before its
// release. All other barriers order shared memory only.
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
layout(set = 0, binding = 1, std430) nonprivate buffer State { uint state[]; };
#define PYRAMID_BINDING 2
#include "pyramid_chunks.glsl"
layout(push_constant) uniform Parameters { PyramidParameters parameters; };

const uint KEY_OF_NOTHING = 0;  // the identity of the maximum

shared uint quad_keys[32 * 32];
// Nodes of the four levels that reduce_nodes makes, one level after the other, in Morton order.
const uint NODE_LEVELS = 4;
const uint MADE_NODES = 64 + 16 + 4 + 1;
shared uint node_keys[MADE_NODES];

#if !SUBGROUPS
shared uint held_keys[256];
#endif
shared uint nan_texels;
shared bool goes_on;

uint layer;

#if SUBGROUPS
uint thread_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint thread_index() { return gl_LocalInvocationIndex; }
#endif

// First word of the layer's state: the NaN texels counted so far.
uint layer_state() { return parameters.layers + layer * parameters.state_words_per_layer; }

uint max4(uint a, uint b, uint c, uint d) { return max(max(a, b), max(c, d)); }

void store(uint level, uvec2 node, uint key) {
    const uvec2 extent = uvec2(level_extent(parameters.width, level),
                               level_extent(parameters.height, level));
    if (level <= parameters.top_level && all(lessThan(node, extent))) {
        write_pyramid(layer * parameters.floats_per_layer + parameters.level_start[level - 1] +
                          node.y * parameters.pitch + node.x,
                      uintBitsToFloat(bits_from_key(settle_key(key))));
    }
}

// The keys of a quad's four texels, in the order of a gather. Unorm texels are never NaN, so their
// maximum may stand for all four.
uvec4 texel_keys(vec4 texels) {
    if (parameters.unorm_bits != 0) {
        return uvec4(texel_key(max(max(texels.x, texels.y), max(texels.z, texels.w)),
                               parameters.unorm_bits));
    }
    return uvec4(texel_key(texels.x, 0), texel_key(texels.y, 0), texel_key(texels.z, 0),
                 texel_key(texels.w, 0));
}

// How many texels of a quad are NaN and inside the map. `keys` in the order of a gather.
uint count_nan(uvec2 quad, uvec4 keys) {
    const uvec2 last = uvec2(parameters.width, parameters.height) - 1;
    const uvec2 positions[4] = {2 * quad + uvec2(0, 1), 2 * quad + uvec2(1, 1),
                                2 * quad + uvec2(1, 0), 2 * quad};
    uint count = 0;
    for (uint i = 0; i < 4; ++i) {
        count += uint(key_is_nan(keys[i]) && all(lessThanEqual(positions[i], last)));
    }
    return count;
}

// The two levels above a block of 64 x 64 nodes of `level`: texels, or nodes that were handed over, in
// Morton order from `nodes` on in the state, `extent` of them inside the map. Thread i gets node i of
// the 16 x 16 nodes of level + 2.
//
// The quads are dealt out row by row, so that loads and stores of a subgroup lie side by side; all
// loads of a thread are under way before the first is used.
uint reduce_quads(uint level, uvec2 block, uint nodes, uvec2 extent, uint thread) {
    const uvec2 first = uvec2(thread & 31, thread >> 5);  // quad of part 0; the next is 8 rows on
    uvec4 keys[4];
    if (level == 0) {
        const vec2 texel_extent = vec2(parameters.texel_width, parameters.texel_height);
        const vec2 corner = vec2(64 * block + 2 * first + 1) * texel_extent;
        vec4 texels[4];
        for (uint part = 0; part < 4; ++part) {
            const vec3 position =
                vec3(corner.x, corner.y + 16.0 * float(part) * texel_extent.y, layer);
            texels[part] = MAX_SAMPLER ? vec4(textureLod(map, position, 0.0).r)
                                       : textureGather(map, position, 0);
        }
        for (uint part = 0; part < 4; ++part) {
            keys[part] = texel_keys(texels[part]);
        }
    } else {
        for (uint part = 0; part < 4; ++part) {
            const uvec2 quad = first + uvec2(0, 8 * part);
            const uint place = nodes + 4 * morton_encode(quad.x, quad.y);
            for (uint i = 0; i < 4; ++i) {
                const bool inside = all(lessThan(2 * quad + uvec2(i & 1, i >> 1), extent));
                keys[part][i] = inside ? atomicLoad(state[place + i], gl_ScopeDevice, 0, 0)
                                       : KEY_OF_NOTHING;
            }
        }
    }
    if (thread == 0) {
        nan_texels = 0;
    }
    barrier();
    for (uint part = 0; part < 4; ++part) {
        const uvec2 quad = first + uvec2(0, 8 * part);
        const uint key = max4(keys[part].x, keys[part].y, keys[part].z, keys[part].w);
        if (level == 0 && key_is_nan(key)) {
            atomicAdd(nan_texels, count_nan(32 * block + quad, keys[part]));
        }
        quad_keys[32 * quad.y + quad.x] = key;
        store(level + 1, 32 * block + quad, key);
    }
    barrier();
    const uvec2 local = uvec2(morton_x(thread), morton_y(thread));
    const uint corner = 64 * local.y + 2 * local.x;
    const uint key = max4(quad_keys[corner], quad_keys[corner + 1], quad_keys[corner + 32],
                          quad_keys[corner + 33]);
    store(level + 2, 16 * block + local, key);
    return key;
}

// Four levels: the 16 x 16 nodes that the threads hold become one. All made nodes are left in
// node_keys; the last is returned to thread 0. What other threads wrote there is theirs until the
// next barrier.
uint reduce_nodes(uint thread, uint key) {
    uint first = 0;    // of the level made, in node_keys
    uint count = 64;  // of its nodes
#if SUBGROUPS
    uint stride = 1;  // node i of the level below is in thread stride * i
    for (uint step = 0; step < NODE_LEVELS; ++step) {
        if (4 * stride > gl_SubgroupSize) {  // bring the nodes of that level back together
            barrier();
            key = thread < 4 * count ? node_keys[first - 4 * count + thread] : KEY_OF_NOTHING;
            stride = 1;
        }
        key = max(key, subgroupShuffleXor(key, stride));
        key = max(key, subgroupShuffleXor(key, 2 * stride));
        stride *= 4;
        const uint node = thread / stride;
        if (thread % stride == 0 && node < count) {
            node_keys[first + node] = key;
        }
        first += count;
        count /= 4;
    }
#else
    held_keys[thread] = key;
    barrier();
    for (uint step = 0; step < NODE_LEVELS; ++step) {
        if (thread < count) {
            const uint child = 4 * thread;
            key = step == 0 ? max4(held_keys[child], held_keys[child + 1], held_keys[child + 2],
                                   held_keys[child + 3])
                            : max4(node_keys[first - 4 * count + child],
                                   node_keys[first - 4 * count + child + 1],
                                   node_keys[first - 4 * count + child + 2],
                                   node_keys[first - 4 * count + child + 3]);
            node_keys[first + thread] = key;
        }
        barrier();
        first += count;
        count /= 4;
    }
#endif
    return key;
}

// Stores what reduce_nodes has left of the four levels above `level`.
void store_nodes(uint level, uvec2 block, uint thread) {
    if (thread >= MADE_NODES) {
        return;
    }
    uint first = 0;
    uint count = 64;
    uint step = 1;
    while (thread >= first + count) {
        first += count;
        count /= 4;
        ++step;
    }
    const uvec2 local = uvec2(morton_x(thread - first), morton_y(thread - first));
    store(level + step, (block << (NODE_LEVELS - step)) + local, node_keys[thread]);
}

void main() {
    const uint thread = thread_index();
    uvec2 block = gl_WorkGroupID.xy;  // of 64 x 64 texels, later of nodes of `level`
    layer = gl_WorkGroupID.z;

    uint counters = layer_state() + 1;
    uint nodes = 0;  // of the block, in the state
    uvec2 block_extent = uvec2(0);
    uint level = 0;  // that the block is of: the map's, later one that was handed over
    // The last workgroup does again what all do: other code would have to be fetched first.
    while (true) {
        uint key;
        uint nodes_level;  // of the 16 x 16 nodes that the threads hold
        if (level == 0 || parameters.top_level > level + NODE_LEVELS) {
            key = reduce_quads(level, block, nodes, block_extent, thread);
            nodes_level = level + 2;
        } else {  // there are no more than 16 x 16
            const bool inside =
                all(lessThan(uvec2(morton_x(thread), morton_y(thread)), block_extent));
            key = inside ? atomicLoad(state[nodes + thread], gl_ScopeDevice, 0, 0)
                         : KEY_OF_NOTHING;
            nodes_level = level;
        }
        key = reduce_nodes(thread, key);
        if (level == 0 && thread == 0 && nan_texels > 0) {
            atomicAdd(state[layer_state()], nan_texels, gl_ScopeDevice, 0, 0);
        }
        level += PYRAMID_STEP_LEVELS;
        if (level >= parameters.top_level) {
            barrier();
            store_nodes(nodes_level, block, thread);
            break;
        }

        // Hand over.
        const uvec2 group = block / 64;
        const uint group_index =
            group.y * level_extent(parameters.width, level + PYRAMID_STEP_LEVELS) + group.x;
        nodes = counters + handover_groups(parameters.width, parameters.height, level) +
                PYRAMID_GROUP_NODES * group_index;
        block_extent = min(uvec2(level_extent(parameters.width, level),
                                 level_extent(parameters.height, level)) -
                               64 * group,
                           uvec2(64));
        if (thread == 0) {
            atomicStore(state[nodes + morton_encode(block.x % 64, block.y % 64)], key,
                        gl_ScopeDevice, 0, 0);
            const uint arrived = atomicAdd(state[counters + group_index], 1, gl_ScopeDevice,
                                           gl_StorageSemanticsBuffer, gl_SemanticsRelease);
            goes_on = arrived + 1 == block_extent.x * block_extent.y;
        }
        barrier();
        store_nodes(nodes_level, block, thread);
        if (!goes_on) {
            return;
        }
        if (thread == 0) {
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
            state[counters + group_index] = 0;
        }
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                       gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
        counters += handover_words(parameters.width, parameters.height, level);
        block = group;
    }

    // Only the workgroup that made the root is still here, after all others have counted.
    if (thread == 0) {
        state[layer] = atomicExchange(state[layer_state()], 0, gl_ScopeDevice, 0, 0);
    }
}
