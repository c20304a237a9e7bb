// The camera's view of a vertex. Push constants: the camera.

layout(location = 0) in vec3 position;
layout(location = 1) in vec4 colour;

layout(push_constant) uniform Camera {
    mat4 clip_from_world;
    vec4 camera_position;
};

layout(location = 0) out vec3 from_camera;
layout(location = 1) out vec3 albedo;

void place_surface() {
    from_camera = position - camera_position.xyz;
    albedo = colour.rgb;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
