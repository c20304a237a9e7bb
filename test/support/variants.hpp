// Devices with and without their features, and shared Tilers for them; comparison of lists.
// Validation is on, unless the environment variable QUADTILE_VALIDATION is 0, and memory is guarded
// (guarded_memory.hpp).

#pragma once

#include <quadtile/quadtile.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadtile::test {

// As detail::LowerLimits (device_context.hpp).
struct LowerLimits {
    std::uint32_t max_workgroup_count = 0;
    std::uint64_t max_storage_buffer_range_bytes = 0;
    std::uint32_t max_storage_images = 0;
};

// A way for the kernels to run.
struct Variant {
    std::string name;
    Features disabled;
    LowerLimits limits;
};

// Returns "as the device is" and "with everything off": no optional feature but indexed images, and
// limits so low that small maps reach the code for large ones. More would cost CPU drivers minutes.
[[nodiscard]] const std::vector<Variant>& all_variants();

// Returns the device of a variant, which is made once. Thread-safe.
[[nodiscard]] const Device& device_for(const Variant& variant = all_variants().front());

// Submits to the device's queue, which Tilers and Services of other threads use, too.
[[nodiscard]] SubmitFunction submit_to(const Device& device);

// The handles of a device, as its host has them.
[[nodiscard]] inline AdoptedDevice handles_of(const Device& host) {
    return {.get_instance_proc_addr = host.get_instance_proc_addr(),
            .instance = host.instance(),
            .physical_device = host.physical_device(),
            .device = host.handle(),
            .queue = host.queue(),
            .queue_family = host.queue_family(),
            .enabled = host.info().features};
}

// Returns a Tiler of the calling thread, which is made once per variant and options.
[[nodiscard]] Tiler& tiler_for(const Variant& variant, Strategy strategy,
                               std::uint32_t subtree_levels = 6);

// Longest wait for the GPU. On a busy machine CPU drivers compile a pipeline for over a minute.
inline constexpr std::chrono::minutes GPU_TIMEOUT(5);

// Tells whether the driver stores an infinity in an image of halves as 0x7fff, a NaN. SwiftShader
// does (floatToHalfBits in its ShaderCore.cpp).
[[nodiscard]] bool loses_infinities(const Device& device, TexelFormat format);

// Destroys all devices and the calling thread's Tilers of this header. Other threads must have
// ended.
void release_devices();

// Returns the messages of validation and of guarded memory since the last call.
[[nodiscard]] std::vector<std::string> take_validation_messages();

// Returns one sentence on how two lists differ in any bit, or nothing. It is shorter than gtest's
// print of a million tiles.
[[nodiscard]] std::string difference(std::span<const Tile> actual, std::span<const Tile> expected);
// Also compares the number of NaN texels and the budget's factor.
[[nodiscard]] std::string difference(const TileList& actual, const TileList& expected);

// Returns the strategy's name for messages.
[[nodiscard]] std::string text_of(Strategy strategy);
[[nodiscard]] std::string text_of(const MapShape& shape);
[[nodiscard]] std::string text_of(const Tile& tile);

}  // namespace quadtile::test
