// Shows the atlas; near surfaces are bright. Binding 6: the atlas.
#version 460

#include "composition.glsl"

layout(binding = 6) uniform texture2D atlas;

layout(location = 0) out vec4 colour;

void main() {
    const vec2 place = clamp(place_in_rectangle(gl_FragCoord.xy), 0.0, 0.99999);
    const float depth = texelFetch(atlas, ivec2(place * float(composition.extent)), 0).r;
    colour = vec4(vec3(1.0 - depth), 1.0);
}
