// The seeds of the fuzzers, and what they found before, through the same targets.

#include "fuzz/fuzz_targets.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace quadtile::app::test {

using quadtile::test::read_file;
namespace {

namespace fs = std::filesystem;

using Target = void (*)(std::string_view);

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    if (fs::is_directory(folder)) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

void replay(Target target, const std::string& name) {
    const fs::path folder = QUADTILE_FUZZ_FOLDER;
    if (!fs::is_directory(folder)) {
        GTEST_SKIP() << "the sources, with " << folder << ", are not here";
    }
    const std::vector<fs::path> seeds = files_in(folder / "seeds" / name);
    EXPECT_FALSE(seeds.empty()) << "there are no seeds in " << folder / "seeds" / name;
    std::vector<fs::path> inputs = files_in(folder / "found" / name);
    inputs.insert(inputs.end(), seeds.begin(), seeds.end());
    for (const fs::path& input : inputs) {
        std::cout << input.string() << std::endl;  // names the one that crashes
        EXPECT_NO_THROW(target(read_file(input))) << input;
    }
}

TEST(FuzzCorpus, CommandLine) {
    replay(fuzz::fuzz_command_line, "command_line");
}

TEST(FuzzCorpus, Exr) {
    replay(fuzz::fuzz_exr, "exr");
}

TEST(FuzzCorpus, Pfm) {
    replay(fuzz::fuzz_pfm, "pfm");
}

TEST(FuzzCorpus, Png) {
    replay(fuzz::fuzz_png, "png");
}

}  // namespace
}  // namespace quadtile::app::test
