#include <quadtile/shadow.hpp>

#include "values/refuse.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace quadtile {

namespace {

constexpr std::uint32_t MOST_MAP_TEXELS = 1U << 23;  // their largest slots have 2^31 cells

std::uint32_t levels_of(std::uint32_t extent) {
    return static_cast<std::uint32_t>(std::countr_zero(extent));
}

// Throws Error: "max_tiles is 0, but must be ..."
[[noreturn]] void refuse(const char* member, std::uint32_t value, const std::string& range) {
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
    return parameters;
}

}  // namespace quadtile
