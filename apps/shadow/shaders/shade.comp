#version 460

// Shades the picture: surfaces under their lights with shadows. Also writes the mask of the lights
// that reach each pixel, and their shares.
//
// Dispatch: workgroups of 8 x 8 threads, one thread per pixel. Bindings: the frame, the shadow maps, the
// camera's view of surfaces, the light by ray casting; the picture, the mask and the light, of which each
// thread writes its own pixel. All inputs were written before the dispatch.

#extension GL_GOOGLE_include_directive : require
#include "frame.h"
#include "level_colour.h"
#include "light.h"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, set = 0, binding = 0) readonly buffer Drawn { DrawnFrame drawn; };
#define SHADOW_SET 0
#define SHADOW_BINDING 1
#define SHADOW_PARAMETERS drawn.shadow
#include <quadtile/shadow_lookup.glsl>
layout(set = 0, binding = 7) uniform sampler2D depth_buffer;
layout(set = 0, binding = 8) uniform sampler2D normals;
layout(set = 0, binding = 9) uniform sampler2D albedos;
layout(set = 0, binding = 10, rgba8) writeonly uniform image2D picture;
layout(set = 0, binding = 11, r32ui) writeonly uniform uimage2D mask;
layout(set = 0, binding = 12, r32ui) readonly uniform uimage2D traced_light;  // of TECHNIQUE_RAYS
layout(set = 0, binding = 13, r32ui) writeonly uniform uimage2D light_image;

// Light of the sky on surfaces, from above and from below; a light of colour 1 adds SUNLIGHT.
const vec3 SKYLIGHT = vec3(0.26, 0.36, 0.55);
const vec3 GROUNDLIGHT = vec3(0.17, 0.15, 0.13);
const float SUNLIGHT = 2.2;

// Colours of the background.
const vec3 ZENITH = vec3(0.25, 0.47, 0.79);
const vec3 HORIZON = vec3(0.77, 0.86, 0.94);
const vec3 NADIR = vec3(0.44, 0.42, 0.40);

// Encodes linear light: Narkowicz's fit of the ACES film curve, then sRGB.
vec3 encode(vec3 light) {
    const vec3 x = 0.6 * light;
    const vec3 c = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

vec3 vector(float v[3]) {
    return vec3(v[0], v[1], v[2]);
}

// Returns the view of a light for a distance, for the other techniques.
uint view_for(DrawnLight light, float from_camera, vec3 position) {
    uint i = light.first_view;
    if (light.is_point != 0) {
        const vec3 way = position - vector(light.position);
        const vec3 size = abs(way);
        const uint axis = size.x >= max(size.y, size.z) ? 0 : size.y >= size.z ? 1 : 2;
        i += 2 * axis + (way[axis] < 0.0 ? 1 : 0);
        from_camera = 0.0;
    }
    const uint last = light.first_view + light.view_count - 1;
    while (i < last && from_camera > drawn.views[i].farthest) {
        ++i;
    }
    return i;
}

uint view_index;  // of drawn.views, for the current light

// `map` below: a layer of the fitter, or a light of the other techniques.
mat4 light_matrix(uint map) {
    if (drawn.technique == TECHNIQUE_FITTED) {
        return shadow_clip_from_world(map);
    }
    mat4 clip_from_world;
    for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
            clip_from_world[column][row] =
                drawn.views[view_index].clip_from_world[4 * column + row];
        }
    }
    return clip_from_world;
}

