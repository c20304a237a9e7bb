/// \file
/// Lookup of shadows in the maps of ShadowFitter (quadtile/shadow.hpp), in GLSL 4.60 of any stage.
///
/// Before it includes this file, the shader enables GL_GOOGLE_include_directive and defines:
///
///     SHADOW_SET         the descriptor set of these bindings
///     SHADOW_BINDING     the first of four bindings:
///       + 0  storage buffer: the ShadowFrame at Requirements::frame_offset_bytes
///       + 1  storage buffer: the tiles at Requirements::tiles_offset_bytes
///       + 2  combined image sampler: the page table, all layers, of usage SAMPLED, in layout
///            GENERAL; any sampler
///       + 3  combined image sampler: the atlas, a depth image or R32_SFLOAT, in its layout for
///            reading; a sampler without filtering, clamped to the edge
///     SHADOW_PARAMETERS  an expression of type ShadowParameters: those of shadow_parameters, from
///                        push constants or a buffer; if the same shader declares that, it includes
///                        quadtile/shadow.h before
///
/// Before: the results of ShadowFitter::record, and the atlas, visible to SHADER_READ in the
/// shader's stage. The atlas has depths from 0 near the light to 1 far, drawn with the crop
/// matrices and without depth bias. Needs no extensions, derivatives or uniform control flow.

#ifndef QUADTILE_SHADOW_LOOKUP_GLSL
#define QUADTILE_SHADOW_LOOKUP_GLSL

#if !defined(SHADOW_SET) || !defined(SHADOW_BINDING) || !defined(SHADOW_PARAMETERS)
#error "quadtile/shadow_lookup.glsl: define SHADOW_SET, SHADOW_BINDING and SHADOW_PARAMETERS as its head says"
#endif

#include "shadow.h"

layout(std430, set = SHADOW_SET, binding = SHADOW_BINDING) readonly buffer ShadowFrameBuffer {
    ShadowFrame shadow_frame;
};
layout(std430, set = SHADOW_SET, binding = SHADOW_BINDING + 1) readonly buffer ShadowTileBuffer {
    ShadowTile shadow_tiles[];
};
layout(set = SHADOW_SET, binding = SHADOW_BINDING + 2) uniform usampler2DArray shadow_page_table;
layout(set = SHADOW_SET, binding = SHADOW_BINDING + 3) uniform sampler2D shadow_atlas;

// ---- Bias

/// Bias along the receiving plane's normal, in shadow texels, for the error of vertices that are
/// snapped to a grid. A lower one brings false shadows into corners, a higher one light under edges.
const float SHADOW_LIFT_TEXELS = 0.5;
/// Bias towards the light, in units of depth: some units in the last place of a depth.
const float SHADOW_LIFT_DEPTH = 5e-7;
/// Least cosine between a plane's normal and the light; steeper planes count as of this slope.
const float SHADOW_LEAST_COSINE = 1.0 / 64.0;

// ---- Planes

/// Plane of a surface that receives shadows, in a light's clip space after the division by w, where
/// it is a plane, too. So its depth is known at each compared texel, and it does not shadow itself.
struct ShadowPlane {
    vec3 point;   ///< of the surface: x and y, from -1 to 1 in the map; depth
    float w;      ///< in clip coordinates; not positive behind the light
    vec2 slope;   ///< change of depth with x and y
    float lift;   ///< change of depth at the same x and y, by a unit of the world along the normal
};

