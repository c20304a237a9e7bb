/* The version header is valid C, too. */

#include <quadtile/version.h>

const char* const version_in_c = QUADTILE_VERSION_STRING;
