// Makes the importance map.
#version 460

#include "resources.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

void main() {
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (texel.x < scene.width && texel.y < scene.height) {
        const float importance = importance_at(scene, texel.x, texel.y);
        imageStore(importance_map, ivec3(texel, 0), vec4(importance));
    }
}
