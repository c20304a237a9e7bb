// Portable float map: "Pf" (grey) or "PF" (colour), width, height and scale as text, then rows of
// floats from the bottom to the top. A negative scale means little-endian; its magnitude is a unit
// that readers ignore by custom, as here.

#include "image_loaders.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <iomanip>
#include <stdexcept>

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

PfmHeader read_header(std::istream& file) {
    std::string type;
    std::int64_t width = 0;
    std::int64_t height = 0;
    double scale = 0.0;
    file >> std::setw(3) >> type >> width >> height >> scale;
    // One white space character ends the header; the next bytes may look like more of it.
    if (!file || (type != "PF" && type != "Pf") || file.get() == std::istream::traits_type::eof()) {
        throw std::runtime_error(
            "damaged PFM header: it must have 'PF' or 'Pf', width, height and scale; save the file "
            "again");
    }
    if (width < 1 || height < 1 || width > MAX_MAP_EXTENT || height > MAX_MAP_EXTENT) {
        throw std::runtime_error("a PFM image of " + std::to_string(width) + " x " +
                                 std::to_string(height) + " texels cannot be a map; use 1 to " +
                                 std::to_string(MAX_MAP_EXTENT) + " texels on a side");
    }
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

// Throws if the file is shorter than its header announces. `file` is positioned after the header.
void check_length(const std::filesystem::path& path, std::istream& file, const PfmHeader& header) {
    const std::uint64_t needed = static_cast<std::uint64_t>(file.tellg()) +
                                 header.row_floats() * header.height * sizeof(float);
    const std::uint64_t present = std::filesystem::file_size(path);
    if (present < needed) {
        throw std::runtime_error("the file is truncated: its header announces " +
                                 std::to_string(needed) + " bytes, it has " +
                                 std::to_string(present) + "; copy or save it again");
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

LoadedImage load_pfm_image(const std::filesystem::path& path) {
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
