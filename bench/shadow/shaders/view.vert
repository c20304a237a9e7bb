#version 460

// Depths of a scene in one shadow map. Push constants: the light's clip space.

#extension GL_GOOGLE_include_directive : require
#include "../../../examples/shadow/shaders/mask_vertex.glsl"

layout(location = 0) in vec3 position;

layout(push_constant) uniform View {
    mat4 clip_from_world;
};

void main() {
    pass_mask();
    gl_Position = clip_from_world * vec4(position, 1.0);
}
