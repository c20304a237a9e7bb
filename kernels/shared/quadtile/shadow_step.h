/// \file
/// Fitted virtual shadow maps: steps of a light's map since the last frame.

#ifndef QUADTILE_SHADOW_STEP_H
#define QUADTILE_SHADOW_STEP_H

#include "shadow_request.h"
#include "shadow_types.h"

QUADTILE_NAMESPACE_BEGIN

/// How a light's map lies to that of the last frame.
struct ShadowStep {
    uint changed;  ///< 1: the light has changed, and all its slots must be drawn; else 0
    int x;         ///< texels from a column of this frame to that of the last; 0 if changed
    int y;         ///< the same for rows
};

/// Returns the column (axis 0) or row (axis 1) at which a light's map begins, in texels from a
/// place in the world that all maps of the light's direction and extent share. Lights with
/// perspective begin at 0.
QUADTILE_SHARED int shadow_origin(ShadowParameters parameters, ShadowLight light, uint axis) {
    const float texels = shadow_depth(light.clip_from_world[12 + axis]) *
                         (-0.5F * float(1U << parameters.map_levels));  // exact
    const float most = float(1U << 29);
    const bool has_origin = light.perspective == 0.0F && light.clip_from_world[15] == 1.0F &&
                            texels > -most && texels < most;
    return has_origin ? int(texels) : 0;
}

/// Returns whether the origin is exact: the map begins with a whole texel.
QUADTILE_SHARED bool shadow_has_whole_origin(ShadowParameters parameters, ShadowLight light,
                                             uint axis) {
    return shadow_depth(light.clip_from_world[12 + axis]) *
               (-0.5F * float(1U << parameters.map_levels)) ==
           float(shadow_origin(parameters, light, axis));
}

/// Returns the step of a light. Its map has stepped if its clip space is that of the last frame but
/// for a shift by whole texels. Of `last`, only `clip_from_world` and `perspective` are read.
QUADTILE_SHARED ShadowStep shadow_step(ShadowParameters parameters, ShadowLight light,
                                       ShadowLight last) {
    ShadowStep step;
    step.changed = 0;
    for (uint i = 0; i < 16; ++i) {
        const bool is_same =
            bits_from_float(light.clip_from_world[i]) == bits_from_float(last.clip_from_world[i]);
        const bool is_shifted = (i == 12 || i == 13) && light.perspective == 0.0F &&
                                shadow_has_whole_origin(parameters, light, i - 12) &&
                                shadow_has_whole_origin(parameters, last, i - 12);
        step.changed = is_same || is_shifted ? step.changed : 1;
    }
    step.x = 0;
    step.y = 0;
    if (step.changed == 0) {
        step.x = shadow_origin(parameters, light, 0) - shadow_origin(parameters, last, 0);
        step.y = shadow_origin(parameters, light, 1) - shadow_origin(parameters, last, 1);
    }
    return step;
}

/// Returns whether a texel of this frame's map lies in that of the last frame, at (x + step.x, y +
/// step.y). All do if the light has changed.
QUADTILE_SHARED bool shadow_was_inside(ShadowParameters parameters, ShadowStep step, uint x,
                                       uint y) {
    const uint extent = 1U << parameters.map_levels;
    return x + uint(step.x) < extent && y + uint(step.y) < extent;
}

/// Returns whether a node of this level of this frame's map may be a node of the last frame's map:
/// the step is a multiple of its extent.
QUADTILE_SHARED bool shadow_keeps_level(ShadowStep step, uint level) {
    return (uint(step.x | step.y) & ((1U << level) - 1)) == 0;
}

/// Returns the column (or row) of the importance image with a column (or row) of a light's map that
/// begins at `origin`. So a step moves no texel of the image.
QUADTILE_SHARED uint shadow_importance_texel(ShadowParameters parameters, int origin, uint place) {
    return (place + uint(origin)) & ((1U << parameters.map_levels) - 1);
}

/// Returns a sight on the last frame's map; not `inside` if it lies outside of it.
QUADTILE_SHARED ShadowSight shadow_last_sight(ShadowParameters parameters, ShadowSight sight,
                                              ShadowStep step) {
    const float extent = float(1U << parameters.map_levels);
    QUADTILE_PRECISE const float x = sight.x + float(step.x);
    QUADTILE_PRECISE const float y = sight.y + float(step.y);
    const bool is_inside = x >= 0.0F && y >= 0.0F && x < extent && y < extent;
    sight.inside = is_inside ? sight.inside : 0;
    sight.x = x;
    sight.y = y;
    return sight;
}

QUADTILE_NAMESPACE_END

#endif
