// Shares of lights that reach a pixel (Targets::light, RayCaster::light), in C++ and in GLSL: one
// byte for each of the first four lights.

#ifndef QUADTILE_SHADOW_APP_LIGHT_H
#define QUADTILE_SHADOW_APP_LIGHT_H

#include <quadtile/language.h>

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT LIGHT_BYTES = 4;

// Returns a light's bits of the word; `part`: 0 to 1.
QUADTILE_SHARED QUADTILE_UINT light_bits(QUADTILE_UINT light, float part) {
    return light < LIGHT_BYTES ? QUADTILE_UINT(part * 255.0F + 0.5F) << (8 * light) : 0U;
}
QUADTILE_SHARED float light_of(QUADTILE_UINT word, QUADTILE_UINT light) {
    return light < LIGHT_BYTES ? float((word >> (8 * light)) & 0xffU) / 255.0F : 0.0F;
}

QUADTILE_NAMESPACE_END

#endif
