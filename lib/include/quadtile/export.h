/** \file
 * QUADTILE_API marks the symbols that quadtile's shared libraries export; all others are hidden.
 *
 * Programs that link the static libraries define QUADTILE_STATIC (CMake and pkg-config do it). Then
 * a plugin that contains quadtile does not export its symbols. */

#ifndef QUADTILE_EXPORT_H
#define QUADTILE_EXPORT_H

#ifdef QUADTILE_STATIC
#define QUADTILE_API
#define QUADTILE_LOCAL
#else
#ifdef _WIN32
#error "On Windows quadtile's C++ libraries are static: define QUADTILE_STATIC"
#endif
/** Marks a symbol that a shared library exports. */
#define QUADTILE_API __attribute__((visibility("default")))
/** Hides a class inside an exported one. */
#define QUADTILE_LOCAL __attribute__((visibility("hidden")))
#endif

#endif
