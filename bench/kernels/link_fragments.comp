// Links fragments into lists of pixels, a fragment per thread: the roof of all that rasterises into lists. Neighbours
// write neighbouring nodes and exchange neighbouring heads, as the baker's kernel does; nothing is rasterised.

#version 460

layout(local_size_x = 256) in;

layout(binding = 0) buffer Heads { uint heads[]; };
layout(binding = 1) writeonly buffer Nodes { uvec4 nodes[]; };

void main() {
    const uint node = gl_GlobalInvocationID.x;
    const uint rows = heads.length() / gl_WorkGroupSize.x;
    const uint row = (gl_WorkGroupID.x * 2654435761U) % rows;  // far from that of the workgroup before
    const uint next = atomicExchange(heads[row * gl_WorkGroupSize.x + gl_LocalInvocationID.x], node + 1);
    nodes[node] = uvec4(next, row, gl_LocalInvocationID.x, node);
}
