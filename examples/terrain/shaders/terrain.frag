// Colours the terrain: meadows, rock and snow in the sun, and haze. Normals are those of the full
// height map, even on coarse tiles.
#version 460

#include "resources.glsl"

layout(location = 0) in vec3 place;
layout(location = 1) flat in uint level;
layout(location = 2) in vec2 in_patch;

layout(location = 0) out vec4 colour;

const vec3 LEVEL_COLOURS[6] = vec3[](vec3(0.86, 0.24, 0.2), vec3(0.95, 0.62, 0.2), vec3(0.88, 0.88, 0.3),
                                     vec3(0.35, 0.75, 0.35), vec3(0.25, 0.6, 0.9), vec3(0.55, 0.4, 0.85));

float smooth_height(vec2 p) {
    const ivec2 cell = ivec2(floor(p));
    const vec2 t = fract(p);
    return mix(mix(height_at(cell), height_at(cell + ivec2(1, 0)), t.x),
               mix(height_at(cell + ivec2(0, 1)), height_at(cell + ivec2(1, 1)), t.x), t.y);
}

void main() {
    const vec3 normal = normalize(vec3(smooth_height(place.xy - vec2(1, 0)) - smooth_height(place.xy + vec2(1, 0)),
                                       smooth_height(place.xy - vec2(0, 1)) - smooth_height(place.xy + vec2(0, 1)), 2.0));
    const float snow = smoothstep(150.0, 175.0, place.z + 40.0 * (normal.z - 0.8));
    const float rock = 1.0 - smoothstep(0.72, 0.86, normal.z);
    vec3 ground = mix(vec3(0.24, 0.34, 0.12), vec3(0.36, 0.36, 0.18), smoothstep(40.0, 130.0, place.z));
    ground = mix(mix(ground, vec3(0.38, 0.33, 0.29), rock), vec3(0.92, 0.94, 0.98), snow * (1.0 - 0.7 * rock));
    if (gl_FragCoord.x < view.tiles_end) {
        ground = mix(ground, LEVEL_COLOURS[min(level, 5)], 0.55);
        const vec2 to_line = min(fract(in_patch), 1.0 - fract(in_patch)) / fwidth(in_patch);
        ground *= min(to_line.x, to_line.y) < 0.6 ? 0.6 : 1.0;
        const vec2 to_side = min(in_patch, float(PATCH) - in_patch) / fwidth(in_patch);
        ground *= min(to_side.x, to_side.y) < 1.0 ? 0.2 : 1.0;
    }
    const float sun = max(dot(normal, normalize(vec3(0.6, -0.5, 0.5))), 0.0);
    const vec3 lit = ground * (sun * vec3(1.15, 1.02, 0.82) + vec3(0.13, 0.17, 0.24));
    const float haze = 1.0 - exp(-pow(distance(place, view.eye) / 1700.0, 2.0));
    colour = vec4(pow(mix(lit, vec3(0.55, 0.68, 0.82), haze), vec3(1.0 / 2.2)), 1.0);
}
