#version 460

// The picture: surfaces under their lights with shadows, and the mask of what light reaches what.
//
// Dispatch: workgroups of 8 x 8 pixels over the picture. Bindings: what the frame is, the shadow maps,
// the camera's view of surfaces; the picture and the mask, of which each invocation writes its own
// pixel; the mask of ray casting. All that is read was written before the dispatch.

#extension GL_GOOGLE_include_directive : require
#include "frame.h"

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
layout(set = 0, binding = 12, r32ui) readonly uniform uimage2D reference;

// Of the sky on surfaces, from above and from below; a light of colour 1 brings SUNLIGHT.
const vec3 SKYLIGHT = vec3(0.26, 0.36, 0.55);
const vec3 GROUNDLIGHT = vec3(0.17, 0.15, 0.13);
const float SUNLIGHT = 2.2;

// The background, as it is seen.
const vec3 ZENITH = vec3(0.25, 0.47, 0.79);
const vec3 HORIZON = vec3(0.77, 0.86, 0.94);
const vec3 NADIR = vec3(0.44, 0.42, 0.40);

// Neighbouring levels differ, none is dark.
vec3 level_colour(uint level) {
    const float hue = float(level) * 0.381966;
    return 0.55 + 0.45 * cos(6.2831853 * (hue + vec3(0.0, 0.33, 0.67)));
}

// From linear light to a pixel: Narkowicz's fit of the ACES film curve, then sRGB.
vec3 encode(vec3 light) {
    const vec3 x = 0.6 * light;
    const vec3 c = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

vec3 vector(float v[3]) {
    return vec3(v[0], v[1], v[2]);
}

// In one of a light's maps of another technique: that which serves this distance.
ShadowPoint point_in_views(DrawnLight light, float from_camera, vec3 position, vec3 normal) {
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
    const DrawnView view = drawn.views[i];
    mat4 clip_from_world;
    for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
            clip_from_world[column][row] = view.clip_from_world[4 * column + row];
        }
    }
    const ShadowPlane plane = shadow_plane(clip_from_world, position, normal);
    const vec2 extent = vec2(view.width, view.height);
    const vec2 texel = vec2(view.x, view.y) + (plane.point.xy * 0.5 + 0.5) * extent;
    ShadowPoint point = shadow_point_of_plane(plane, 0.5 * extent, texel,
                                              view.texel_extent * (light.is_spot != 0 ? plane.w : 1.0));
    // Two texels at the edge are for the filter.
    const vec2 inside = 1.0 - 4.0 / extent;
    point.is_inside = plane.w > 0.0 && (light.is_spot == 0 || plane.point.z >= 0.0) &&
                      all(lessThanEqual(abs(plane.point.xy), inside));
    point.outside = light.is_spot != 0 ? 0.0 : 1.0;
    point.level = i - light.first_view;
    point.tile = i;
    return point;
}

// What arrives of a light where nothing is in its way, from its direction.
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

// The tile of a point, as a colour: its level, its border, its texels as a chequerboard.
vec3 tile_colour(ShadowPoint point) {
    if (!point.is_inside) {
        return vec3(0.5);
    }
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
    return shade * level_colour(point.level);
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
        return;
    }

    const float from_camera = drawn.nearest / depth;
    const vec3 position = vector(drawn.camera) + from_camera * ray;
    const vec3 normal = normalize(texelFetch(normals, pixel, 0).xyz);
    const vec3 albedo = texelFetch(albedos, pixel, 0).rgb;

    uint reached = 0;
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
        ShadowPoint point;
        if (drawn.technique == TECHNIQUE_FITTED) {
            point = shadow_point(light.layer, position, normal);
        } else {
            point = point_in_views(light, from_camera, position, normal);
        }
        const float hard = shadow_nearest(point);
        reached |= shadow_lit_word(i, true, hard > 0.0);
        light_sum += SUNLIGHT * cosine * arrives * (drawn.is_filtered != 0 ? shadow_filtered(point) : hard);
        if (point.is_inside && tiles == vec3(0.5)) {
            tiles = tile_colour(point);
        }
    }

    vec3 colour = encode(albedo * light_sum);
    if (drawn.picture == PICTURE_TILES) {
        colour = mix(colour, tiles * (0.35 + 0.65 * colour), 0.7);
    }
    if (drawn.picture == PICTURE_ERROR && drawn.has_reference != 0) {
        const uint right = imageLoad(reference, pixel).x;
        const float grey = 0.6 * dot(colour, vec3(0.3, 0.6, 0.1));
        colour = vec3(grey);
        if ((reached & ~right & SHADOW_LIT) != 0) {
            colour = vec3(1.0, 0.1, 0.05);
        } else if ((right & ~reached & SHADOW_LIT) != 0) {
            colour = vec3(0.1, 0.35, 1.0);
        }
    }
    imageStore(picture, pixel, vec4(colour, 1.0));
    imageStore(mask, pixel, uvec4(reached));
}
