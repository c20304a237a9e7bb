// What the processes of all programs have in common: how they begin, how they end, and how they say
// on standard error what failed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace quadtile::app {

// Runs a program, whose exit status `run` returns. An exception becomes a line on standard error
// and an exit status: 2 for UsageError, else 1. `out_of_memory` is the message where
// is_out_of_memory says so. A PrintedText is printed.
//
// Failed writes are errors where they happen instead of signals that end the process. Standard
// streams that the caller closed stay closed: without this the next file that is opened would take
// the number of one and receive what is meant for it. SIGHUP, SIGINT and SIGTERM are as
// end_by_signal, unless the caller has them ignored.
[[nodiscard]] int run_program(std::string_view name, std::string_view out_of_memory,
                              const std::function<int()>& run);

// Throws std::runtime_error if Vulkan's validation layer has said something.
void check_validation(std::uint64_t messages);

// Memory, or the room for one more thread.
[[nodiscard]] bool is_out_of_memory(const std::exception& error);

// Removes what RemovedBySignal names, and ends the process as the signal does. For std::signal.
void end_by_signal(int signal);

// A temporary file, or a folder that is removed if it is empty, for as long as this exists. Of more
// than a hundred at a time the last are not removed.
class RemovedBySignal {
 public:
    explicit RemovedBySignal(const std::filesystem::path& path);
    RemovedBySignal(RemovedBySignal&& other) noexcept;
    RemovedBySignal& operator=(RemovedBySignal&&) = delete;
    ~RemovedBySignal();

 private:
    std::size_t place_ = 0;
};

// "`start`: `message`" as one line, without its end, whatever the message contains: line breaks and
// tabs become spaces. What a terminal could take for a command (control characters of ASCII and
// Unicode), and bytes that are not UTF-8, are written as \x1b. File names, arguments and the names
// in damaged files have all of these.
[[nodiscard]] std::string message_line(std::string_view start, std::string_view message);

}  // namespace quadtile::app
