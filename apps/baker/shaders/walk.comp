// Sorts each pixel's list along the ray, and lets neighbours that face each other exchange light; the ends see the sky.
// Surfaces in one plane lie on each other: those of them that face ahead see the next surface after all of them, those
// that face back the one before. Of several in one plane the brightest is seen from either side.
//
// Panes of glass tint the light that goes through them.
//
// Dispatch: (blocks of BLOCK_PIXELS list heads, folded into x and y) workgroups of as many threads.
// Bindings: trace_bindings.glsl; reads triangles, alpha_triangles, frames, tiles, block_tiles, results, heads, nodes,
// outgoing; adds to accumulators; links nodes anew in long lists, and notes the longest in results.
// Memory: a list belongs to one thread. Sums are of whole numbers by atomics, so they do not depend on the order; the
// thread that causes a carry adds it. The host puts barriers before and behind.
// Source: Hermes et al., "Light Transport Simulation using Ray Bundles" (2010); Tokuyoshi et al.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "trace_bindings.glsl"

layout(local_size_x = BLOCK_PIXELS) in;

// What the kernel is for, as bits of WALKS_*: a CPU takes time for all code.
layout(constant_id = 0) const uint PURPOSE = 0;
const bool IS_SMOOTH = (PURPOSE & WALKS_SMOOTH) != 0;
const bool HAS_GLASS = (PURPOSE & WALKS_GLASS) != 0;
const bool IS_SOURCE = (PURPOSE & WALKS_SOURCE) != 0;

// Longest list that is sorted in registers; longer ones are sorted in place.
const uint SHORT_LIST = 24;
ListNode list[SHORT_LIST];

// Returns whether a node is before another along the ray. At one depth those that face ahead come first, as walls at
// the edge where they meet; then the order is by triangle.
bool is_before(ListNode a, ListNode b) {
    if (a.depth != b.depth) {
        return a.depth < b.depth;
    }
    return a.order < b.order;
}

// Merges runs of 1, 2, 4 ... nodes until one is left: any length, no memory. Returns the new head.
uint sort_in_place(uint head) {
    for (uint run = 1; run != 0; run <<= 1) {
        uint rest = head;
        uint tail = NO_NODE;
        head = NO_NODE;
        uint merges = 0;
        while (rest != NO_NODE) {
            ++merges;
            uint a = rest;
            uint a_left = 0;
            uint b = rest;
            while (a_left < run && b != NO_NODE) {
                ++a_left;
                b = nodes[b].next;
            }
            uint b_left = run;
            while (a_left > 0 || (b_left > 0 && b != NO_NODE)) {
                const bool has_b = b_left > 0 && b != NO_NODE;
                const bool takes_a = a_left > 0 && (!has_b || !is_before(nodes[b], nodes[a]));
                const uint taken = takes_a ? a : b;
                const uint next = nodes[taken].next;
                if (takes_a) {
                    a = next;
                    --a_left;
                } else {
                    b = next;
                    --b_left;
                }
                if (tail == NO_NODE) {
                    head = taken;
                } else {
                    nodes[tail].next = taken;
                }
                tail = taken;
            }
            rest = b;
        }
        nodes[tail].next = NO_NODE;
        if (merges <= 1) {
            break;
        }
    }
    return head;
}

// Panes that the rays of this pixel go through: a list by depth.
uint panes = NO_NODE;

// Moves panes from a list into their own. Returns the new head.
uint take_panes(uint head) {
    uint rest = NO_NODE;
    for (uint i = head; i != NO_NODE;) {
        const uint next = nodes[i].next;
        const bool is_pane = (nodes[i].order & IS_PANE) != 0;
        nodes[i].next = is_pane ? panes : rest;
        panes = is_pane ? i : panes;
        rest = is_pane ? rest : i;
        i = next;
    }
    panes = panes == NO_NODE ? NO_NODE : sort_in_place(panes);
    return rest;
}

