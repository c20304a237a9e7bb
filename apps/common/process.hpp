// Common parts of all programs' processes: their beginning, their end, and messages on standard
// error.

#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace quadtile::app {

// Runs a program, and returns the exit status of `run`. An exception becomes a line on standard
// error and an exit status: 2 for UsageError, else 1. `out_of_memory` is the message for exceptions
// of is_out_of_memory. A PrintedText is printed.
//
// Failed writes become errors at their place instead of signals that end the process. Standard
// streams that the caller closed stay closed; otherwise the next opened file would get the number
// of one and receive its data. SIGHUP, SIGINT and SIGTERM call end_by_signal, unless the caller has
// them ignored.
[[nodiscard]] int run_program(std::string_view name, std::string_view out_of_memory,
                              const std::function<int()>& run);

// Returns the importance map of the demos (examples/maps), which lies beside this program where it
// was built or installed.
[[nodiscard]] std::filesystem::path demo_map_path();

// Throws std::runtime_error if Vulkan's validation layer has reported messages.
void check_validation(std::uint64_t messages);

// Returns whether an error is a lack of memory or of room for one more thread.
[[nodiscard]] bool is_out_of_memory(const std::exception& error);

// Removes the files of RemovedBySignal, and ends the process as the signal does. For std::signal.
void end_by_signal(int signal);

// Prints the error, removes the files of RemovedBySignal, and ends the process with status 1.
// Destroys nothing: for work of others that may never end and uses what the process has.
[[noreturn]] void end_at_once(std::string_view message);

// A temporary file, or a folder that is removed if it is empty, during the lifetime of this object.
// Beyond a hundred at a time the last ones are not removed.
class RemovedBySignal {
 public:
    explicit RemovedBySignal(const std::filesystem::path& path);
    RemovedBySignal(RemovedBySignal&& other) noexcept;
    RemovedBySignal& operator=(RemovedBySignal&&) = delete;
    ~RemovedBySignal();

 private:
    std::size_t place_ = 0;
};

// Returns "`start`: `message`" as one line without its end. Line breaks and tabs become spaces.
// Control characters of ASCII and Unicode, which a terminal could take for commands, and bytes that
// are not UTF-8, are written as \x1b. File names, arguments and the names in damaged files may
// contain all of these.
[[nodiscard]] std::string message_line(std::string_view start, std::string_view message);

}  // namespace quadtile::app
