// Index of a thread in its workgroup. SUBGROUPS: subgroups are full, and their threads are in this order.

#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
uint thread_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint thread_index() { return gl_LocalInvocationIndex; }
#endif