/// Returns the plane through a position in the world; `normal`: the geometry's, of length 1.
ShadowPlane shadow_plane(mat4 clip_from_world, vec3 position, vec3 normal) {
    const vec4 clip = clip_from_world * vec4(position, 1.0);
    const vec3 point = clip.xyz / clip.w;
    const vec3 axis = abs(normal.x) < 0.7 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    const vec3 tangent = normalize(cross(normal, axis));

    // Motion of the point with the position: along two tangents and the normal.
    const mat3x4 directions =
        clip_from_world * mat3x4(vec4(tangent, 0.0), vec4(cross(normal, tangent), 0.0), vec4(normal, 0.0));
    const vec3 a = (directions[0].xyz - point * directions[0].w) / clip.w;
    const vec3 b = (directions[1].xyz - point * directions[1].w) / clip.w;
    const vec3 up = (directions[2].xyz - point * directions[2].w) / clip.w;

    const float area = a.x * b.y - a.y * b.x;
    const float least = 0.5 * SHADOW_LEAST_COSINE * (dot(a.xy, a.xy) + dot(b.xy, b.xy));
    const float divisor = area < 0.0 ? min(area, -least) : max(area, least);

    const vec2 slope = vec2(a.z * b.y - b.z * a.y, b.z * a.x - a.z * b.x) / divisor;
    return ShadowPlane(point, clip.w, slope, -abs(up.z - dot(slope, up.xy)));
}

// ---- Points

/// Place in the atlas, and the depth to compare there.
struct ShadowPoint {
    bool is_inside;      ///< of the map; if false, only `outside` is valid
    float outside;       ///< light outside the map: 1 for a sun, else 0
    uint tile;           ///< index in the list
    uint level;          ///< of the tile
    vec2 texel;          ///< place in the atlas: 0.5 is the centre of the first texel
    float depth;         ///< of the receiver, with bias
    vec2 slope;          ///< change of depth per texel
    float texel_extent;  ///< of a texel of the atlas, in units of the world
};

/// Applies the bias to a plane, and converts it to texels of the atlas. `texels` is their number
/// per unit of x and y of the plane's clip space; `texel` is the place of the plane's point.
ShadowPoint shadow_point_of_plane(ShadowPlane plane, vec2 texels, vec2 texel, float texel_extent) {
    const float depth =
        clamp(plane.point.z, 0.0, 1.0) + plane.lift * (SHADOW_LIFT_TEXELS * texel_extent) - SHADOW_LIFT_DEPTH;
    return ShadowPoint(true, 0.0, SHADOW_NONE, 0, texel, depth, plane.slope / texels, texel_extent);
}

/// Returns a layer's matrix.
mat4 shadow_clip_from_world(uint light) {
    mat4 matrix;
    for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
            matrix[column][row] = shadow_frame.lights[light].clip_from_world[4 * column + row];
        }
    }
    return matrix;
}

/// Returns the layer of a light that has a position of the world, by the rules of shadow_claim: of
/// a point light the face in front of which it lies, of a sun the finest sun level that sees it.
uint shadow_layer(uint light, vec3 position) {
    const uint layers = shadow_frame.lights[light].layers;
    uint layer = light;
    float most = 0.0;
    for (uint i = 0; i < layers && layers > 1; ++i) {
        const vec4 clip = shadow_clip_from_world(light + i) * vec4(position, 1.0);
        const float inside = max(abs(clip.x), abs(clip.y)) <= clip.w ? 1.0 : 0.0;
        const float claim = shadow_frame.lights[light].perspective > 0.0 ? clip.w : inside;
        layer = claim > most ? light + i : layer;
        most = max(claim, most);
    }
    return layer;
}

