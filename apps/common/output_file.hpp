// Files that appear whole or not at all, and directories that stay only where something came of
// them.

#pragma once

#include "process.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app {

// Writes to a temporary file in the target's folder; `commit` moves it into place. The temporary
// file has no name where the file system can do that; elsewhere it is removed by the signals of
// run_program. A target that is not a regular file (a device, a pipe) is written directly, and
// standard output is one more of these.
//
// Each function throws std::runtime_error with the file and the reason.
class OutputFile {
 public:
    enum class Temporary { unnamed_where_possible, named };
    explicit OutputFile(const std::filesystem::path& target,
                        Temporary temporary = Temporary::unnamed_where_possible);
    [[nodiscard]] static OutputFile standard_output();

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    // Removes the temporary file where it was not committed.
    ~OutputFile();

    void write(std::string_view bytes);
    void commit();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
    OutputFile(int descriptor, std::string name);
    void name_temporary(const std::function<int(const char*)>& make);
    [[noreturn]] void fail(int error) const;

    int descriptor_;
    std::string name_;                 // for messages
    std::filesystem::path target_;     // empty: written directly
    std::filesystem::path temporary_;  // empty: it has no name
    std::optional<RemovedBySignal> removed_by_signal_;
};

// The whole file at once.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Creates directories, and removes those again that are empty in the end, or when a signal ends the
// program.
//
// Throws std::runtime_error with the directory and the reason.
class OutputDirectories {
 public:
    OutputDirectories() = default;
    OutputDirectories(const OutputDirectories&) = delete;
    OutputDirectories& operator=(const OutputDirectories&) = delete;
    ~OutputDirectories();

    // With those above it; one that is there already is left as it is.
    void create(const std::filesystem::path& directory);

 private:
    std::vector<std::filesystem::path> created_;  // outer ones first
    std::vector<RemovedBySignal> removed_by_signal_;
};

}  // namespace quadtile::app
