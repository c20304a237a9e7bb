// A file that appears whole or not at all.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace quadtile::app {

// Writes to a temporary file beside the target; `commit` moves it into place. A target that is not
// a regular file (a device, a pipe) is written directly, and standard output is one more of these.
//
// Each function throws std::runtime_error with the file and the reason.
class OutputFile {
 public:
    explicit OutputFile(const std::filesystem::path& target);
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
    [[noreturn]] void fail(int error) const;

    int descriptor_;
    std::string name_;  // for messages
    std::filesystem::path target_;
    std::filesystem::path temporary_;  // empty: written directly
};

}  // namespace quadtile::app
