// The renderer's picture, pixel for pixel or magnified. With errors marked it is grey, but red near surfaces that are
// lit only here, blue near those lit only by rays; magnified, only the wrong pixels are coloured. Bindings: 0 the
// picture, 1 its marks; 2, 3 those of the other technique.
#version 460

#include "composition.glsl"
#include "marks.h"

layout(binding = 0) uniform texture2D picture;
layout(binding = 1, r32ui) uniform readonly uimage2D marks;
layout(binding = 2) uniform texture2D other_picture;
layout(binding = 3, r32ui) uniform readonly uimage2D other_marks;

layout(location = 0) out vec4 colour;

void main() {
    const vec2 shown = vec2(composition.shown_x, composition.shown_y) +
                       composition.shown_extent *
                           (gl_FragCoord.xy - vec2(composition.left, composition.top));
    const bool is_other = composition.layer == 1;
    const ivec2 last = textureSize(picture, 0) - 1;
    const ivec2 pixel = clamp(ivec2(floor(shown)), ivec2(0), last);
    colour = vec4(is_other ? texelFetch(other_picture, pixel, 0).rgb : texelFetch(picture, pixel, 0).rgb,
                  1.0);
    if (composition.marks == 1) {
        const uint mark = is_other ? imageLoad(other_marks, pixel).r : imageLoad(marks, pixel).r;
        if ((mark & MARK_SURFACE) != 0) {
            colour.rgb = vec3(0.6 * dot(colour.rgb, vec3(0.3, 0.6, 0.1)));
        }
        const bool is_shown = composition.shown_extent == 1.0 || (mark & MARK_EXACT) != 0;
        if (is_shown && (mark & MARK_LIT) != 0) {
            colour.rgb = vec3(1.0, 0.1, 0.05);
        } else if (is_shown && (mark & MARK_SHADOWED) != 0) {
            colour.rgb = vec3(0.1, 0.35, 1.0);
        }
    }
}
