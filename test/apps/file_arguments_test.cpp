#include "arguments.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace quadtile::app::test {
namespace {

namespace fs = std::filesystem;
using quadtile::test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;

class FileArguments : public ::testing::Test {
 protected:
    FileArguments() {
        (void)directory_.add("map", "texels");
        fs::create_hard_link(path("map"), path("hard"));
        fs::create_symlink("map", path("link"));
        fs::create_symlink("none", path("dangling"));
        fs::create_directory_symlink(".", path("here"));
        ::mkfifo(path("pipe").c_str(), 0600);
    }

    [[nodiscard]] fs::path path(const std::string& name) const { return directory_.path() / name; }

    [[nodiscard]] bool collide(const fs::path& read, const fs::path& written) const {
        try {
            check_files({{"INPUT", read, false}, {"--none", {}, true}, {"--image", written, true}});
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("INPUT"), HasSubstr("--image"),
                                            HasSubstr(written.string())));
            return true;
        }
        return false;
    }

    TemporaryDirectory directory_;
};

// Catches comparisons of paths instead of files.
TEST_F(FileArguments, AreTheSameHoweverTheyAreNamed) {
    for (const char* const name : {"map", "./map", "hard", "link", "here/map", "here/here/hard"}) {
        EXPECT_TRUE(collide(path("map"), path(name))) << name;
        EXPECT_TRUE(collide(path(name), path("map"))) << name;
    }
    EXPECT_TRUE(collide(path("pipe"), path("here/pipe")));
    EXPECT_TRUE(collide(fs::proximate(path("map")), path("map")));
    EXPECT_FALSE(collide(path("map"), path("other")));
    EXPECT_FALSE(collide(path("map"), path("here")));
}

TEST_F(FileArguments, ThatAreNotThereYetAreComparedByDirectoryAndName) {
    for (const char* const name : {"none", "./none", "here/none", "dangling", "here/dangling"}) {
        EXPECT_TRUE(collide(path("none"), path(name))) << name;
        EXPECT_TRUE(collide(path(name), path("none"))) << name;
    }
    EXPECT_TRUE(collide(path("missing/none"), path("missing/./none")));
    EXPECT_FALSE(collide(path("none"), path("missing/none")));
}

TEST_F(FileArguments, ThatAreOnlyReadMayBeTheSame) {
    EXPECT_NO_THROW(check_files({{"INPUT", path("map"), false}, {"--glsl", path("hard"), false}}));
    EXPECT_NO_THROW(check_files({{"--image", {}, true}, {"--output", {}, true}}));
}

TEST_F(FileArguments, MayBeOneDevice) {
    EXPECT_FALSE(collide("/dev/null", "/dev/null"));
}

TEST_F(FileArguments, AreComparedWithThoseOfTheScene) {
    EXPECT_THROW(check_files({{"--preview", path("link"), true}}, {path("map")}), UsageError);
    EXPECT_NO_THROW(check_files({{"SCENE", path("link"), false}}, {path("map")}));
}

TEST_F(FileArguments, LinksAreFollowedToWhatIsWritten) {
    EXPECT_EQ(follow_links(path("link")), path("map"));
    EXPECT_EQ(follow_links(path("dangling")), path("none"));
    EXPECT_EQ(follow_links(path("map")), path("map"));
}

}  // namespace
}  // namespace quadtile::app::test
