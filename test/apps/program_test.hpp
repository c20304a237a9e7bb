// Common parts of the tests of programs as black boxes.

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

// A command line that fails, and a part of the line that says so.
struct Refusal {
    Arguments arguments;
    int status;
    std::string text;
};

// Runs the program in a directory of its own.
class ProgramTest : public ::testing::Test {
 protected:
    [[nodiscard]] ProgramResult run(const Arguments& arguments, ProgramOptions options = {}) const {
        options.directory = directory_.path();
        return run_program(arguments, options);
    }

    // Fails with one line on standard error, behind what tells its progress, and nothing else
    // anywhere.
    [[nodiscard]] std::string error_of(const Arguments& arguments, int status,
                                       const ProgramOptions& options = {}) const {
        const Names before = directory_.names();
        const ProgramResult result = run(arguments, options);
        EXPECT_EQ(result.status, status) << ::testing::PrintToString(arguments) << result.error;
        EXPECT_THAT(result.output, ::testing::IsEmpty());
        const std::size_t line = result.error.rfind(QUADTILE_PROGRAM ": error: ");
        EXPECT_TRUE(line == 0 || (tells_progress_ && line != std::string::npos)) << result.error;
        const std::string error = line == std::string::npos ? "" : result.error.substr(line);
        EXPECT_EQ(std::ranges::count(error, '\n'), 1) << result.error;
        EXPECT_TRUE(error.ends_with('\n'));
        EXPECT_EQ(directory_.names(), before) << ::testing::PrintToString(arguments);
        return error;
    }

    void expect_refused(const std::vector<Refusal>& refusals,
                        const ProgramOptions& options = {}) const {
        for (const auto& [arguments, status, text] : refusals) {
            EXPECT_THAT(error_of(arguments, status, options), ::testing::HasSubstr(text))
                << ::testing::PrintToString(arguments);
        }
    }

    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return directory_.path() / name;
    }

    TemporaryDirectory directory_;
    bool tells_progress_ = false;
};

}  // namespace quadtile::app::test
