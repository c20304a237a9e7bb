// What compose.vert and its fragment shaders share.

#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include "composition.h"

layout(push_constant) uniform PushConstants { Composition composition; };

// Of the rectangle, 0 to 1, at a pixel of the target.
vec2 place_in_rectangle(vec2 pixel) {
    return (pixel - vec2(composition.left, composition.top)) /
           vec2(composition.width, composition.height);
}
