// What differs between operating systems: files by descriptor, standard streams, signals.
//
// Functions that return an int return a descriptor or 0; below 0 they have failed, and errno says
// why.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace quadtile::app::platform {

[[nodiscard]] int process_id();
// Returns the folder of the program that runs.
[[nodiscard]] std::filesystem::path program_folder();

// Number of a file, whatever paths and links lead to it. None: it does not exist.
using FileId = std::pair<std::uint64_t, std::uint64_t>;
[[nodiscard]] std::optional<FileId> file_id(const std::filesystem::path& path);

// Opens a pipe, a device, or the file that is standard output or standard error. 0: the path leads
// to none of these.
[[nodiscard]] int open_directly(const std::filesystem::path& path);
[[nodiscard]] int duplicate_standard_output();
// Creates a file with the owner and the permissions of `like`; a new file's if that does not exist.
// Fails with EEXIST if the name is taken.
[[nodiscard]] int create(const std::filesystem::path& path, const std::filesystem::path& like);
// Returns the number of bytes that were written.
[[nodiscard]] std::ptrdiff_t write(int descriptor, std::string_view bytes);
// Waits until the bytes of a file are on the disk, where files have one.
[[nodiscard]] int sync(int descriptor);
[[nodiscard]] int close(int descriptor);
// Moves a file into the place of another one, and waits until the folder is on the disk.
[[nodiscard]] int replace(const std::filesystem::path& from, const std::filesystem::path& target);

// Failed writes become errors instead of signals. Signals that ask the process to end call `end`,
// unless the caller has them ignored. Standard streams that the caller closed stay closed;
// otherwise the next opened file would get the number of one and receive its data.
void prepare_process(void (*end)(int signal));
[[nodiscard]] bool error_is_terminal();

// For signal handlers.
using PathCharacter = std::filesystem::path::value_type;
// Removes a file, or a folder if it is empty.
void remove(const PathCharacter* path) noexcept;
// Writes to standard error.
void print_error(std::string_view text) noexcept;

}  // namespace quadtile::app::platform
