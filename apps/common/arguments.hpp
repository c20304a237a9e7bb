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

// Error of the command line itself: exit status 2.
class UsageError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// Output of --help and --version. run_program prints it and returns exit status 0.
struct PrintedText {
    std::string text;
};

// ---- Names of values in options, files and messages, by tables: std::array<Named<Value>, N>

template <typename Value>
struct Named {
    std::string_view name;
    Value value;
};

// Returns the names in the order of the table.
template <typename Table>
[[nodiscard]] std::vector<std::string> names_in(const Table& table) {
    std::vector<std::string> names;
    for (const auto& entry : table) {
        names.emplace_back(entry.name);
    }
    return names;
}

// Returns "a, b, c".
[[nodiscard]] std::string joined(const std::vector<std::string>& names);

// Returns the value of a name that the table has.
template <typename Table>
[[nodiscard]] auto value_in(const Table& table, std::string_view name) {
    return std::ranges::find(table, name, [](const auto& entry) { return entry.name; })->value;
}

// Returns the name of a value that the table has.
template <typename Table, typename Value>
[[nodiscard]] std::string_view name_in(const Table& table, const Value& value) {
    return std::ranges::find(table, value, [](const auto& entry) { return entry.value; })->name;
}

// Returns "1 tile" or "2 tiles".
[[nodiscard]] inline std::string counted(std::uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// ---- Numbers in arguments: never NaN, infinity only if a range includes it

constexpr float LARGEST_FLOAT = std::numeric_limits<float>::max();
constexpr float INFINITE_FLOAT = std::numeric_limits<float>::infinity();

// Returns the shortest text of the number.
[[nodiscard]] std::string text_of(float value);

// Reads "1280x720", or "1024" for both sides, from 1 to `most`. Throws UsageError.
struct Size {
    std::uint32_t width;
    std::uint32_t height;
};
[[nodiscard]] Size parse_size(std::string_view option, std::string_view text, std::uint32_t most,
                              bool takes_one_number);

// Checks for options of CLI11, whose own ranges contain NaN and which reads -1 as a large number.
using Check = std::function<std::string(const std::string&)>;
[[nodiscard]] Check float_between(float low, float high);
[[nodiscard]] Check whole_between(std::uint64_t low, std::uint64_t high);

// ---- The files of a command line: none may destroy another

struct FileArgument {
    std::string name;            // name of the option, for messages
    std::filesystem::path path;  // empty: not given
    bool is_written;
};

// Throws UsageError if a written file is also another one of `files`. Files are equal by device and
// inode, whatever paths and links lead to them; files that do not exist yet by the directory and
// the name. Devices such as /dev/null may be given several times. Opens nothing.
//
// `scene_files`: further files that are read because the file SCENE names them.
void check_files(std::vector<FileArgument> files,
                 const std::vector<std::filesystem::path>& scene_files = {});

// Throws UsageError if a name has another ending than the given ones (without a dot), which are the
// formats of the option's files. Names without an ending are allowed.
void check_ending(const std::string& option, const std::filesystem::path& path,
                  const std::vector<std::string_view>& endings);

// Returns the path that writing to `path` creates or replaces: the target of a symbolic link, even
// if nothing exists there yet.
[[nodiscard]] std::filesystem::path follow_links(std::filesystem::path path);

}  // namespace quadtile::app
