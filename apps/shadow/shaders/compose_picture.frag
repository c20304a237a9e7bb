// The renderer's picture, pixel for pixel; where errors are marked, in grey, but red where a surface
// is lit and not so by ray casting, blue the other way round: as the renderer's own shade.comp. Bindings: 0 the picture, 1 its mask of hard
// shadows (Pictures::mask), 2 that of ray casting.
#version 460

#include "composition.glsl"

layout(binding = 0) uniform texture2D picture;
layout(binding = 1, r32ui) uniform readonly uimage2D mask;
layout(binding = 2, r32ui) uniform readonly uimage2D reference;

layout(location = 0) out vec4 colour;

const uint SURFACE = 0x80000000u;  // of rays' masks
const uint LIGHTS = 0x0000ffffu;

void main() {
    const ivec2 pixel = ivec2(gl_FragCoord.xy - vec2(composition.left, composition.top));
    colour = vec4(texelFetch(picture, pixel, 0).rgb, 1.0);
    if (composition.marks == 1) {
        const uint has = imageLoad(mask, pixel).r;
        const uint wanted = imageLoad(reference, pixel).r;
        if ((wanted & SURFACE) != 0) {
            colour.rgb = vec3(0.6 * dot(colour.rgb, vec3(0.3, 0.6, 0.1)));
            if ((has & ~wanted & LIGHTS) != 0) {
                colour.rgb = vec3(1.0, 0.1, 0.05);
            } else if ((wanted & ~has & LIGHTS) != 0) {
                colour.rgb = vec3(0.1, 0.35, 1.0);
            }
        }
    }
}
