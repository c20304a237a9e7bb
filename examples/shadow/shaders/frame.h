// Input of a frame's shaders, in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_FRAME_H
#define QUADTILE_SHADOW_FRAME_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

// DrawnLight::kind, as Light::Kind.
const QUADTILE_UINT LIGHT_SUN = 0;
const QUADTILE_UINT LIGHT_SPOT = 1;
const QUADTILE_UINT LIGHT_POINT = 2;

struct DrawnLight {
    float direction[3];  // of the light's rays, of length 1
    QUADTILE_UINT kind;
    float position[3];
    float cone_cosine;  // of half a spot's angle
    float colour[3];
    float radius;         // of shadow_disc
    QUADTILE_UINT layer;  // of the fitter, the light's first
};

// DrawnFrame::shadow_filter, as Filter.
const QUADTILE_UINT FILTER_HARD = 0;
const QUADTILE_UINT FILTER_BOX = 1;
const QUADTILE_UINT FILTER_SOFT = 2;

struct DrawnFrame {
    float camera[3];
    float nearest;  // of the camera
    // Ray through the pixel at (x, y) of clip space: ray + x * ray_by_x + y * ray_by_y. Its length
    // along the camera's direction is 1.
    float ray[3];
    QUADTILE_UINT width;  // of the picture, pixels
    float ray_by_x[3];
    QUADTILE_UINT height;
    float ray_by_y[3];
    QUADTILE_UINT shows_tiles;  // 1: in the colours of their levels
    QUADTILE_UINT shadow_filter;
    QUADTILE_UINT light_count;
    ShadowParameters shadow;
    DrawnLight lights[SHADOW_MAX_LIGHTS];
};

QUADTILE_NAMESPACE_END

#endif
