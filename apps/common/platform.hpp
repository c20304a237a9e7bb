// What differs between operating systems: paths and files, folders of the user, the process. Only
// platform_posix.cpp and platform_windows.cpp know which system it is.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace quadtile::app {

// Converts paths from and to UTF-8, in which all texts and arguments are.
// std::filesystem::path::string() and path(std::string) take the code page of Windows.
[[nodiscard]] inline std::string text_of(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}
[[nodiscard]] inline std::filesystem::path path_of(std::string_view text) {
    return {std::u8string(text.begin(), text.end())};
}

namespace platform {

// ---- Files: results of type int are a descriptor or 0; below 0 the call has failed, and
// error_text says why.

// Opens a pipe, a device, or the file that is standard output or standard error. 0: the path leads
// to none of these.
[[nodiscard]] int open_directly(const std::filesystem::path& path);
// Creates a file with the owner and the permissions of `like`; a new file's if that does not exist.
// Fails with EEXIST if the name is taken.
[[nodiscard]] int create(const std::filesystem::path& path, const std::filesystem::path& like);
[[nodiscard]] int duplicate_standard_output();
[[nodiscard]] std::ptrdiff_t write(int descriptor, const char* bytes, std::size_t size);
[[nodiscard]] int seek(int descriptor, std::uint64_t place);
// Lets the disk take these bytes meanwhile; `sync` sees its errors.
void begin_sync(int descriptor, std::uint64_t place, std::size_t size);
// Waits until the bytes of a file are on the disk, where files have one.
[[nodiscard]] int sync(int descriptor);
[[nodiscard]] int close(int descriptor);
// Moves a file into the place of another one, and waits until the folder is on the disk.
[[nodiscard]] int replace(const std::filesystem::path& from, const std::filesystem::path& target);
// The reason of the failure in errno.
[[nodiscard]] std::string error_text();
// Removes a file, or a folder if it is empty. For signal handlers.
void remove(const std::filesystem::path::value_type* path) noexcept;
// Returns whether paths without links lead to the same place, where nothing exists yet.
[[nodiscard]] bool are_same(const std::filesystem::path& one, const std::filesystem::path& other);

// Returns `quadtile` in the user's folder for a purpose: the one that a variable names
// (XDG_CACHE_HOME), or the one in the home (.cache). Empty: there is none.
[[nodiscard]] std::filesystem::path user_folder(const char* variable, const char* in_home);

// ---- The process

// Does what app::run_program says of signals and streams.
void prepare_process(void (*end)(int signal));
// Calls `note` for each signal that asks a long work to come to an end.
void on_interrupt(void (*note)(int signal));
[[nodiscard]] int process_id();
// The file of this program; empty: unknown.
[[nodiscard]] std::filesystem::path program_file();
[[nodiscard]] bool is_terminal(int stream);
// The bytes of memory that processes can still take; 0 if the system does not tell.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace platform

}  // namespace quadtile::app
