/** \file
 * What shared libraries of quadtile export is marked QUADTILE_API; all else is hidden.
 *
 * Who links the static libraries defines QUADTILE_STATIC (CMake and pkg-config do): then a plugin
 * that holds them does not export them in turn. */

#ifndef QUADTILE_EXPORT_H
#define QUADTILE_EXPORT_H

#ifdef QUADTILE_STATIC
#define QUADTILE_API
#define QUADTILE_LOCAL
#else
/** Marks what a shared library exports. */
#define QUADTILE_API __attribute__((visibility("default")))
/** For classes inside those that are exported. */
#define QUADTILE_LOCAL __attribute__((visibility("hidden")))
#endif

#endif