// Returns the place of a plane's shadow, by the frame's technique.
ShadowPoint point_of(uint map, ShadowPlane plane) {
    if (drawn.technique == TECHNIQUE_FITTED) {
        return shadow_point(map, plane);
    }
    const DrawnLight light = drawn.lights[map];
    const DrawnView view = drawn.views[view_index];
    const vec2 extent = vec2(view.width, view.height);
    const vec2 texel = vec2(view.x, view.y) + (plane.point.xy * 0.5 + 0.5) * extent;
    ShadowPoint point = shadow_point_of_plane(plane, 0.5 * extent, texel,
                                              view.texel_extent * (light.is_spot != 0 ? plane.w : 1.0));
    // Two texels at the edge are for the filter.
    const vec2 inside = 1.0 - 4.0 / extent;
    point.is_inside = plane.w > 0.0 && (light.is_spot == 0 || plane.point.z >= 0.0) &&
                      all(lessThanEqual(abs(plane.point.xy), inside));
    point.outside = light.is_spot != 0 ? 0.0 : 1.0;
    point.level = view_index - light.first_view;
    point.tile = view_index;
    return point;
}

// Place for the soft filter: beyond the edge of a sun's cascade it reads the texels at the edge.
ShadowPoint soft_point_of(uint map, ShadowPlane plane) {
    ShadowPoint point = point_of(map, plane);
    if (drawn.technique != TECHNIQUE_FITTED && drawn.lights[map].is_spot == 0) {
        const DrawnView view = drawn.views[view_index];
        const vec2 low = vec2(view.x, view.y) + 2.0;
        const vec2 texel = clamp(point.texel, low, low + vec2(view.width, view.height) - 4.0);
        point.depth += dot(point.slope, texel - point.texel);
        point.texel = texel;
        point.is_inside = true;
    }
    return point;
}

#define SHADOW_SOFT_POINT soft_point_of
#include <quadtile/shadow_soft.glsl>

// Returns a light's unshadowed irradiance, and the direction to it.
vec3 arriving(DrawnLight light, vec3 position, out vec3 to_light) {
    if (light.is_spot == 0) {
        to_light = -vector(light.direction);
        return vector(light.colour);
    }
    const vec3 way = vector(light.position) - position;
    const float squared = max(dot(way, way), 1e-12);
    to_light = way * inversesqrt(squared);
    const float cosine = dot(-to_light, vector(light.direction));
    const float cone = light.is_point != 0
        ? 1.0
        : smoothstep(light.cone_cosine, mix(light.cone_cosine, 1.0, 0.25), cosine);
    return vector(light.colour) * (cone / (1.0 + squared / (light.reach * light.reach)));
}

// Returns the colour of a point's tile: its level, its border, its texels as a chequerboard.
vec3 tile_colour(ShadowPoint point) {
    if (!point.is_inside) {
        return vec3(0.5);
    }
    const vec3 colour = vec3(level_channel(point.level, 0), level_channel(point.level, 1),
                             level_channel(point.level, 2));
    const ivec2 texel = ivec2(floor(point.texel));
    float shade = ((texel.x + texel.y) & 1) == 0 ? 1.0 : 0.82;
    if (drawn.technique == TECHNIQUE_FITTED) {
        const ShadowTile tile = shadow_tiles[point.tile];
        const ivec2 slot = ivec2(tile.slot & 0xffffU, tile.slot >> 16);
        const int gutter = int(drawn.shadow.gutter);
        const int extent = int(shadow_slot_extent(drawn.shadow.tile_extent, tile.state & 0xffU));
        const ivec2 in_core = texel - slot - gutter;
        const ivec2 to_end = slot + extent - gutter - 1 - texel;
        const ivec2 edge = min(in_core, to_end);
        shade *= min(edge.x, edge.y) <= 0 ? 0.35 : 1.0;
    }
    return shade * colour;
}

bool is_marked(ShadowPoint point) {
    if (drawn.marked_node == SHADOW_NONE || drawn.technique != TECHNIQUE_FITTED || !point.is_inside) {
        return false;
    }
    const ShadowTile tile = shadow_tiles[point.tile];
    return tile.position == drawn.marked_position && tile.node == drawn.marked_node;
}

