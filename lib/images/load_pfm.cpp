// Portable float map, as netpbm defines it: "Pf" (grey) or "PF" (colour), width, height and scale
// as text, one white space character, then rows of floats from the bottom to the top. A negative
// scale means little-endian; its magnitude is a unit that readers ignore by custom, as here.

#include "image_loaders.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace quadtile::detail {

namespace {

struct PfmHeader {
    bool colour;
    std::uint32_t width;
    std::uint32_t height;
    bool swap_bytes;

    [[nodiscard]] std::size_t components() const noexcept { return colour ? 3 : 1; }
    [[nodiscard]] std::size_t row_floats() const noexcept { return width * components(); }
};

constexpr std::string_view WHITE_SPACE = " \t\n\v\f\r";

[[noreturn]] void throw_damaged_header(const std::string& why) {
    throw std::runtime_error("damaged PFM header: " + why +
                             "; it must have 'PF' or 'Pf', width, height, scale and one line feed; "
                             "save the file again");
}

// Returns the next word of the header, and takes the one character behind it. The bytes behind the
// last word may look like more white space.
std::string next_word(std::istream& file, const std::string& what) {
    constexpr std::size_t LONGEST = 100;
    std::string word;
    for (char c = 0; word.size() <= LONGEST && file.get(c);) {
        if (WHITE_SPACE.find(c) == std::string_view::npos) {
            word += c;
        } else if (!word.empty()) {
            return word;
        }
    }
    throw_damaged_header("no white space ends " + what);
}

// Returns the value of a decimal number in any locale; one that a double cannot hold has the right
// sign. Throws for other texts.
double number(std::string_view word, const std::string& what) {
    double value = 0.0;
    const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) {
        return word.starts_with('-') ? -1.0 : 1.0;
    }
    if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
        throw_damaged_header(what + " is '" + std::string(word) + "', which is no decimal number");
    }
    return value;
}

std::int64_t extent(std::string_view word, const std::string& what) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
        throw_damaged_header(what + " is '" + std::string(word) + "', which is no whole number");
    }
    return value;
}

PfmHeader read_header(std::istream& file) {
    const std::string type = next_word(file, "the type");
    if (type != "PF" && type != "Pf") {
        throw_damaged_header("it begins with '" + type + "'");
    }
    const std::int64_t width = extent(next_word(file, "the width"), "the width");
    const std::int64_t height = extent(next_word(file, "the height"), "the height");
    if (width < 1 || height < 1 || width > MAX_MAP_EXTENT || height > MAX_MAP_EXTENT) {
        throw std::runtime_error("a PFM image of " + std::to_string(width) + " x " +
                                 std::to_string(height) + " texels cannot be a map; use 1 to " +
                                 std::to_string(MAX_MAP_EXTENT) + " texels on a side");
    }
    const double scale = number(next_word(file, "the scale"), "the scale");
    if (scale == 0.0) {
        throw std::runtime_error(
            "the PFM scale is 0, but its sign must give the byte order; save the file with 1 or "
            "-1");
    }
    const std::endian order = scale < 0.0 ? std::endian::little : std::endian::big;
    return {type == "PF", static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height),
            order != std::endian::native};
}

std::uint32_t swap_bytes(std::uint32_t word) {
    return (word << 24U) | ((word & 0xff00U) << 8U) | ((word >> 8U) & 0xff00U) | (word >> 24U);
}

// Throws if the file has another length than its header announces. `file` is positioned after the
// header.
void check_length(const std::filesystem::path& path, std::istream& file, const PfmHeader& header) {
    const std::uint64_t needed = static_cast<std::uint64_t>(file.tellg()) +
                                 header.row_floats() * header.height * sizeof(float);
    const std::uint64_t present = std::filesystem::file_size(path);
    const std::string lengths = ": its header announces " + std::to_string(needed) +
                                " bytes, it has " + std::to_string(present);
    if (present < needed) {
        throw std::runtime_error("the file is truncated" + lengths + "; copy or save it again");
    }
    if (present > needed) {
        const bool is_header =
            WHITE_SPACE.find(static_cast<char>(file.peek())) != std::string::npos;
        throw std::runtime_error("the file is too long" + lengths + "; save it again" +
                                 (is_header
                                      ? ", with one line feed behind the scale, no more white "
                                        "space"
                                      : ""));
    }
}

// Calls `take(y, floats)` for each row.
template <typename Take>
void read_rows(std::istream& file, const PfmHeader& header, Take&& take) {
    std::vector<std::uint32_t> words(header.row_floats());
    std::vector<float> floats(words.size());
    for (std::uint32_t y = header.height; y-- > 0;) {
        if (!file.read(reinterpret_cast<char*>(words.data()),
                       static_cast<std::streamsize>(words.size() * sizeof(float)))) {
            throw std::runtime_error("reading row " + std::to_string(y) +
                                     " failed; copy the file again");
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
            floats[i] = std::bit_cast<float>(header.swap_bytes ? swap_bytes(words[i]) : words[i]);
        }
        take(y, floats);
    }
}

}  // namespace

LoadedMap load_pfm(const std::filesystem::path& path, const std::string& channel) {
    std::ifstream file(path, std::ios::binary);
    const PfmHeader header = read_header(file);
    const ComponentChoice choice = choose_component(header.colour, channel);
    check_length(path, file, header);

    LoadedMap map = allocate_map(header.width, header.height, TexelFormat::r32_float, choice.name);
    auto* const texels = reinterpret_cast<float*>(room_of(map));
    read_rows(file, header, [&](std::uint32_t y, const std::vector<float>& row) {
        for (std::uint32_t x = 0; x < header.width; ++x) {
            const float* value = row.data() + x * header.components();
            texels[std::size_t{y} * header.width + x] =
                choice.luminance ? luminance(value[0], value[1], value[2]) : value[choice.index];
        }
    });
    return map;
}

LoadedImage load_pfm_image(const std::filesystem::path& path, bool /*linear*/) {
    std::ifstream file(path, std::ios::binary);
    const PfmHeader header = read_header(file);
    check_length(path, file, header);
    const TexelFormat format = header.colour ? TexelFormat::rgba32_float : TexelFormat::r32_float;
    LoadedImage image = allocate_image(header.width, header.height, format);
    const std::size_t channels = channel_count(format);
    auto* const texels = reinterpret_cast<float*>(room_of(image));
    read_rows(file, header, [&](std::uint32_t y, const std::vector<float>& row) {
        for (std::uint32_t x = 0; x < header.width; ++x) {
            float* texel = texels + channels * (std::size_t{y} * header.width + x);
            std::copy_n(row.data() + x * header.components(), header.components(), texel);
            if (header.colour) {
                texel[3] = 1.0F;
            }
        }
    });
    return image;
}

std::vector<std::string> pfm_channels(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return component_names(read_header(file).colour);
}

}  // namespace quadtile::detail