/// Returns the place in the atlas of a plane's shadow; it is in the clip space of layer `light`.
ShadowPoint shadow_point(uint light, ShadowPlane plane) {
    // Of several faces only the first has a number of layers other than 0.
    const bool is_face = shadow_frame.lights[light].layers != 1 && shadow_frame.lights[light].perspective > 0.0;
    const float perspective = shadow_frame.lights[light].perspective;
    ShadowPoint point;
    point.is_inside = false;
    point.outside = 1.0 - perspective;
    const bool is_before = plane.w > 0.0 && (perspective == 0.0 || plane.point.z >= 0.0);
    // Every direction from a point light is in a face; rounding may put it just beyond the edge.
    if (!is_before || (!is_face && any(greaterThan(abs(plane.point.xy), vec2(1.0))))) {
        return point;
    }

    const float map_extent = float(1U << SHADOW_PARAMETERS.map_levels);
    const float atlas_extent = float(1U << SHADOW_PARAMETERS.atlas_levels);
    const ivec2 map_texel = clamp(ivec2((plane.point.xy * 0.5 + 0.5) * map_extent), ivec2(0),
                                  ivec2(int(map_extent) - 1));
    const uint page = texelFetch(shadow_page_table, ivec3(map_texel, int(light)), 0).x;
    const ShadowTile tile = shadow_tiles[shadow_page_tile(page)];

    // Limited to the core, since the crop is rounded differently here.
    const vec2 slot = vec2(tile.slot & 0xffffU, tile.slot >> 16);
    const float gutter = float(SHADOW_PARAMETERS.gutter);
    const float slot_extent = float(shadow_slot_extent(SHADOW_PARAMETERS.tile_extent, tile.state & 0xffU));
    const float texels = 0.5 * tile.crop_scale * atlas_extent;
    const vec2 crop = vec2(tile.crop_x, tile.crop_y);
    const vec2 texel = (tile.crop_scale * plane.point.xy + crop) * (0.5 * atlas_extent) + 0.5 * atlas_extent;
    const float map_texel_extent = shadow_frame.lights[light].texel_extent * mix(1.0, plane.w, perspective);

    point = shadow_point_of_plane(plane, vec2(texels), clamp(texel, slot + gutter, slot + slot_extent - gutter),
                                  map_texel_extent * map_extent / (2.0 * texels));
    if (is_face) {  // taps of wide filters beyond the edge read the texels at it
        point.depth += dot(point.slope, point.texel - texel);
    }
    point.tile = shadow_page_tile(page);
    point.level = shadow_page_level(page);
    return point;
}

/// Returns the place in the atlas of a position's shadow; `light` is the light's first layer.
/// `normal`: the geometry's, of length 1; interpolated normals and normal maps cause acne.
ShadowPoint shadow_point(uint light, vec3 position, vec3 normal) {
    const uint layer = shadow_layer(light, position);
    return shadow_point(layer, shadow_plane(shadow_clip_from_world(layer), position, normal));
}

// ---- Light

/// Returns a point's depth at another place in the atlas.
float shadow_depth_at(ShadowPoint point, vec2 texel) { return point.depth + dot(point.slope, texel - point.texel); }

/// Compares a point with the four texels around a corner of texels, in the order of a gather (left below, right below,
/// right above, left above). Returns the sum of those that the light reaches, weighted by column (`low`, `high`: x) and
/// by row (y, from above).
float shadow_compared(ShadowPoint point, vec2 corner, vec2 low, vec2 high, vec2 atlas_extent) {
    const vec4 stored = textureGather(shadow_atlas, corner / atlas_extent);
    const vec4 depths = shadow_depth_at(point, corner) + 0.5 * (point.slope.x * vec4(-1.0, 1.0, 1.0, -1.0) +
                                                                point.slope.y * vec4(1.0, 1.0, -1.0, -1.0));
    return dot(vec4(lessThanEqual(depths, stored)),
               vec4(low.x * high.y, high.x * high.y, high.x * low.y, low.x * low.y));
}

/// Returns 1 if the light reaches a point by the nearest texel of the atlas, else 0.
float shadow_nearest(ShadowPoint point) {
    if (!point.is_inside) {
        return point.outside;
    }
    const ivec2 nearest = ivec2(floor(point.texel));
    return shadow_depth_at(point, vec2(nearest) + 0.5) <= texelFetch(shadow_atlas, nearest, 0).x ? 1.0 : 0.0;
}

/// Returns the share of light that reaches a point, 0 to 1: the mean of 3 x 3 bilinear comparisons.
/// Reads two texels to each side, so ShadowOptions::gutter is 2 or more.
float shadow_filtered(ShadowPoint point) {
    if (!point.is_inside) {
        return point.outside;
    }
    const vec2 atlas_extent = vec2(textureSize(shadow_atlas, 0));
    const vec2 base = floor(point.texel - 0.5);
    const vec2 f = point.texel - 0.5 - base;
    float light = 0.0;
    for (int i = 0; i < 4; ++i) {
        const vec2 part = vec2(i & 1, i >> 1);
        light += shadow_compared(point, base + 2.0 * part, mix(1.0 - f, vec2(1.0), part), mix(vec2(1.0), f, part),
                                 atlas_extent);
    }
    return light / 9.0;
}

#endif
