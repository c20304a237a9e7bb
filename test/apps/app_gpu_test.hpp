// Tests of programs' kernels: one device for each suite, and any validation message is a failure.

#pragma once

#include "gpu.hpp"
#include "support/gpu.hpp"

#include <gtest/gtest.h>

namespace quadtile::app::test {

class AppGpuTest : public ::testing::Test {
 protected:
    static void SetUpTestSuite() {
        instance_ = new Instance("quadtile_tests", {}, quadtile::test::has_validation_layer());
        gpu_ = new Gpu(*instance_, {}, {});
    }
    static void TearDownTestSuite() {
        delete gpu_;
        delete instance_;
    }
    void TearDown() override { EXPECT_EQ(instance_->validation_messages(), 0U); }

    static inline Instance* instance_ = nullptr;
    static inline Gpu* gpu_ = nullptr;
};

}  // namespace quadtile::app::test
