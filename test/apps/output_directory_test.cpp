#include "output_file.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

namespace quadtile::app::test {

using quadtile::test::TemporaryDirectory;
namespace {

namespace fs = std::filesystem;

TEST(OutputDirectories, StayWithSomethingInThem) {
    const TemporaryDirectory directory;
    const fs::path outer = directory.path() / "outer";
    {
        OutputDirectories directories;
        directories.create(outer / "full");
        directories.create(outer / "empty" / "inner");
        directories.create(outer / "full");
        std::ofstream(outer / "full" / "file") << "text";
        EXPECT_TRUE(fs::is_directory(outer / "empty" / "inner"));
    }
    EXPECT_TRUE(fs::exists(outer / "full" / "file"));
    EXPECT_FALSE(fs::exists(outer / "empty"));
}

TEST(OutputDirectories, ThatWereThereStay) {
    const TemporaryDirectory directory;
    fs::create_directory(directory.path() / "old");
    {
        OutputDirectories directories;
        directories.create(directory.path() / "old" / "new" / "");
        EXPECT_TRUE(fs::is_directory(directory.path() / "old" / "new"));
    }
    EXPECT_EQ(directory.names(), std::set<std::string>{"old"});
    EXPECT_TRUE(fs::is_empty(directory.path() / "old"));
}

TEST(OutputDirectories, SayWhatCannotBeCreated) {
    const TemporaryDirectory directory;
    const fs::path file = directory.add("file", "");
    for (const fs::path& target : {file, file / "inner", fs::path("/proc/quadtile")}) {
        OutputDirectories directories;
        try {
            directories.create(target);
            ADD_FAILURE() << target;
        } catch (const std::runtime_error& error) {
            EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot create the directory '"));
        }
    }
    EXPECT_EQ(directory.names(), std::set<std::string>{"file"});
}

}  // namespace
}  // namespace quadtile::app::test
