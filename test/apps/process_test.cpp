#include "process.hpp"
#include "arguments.hpp"

#include "output_file.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace quadtile::app::test {
namespace {

using quadtile::test::TemporaryDirectory;

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
             {"\xc2\x9b", "\\xc2\\x9b"},
             {std::string(1, '\0'), "\\x00"},
             {"\xff", "\\xff"},           // in no character
             {"\x80x", "\\x80x"},         // the middle of one
             {"\xe2\x82", "\\xe2\\x82"},  // cut off
             {"\xe2\x82x", "\\xe2\\x82x"},
             {"\xc1\x81", "\\xc1\\x81"},  // longer than needed
             {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},
             {"\xed\xa0\x80", "\\xed\\xa0\\x80"},              // half of a pair of UTF-16
             {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}}) {  // behind the last one
        EXPECT_EQ(message_line("quadtile: error", bytes), "quadtile: error: " + shown);
    }
}

}  // namespace
}  // namespace quadtile::app::test
