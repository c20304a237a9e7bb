// Runs programs that were built as their users do.

#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace quadtile::app::test {

enum class StandardOutput { captured, closed, full_device, broken_pipe };

struct ProgramOptions {
    std::filesystem::path directory;                 // where it runs
    std::map<std::string, std::string> environment;  // added to this process's own
    StandardOutput standard_output = StandardOutput::captured;
    rlim_t largest_file_bytes = RLIM_INFINITY;
    rlim_t address_space_bytes = RLIM_INFINITY;
};

struct ProgramResult {
    int status = -1;  // exit status; 128 + signal number where a signal ended it
    std::string output;
    std::string error;
};

// A run that takes longer than two minutes is ended.
[[nodiscard]] ProgramResult run_executable(const std::string& program,
                                           const std::vector<std::string>& arguments,
                                           const ProgramOptions& options);

// `quadtile` of this build, or the one that the environment variable QUADTILE_CLI names.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& arguments,
                                        const ProgramOptions& options);

}  // namespace quadtile::app::test
