// The seeds of the fuzzers, and what they found before, through the same targets.

#include "fuzz/fuzz_targets.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

namespace quadtile::app::test {

using quadtile::test::read_file;
namespace {

namespace fs = std::filesystem;

using Target = void (*)(std::string_view);

TEST(FuzzCorpus, DoesNoHarm) {
    const fs::path root = QUADTILE_FUZZ_FOLDER;
    if (!fs::is_directory(root)) {
        GTEST_SKIP() << "the sources, with " << root << ", are not here";
    }
    for (const auto& [name, target] : std::initializer_list<std::pair<const char*, Target>>{
             {"exr", fuzz::fuzz_exr}, {"pfm", fuzz::fuzz_pfm}, {"png", fuzz::fuzz_png}}) {
        for (const char* const folder : {"seeds", "found"}) {
            std::size_t files = 0;
            if (fs::is_directory(root / folder / name)) {
                for (const auto& entry : fs::directory_iterator(root / folder / name)) {
                    std::cout << entry.path().string() << std::endl;  // names the one that crashes
                    EXPECT_NO_THROW(target(read_file(entry.path()))) << entry.path();
                    ++files;
                }
            }
            EXPECT_TRUE(files > 0 || std::string(folder) == "found") << "no seeds for " << name;
        }
    }
}

}  // namespace
}  // namespace quadtile::app::test
