// Files that appear whole or not at all, and directories that stay only if files stay in them.

#pragma once

#include "process.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app {

// A file for output. Writes go to a temporary file in the target's folder, and `commit` moves it
// into place once all bytes are on the disk. A file that is replaced keeps its permissions; links
// to it stay. The signals of run_program remove the temporary file. A target that is not a regular
// file (a device, a pipe), and standard output, are written directly.
//
// Each function throws std::runtime_error with the file and the reason.
class OutputFile {
 public:
    explicit OutputFile(const std::filesystem::path& target);
    [[nodiscard]] static OutputFile standard_output();

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    // Removes the temporary file if it was not committed.
    ~OutputFile();

    void write(std::string_view bytes);
    // Writes bytes at a place of the file. `finish` writes them, in order, to what has no places.
    void write_at(std::uint64_t place, std::string_view bytes);
    // Waits until all bytes are on the disk; then only `commit` may follow.
    void finish();
    void commit();
    // Moves files into place once all of them are on the disk: all or none, as far as the file
    // system lets.
    static void commit_all(std::span<OutputFile> files);

 private:
    OutputFile(int descriptor, std::string name);
    void check(bool succeeded) const;

    int descriptor_ = -1;
    std::string name_;                 // for messages
    std::string held_;                 // bytes by place, of what has no places
    std::filesystem::path target_;     // empty: written directly
    std::filesystem::path temporary_;  // empty: none, or no longer
    std::optional<RemovedBySignal> removed_by_signal_;
};

// Writes a whole file.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Directories for output. Those that are empty in the end, or when a signal ends the program, are
// removed again.
//
// Throws std::runtime_error with the directory and the reason.
class OutputDirectories {
 public:
    OutputDirectories() = default;
    OutputDirectories(const OutputDirectories&) = delete;
    OutputDirectories& operator=(const OutputDirectories&) = delete;
    ~OutputDirectories();

    // Creates a directory and those above it; existing ones stay as they are.
    void create(const std::filesystem::path& directory);

 private:
    std::vector<std::filesystem::path> created_;  // outer ones first
    std::vector<RemovedBySignal> removed_by_signal_;
};

}  // namespace quadtile::app