// Returns the share of the light that goes through all panes between two depths.
vec3 tint_between(float first, float second) {
    precise vec3 tint = vec3(1.0);
    for (uint i = panes; HAS_GLASS && i != NO_NODE; i = nodes[i].next) {
        const float depth = nodes[i].depth;
        if (min(first, second) < depth && depth < max(first, second)) {
            const uint pane = nodes[i].order & TRIANGLE_NUMBER;
            tint *= vec3(alpha_triangles[pane].tint[0], alpha_triangles[pane].tint[1],
                         alpha_triangles[pane].tint[2]);
        }
    }
    return tint;
}

// Adds a value from 0 to below 2^63.
void add(uint texel, uint colour, float value) {
    const float high = floor(value * (1.0 / 4294967296.0));
    const uint low_word = uint(value - high * 4294967296.0);
    uint high_word = uint(high);
    const uint before = atomicAdd(accumulators[texel].radiance[2 * colour], low_word);
    high_word += before + low_word < before ? 1 : 0;
    if (high_word > 0) {
        atomicAdd(accumulators[texel].radiance[2 * colour + 1], high_word);
    }
}

void receive(uint texel, vec3 radiance, bool sees_back, TracedTile tile) {
    precise const vec3 scaled = radiance * tile.radiance_scale;
    precise const vec3 whole = floor(scaled + 0.5);
    for (uint colour = 0; colour < 3; ++colour) {
        if (whole[colour] > 0.0) {
            add(texel, colour, whole[colour]);
        }
    }
    const uint before = atomicAdd(accumulators[texel].weight[0], tile.weight);
    if (before + tile.weight < before) {
        atomicAdd(accumulators[texel].weight[1], 1);
    }
    if (sees_back) {
        const uint back_before = atomicAdd(accumulators[texel].back[0], tile.weight);
        if (back_before + tile.weight < back_before) {
            atomicAdd(accumulators[texel].back[1], 1);
        }
    }
}

bool looks_ahead(ListNode node) {
    return (node.order & FACES_BACK) == 0;
}

// Returns whether the back of a two-sided surface has its own light.
bool has_back(ListNode node) {
    return parameters.back_texels > 0 && (outgoing[node.texel].w & TWO_SIDED) != 0;
}

// Returns the normal of the side that looks ahead, in the form of TracedTriangle.
ivec3 normal_of(ListNode node) {
    const uint normal = triangles[node.order & TRIANGLE_NUMBER].normal;
    const ivec3 front =
        ivec3(normal_component(normal, 0), normal_component(normal, 1), normal_component(normal, 2));
    return looks_ahead(node) ? front : -front;
}

// Returns whether two fragments lie on each other, in one plane; walls at the edge where they meet do not.
bool is_one_sheet(ListNode first, ListNode second) {
    return second.depth - first.depth < SHEET_DEPTH &&
           all(lessThanEqual(abs(normal_of(first) - normal_of(second)), ivec3(SHEET_ANGLE)));
}

// Returns the light of a node as another one sees it along the ray, or from ahead of it: -1 if that sees its back.
float brightness(ListNode node, bool ahead) {
    const bool sees_front = looks_ahead(node) != ahead;
    const uvec4 bits = outgoing[node.texel + (sees_front ? 0 : parameters.back_texels)];
    const vec3 radiance = uintBitsToFloat(bits.rgb);
    precise const float sum = (radiance.r + radiance.g) + radiance.b;
    return sees_front || (bits.w & TWO_SIDED) != 0 ? sum : -1.0;
}

