// Data of the scene and of a frame, in C++ and in GLSL.

#ifndef RENDERER_SCENE_H
#define RENDERER_SCENE_H

#ifdef __cplusplus
#include <cstdint>
#include <glm/glm.hpp>
namespace renderer {
using glm::vec3;
using uint = std::uint32_t;
#endif

// Three are a triangle.
struct Vertex {
    float x;
    float y;
    float z;
    float u;  // on the lightmap, 0 to 1
    float v;
};

// The camera, and the sizes of the importance map and the lightmap.
struct View {
    vec3 eye;
    float pixel;  // side of a pixel at distance 1
    vec3 right;   // the dot product with a point, from the eye, is its x in clip space
    float near_plane;
    vec3 down;              // the same for y
    float lightmap_texels;  // along a side
    vec3 forward;           // length 1
    uint width;             // of the importance map, texels
    uint height;
};

// What the tiles need, added up by count_rays.comp.
struct Totals {
    uint tiles;
    uint rays_low;  // lower and upper word
    uint rays_high;
};

#ifdef __cplusplus
}  // namespace renderer
#endif

#endif
