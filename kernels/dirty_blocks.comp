#version 460
// Lists the 64 x 64 blocks that dirty rectangles touch, each once, with the arguments of downsample.comp's dispatch.
//
// Dispatch: any number of workgroups of 64 threads, which share the blocks of each rectangle in turn.
//
// Bindings, set 0:
//   0  rectangles  their number, three unused words, then the rectangles; read only
//   1  blocks      see dirty_blocks.h
//   2  state       of the downsampler: expected arrivals of blocks in each group
//
// Memory order: marks, lengths and expectations are counted by atomics, which need no order among each other. The last
// workgroup writes the header, by the hand-over of hand_over.glsl. The next dispatch reads the list after a barrier of
// the command buffer.

#include "quadtile/dirty_blocks.h"
#include "quadtile/kernel_parameters.h"
#include "hand_over.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 2) const uint EDGE_RULE = EDGE_ROUND_UP;

layout(set = 0, binding = 0, std430) readonly buffer Rectangles {
    uint rectangle_count, unused[3];
    DirtyRectangle rectangles[];
};
layout(set = 0, binding = 1, std430) nonprivate buffer Blocks { DirtyBlocksHeader header; uint words[]; };
layout(set = 0, binding = 2, std430) nonprivate buffer State { uint state[]; };
layout(push_constant) uniform Parameters { DirtyBlocksParameters parameters; };

const bool ONE_GROUP = false;
const uint GROUP_LEVELS = 0;
#include "group.glsl"

// Expects a touched block in its group, and with the group's first block the group in its own group.
void expect(uvec2 index, uint layer) {
    uint counters = parameters.layers + layer * parameters.state_words_per_layer + 1;
    uint level = BLOCK_LEVELS;
    while (level < parameters.top_level && all(lessThan(index, extent_of(level)))) {
        const Group group = group_of(level, index, counters, parameters.texel_words, parameters.texel_words);
        if (ADD_RELAXED(state[group.second], 1) != 0) {
            return;
        }
        index = group.index;
        counters = group.end;
        level += group.levels;
    }
}

void main() {
    const uvec2 grid = blocks_of(0, BLOCK_LEVELS);
    const uint blocks = grid.x * grid.y * parameters.layers;
    const uint count = min(rectangle_count, parameters.rectangle_capacity);
    for (uint i = gl_WorkGroupID.x; i < count; i += gl_NumWorkGroups.x) {
        const DirtyRectangle rectangle = rectangles[i];
        if (rectangle.layer >= parameters.layers || rectangle.x >= parameters.width ||
            rectangle.y >= parameters.height || rectangle.width == 0 || rectangle.height == 0) {
            continue;
        }
        const uvec2 corner = uvec2(rectangle.x, rectangle.y);
        const uvec2 inside = min(uvec2(rectangle.width, rectangle.height), extent_of(0) - corner);
        const uvec2 first = block_of(corner, BLOCK_LEVELS, grid);
        const uvec2 touched = block_of(corner + inside - 1, BLOCK_LEVELS, grid) - first + 1;
        for (uint n = gl_LocalInvocationIndex; n < touched.x * touched.y; n += 64) {
            const uvec2 index = first + uvec2(n % touched.x, n / touched.x);
            const uint block = (rectangle.layer * grid.y + index.y) * grid.x + index.x;
            if (atomicExchange(words[blocks + block], 1, gl_ScopeDevice, 0, 0) == 0) {
                words[ADD_RELAXED(header.listed, 1)] = block;
                expect(index, rectangle.layer);
            }
        }
    }
    order_threads();
    if (gl_LocalInvocationIndex == 0 && ARRIVE(header.finished_workgroups) + 1 == gl_NumWorkGroups.x) {
        acquire_arrivals();
        const uint listed = HANDED_OVER(header.listed);
        header = DirtyBlocksHeader(folded_x(listed, parameters.max_workgroup_count),
                                   folded_y(listed, parameters.max_workgroup_count), 1, listed, blocks, 0, 0, 0);
    }
}