// Returns a tile whose rays count by the smooth normal.
TracedTile weighed(TracedTile tile, ListNode node, ProjectionFrame frame) {
    const uint normal = outgoing[node.texel].w & SMOOTH_NORMAL;
    if (normal == 0 || IS_SOURCE) {
        return tile;
    }
    const uint plane = triangles[node.order & TRIANGLE_NUMBER].normal;
    const float share = float(bent_share(
        normal_dot(normal, frame.direction[0], frame.direction[1], frame.direction[2]),
        normal_dot(plane, frame.direction[0], frame.direction[1], frame.direction[2])));
    precise const float part = share * (1.0 / float(BENT_ONE));
    precise const float weight = floor(float(tile.weight) * part + 0.5);
    precise const float radiance_scale = tile.radiance_scale * part;
    tile.weight = uint(weight);
    tile.radiance_scale = radiance_scale;
    return tile;
}

// Returns whether a node is on the rim of the light on a smooth surface. There triangles that turn away a little are
// lit like those where the light enters, because the surface itself is rounder and throws no shadow.
bool is_rim(ListNode node, ListNode entry) {
    const ivec3 normal = normal_of(node);
    return looks_ahead(node) && !looks_ahead(entry) &&
           (outgoing[node.texel].w & SMOOTH_NORMAL) != 0 &&
           (outgoing[entry.texel].w & SMOOTH_NORMAL) != 0 &&
           normal_dot(triangles[entry.order & TRIANGLE_NUMBER].normal, normal.x, normal.y, normal.z) >
               RIM_COSINE;
}

// Lets a side of a node receive the light of the node that it sees, or of the sky: also of parallel rays' sky behind
// far surfaces.
void receive_from(ListNode node, uint side, ListNode seen, bool sees_sky, bool ahead,
                  ProjectionFrame frame, TracedTile tile) {
    const uint receiver = node.texel + side * parameters.back_texels;
    sees_sky = sees_sky ||
               (frame.is_perspective == 0 && abs(seen.depth - node.depth) >= frame.range);
    const float share = ahead ? frame.share_ahead : frame.share_behind;
    const vec3 tint = tint_between(node.depth, !sees_sky ? seen.depth : ahead ? NOWHERE : -NOWHERE);
    if (sees_sky) {
        const vec3 sky = ahead ? vec3(frame.sky_ahead[0], frame.sky_ahead[1], frame.sky_ahead[2])
                               : vec3(frame.sky_behind[0], frame.sky_behind[1], frame.sky_behind[2]);
        precise const vec3 received = sky * share * tint;
        receive(receiver, received, false, tile);
    } else {
        const bool sees_front = looks_ahead(seen) != ahead;
        const uvec4 radiance = outgoing[seen.texel + (sees_front ? 0 : parameters.back_texels)];
        const bool shines = sees_front || (radiance.w & TWO_SIDED) != 0;
        precise const vec3 received =
            shines ? uintBitsToFloat(radiance.rgb) * share * tint : vec3(0.0);
        receive(receiver, received, !shines, tile);
    }
}

void walk_short(uint length, ProjectionFrame frame, TracedTile tile) {
    uint outside = length;  // `before` of that sheet
    uint before = length;   // node seen in the previous sheet, or length
    uint beyond = length;   // node seen in the next sheet, or length
    uint last = length;     // last node so far that blocks the light
    uint begin = 0;         // of the sheet
    uint end = 0;
    for (uint i = 0; i < length; ++i) {
        const ListNode node = list[i];
        if (i == end) {
            outside = before;
            before = last;
            if (!IS_SOURCE && i > begin + 1) {
                for (uint j = i - 1; j-- > begin;) {
                    before = brightness(list[j], false) > brightness(list[before], false) ? j : before;
                }
            }
            begin = i;
            do {
                ++end;
            } while (end < length && is_one_sheet(node, list[end]));
            beyond = end;
            if (!IS_SOURCE) {
                for (uint j = end + 1; j < length && is_one_sheet(list[end], list[j]); ++j) {
                    beyond = brightness(list[j], true) > brightness(list[beyond], true) ? j : beyond;
                }
            }
        }
        last = (node.order & BLOCKS_NOTHING) == 0 ? i : last;
        const TracedTile weight = IS_SMOOTH ? weighed(tile, node, frame) : tile;
        const uint sides = has_back(node) ? 2 : 1;
        for (uint side = 0; side < sides; ++side) {
            bool ahead = looks_ahead(node) == (side == 0);
            uint seen = ahead ? beyond : before;
            if (IS_SMOOTH && ahead && IS_SOURCE && before < length &&
                is_rim(node, list[before])) {
                ahead = false;
                seen = outside;
            }
            if (ahead && frame.is_perspective != 0) {
                continue;
            }
            receive_from(node, side, list[min(seen, length - 1)], seen == length, ahead, frame, weight);
        }
    }
}

