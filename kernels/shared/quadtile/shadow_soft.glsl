/// \file
/// Soft shadows in the maps of ShadowFitter (quadtile/shadow.hpp), in GLSL 4.60 of any stage: light
/// of a source with an extent, by a filter as wide as the penumbra.
///
/// The shader includes quadtile/shadow_lookup.glsl before, whose conditions hold here, too.
///
/// A *blocker* at depth d in front of a surface at depth D shadows a disc of radius k (D - d)
/// around the surface's place in the map; at the disc's edge half of the light remains. k follows
/// from the light's size. SHADOW_SOFT_SEARCH texels around the place, denser near it, yield the
/// blockers whose discs reach it. The mean of their radii is the radius of the filter of
/// SHADOW_SOFT_TAPS bilinear comparisons; without a blocker the result is that of shadow_filtered.
///
/// Each texel is found through the page table, so search and filter cross borders of tiles. Beyond
/// the edge of a point light's face the filter reads the texels at the edge; beyond a sun level it
/// reads light. Needs ShadowOptions::gutter 2.
/// Source: Fernando, "Percentage-Closer Soft Shadows" (2005).

#ifndef QUADTILE_SHADOW_SOFT_GLSL
#define QUADTILE_SHADOW_SOFT_GLSL

#ifndef QUADTILE_SHADOW_LOOKUP_GLSL
#error "quadtile/shadow_soft.glsl: include quadtile/shadow_lookup.glsl before"
#endif

const int SHADOW_SOFT_SEARCH = 16;           ///< texels of the search for blockers
const int SHADOW_SOFT_TAPS = 32;             ///< comparisons of the filter; fewer are noisier
const float SHADOW_SOFT_LARGEST = 0.125;     ///< largest radius of both: a share of half the map
const float SHADOW_SOFT_LEAST_TEXELS = 1.5;  ///< least radius of the filter, in texels of the tile

/// Disc of a light, for shadow_soft.
struct ShadowDisc {
    vec2 scale;    ///< clip units per unit of length across the light, at w = 1
    float spread;  ///< such units per unit of depth between blocker and surface
};

/// Returns the disc of a light with this matrix. `radius`: for a sun, the tangent of the angular
/// radius of its disc (the real sun: 0.0047); else the radius of the source in units of the world.
ShadowDisc shadow_disc(mat4 clip_from_world, float radius) {
    const mat4 rows = transpose(clip_from_world);
    ShadowDisc disc;
    disc.scale = vec2(length(rows[0].xyz), length(rows[1].xyz));
    const float perspective = dot(rows[3].xyz, rows[3].xyz);
    if (perspective == 0.0) {
        disc.spread = radius / length(rows[2].xyz);
    } else {  // depth = a + b / w
        const float a = dot(rows[2].xyz, rows[3].xyz) / perspective;
        disc.spread = radius / abs(rows[2].w - a * rows[3].w);
    }
    return disc;
}

/// Returns the rotation of a pixel's pattern, in radians. Neighbours get different ones, so that
/// few texels cause fine noise instead of bands. `pixel`: gl_FragCoord.xy, or the like.
float shadow_soft_turn(vec2 pixel) {
    return 6.2831853 * fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

/// Returns the point of a pattern's place i, at a distance from a plane's point along the plane.
ShadowPoint shadow_soft_point(uint light, ShadowDisc disc, ShadowPlane plane, int i, float distance, float turn) {
    const float angle = float(i) * 2.3999632 + turn;  // the golden angle
    const vec2 offset = disc.scale * distance * vec2(cos(angle), sin(angle));
    plane.point += vec3(offset, dot(plane.slope, offset));
    return shadow_point(light, plane);
}

/// Returns the share of light at a point, 0 to 1, by a bilinear comparison. Reads one texel to each
/// side.
float shadow_bilinear(ShadowPoint point) {
    if (!point.is_inside) {
        return point.outside;
    }
    const vec2 corner = floor(point.texel - 0.5) + 1.0;
    const vec2 high = point.texel + 0.5 - corner;
    return shadow_compared(point, corner, 1.0 - high, high, vec2(textureSize(shadow_atlas, 0)));
}

/// Returns the radius of the penumbra at a point of a plane, in units of ShadowDisc::scale;
/// negative if no blocker is found. `widest`: radius of the search.
float shadow_penumbra(uint light, ShadowDisc disc, ShadowPlane plane, float widest, float turn) {
    float sum = 0.0;
    float blockers = 0.0;
    for (int i = 0; i < SHADOW_SOFT_SEARCH; ++i) {
        const float share = (float(i) + 0.5) / float(SHADOW_SOFT_SEARCH);
        const float distance = widest * share * share;
        const ShadowPoint point = shadow_soft_point(light, disc, plane, i, distance, turn);
        if (!point.is_inside) {
            continue;
        }
        const ivec2 nearest = ivec2(floor(point.texel));
        const float stored = texelFetch(shadow_atlas, nearest, 0).x;
        const float depth = shadow_depth_at(point, vec2(nearest) + 0.5);
        const float radius = disc.spread * (plane.point.z - stored);
        if (depth > stored && distance <= radius + point.texel_extent / plane.w) {
            sum += max(radius, 0.0);
            blockers += 1.0;
        }
    }
    return blockers > 0.0 ? sum / blockers : -1.0;
}

/// Returns the share of a disc's light that reaches a plane, 0 to 1. `light`: the layer whose clip
/// space the plane is in (shadow_layer). `turn`: shadow_soft_turn of the pixel, or 0.
float shadow_soft(uint light, ShadowDisc disc, ShadowPlane plane, float turn) {
    const ShadowPoint point = shadow_point(light, plane);
    if (!point.is_inside) {
        return point.outside;
    }
    const float least = SHADOW_SOFT_LEAST_TEXELS * point.texel_extent / plane.w;
    const float largest = SHADOW_SOFT_LARGEST / max(disc.scale.x, disc.scale.y);
    const float widest = clamp(disc.spread * plane.point.z, least, max(least, largest));
    const float penumbra = shadow_penumbra(light, disc, plane, widest, turn);
    if (penumbra < 0.0) {
        return shadow_filtered(point);
    }
    const float radius = clamp(penumbra, least, widest);
    float sum = 0.0;
    for (int i = 0; i < SHADOW_SOFT_TAPS; ++i) {
        const float distance = radius * sqrt((float(i) + 0.5) / float(SHADOW_SOFT_TAPS));
        sum += shadow_bilinear(shadow_soft_point(light, disc, plane, i, distance, turn));
    }
    return sum / float(SHADOW_SOFT_TAPS);
}

/// Returns the share of light of a source with an extent that reaches a position in the world.
/// `normal` as for shadow_point, `radius` as for shadow_disc, `turn` as for shadow_soft of a plane.
float shadow_soft(uint light, vec3 position, vec3 normal, float radius, float turn) {
    const uint layer = shadow_layer(light, position);
    const mat4 clip_from_world = shadow_clip_from_world(layer);
    return shadow_soft(layer, shadow_disc(clip_from_world, radius),
                       shadow_plane(clip_from_world, position, normal), turn);
}

#endif
