// Runs programs that were built as their users do.

#pragma once

#include "support/temporary_directory.hpp"

#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::app::test {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments first, const Arguments& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

enum class StandardOutput { captured, closed, full_device, broken_pipe };

struct ProgramOptions {
    std::filesystem::path directory;                 // where it runs
    std::map<std::string, std::string> environment;  // added to this process's own
    StandardOutput standard_output = StandardOutput::captured;
    rlim_t largest_file_bytes = RLIM_INFINITY;
};

struct ProgramResult {
    int status = -1;  // exit status; 128 + signal number where a signal ended it
    std::string output;
    std::string error;
};

// A program that runs while the test goes on; the destructor kills it. One that takes longer than
// five minutes is ended, too.
class RunningProgram {
 public:
    RunningProgram(const Arguments& arguments, const ProgramOptions& options);
    ~RunningProgram();
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    void send(int signal) const;
    // As ProgramResult::status.
    [[nodiscard]] int wait();
    // The first line on standard error that contains the text, after those that were waited for
    // before. Throws std::runtime_error with all that was logged where it waits in vain.
    std::string wait_for(const std::string& text);
    [[nodiscard]] std::string log() const;  // on standard error
    [[nodiscard]] std::string output() const;

 private:
    [[nodiscard]] bool has_ended();

    quadtile::test::TemporaryDirectory directory_;  // of what it says
    pid_t process_ = -1;
    std::optional<int> status_;  // as waitpid() gives it
    std::size_t read_to_ = 0;    // in the log
};

// The program of this build that is tested, or another one that an environment variable names.
[[nodiscard]] std::string program_path();
[[nodiscard]] ProgramResult run_program(const Arguments& arguments, const ProgramOptions& options);

}  // namespace quadtile::app::test
