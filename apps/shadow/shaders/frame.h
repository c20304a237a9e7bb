// Input of a frame's shaders, in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_APP_FRAME_H
#define QUADTILE_SHADOW_APP_FRAME_H

#include <quadtile/shadow.h>

QUADTILE_NAMESPACE_BEGIN

struct DrawnLight {
    float direction[3];     // of the light's rays, of length 1
    QUADTILE_UINT is_spot;  // or a point light
    float position[3];
    float cone_cosine;  // of half the angle
    float colour[3];
    float reach;               // distance at which a spot's light has halved
    QUADTILE_UINT first_view;  // of `views`
    QUADTILE_UINT view_count;
    float radius;              // of shadow_disc
    QUADTILE_UINT layer;     // of the fitter, the first
    QUADTILE_UINT is_point;  // its views are faces
};

// A shadow map in a rectangle of the atlas, for techniques other than the fitted one.
struct DrawnView {
    float clip_from_world[16];  // of a light
    float x;                    // of the rectangle, texels
    float y;
    float width;
    float height;
    float farthest;      // distance from the camera that it serves
    float texel_extent;  // in units of the world; with perspective at w = 1
};

const QUADTILE_UINT CASCADES = 4;
const QUADTILE_UINT MAX_VIEWS = CASCADES * SHADOW_MAX_LIGHTS;

// DrawnFrame::technique, filter and picture, as Technique, Filter and Picture of
// frame_settings.hpp.
const QUADTILE_UINT TECHNIQUE_FITTED = 0;
const QUADTILE_UINT TECHNIQUE_RAYS = 4;
const QUADTILE_UINT FILTER_HARD = 0;
const QUADTILE_UINT FILTER_SOFT = 2;
const QUADTILE_UINT PICTURE_TILES = 1;

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
    QUADTILE_UINT technique;
    QUADTILE_UINT picture;
    QUADTILE_UINT shadow_filter;
    QUADTILE_UINT light_count;
    QUADTILE_UINT marked_position;  // of a ShadowTile; the node SHADOW_NONE: none is marked
    QUADTILE_UINT marked_node;
    ShadowParameters shadow;
    DrawnLight lights[SHADOW_MAX_LIGHTS];
    DrawnView views[MAX_VIEWS];
};

QUADTILE_NAMESPACE_END

#endif
