#include <quadtile/shadow.hpp>

#include "values/refuse.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace quadtile {

namespace {

constexpr std::uint32_t MOST_MAP_TEXELS = 1U << 23;

std::uint32_t levels_of(std::uint32_t extent) {
    return static_cast<std::uint32_t>(std::countr_zero(extent));
}

// Throws Error: "max_tiles is 0, but must be ..."
template <typename Value>
[[noreturn]] void refuse(const char* member, Value value, const std::string& range) {
    detail::refuse("ShadowOptions::", member, " is ", value, ", but must be ", range);
}

std::string from_to(std::uint32_t least, std::uint32_t most) {
    return std::to_string(least) + " to " + std::to_string(most);
}

void check_number(const char* member, std::uint32_t value, std::uint32_t least, std::uint32_t most,
                  const std::string& reason = {}) {
    if (value < least || value > most) {
        refuse(member, value, from_to(least, most) + reason);
    }
}

void check_extent(const char* member, std::uint32_t value, std::uint32_t least, std::uint32_t most,
                  const std::string& reason = {}) {
    if (!std::has_single_bit(value) || value < least || value > most) {
        refuse(member, value, "a power of two, " + from_to(least, most) + reason);
    }
}

void check_map_texels(const ShadowOptions& options) {
    const std::uint32_t layer_texels = options.map_extent * options.map_extent;
    if (options.lights > MOST_MAP_TEXELS / layer_texels) {
        const std::uint32_t texels = MOST_MAP_TEXELS / std::bit_ceil(options.lights);
        const std::uint32_t most = 1U << (levels_of(texels) / 2);
        refuse("map_extent", options.map_extent,
               std::to_string(most) + " or less for " + std::to_string(options.lights) +
                   (options.lights == 1 ? " light" : " lights") +
                   " (2^23 texels at most in all layers together)");
    }
}

void check_atlas(const ShadowOptions& options) {
    const std::uint32_t most = std::min(128 * options.tile_extent, 16384U);
    check_extent("atlas_extent", options.atlas_extent, options.tile_extent, most,
                 " (tile_extent is " + std::to_string(options.tile_extent) +
                     ": the atlas must hold a tile, and 128 of them along a side at most)");
}

// NaN is out of every range.
void check_range(const char* member, float value, float least, float most, const char* range) {
    if (!(value >= least && value <= most)) {
        refuse(member, value, range);
    }
}

void check_quality(const ShadowOptions& options) {
    check_range("merge_ratio", options.merge_ratio, std::nextafter(0.5F, 1.0F), 1.0F,
                "above 0.5 and at most 1 (no hysteresis)");
    check_range("atlas_fill", options.atlas_fill, 0.1F, 1.0F, "0.1 to 1 (all of it)");
    check_range("importance_decay", options.importance_decay, 0.0F, 0.99F,
                "0 (nothing is kept) to 0.99");
    check_range("resolution_scale", options.resolution_scale, 1.0F / 64.0F, 64.0F, "1/64 to 64");
    check_range("edge_scale", options.edge_scale, 1.0F, 64.0F, "1 (as elsewhere) to 64");
    check_range("max_stretch", options.max_stretch, 1.0F, 1024.0F, "1 to 1024");
}

void check_options(const ShadowOptions& options) {
    check_number("lights", options.lights, 1, SHADOW_MAX_LIGHTS);
    check_extent("map_extent", options.map_extent, 16, 2048);
    check_map_texels(options);
    check_extent("tile_extent", options.tile_extent, 64, 1024);
    check_atlas(options);
    check_number("gutter", options.gutter, 1, options.tile_extent / 32 - 1,
                 " (less than a thirty-secondth of tile_extent, which is " +
                     std::to_string(options.tile_extent) + ")");
    check_number("max_tiles", options.max_tiles, options.lights, 65535,
                 " (each light has a tile at least)");
    check_quality(options);
}

}  // namespace

ShadowParameters shadow_parameters(const ShadowOptions& options) {
    check_options(options);
    ShadowParameters parameters{};
    parameters.lights = options.lights;
    parameters.map_levels = levels_of(options.map_extent);
    parameters.atlas_levels = levels_of(options.atlas_extent);
    parameters.tile_extent = options.tile_extent;
    parameters.gutter = options.gutter;
    parameters.max_tiles = options.max_tiles;
    parameters.max_cells =
        std::max(SHADOW_PAGE_CELLS,
                 static_cast<std::uint32_t>(options.atlas_fill *
                                            static_cast<float>(shadow_atlas_cells(parameters))));
    parameters.least_area = 1.0F / (options.max_stretch + 1.0F / options.max_stretch);
    parameters.resolution_scale = options.resolution_scale;
    parameters.edge_scale = options.edge_scale;
    parameters.importance_decay = options.importance_decay;
    for (std::uint32_t c = 0; c < SHADOW_CLASSES; ++c) {
        parameters.cores[c] =
            static_cast<float>(shadow_slot_extent(options.tile_extent, c) - 2 * options.gutter);
        parameters.kept_cores[c] = parameters.cores[c] * options.merge_ratio;
    }
    return parameters;
}

}  // namespace quadtile
