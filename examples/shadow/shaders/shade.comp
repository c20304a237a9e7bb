#version 460

// Shades the picture: surfaces under their lights with shadows.
//
// Dispatch: workgroups of 8 x 8 threads, one thread per pixel. Bindings: those of surfaces.glsl; 9: albedo; 10: the
// picture, of which each thread writes its own pixel. All inputs were written before the dispatch.

#extension GL_GOOGLE_include_directive : require
#include "surfaces.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 9) uniform sampler2D albedos;
layout(set = 0, binding = 10, rgba8) writeonly uniform image2D picture;

vec3 sky(vec3 direction);
vec3 arriving(DrawnLight light, vec3 way);
vec3 tile_colour(ShadowPoint point);
vec3 encode(vec3 light);

// Light of the sky on surfaces, from above and from below.
const vec3 SKYLIGHT = vec3(0.26, 0.36, 0.55);
const vec3 GROUNDLIGHT = vec3(0.17, 0.15, 0.13);

void main() {
    const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (pixel.x >= int(drawn.width) || pixel.y >= int(drawn.height)) {
        return;
    }
    const Surface surface = surface_at(pixel);
    if (!surface.is_there) {
        imageStore(picture, pixel, vec4(sky(surface.ray), 1.0));
        return;
    }
    vec3 light_sum = mix(GROUNDLIGHT, SKYLIGHT, surface.normal.y * 0.5 + 0.5);
    vec3 tiles = vec3(0.5);
    for (uint i = 0; i < drawn.light_count; ++i) {
        const DrawnLight light = drawn.lights[i];
        const vec3 way = way_to(light, surface.position);
        const float cosine = dot(surface.normal, normalize(way));
        if (!(cosine > 0.0) || (light.kind != LIGHT_SUN && length(way) >= light.range)) {
            continue;
        }
        ShadowPoint point;
        const float share = reaching(light, surface, vec2(pixel), point);
        light_sum += cosine * share * arriving(light, way);
        if (point.is_inside && tiles == vec3(0.5)) {
            tiles = tile_colour(point);
        }
    }
    vec3 colour = encode(texelFetch(albedos, pixel, 0).rgb * light_sum);
    if (drawn.shows_tiles != 0) {
        colour = mix(colour, tiles * (0.35 + 0.65 * colour), 0.7);
    }
    imageStore(picture, pixel, vec4(colour, 1.0));
}

vec3 sky(vec3 direction) {
    const vec3 zenith = vec3(0.25, 0.47, 0.79);
    const vec3 horizon = vec3(0.77, 0.86, 0.94);
    const vec3 nadir = vec3(0.44, 0.42, 0.40);
    const float height = normalize(direction).y;
    return height > 0.0 ? mix(horizon, zenith, sqrt(height)) : mix(horizon, nadir, min(1.0, -5.0 * height));
}

// Returns the irradiance of a light on a surface that faces it.
vec3 arriving(DrawnLight light, vec3 way) {
    if (light.kind == LIGHT_SUN) {
        return vector(light.colour);
    }
    const float squared = max(dot(way, way), 1e-12);
    const float ratio = sqrt(squared) / light.range;
    const float window = clamp(1.0 - ratio * ratio * ratio * ratio, 0.0, 1.0);  // that of KHR_lights_punctual
    const float cosine = dot(-way * inversesqrt(squared), vector(light.direction));
    const float cone = light.kind == LIGHT_POINT
        ? 1.0
        : smoothstep(light.cone_cosine, mix(light.cone_cosine, 1.0, 0.25), cosine);
    return vector(light.colour) * (cone * window / squared);
}

// Returns the colour of a point's tile: its level, its border, its texels as a chequerboard. Levels next to each other
// differ in hue; none is dark.
vec3 tile_colour(ShadowPoint point) {
    const vec3 turn = float(point.level) * 0.381966 + vec3(0.0, 1.0, 2.0) / 3.0;  // by the golden angle
    const ivec2 texel = ivec2(floor(point.texel));
    float shade = ((texel.x + texel.y) & 1) == 0 ? 1.0 : 0.82;
    const ShadowTile tile = shadow_tiles[point.tile];
    const ivec2 slot = ivec2(tile.slot & 0xffffU, tile.slot >> 16);
    const int gutter = int(drawn.shadow.gutter);
    const int extent = int(shadow_slot_extent(drawn.shadow.tile_extent, tile.state & 0xffU));
    const ivec2 edge = min(texel - slot - gutter, slot + extent - gutter - 1 - texel);
    shade *= min(edge.x, edge.y) <= 0 ? 0.35 : 1.0;
    return shade * (0.55 + 0.45 * cos(6.2831853 * turn));
}

// Encodes linear light: Narkowicz's fit of the ACES film curve, then sRGB.
vec3 encode(vec3 light) {
    const vec3 x = 0.6 * light;
    const vec3 c = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
