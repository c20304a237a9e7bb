#include "arguments.hpp"

#include "platform.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace quadtile::app {

namespace {

// Returns "a number from 1 to 8".
std::string range_text(float low, float high) {
    if (high < LARGEST_FLOAT) {
        return "a number from " + text_of(low) + " to " + text_of(high);
    }
    return (high == LARGEST_FLOAT ? "a finite number" : "a number") +
           (low == -high ? "" : " of " + text_of(low) + " or more");
}

// Returns the fault of the text; empty: none.
std::string read_float(std::string_view text, float low, float high, float& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
        return "outside the range of a 32-bit float";
    }
    if (error != std::errc{} || end != text.data() + text.size()) {
        return "not a number";
    }
    return value >= low && value <= high ? "" : "not " + range_text(low, high);
}

std::string read_whole(std::string_view text, std::uint64_t low, std::uint64_t high,
                       std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number && value >= low && value <= high
               ? ""
               : "not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

template <typename Value>
Check check_with(std::string (*read)(std::string_view, Value, Value, Value&), Value low,
                 Value high) {
    return [=](const std::string& text) {
        Value value{};
        const std::string problem = read(text, low, high, value);
        return problem.empty() ? problem : "'" + text + "' is " + problem;
    };
}

}  // namespace

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

std::string text_of(float value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}

Size parse_size(std::string_view option, std::string_view text, std::uint32_t most,
                bool takes_one_number) {
    const std::size_t cross = text.find('x');
    const bool is_one_number = cross == std::string_view::npos;
    std::uint64_t width = 0;
    std::uint64_t height = 0;
    const bool is_size =
        read_whole(text.substr(0, cross), 1, most, width).empty() &&
        (is_one_number ? takes_one_number
                       : read_whole(text.substr(cross + 1), 1, most, height).empty());
    if (!is_size) {
        throw UsageError(std::string(option) + " takes a size like " +
                         (takes_one_number ? "1024 or 1024x512" : "1280x720") + ", 1 to " +
                         std::to_string(most) + " on a side, not '" + std::string(text) + "'");
    }
    return {static_cast<std::uint32_t>(width),
            static_cast<std::uint32_t>(is_one_number ? width : height)};
}

Check float_between(float low, float high) {
    return check_with(read_float, low, high);
}

Check whole_between(std::uint64_t low, std::uint64_t high) {
    return check_with(read_whole, low, high);
}

namespace fs = std::filesystem;

namespace {

bool is_same_file(const fs::path& one, const fs::path& other) {
    std::error_code ignored;  // a name that no file can have
    const bool exists = fs::exists(one, ignored);
    if (exists != fs::exists(other, ignored) || fs::is_character_file(one, ignored)) {
        return false;
    }
    const auto place_of = [&](const fs::path& path) {
        const fs::path target = fs::absolute(follow_links(path));
        const fs::path place = fs::weakly_canonical(target, ignored);
        return place.empty() ? target : place;
    };
    return exists ? fs::equivalent(one, other, ignored)
                  : platform::are_same(place_of(one), place_of(other));
}

}  // namespace

void check_files(std::vector<FileArgument> files, const std::vector<fs::path>& scene_files) {
    for (const fs::path& path : scene_files) {
        files.push_back({"a file of SCENE", path, false});
    }
    std::erase_if(files, [](const FileArgument& file) { return file.path.empty(); });
    for (auto file = files.begin(); file != files.end(); ++file) {
        if (file->path == "-") {
            throw UsageError(file->name + " '-': only files are read and written; give a name");
        }
        for (auto other = files.begin(); other != file; ++other) {
            if ((file->is_written || other->is_written) && is_same_file(file->path, other->path)) {
                throw UsageError(other->name + " and " + file->name + " name the same file, '" +
                                 text_of(file->path) + "'; give another name to one of them");
            }
        }
    }
}

void check_ending(const std::string& option, const fs::path& path,
                  const std::vector<std::string_view>& endings) {
    std::string given = text_of(path.extension());
    std::ranges::transform(given, given.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string known;
    for (const std::string_view ending : endings) {
        known += (known.empty() ? "." : ", .") + std::string(ending);
        if (given.empty() || given == "." + std::string(ending)) {
            return;
        }
    }
    throw UsageError(option + " '" + text_of(path) + "' has the ending of another format; give " +
                     (endings.size() > 1 ? "one of " : "") + known);
}

fs::path follow_links(fs::path path) {
    constexpr int MOST_LINKS = 40;  // as in Linux
    std::error_code error;
    for (int link = 0; link < MOST_LINKS && fs::is_symlink(fs::symlink_status(path, error));
         ++link) {
        const fs::path target = fs::read_symlink(path, error);
        if (error) {
            break;
        }
        path = path.parent_path() / target;
    }
    return path;
}

}  // namespace quadtile::app
