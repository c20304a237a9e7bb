// quadtile-bake as its users run it, and its files.

#pragma once

#include "apps/program_test.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace quadtile::baker::test {

using app::test::Arguments;
using app::test::ProgramOptions;
using app::test::ProgramResult;
using app::test::read_file;
using app::test::RunningProgram;
using app::test::operator+;

// Values by channel; all channels are floats.
inline std::map<std::string, std::vector<float>> read_exr(const std::filesystem::path& path) {
    std::map<std::string, std::vector<float>> values;
    for (const std::string& channel : channels_of(path)) {
        const LoadedMap map = load_map(path, channel);
        EXPECT_EQ(map.shape.format, TexelFormat::r32_float);
        values[channel] = reference::decode(map.view());
    }
    return values;
}

class BakeProgram : public app::test::ProgramTest {
 protected:
    BakeProgram() { tells_progress_ = true; }

    [[nodiscard]] RunningProgram start(const Arguments& arguments) const {
        return {arguments, {.directory = directory_.path()}};
    }
    // The lightmap's bytes.
    [[nodiscard]] std::string bake(const Arguments& arguments, const std::string& name,
                                   const ProgramOptions& options = {}) const {
        const ProgramResult result = run(arguments + Arguments{"-o", name}, options);
        EXPECT_EQ(result.status, 0) << result.error;
        return read_file(path(name));
    }
    // The mean of a channel over the texels with light.
    [[nodiscard]] double mean_of(const std::string& channel, const Arguments& arguments) const {
        (void)bake(arguments, "map.exr");
        const auto map = read_exr(path("map.exr"));
        const auto& known = map.at("A");
        return std::inner_product(known.begin(), known.end(), map.at(channel).begin(), 0.0) /
               std::accumulate(known.begin(), known.end(), 0.0);
    }
};

}  // namespace quadtile::baker::test
