// Devices with one thing less than they have, with validation on (the environment variable
// QUADTILE_VALIDATION=0 turns it off), Tilers that are kept, and how lists differ.

#pragma once

#include <quadtile/quadtile.hpp>

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace quadtile::test {

// A way for the kernels to run: everything the device has, or one thing less.
struct Variant {
    std::string name;
    Features disabled;
    LimitOverrides limits;
};

// "as the device is", each optional feature off, and limits lowered so far that small maps reach
// the code that large ones need.
[[nodiscard]] const std::vector<Variant>& all_variants();
// Those under which the kernels of tile lists of floats differ. The others concern mip levels, and
// the formats of maps.
[[nodiscard]] const std::vector<Variant>& tile_variants();

[[nodiscard]] const Variant& variant_named(const std::string& name);

// The device of a variant, made once. Thread-safe.
[[nodiscard]] const Device& device_for(const Variant& variant = all_variants().front());

// A Tiler of the calling thread, made once for each variant and options.
[[nodiscard]] Tiler& tiler_for(const Variant& variant, Strategy strategy,
                               std::uint32_t subtree_levels = 6);

// CPU drivers compile in the first run of a pipeline: on a busy machine for more than a minute.
inline constexpr std::chrono::minutes GPU_TIMEOUT(5);

// Whether the driver stores an infinity in an image of halves as 0x7fff, a NaN: SwiftShader
// (floatToHalfBits in its ShaderCore.cpp).
[[nodiscard]] bool loses_infinities(const Device& device, TexelFormat format);

// Destroys all devices and the calling thread's Tilers that were made here; other threads have
// ended.
void release_devices();

// Validation messages since the last call.
[[nodiscard]] std::vector<std::string> take_validation_messages();

// One sentence on how two lists differ, to the bit, or empty. Shorter than gtest's print of a
// million tiles.
[[nodiscard]] std::string difference(std::span<const Tile> actual, std::span<const Tile> expected);
// The same with the number of NaN texels and the factor of a budget.
[[nodiscard]] std::string difference(const TileList& actual, const TileList& expected);

// For messages.
[[nodiscard]] std::string text_of(Strategy strategy);
[[nodiscard]] std::string text_of(const MapShape& shape);
[[nodiscard]] std::string text_of(const Tile& tile);

}  // namespace quadtile::test
