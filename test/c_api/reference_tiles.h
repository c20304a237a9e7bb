/* What the test in C needs of C++: the reference's tiles, and memory that runs out. */

#ifndef REFERENCE_TILES_H
#define REFERENCE_TILES_H

#include <quadtile/quadtile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a list differs from what reference::subdivide makes of the request, or "". Not thread-safe.
 */
const char* difference_from_reference(const quadtile_request* request,
                                      const quadtile_tile_list* list);

/* The number-th allocation by `new` of this thread fails from now on, once. 0: none. */
void fail_allocation(long number);

#ifdef __cplusplus
}
#endif

#endif
