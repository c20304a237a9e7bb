// What the GPU tests share: the rule that any validation message is a failure.

#pragma once

#include "support/variants.hpp"

#include <gtest/gtest.h>

namespace quadtile::test {

// Those that run on the device and are no choice among others.
inline constexpr Strategy STRATEGIES[] = {Strategy::per_level, Strategy::subtree, Strategy::fused};

class GpuTest : public testing::Test {
 protected:
    void TearDown() override;
};

}  // namespace quadtile::test
