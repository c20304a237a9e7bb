#version 460
// The indirect arguments of a pass of per_level.comp, from the length of its list.
//
// Dispatch: one workgroup of one thread.
//
// Bindings, set 0: 1  state. Memory order: barriers of the command buffer before and after.
//
// After Tokuyoshi, "An Implementation of Adaptive Tile Subdivision on the GPU", program 2.

#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
#include "quadtile/kernel_parameters.h"

layout(local_size_x = 1) in;

layout(set = 0, binding = 1, std430) buffer State {
    SubdivisionState state;
    uint nodes[];
};
layout(push_constant) uniform Parameters { SubdivisionParameters parameters; };

void main() {
    // At least one workgroup: the last pass must run to complete the header.
    const uint workgroups = max(workgroups_for(state.passes[parameters.pass].node_count, 1), 1);
    state.passes[parameters.pass].dispatch_x =
        folded_x(workgroups, parameters.max_workgroup_count);
    state.passes[parameters.pass].dispatch_y =
        folded_y(workgroups, parameters.max_workgroup_count);
    state.passes[parameters.pass].dispatch_z = 1;
}
