// Portable float map: "Pf" (grey) or "PF" (colour), width, height and scale as text, then rows of
// floats from the bottom to the top. A negative scale says that they are little-endian; its
// magnitude is a unit that readers ignore by custom, as here.

#include "map_loaders.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace quadtile::app {

namespace {

struct PfmHeader {
    bool colour;
    std::uint32_t width;
    std::uint32_t height;
    bool swap_bytes;
};

PfmHeader read_header(std::istream& file) {
    std::string type;
    std::int64_t width = 0;
    std::int64_t height = 0;
    double scale = 0.0;
    file >> type >> width >> height >> scale;
    // One white space character ends the header; what follows may look like more of it.
    if (!file || (type != "PF" && type != "Pf") || file.get() == std::istream::traits_type::eof()) {
        throw std::runtime_error(
            "damaged PFM header: 'PF' or 'Pf', width, height and scale are expected");
    }
    if (width < 1 || height < 1 || width > MAX_MAP_EXTENT || height > MAX_MAP_EXTENT) {
        throw std::runtime_error("a PFM image of " + std::to_string(width) + " x " +
                                 std::to_string(height) + " texels is no map; 1 to " +
                                 std::to_string(MAX_MAP_EXTENT) + " on a side are possible");
    }
    if (scale == 0.0) {
        throw std::runtime_error("the PFM scale is 0; its sign must give the byte order");
    }
    const std::endian order = scale < 0.0 ? std::endian::little : std::endian::big;
    return {type == "PF", static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height),
            order != std::endian::native};
}

std::uint32_t swap_bytes(std::uint32_t word) {
    return (word << 24U) | ((word & 0xff00U) << 8U) | ((word >> 8U) & 0xff00U) | (word >> 24U);
}

}  // namespace

LoadedMap load_pfm(const std::filesystem::path& path, const std::string& channel) {
    std::ifstream file(path, std::ios::binary);
    const PfmHeader header = read_header(file);
    const ComponentChoice choice = choose_component(header.colour, channel);

    const std::size_t components = header.colour ? 3 : 1;
    const std::size_t row_words = header.width * components;
    const std::uint64_t needed =
        static_cast<std::uint64_t>(file.tellg()) + row_words * header.height * sizeof(float);
    const std::uint64_t present = std::filesystem::file_size(path);
    if (present < needed) {
        throw std::runtime_error("the file is truncated: its header announces " +
                                 std::to_string(needed) + " bytes, it has " +
                                 std::to_string(present) + "; copy or save it again");
    }

    LoadedMap map = allocate_map(header.width, header.height, TexelFormat::r32_float, choice.name);
    std::vector<std::uint32_t> row(row_words);
    std::vector<float> values(header.width);
    for (std::uint32_t y = header.height; y-- > 0;) {
        if (!file.read(reinterpret_cast<char*>(row.data()),
                       static_cast<std::streamsize>(row_words * sizeof(float)))) {
            throw std::runtime_error("reading row " + std::to_string(y) + " failed");
        }
        const auto value = [&](std::size_t i) {
            return std::bit_cast<float>(header.swap_bytes ? swap_bytes(row[i]) : row[i]);
        };
        for (std::uint32_t x = 0; x < header.width; ++x) {
            const std::size_t i = x * components;
            values[x] = choice.luminance ? luminance(value(i), value(i + 1), value(i + 2))
                                         : value(i + choice.index);
        }
        std::memcpy(map.texels.get() + std::size_t{y} * header.width * sizeof(float), values.data(),
                    header.width * sizeof(float));
    }
    return map;
}

}  // namespace quadtile::app
