#version 460

// Depths of a scene in one shadow map. Push constants: the light's clip space.

layout(location = 0) in vec3 position;

layout(push_constant) uniform View {
    mat4 clip_from_world;
};

void main() {
    gl_Position = clip_from_world * vec4(position, 1.0);
}