void walk_long(uint head, ProjectionFrame frame, TracedTile tile) {
    uint outside = NO_NODE;
    uint before = NO_NODE;
    uint beyond = NO_NODE;
    uint last = NO_NODE;
    uint begin = head;
    uint end = head;
    for (uint index = head; index != NO_NODE; index = nodes[index].next) {
        const ListNode node = nodes[index];
        if (index == end) {
            outside = before;
            before = last;
            if (!IS_SOURCE && index != head) {
                before = begin;
                for (uint j = begin; j != index; j = nodes[j].next) {
                    before = brightness(nodes[j], false) >= brightness(nodes[before], false) ? j
                                                                                             : before;
                }
            }
            begin = index;
            do {
                end = nodes[end].next;
            } while (end != NO_NODE && is_one_sheet(node, nodes[end]));
            beyond = end;
            if (!IS_SOURCE && end != NO_NODE) {
                for (uint j = nodes[end].next; j != NO_NODE && is_one_sheet(nodes[end], nodes[j]);
                     j = nodes[j].next) {
                    beyond = brightness(nodes[j], true) > brightness(nodes[beyond], true) ? j : beyond;
                }
            }
        }
        last = (node.order & BLOCKS_NOTHING) == 0 ? index : last;
        const TracedTile weight = IS_SMOOTH ? weighed(tile, node, frame) : tile;
        const uint sides = has_back(node) ? 2 : 1;
        for (uint side = 0; side < sides; ++side) {
            bool ahead = looks_ahead(node) == (side == 0);
            uint seen = ahead ? beyond : before;
            if (IS_SMOOTH && ahead && IS_SOURCE && before != NO_NODE &&
                is_rim(node, nodes[before])) {
                ahead = false;
                seen = outside;
            }
            if (ahead && frame.is_perspective != 0) {
                continue;
            }
            receive_from(node, side, nodes[seen == NO_NODE ? index : seen], seen == NO_NODE, ahead, frame,
                         weight);
        }
    }
}

void walk(uint head, uint tile_index, TracedTile tile, ProjectionFrame frame) {
    head = HAS_GLASS ? take_panes(head) : head;
    uint length = 0;
    uint index = head;
    while (index != NO_NODE && length < SHORT_LIST) {
        const ListNode node = nodes[index];
        uint place = length;
        while (place > 0 && is_before(node, list[place - 1])) {
            list[place] = list[place - 1];
            --place;
        }
        list[place] = node;
        ++length;
        index = node.next;
    }
    if (index == NO_NODE) {
        walk_short(length, frame, tile);
    } else {
        for (; index != NO_NODE; index = nodes[index].next) {
            ++length;
        }
        atomicMax(results[tile_index].longest_list, length);
        walk_long(sort_in_place(head), frame, tile);
    }
}

void main() {
    const uint block = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (block >= parameters.blocks) {
        return;
    }
    const uint tile_index = block_tiles[block];
    const TracedTile tile = tiles[tile_index];
    const uint pixel = block * BLOCK_PIXELS + gl_LocalInvocationIndex - tile.first_head;
    if (results[tile_index].overflow == 0 && pixel < tile.width * tile.height) {
        const uint head = heads[tile.first_head + pixel];
        if (head != NO_NODE) {
            walk(head, tile_index, tile, frames[tile.frame]);
        }
    }
}
