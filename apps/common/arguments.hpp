// Arguments of a program: their errors, names of values, numbers and files.

#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::app {

// The command line itself is wrong: exit status 2.
class UsageError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// What --help and --version print. run_program prints it, and the exit status is 0.
struct PrintedText {
    std::string text;
};

// ---- Names of values in options, files and messages, by tables: std::array<Named<Value>, N>

template <typename Value>
struct Named {
    std::string_view name;
    Value value;
};

// In the order of the table.
template <typename Table>
[[nodiscard]] std::vector<std::string> names_in(const Table& table) {
    std::vector<std::string> names;
    for (const auto& entry : table) {
        names.emplace_back(entry.name);
    }
    return names;
}

// Of a name that the table has.
template <typename Table>
[[nodiscard]] auto value_in(const Table& table, std::string_view name) {
    return std::ranges::find(table, name, [](const auto& entry) { return entry.name; })->value;
}

// Of a value that the table has.
template <typename Table, typename Value>
[[nodiscard]] std::string_view name_in(const Table& table, const Value& value) {
    return std::ranges::find(table, value, [](const auto& entry) { return entry.value; })->name;
}

// ---- Numbers in arguments: NaN is none of them, and infinity only where a range says so

constexpr float LARGEST_FLOAT = std::numeric_limits<float>::max();
constexpr float INFINITE_FLOAT = std::numeric_limits<float>::infinity();

// The shortest text of the number.
[[nodiscard]] std::string text_of(float value);

// Numbers with commas between them, at least one. Throws UsageError with the option, the text and
// the range.
[[nodiscard]] std::vector<float> parse_floats(std::string_view option, std::string_view text,
                                              float low = -LARGEST_FLOAT,
                                              float high = LARGEST_FLOAT);

// "1280x720", or "1024" where one number stands for both; from 1 to `most`. Throws UsageError.
struct Size {
    std::uint32_t width;
    std::uint32_t height;
};
[[nodiscard]] Size parse_size(std::string_view option, std::string_view text, std::uint32_t most,
                              bool takes_one_number);

// Checks of options of CLI11, whose own ranges contain NaN, and which takes -1 for a large number.
using Check = std::function<std::string(const std::string&)>;
[[nodiscard]] Check float_between(float low, float high);
[[nodiscard]] Check whole_between(std::uint64_t low, std::uint64_t high);

// ---- The files that a command line names: none may destroy another

struct FileArgument {
    std::string name;            // of the option, for messages
    std::filesystem::path path;  // empty: not given
    bool is_written;
};

// Throws UsageError where a file that is written is also another one of `files`. Files are the same
// by device and inode, whatever paths and links lead to them; files that do not exist yet by the
// directory and the name. Devices such as /dev/null may be given several times. Opens nothing.
//
// `scene_files`: what the file SCENE names, which is read, too.
void check_files(std::vector<FileArgument> files,
                 const std::vector<std::filesystem::path>& scene_files = {});

// Throws UsageError for a name with another ending than those, without a dot, in which the option's
// files are written. Names without an ending are free.
void check_ending(const std::string& option, const std::filesystem::path& path,
                  const std::vector<std::string_view>& endings);

// The path that writing to `path` creates or replaces: where a symbolic link leads, also where
// nothing is there yet.
[[nodiscard]] std::filesystem::path follow_links(std::filesystem::path path);

}  // namespace quadtile::app
