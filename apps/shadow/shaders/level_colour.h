// Colours of levels, in C++ and in GLSL: neighbours differ in hue, none is dark.

#ifndef QUADTILE_SHADOW_LEVEL_COLOUR_H
#define QUADTILE_SHADOW_LEVEL_COLOUR_H

#include <quadtile/language.h>

#ifdef __cplusplus
#include <cmath>
#endif

QUADTILE_NAMESPACE_BEGIN

#ifdef __cplusplus
using std::cos;
#endif

// Red, green and blue: channel 0, 1 and 2; 0 to 1.
#ifdef __cplusplus
inline
#endif
float level_channel(QUADTILE_UINT level, QUADTILE_UINT channel) {
    const float turn = float(level) * 0.381966F + float(channel) / 3.0F;  // by the golden angle
    return 0.55F + 0.45F * cos(6.2831853F * turn);
}

QUADTILE_NAMESPACE_END

#endif
