// Bindings of set 0 for the shaders that draw slots.

#include "frame.h"

layout(std430, set = 0, binding = 0) readonly buffer Drawn { DrawnFrame drawn; };
layout(std430, set = 0, binding = 1) readonly buffer Frame { ShadowFrame frame; };
layout(std430, set = 0, binding = 2) readonly buffer Tiles { ShadowTile tiles[]; };
layout(std430, set = 0, binding = 5) readonly buffer Render { uint render[]; };
layout(std430, set = 0, binding = 6) readonly buffer Instances { uint instances[]; };
