#include "reference_tiles.h"

#include <quadtile/reference.hpp>

#include <bit>
#include <cstdlib>
#include <new>
#include <sstream>
#include <string>

namespace {

using namespace quadtile;

thread_local long allocations_until_failure = 0;

TexelFormat format_of(std::int32_t format) {
    const TexelFormat formats[] = {TexelFormat::r32_float, TexelFormat::r16_float,
                                   TexelFormat::d32_float, TexelFormat::r16_unorm,
                                   TexelFormat::r8_unorm,  TexelFormat::d16_unorm};
    return formats[format];
}

Threshold threshold_of(const quadtile_request& request, const MapShape& shape) {
    const float value = request.threshold_value;
    if (request.threshold_kind == QUADTILE_THRESHOLD_CONSTANT) {
        return Threshold::constant(value);
    }
    if (request.threshold_kind == QUADTILE_THRESHOLD_MAX_RESOLUTION) {
        return Threshold::max_resolution(value);
    }
    if (request.threshold_kind == QUADTILE_THRESHOLD_PER_LEVEL) {
        return Threshold::per_level(
            {request.threshold_levels, request.threshold_levels + request.threshold_level_count});
    }
    MapView fragments{request.fragments, shape};
    fragments.shape.format = format_of(request.fragments_format);
    return Threshold::memory(value, request.nodes, fragments);
}

std::string difference(const quadtile_request& request, const quadtile_tile_list& list) {
    const MapShape shape{request.width, request.height, request.layers, format_of(request.format)};
    const TileList expected = reference::subdivide(
        {request.texels, shape}, threshold_of(request, shape),
        {.max_tiles = request.max_tiles != 0 ? std::optional(request.max_tiles) : std::nullopt});
    std::ostringstream text;
    if (list.width != shape.width || list.height != shape.height || list.layers != shape.layers ||
        list.levels != expected.levels() || list.order != request.order) {
        text << "another size, number of levels or order; ";
    }
    if (list.nan_texels != expected.nan_texels ||
        list.threshold_factor != expected.threshold_factor) {
        text << list.nan_texels << " NaN texels, factor " << list.threshold_factor << " where "
             << expected.nan_texels << " and " << expected.threshold_factor << " were expected; ";
    }
    std::vector<Tile> tiles;
    for (std::uint64_t i = 0; i < list.tile_count; ++i) {
        const quadtile_tile& tile = list.tiles[i];
        tiles.push_back({tile_position(tile.x, tile.y),
                         tile_node(tile.level, tile.flags, tile.layer), tile.importance,
                         tile.threshold});
    }
    if (request.order == QUADTILE_ORDER_ANY) {
        sort_canonical(tiles);
    }
    if (tiles != expected.tiles) {
        text << tiles.size() << " tiles that are not the " << expected.tiles.size()
             << " expected ones";
    }
    return text.str();
}

}  // namespace

const char* difference_from_reference(const quadtile_request* request,
                                      const quadtile_tile_list* list) {
    static std::string text;
    text = difference(*request, *list);
    return text.c_str();
}

void fail_allocation(long number) {
    allocations_until_failure = number;
}

void* operator new(std::size_t size) {
    void* const memory = operator new(size, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

// Without it, that of a sanitizer would meet the `delete` below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    if (allocations_until_failure > 0 && --allocations_until_failure == 0) {
        return nullptr;
    }
    return std::malloc(size != 0 ? size : 1);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
