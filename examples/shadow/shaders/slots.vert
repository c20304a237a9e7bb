#version 460

// Draws depths of a scene into slots of the atlas, clipped to each slot: one instance per tile and cluster. Set 0:
// frame.glsl.

#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "mask_vertex.glsl"

layout(location = 0) in vec3 position;

out float gl_ClipDistance[4];

void main() {
    pass_mask();
    const ShadowTile tile = tiles[instances[gl_InstanceIndex]];
    const uint light = tile.node >> 16;
    mat4 clip_from_world;
    for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
            clip_from_world[column][row] = frame.lights[light].clip_from_world[4 * column + row];
        }
    }
    const vec4 clip = clip_from_world * vec4(position, 1.0);
    const vec2 crop = vec2(tile.crop_x, tile.crop_y);
    const vec2 cropped = tile.crop_scale * clip.xy + crop * clip.w;
    gl_Position = vec4(cropped, clip.zw);

    const float scale = 2.0 / float(1U << drawn.shadow.atlas_levels);
    const vec2 slot = vec2(tile.slot & 0xffffU, tile.slot >> 16);
    const float extent = float(shadow_slot_extent(drawn.shadow.tile_extent, tile.state & 0xffU));
    const vec2 low = cropped - (scale * slot - 1.0) * clip.w;
    const vec2 high = (scale * (slot + extent) - 1.0) * clip.w - cropped;
    gl_ClipDistance[0] = low.x;
    gl_ClipDistance[1] = low.y;
    gl_ClipDistance[2] = high.x;
    gl_ClipDistance[3] = high.y;
}
