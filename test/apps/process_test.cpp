// Files that are written, signals, errors and work that hangs, as all programs have them.

#include "process.hpp"
#include "arguments.hpp"
#include "gpu.hpp"
#include "output_file.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

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

// ---- Processes

// The signal that ends a process which does `work` and gets `signal` then; 0: none does.
int signal_that_ends(int signal, const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(run_program("test", "", [&] {
            work();
            std::raise(signal);
            return 0;
        }));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(Process, SignalsLeaveNothingBehind) {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        const TemporaryDirectory directory;
        (void)directory.add("result", "old");
        const auto work = [&] {
            static OutputDirectories directories;  // which are there when the signal comes
            static std::vector<OutputFile> files;
            directories.create(directory.path() / "outer" / "inner");
            for (const char* const name : {"result", "outer/inner/result"}) {
                files.emplace_back(directory.path() / name).write("half");
            }
        };
        const auto before = std::signal(signal, SIG_DFL);  // nohup ignores some
        EXPECT_EQ(signal_that_ends(signal, work), signal);
        (void)std::signal(signal, before);
        EXPECT_EQ(directory.names(), std::set<std::string>{"result"});
        EXPECT_EQ(quadtile::test::read_file(directory.path() / "result"), "old");
    }
}

TEST(Process, IgnoresSignalsThatItsCallerIgnores) {
    const auto before = std::signal(SIGHUP, SIG_IGN);
    EXPECT_EQ(signal_that_ends(SIGHUP, [] {}), 0);
    (void)std::signal(SIGHUP, before);
}

TEST(Process, ErrorsAreALineAndAStatus) {
    const auto run = [](const std::function<int()>& work) {
        ::testing::internal::CaptureStderr();
        const int status = run_program("name", "no memory", work);
        return std::pair(status, ::testing::internal::GetCapturedStderr());
    };
    EXPECT_EQ(run([] { return 7; }), std::pair(7, std::string()));
    EXPECT_EQ(run([]() -> int { throw UsageError("a\nb"); }),
              std::pair(2, std::string("name: error: a b\n")));
    EXPECT_EQ(run([]() -> int { throw std::runtime_error("c"); }),
              std::pair(1, std::string("name: error: c\n")));
    EXPECT_EQ(run([]() -> int { throw std::bad_alloc(); }),
              std::pair(1, std::string("name: error: no memory\n")));
    // As std::thread throws where memory is exhausted.
    const auto no_thread = std::make_error_code(std::errc::resource_unavailable_try_again);
    EXPECT_EQ(run([&]() -> int { throw std::system_error(no_thread); }),
              std::pair(1, std::string("name: error: no memory\n")));
}

// Catches lines that break, that a terminal obeys, or that are no text.
TEST(MessageLine, IsOneLineOfText) {
    const std::string text = "caf\u00e9 \u20ac \U0001f5fa \u00a0 \uffff \U0010ffff";
    for (const auto& [bytes, shown] : std::vector<std::pair<std::string, std::string>>{
             {text, text},
             {"cannot read 'a\nb\r\tc'", "cannot read 'a b  c'"},
             {"\x1b[2J\x7f", "\\x1b[2J\\x7f"},
             {std::string(1, '\0'), "\\x00"},
             {"\xff", "\\xff"},           // in no character
             {"\x80x", "\\x80x"},         // the middle of one
             {"\xe2\x82", "\\xe2\\x82"},  // cut off
             {"\xc1\x81", "\\xc1\\x81"},  // longer than needed
             {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},
             {"\xed\xa0\x80", "\\xed\\xa0\\x80"},              // half of a pair of UTF-16
             {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}}) {  // behind the last one
        EXPECT_EQ(message_line("quadtile: error", bytes), "quadtile: error: " + shown);
    }
}

// A driver whose work never ends: a wait takes all the time that it is given.
void hang() {
    auto& driver = VULKAN_HPP_DEFAULT_DISPATCHER;
    driver.vkWaitForFences = [](auto...) { return VK_TIMEOUT; };
    driver.vkDeviceWaitIdle = [](VkDevice) {
        while (true) {
            ::pause();
        }
        return VK_SUCCESS;
    };
    driver.vkFreeMemory = [](auto...) { std::abort(); };  // the work may use it
}

// The work hangs that the program waits for, or a frame that is still drawn when it ends.
int run_hanging(const quadtile::test::TemporaryDirectory& directory, bool waits) {
    return run_program("name", "", [&] {
        ::alarm(60);
        OutputFile file(directory.path() / "result");
        const Instance instance("hang", {}, false);
        Gpu gpu(instance, {}, {});
        if (!waits) {
            hang();
            return 0;
        }
        const Buffer used = gpu.make_buffer(64, vk::BufferUsageFlagBits::eTransferDst);
        hang();
        gpu.run([](vk::CommandBuffer) {});
        return 0;
    });
}

// Catches a wait without a limit behind the time-out, so that the message never came.
TEST(GpuHang, EndsWithItsMessage) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (const bool waits : {true, false}) {
        const quadtile::test::TemporaryDirectory directory;
        EXPECT_EXIT(std::exit(run_hanging(directory, waits)), ::testing::ExitedWithCode(1),
                    "name: error: work on the GPU did not end within a minute\n$")
            << waits;
        EXPECT_THAT(directory.names(), ::testing::IsEmpty());
    }
}

}  // namespace
}  // namespace quadtile::app::test
