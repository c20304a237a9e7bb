// Colour of a pixel that shows the map.

#include "resources.glsl"

layout(binding = 3, std430) readonly buffer Colours { uint colours[]; };
layout(push_constant) uniform Parameters { Drawing drawing; };

const vec3 ZERO = vec3(0.0, 0.0, 0.0) / 255.0;
const vec3 NEGATIVE = vec3(74.0, 88.0, 120.0) / 255.0;
const vec3 INFINITE = vec3(255.0, 255.0, 255.0) / 255.0;
const vec3 NAN = vec3(0.0, 220.0, 70.0) / 255.0;

// Returns a colour of a table. `position` is from 0 to 1.
vec3 table_colour(uint table, float position) {
    const uint entry = uint(clamp(position * float(COLOUR_TABLE_SIZE), 0.0, float(COLOUR_TABLE_SIZE - 1)));
    // Clamps the entry: drivers may convert NaN to any integer.
    return unpackUnorm4x8(colours[table * COLOUR_TABLE_SIZE + min(entry, COLOUR_TABLE_SIZE - 1)]).rgb;
}

// Reads the bits, because drivers may assume in comparisons that there is no NaN.
bool is_nan(float value) {
    return (floatBitsToUint(value) & 0x7fffffffU) > 0x7f800000U;
}

bool is_infinite(float value) {
    return (floatBitsToUint(value) & 0x7fffffffU) == 0x7f800000U;
}

float node_importance(uvec2 node) {
    if (drawing.level == 0) {
        return texelFetch(map, ivec3(node, 0), 0).r;
    }
    return pyramid[pyramid_index(drawing.map_width, drawing.map_height, drawing.level, node.x,
                                 node.y, 0)];
}

// Returns the largest importance of the nodes that a pixel touches, so that small bright nodes stay
// visible. NaN counts as the largest.
float largest_importance(vec2 first_texel, vec2 end_texel) {
    const float texels = float(1U << drawing.level);
    const uvec2 last_node = uvec2(level_extent(drawing.map_width, drawing.level),
                                  level_extent(drawing.map_height, drawing.level)) - 1;
    const uvec2 first = uvec2(max(first_texel, 0.0) / texels);
    const uvec2 last = min(uvec2(ceil(end_texel / texels)) - 1, last_node);
    float largest = node_importance(first);
    for (uint y = first.y; y <= last.y; ++y) {
        for (uint x = first.x; x <= last.x; ++x) {
            const float importance = node_importance(uvec2(x, y));
            if (!is_nan(largest) && (is_nan(importance) || importance > largest)) {
                largest = importance;
            }
        }
    }
    return largest;
}

vec3 importance_colour(float importance) {
    if (is_nan(importance)) {
        return NAN;
    }
    if (is_infinite(importance)) {
        return importance > 0.0 ? INFINITE : NEGATIVE;
    }
    if (importance < 0.0) {
        return NEGATIVE;
    }
    if (importance == 0.0) {
        return ZERO;
    }
    const float value = drawing.is_logarithmic != 0 ? log2(importance) : importance;
    return table_colour(MAP_COLOURS, (value - drawing.range_low) * drawing.range_scale);
}

// Returns the colour of a pixel whose centre lies inside the map.
vec3 map_colour(vec2 pixel_centre) {
    const vec2 origin = vec2(drawing.origin_x, drawing.origin_y);
    if (drawing.is_minified != 0) {
        const vec2 first = (pixel_centre - 0.5 - origin) / drawing.zoom;
        return importance_colour(largest_importance(first, first + 1.0 / drawing.zoom));
    }
    const uvec2 map_end = uvec2(drawing.map_width, drawing.map_height) - 1;
    const uvec2 texel = min(uvec2(max((pixel_centre - origin) / drawing.zoom, 0.0)), map_end);
    return importance_colour(node_importance(texel >> drawing.level));
}
