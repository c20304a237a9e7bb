// Albedo of the surface at a pixel, and the normal of its triangle, towards the camera.

layout(location = 0) in vec3 from_camera;
layout(location = 1) in vec3 albedo;

layout(location = 0) out vec4 albedo_out;
layout(location = 1) out vec4 normal_out;

void write_surface() {
    const vec3 normal = normalize(cross(dFdx(from_camera), dFdy(from_camera)));
    albedo_out = vec4(albedo, 1.0);
    normal_out = vec4(dot(normal, from_camera) > 0.0 ? -normal : normal, 0.0);
}