// Returns the share of a light that reaches a surface, 0 to 1, by the frame's filter; `hard` by the nearest texel.
float reaching(uint i, DrawnLight light, float from_camera, vec3 position, vec3 normal, out float hard,
               out ShadowPoint point) {
    if (drawn.technique == TECHNIQUE_RAYS) {
        point.is_inside = false;
        const float traced = light_of(imageLoad(traced_light, ivec2(gl_GlobalInvocationID.xy)).x, i);
        hard = traced >= 0.5 ? 1.0 : 0.0;
        return traced;
    }
    uint map = i;
    view_index = 0;
    if (drawn.technique == TECHNIQUE_FITTED) {
        map = shadow_layer(light.layer, position);
    } else {
        view_index = view_for(light, from_camera, position);
    }
    const mat4 clip_from_world = light_matrix(map);
    const ShadowPlane plane = shadow_plane(clip_from_world, position, normal);
    point = point_of(map, plane);
    hard = shadow_nearest(point);
    if (drawn.shadow_filter == FILTER_SOFT) {
        return shadow_soft(map, shadow_disc(clip_from_world, light.radius), plane,
                           shadow_soft_turn(vec2(gl_GlobalInvocationID.xy)));
    }
    return drawn.shadow_filter == FILTER_HARD ? hard : shadow_filtered(point);
}

vec3 sky(vec3 direction) {
    const float height = normalize(direction).y;
    return height > 0.0 ? mix(HORIZON, ZENITH, sqrt(height))
                        : mix(HORIZON, NADIR, min(1.0, -5.0 * height));
}

void main() {
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (pixel.x >= int(drawn.width) || pixel.y >= int(drawn.height)) {
        return;
    }
    const vec2 clip = 2.0 * (vec2(pixel) + 0.5) / vec2(drawn.width, drawn.height) - 1.0;
    const vec3 ray = vector(drawn.ray) + clip.x * vector(drawn.ray_by_x) +
                     clip.y * vector(drawn.ray_by_y);
    const float depth = texelFetch(depth_buffer, pixel, 0).x;
    if (depth == 0.0) {
        imageStore(picture, pixel, vec4(sky(ray), 1.0));
        imageStore(mask, pixel, uvec4(0));
        imageStore(light_image, pixel, uvec4(0));
        return;
    }

    const float from_camera = drawn.nearest / depth;
    const vec3 position = vector(drawn.camera) + from_camera * ray;
    const vec3 normal = normalize(texelFetch(normals, pixel, 0).xyz);
    const vec3 albedo = texelFetch(albedos, pixel, 0).rgb;

    uint reached = 0;
    uint light_word = 0;
    bool marked = false;
    vec3 light_sum = mix(GROUNDLIGHT, SKYLIGHT, normal.y * 0.5 + 0.5);
    vec3 tiles = vec3(0.5);
    for (uint i = 0; i < drawn.light_count; ++i) {
        const DrawnLight light = drawn.lights[i];
        vec3 to_light;
        const vec3 arrives = arriving(light, position, to_light);
        const float cosine = dot(normal, to_light);
        if (!(cosine > 0.0)) {
            continue;
        }
        float hard;
        ShadowPoint point;
        const float part = reaching(i, light, from_camera, position, normal, hard, point);
        reached |= shadow_lit_word(i, true, hard > 0.0);
        light_word |= light_bits(i, part);
        light_sum += SUNLIGHT * cosine * arrives * part;
        marked = marked || is_marked(point);
        if (point.is_inside && tiles == vec3(0.5)) {
            tiles = tile_colour(point);
        }
    }

    vec3 colour = encode(albedo * light_sum);
    if (drawn.picture == PICTURE_TILES) {
        colour = mix(colour, tiles * (0.35 + 0.65 * colour), 0.7);
    }
    if (marked) {
        colour = mix(colour, vec3(1.0, 0.9, 0.1), 0.45);
    }
    imageStore(picture, pixel, vec4(colour, 1.0));
    imageStore(mask, pixel, uvec4(reached));
    imageStore(light_image, pixel, uvec4(light_word));
}
