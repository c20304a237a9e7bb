// What lets the headers of this folder compile as C++20 and as GLSL 4.6.
//
// C++ code sees everything in namespace quadtile; GLSL has no namespaces. A function that both
// languages need is written in the words they share and marked QUADTILE_SHARED.

#ifndef QUADTILE_LANGUAGE_H
#define QUADTILE_LANGUAGE_H

#ifdef __cplusplus

#include <cstdint>

#define QUADTILE_NAMESPACE_BEGIN namespace quadtile {
#define QUADTILE_NAMESPACE_END }
#define QUADTILE_SHARED constexpr
#define QUADTILE_UINT std::uint32_t
#define QUADTILE_INT std::int32_t

#else

#define QUADTILE_NAMESPACE_BEGIN
#define QUADTILE_NAMESPACE_END
#define QUADTILE_SHARED
#define QUADTILE_UINT uint
#define QUADTILE_INT int

#endif

#endif
