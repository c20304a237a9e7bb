#include "output_file.hpp"

#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

namespace quadtile::app::test {

using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;
namespace {

namespace fs = std::filesystem;

constexpr OutputFile::Temporary KINDS[] = {OutputFile::Temporary::unnamed_where_possible,
                                           OutputFile::Temporary::named};

TEST(OutputFile, AppearsWithCommitAlone) {
    for (const OutputFile::Temporary kind : KINDS) {
        const TemporaryDirectory directory;
        const fs::path target = directory.path() / "tiles.json";
        {
            OutputFile file(target, kind);
            file.write("half");
            EXPECT_FALSE(fs::exists(target));
            EXPECT_TRUE(kind != OutputFile::Temporary::named || directory.names().size() == 1);
        }
        EXPECT_TRUE(directory.names().empty());

        OutputFile file(target, kind);
        file.write("one ");
        file.write("two");
        (void)directory.add("tiles.json", "old");
        EXPECT_EQ(read_file(target), "old");
        file.commit();
        EXPECT_EQ(read_file(target), "one two");
        EXPECT_EQ(fs::status(target).permissions(),
                  fs::status(TemporaryDirectory().add("other", "")).permissions());
        EXPECT_EQ(directory.names(), std::set<std::string>{"tiles.json"});
    }
}

TEST(OutputFile, HasAnyNameThatFileSystemsTake) {
    const TemporaryDirectory directory;
    const std::string name(255, 'x');
    for (const OutputFile::Temporary kind : KINDS) {
        OutputFile file(directory.path() / name, kind);
        file.write("text");
        file.commit();
        EXPECT_EQ(read_file(directory.path() / name), "text");
        EXPECT_THROW(OutputFile(directory.path() / (name + 'x'), kind), std::runtime_error);
    }
    EXPECT_EQ(directory.names(), std::set<std::string>{name});
}

TEST(OutputFile, WritesThroughALink) {
    const TemporaryDirectory directory;
    const fs::path target = directory.add("target", "old");
    fs::create_symlink("target", directory.path() / "link");
    OutputFile file(directory.path() / "link");
    file.write("new");
    file.commit();
    EXPECT_TRUE(fs::is_symlink(directory.path() / "link"));
    EXPECT_EQ(read_file(target), "new");

    fs::create_symlink("none", directory.path() / "dangling");
    OutputFile other(directory.path() / "dangling");
    other.write("new");
    other.commit();
    EXPECT_TRUE(fs::is_symlink(directory.path() / "dangling"));
    EXPECT_EQ(read_file(directory.path() / "none"), "new");
}

}  // namespace
}  // namespace quadtile::app::test
