#include "output_file.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace quadtile::app::test {
namespace {

// What the disk is asked for, in this order; and the file that it fails for.
std::vector<std::string> disk_calls;
std::string bad_file;

}  // namespace
}  // namespace quadtile::app::test

// In place of the C library's.
extern "C" int fsync(int descriptor) {
    using namespace quadtile::app::test;
    struct stat status {};
    (void)::fstat(descriptor, &status);
    disk_calls.emplace_back(S_ISDIR(status.st_mode) ? "sync folder" : "sync file");
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (!bad_file.empty() && quadtile::test::read_file(link) == bad_file) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) {
    quadtile::app::test::disk_calls.emplace_back("rename");
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace quadtile::app::test {

using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
    return static_cast<mode_t>(fs::status(path).permissions());
}

// Catches files that are empty after a power cut, because they got their names before their bytes.
TEST(OutputFile, IsOnTheDiskBeforeItHasItsName) {
    const TemporaryDirectory directory;
    disk_calls.clear();
    write_file(directory.path() / "checkpoint", "bytes");
    EXPECT_THAT(disk_calls, ::testing::ElementsAre("sync file", "rename", "sync folder"));
}

// Catches a list that is replaced although its picture cannot be written.
TEST(OutputFile, AllAppearOrNone) {
    for (const std::string bad : {"list", "picture"}) {
        const TemporaryDirectory directory;
        (void)directory.add("tiles.json", "old");
        std::vector<OutputFile> files;
        files.emplace_back(directory.path() / "tiles.json").write("list");
        files.emplace_back(directory.path() / "tiles.png").write("picture");
        bad_file = bad;
        EXPECT_THROW(OutputFile::commit_all(files), std::runtime_error);
        bad_file.clear();
        files.clear();
        EXPECT_EQ(directory.names(), std::set<std::string>{"tiles.json"});
        EXPECT_EQ(read_file(directory.path() / "tiles.json"), "old");
    }
}

// Catches private files that others can read once they are replaced.
TEST(OutputFile, KeepsPermissions) {
    const TemporaryDirectory directory;
    const mode_t before = ::umask(0);
    for (const auto& [umask, old, expected] : {std::tuple<mode_t, mode_t, mode_t>{022, 0, 0644},
                                               {077, 0, 0600},
                                               {022, 0600, 0600},
                                               {022, 0640, 0640},
                                               {077, 0666, 0666}}) {
        fs::remove(directory.path() / "file");
        if (old != 0) {
            fs::permissions(directory.add("file", "old"), static_cast<fs::perms>(old));
        }
        ::umask(umask);
        OutputFile file(directory.path() / "file");
        for (const std::string& name : directory.names()) {  // the temporary file, too
            EXPECT_EQ(mode_of(directory.path() / name), expected) << name;
        }
        file.commit();
        EXPECT_EQ(mode_of(directory.path() / "file"), expected);
        ::umask(0);
    }
    ::umask(before);
}

TEST(OutputFile, WritesThroughLinksOfAnyName) {
    const TemporaryDirectory directory;
    const fs::path target = directory.add(std::string(255, 'x'), "old");
    fs::create_symlink(target.filename(), directory.path() / "link");
    fs::create_symlink("none", directory.path() / "dangling");
    for (const char* const name : {"link", "dangling"}) {
        write_file(directory.path() / name, "new");
        EXPECT_TRUE(fs::is_symlink(directory.path() / name));
    }
    EXPECT_EQ(read_file(target) + read_file(directory.path() / "none"), "newnew");
    EXPECT_THROW(OutputFile(target.string() + 'x'), std::runtime_error);
    EXPECT_THROW(OutputFile(directory.path()), std::runtime_error);
}

// Catches a pipe that is replaced by a file, and a log that loses what it had.
TEST(OutputFile, WritesDirectlyWhereNothingCanBeReplaced) {
    const TemporaryDirectory directory;
    const fs::path pipe = directory.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    write_file(pipe, "text");
    std::string text(8, ' ');
    EXPECT_EQ(::read(reader, text.data(), text.size()), 4);
    ::close(reader);
    EXPECT_TRUE(fs::is_fifo(pipe));

    const fs::path log = directory.add("log", "old ");
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(::open(log.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
        write_file("/dev/stdout", "new");
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(read_file(log), "old new");
}

}  // namespace
}  // namespace quadtile::app::test
