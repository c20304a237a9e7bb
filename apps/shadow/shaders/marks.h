// Marks of differences of masks (MaskComparison::marks), in C++ and in GLSL.

#ifndef QUADTILE_SHADOW_MARKS_H
#define QUADTILE_SHADOW_MARKS_H

#include <quadtile/language.h>

QUADTILE_NAMESPACE_BEGIN

const QUADTILE_UINT MARK_LIT = 1;       // near a pixel that is lit, but not by rays
const QUADTILE_UINT MARK_SHADOWED = 2;  // near a pixel in shadow, but not by rays
const QUADTILE_UINT MARK_EXACT = 4;     // at such a pixel itself
const QUADTILE_UINT MARK_SURFACE = 8;   // a surface

QUADTILE_NAMESPACE_END

#endif
