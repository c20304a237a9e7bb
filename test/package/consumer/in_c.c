/* What a user's C does: the version, and tiles by the C API. */

#include <quadtile/quadtile.h>
#include <quadtile/version.h>

#include <stdio.h>

const char* const version_in_c = QUADTILE_VERSION_STRING;

/* How many, with a constant threshold; -1 where it fails. */
long count_tiles_in_c(const float* texels, unsigned width, unsigned height, float threshold) {
    quadtile_service* service = NULL;
    quadtile_ticket* ticket = NULL;
    const quadtile_tile_list* list = NULL;
    quadtile_request request;
    long count = -1;
    quadtile_request_init(&request, sizeof request);
    request.texels = texels;
    request.width = width;
    request.height = height;
    request.threshold_kind = QUADTILE_THRESHOLD_CONSTANT;
    request.threshold_value = threshold;
    if (quadtile_service_create(NULL, &service) < 0 ||
        quadtile_service_submit(service, &request, &ticket) < 0 ||
        quadtile_ticket_take(ticket, &list) < 0) {
        fprintf(stderr, "%s\n", quadtile_last_error());
    } else {
        count = (long)list->tile_count;
    }
    quadtile_tile_list_free(list);
    quadtile_ticket_free(ticket);
    quadtile_service_destroy(service);
    return count;
}
