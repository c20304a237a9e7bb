// What the GPU tests share: the rule that any validation message is a failure.

#pragma once

#include "support/variants.hpp"

#include <gtest/gtest.h>

namespace quadtile::test {

class GpuTest : public testing::Test {
 protected:
    void TearDown() override;
};

}  // namespace quadtile::test
