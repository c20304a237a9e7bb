// Input of a frame's shaders, in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_FRAME_H
#define QUADTILE_SHADOW_FRAME_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

// DrawnLight::kind, as Light::Kind.
const uint LIGHT_SUN = 0;
const uint LIGHT_SPOT = 1;
const uint LIGHT_POINT = 2;

struct DrawnLight {
    float direction[3];  // of the light's rays, of length 1
    uint kind;
    float position[3];
    float cone_cosine;  // of half a spot's angle
    float colour[3];
    float radius;  // of shadow_disc
    uint layer;    // of the fitter, the light's first
    float range;   // at which a spot or point light ends
};

// DrawnFrame::shadow_filter, as Filter.
const uint FILTER_HARD = 0;
const uint FILTER_BOX = 1;
const uint FILTER_SOFT = 2;

struct DrawnFrame {
    float camera[3];
    float nearest;  // of the camera
    // Ray through the pixel at (x, y) of clip space: ray + x * ray_by_x + y * ray_by_y. Its length
    // along the camera's direction is 1.
    float ray[3];
    uint width;  // of the picture, pixels
    float ray_by_x[3];
    uint height;
    float ray_by_y[3];
    uint shows_tiles;  // 1: in the colours of their levels
    uint shadow_filter;
    uint light_count;
    ShadowParameters shadow;
    DrawnLight lights[SHADOW_MAX_LIGHTS];
};

QUADTILE_NAMESPACE_END

#endif
