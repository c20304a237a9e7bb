// What the GPU tests share: devices with validation on, Tilers that are kept, and the rule that any
// validation message is a failure.

#pragma once

#include <quadtile/quadtile.hpp>

#include <gtest/gtest.h>

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

[[nodiscard]] const Variant& variant_named(const std::string& name);

// The device of a variant, made once.
[[nodiscard]] const Device& device_for(const Variant& variant = all_variants().front());

// A Tiler, made once for each variant and options.
[[nodiscard]] Tiler& tiler_for(const Variant& variant, Strategy strategy,
                               std::uint32_t subtree_levels = 6);

// Validation messages since the last call.
[[nodiscard]] std::vector<std::string> take_validation_messages();

class GpuTest : public testing::Test {
 protected:
    void TearDown() override;
};

// One sentence on how two lists differ, or empty. Shorter than gtest's print of a million tiles.
[[nodiscard]] std::string difference(const TileList& actual, const TileList& expected);

}  // namespace quadtile::test
