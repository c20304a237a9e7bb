// What the tests of the program share.

#pragma once

#include "program.hpp"
#include "support/temporary_directory.hpp"

#include <quadtile/device.hpp>
#include <quadtile/error.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace quadtile::app::test {

using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;

using Arguments = std::vector<std::string>;
using Names = std::set<std::string>;

inline bool has_usable_device() {
    try {
        return std::ranges::any_of(Device::enumerate(), &DeviceInfo::usable);
    } catch (const Error&) {
        return false;
    }
}

#define SKIP_WITHOUT_DEVICE()                                       \
    if (!has_usable_device()) {                                     \
        GTEST_SKIP() << "no Vulkan device here that quadtile uses"; \
    }                                                               \
    static_assert(true)

// Runs the program in a directory of its own.
class ProgramTest : public ::testing::Test {
 protected:
    [[nodiscard]] ProgramResult run(const Arguments& arguments, ProgramOptions options = {}) const {
        options.directory = directory_.path();
        return run_program(arguments, options);
    }

    // Fails with one line on standard error and nothing else anywhere.
    [[nodiscard]] std::string error_of(const Arguments& arguments, int status,
                                       const ProgramOptions& options = {}) const {
        const Names before = directory_.names();
        const ProgramResult result = run(arguments, options);
        EXPECT_EQ(result.status, status) << ::testing::PrintToString(arguments) << result.error;
        EXPECT_THAT(result.output, ::testing::IsEmpty());
        EXPECT_THAT(result.error, ::testing::StartsWith("quadtile: error: "));
        EXPECT_EQ(std::ranges::count(result.error, '\n'), 1) << result.error;
        EXPECT_TRUE(result.error.ends_with('\n'));
        EXPECT_EQ(directory_.names(), before) << ::testing::PrintToString(arguments);
        return result.error;
    }

    TemporaryDirectory directory_;
};

}  // namespace quadtile::app::test
