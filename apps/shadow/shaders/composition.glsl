// Definitions of compose.vert and its fragment shaders.

#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

#include "composition.h"

layout(push_constant) uniform PushConstants { Composition composition; };

// Returns the place in the rectangle, 0 to 1, of a pixel of the target.
vec2 place_in_rectangle(vec2 pixel) {
    return (pixel - vec2(composition.left, composition.top)) /
           vec2(composition.width, composition.height);
}
