#version 460
#extension GL_EXT_samplerless_texture_functions : require

// Shows the renderer's picture, pixel for pixel.

layout(binding = 0) uniform texture2D picture;

layout(location = 0) out vec4 colour;

void main() {
    const ivec2 last = textureSize(picture, 0) - 1;
    colour = vec4(texelFetch(picture, min(ivec2(gl_FragCoord.xy), last), 0).rgb, 1.0);
}
