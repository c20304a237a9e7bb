#include "check_exr.hpp"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfTileDescription.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quadtile::detail {

namespace {

[[noreturn]] void throw_damaged(const std::string& why) {
    throw std::runtime_error("damaged or truncated OpenEXR file (" + why +
                             "); copy or save it again");
}

// Returns the size of the types that OpenEXR reads without regard to the size in the file.
std::optional<std::uint32_t> size_of_type(std::string_view type) {
    static const std::map<std::string_view, std::uint32_t> sizes{
        {"box2f", 16},         {"box2i", 16},    {"chromaticities", 32},
        {"compression", 1},    {"double", 8},    {"envmap", 1},
        {"deepImageState", 1}, {"float", 4},     {"int", 4},
        {"keycode", 28},       {"lineOrder", 1}, {"m33d", 72},
        {"m33f", 36},          {"m44d", 128},    {"m44f", 64},
        {"rational", 8},       {"tiledesc", 9},  {"timecode", 8},
        {"v2d", 16},           {"v2f", 8},       {"v2i", 8},
        {"v3d", 24},           {"v3f", 12},      {"v3i", 12}};
    const auto known = sizes.find(type);
    return known == sizes.end() ? std::nullopt : std::optional(known->second);
}

// Reads forward, never beyond the end of its bytes.
class Bytes {
 public:
    Bytes(std::istream& file, std::uint64_t left) : file_(&file), left_(left) {}

    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

    [[nodiscard]] std::uint8_t byte() {
        char c = 0;
        if (left_ == 0 || !file_->get(c)) {
            throw_damaged("its header ends too early");
        }
        --left_;
        return static_cast<std::uint8_t>(c);
    }

    // Reads up to a NUL.
    [[nodiscard]] std::string name() {
        constexpr std::size_t LONGEST = 255;
        std::string name;
        while (true) {
            const char c = static_cast<char>(byte());
            if (c == '\0') {
                return name;
            }
            if (name.size() == LONGEST) {
                throw_damaged("a name in its header has more than " + std::to_string(LONGEST) +
                              " characters");
            }
            name += c;
        }
    }

    // Reads a little-endian word.
    [[nodiscard]] std::uint32_t word() {
        std::uint32_t word = 0;
        for (unsigned int shift = 0; shift < 32; shift += 8) {
            word |= std::uint32_t{byte()} << shift;
        }
        return word;
    }

    // Returns a reader of the next bytes, which this reader skips.
    [[nodiscard]] Bytes part(std::uint32_t size, const std::string& what) {
        if (size > left_) {
            throw_damaged(what + " announces " + std::to_string(size) + " bytes, where " +
                          std::to_string(left_) + " are left");
        }
        left_ -= size;
        return {*file_, size};
    }

    void skip() {
        file_->seekg(static_cast<std::streamoff>(left_), std::ios::cur);
        left_ = 0;
    }

 private:
    std::istream* file_;
    std::uint64_t left_;
};

// Throws for methods of newer versions than the OpenEXR here, which takes them for damage.
void check_compression(std::uint32_t method) {
    constexpr std::uint32_t FIRST_HTJ2K = 10;
    constexpr std::uint32_t LAST_HTJ2K = 11;
    if (method >= Imf::NUM_COMPRESSION_METHODS) {
        throw std::runtime_error(
            (method >= FIRST_HTJ2K && method <= LAST_HTJ2K
                 ? std::string("it is compressed by HTJ2K")
                 : "it is compressed by the unknown method " + std::to_string(method)) +
            ", which the OpenEXR library of this machine does not read; save it with another "
            "compression, for example ZIP");
    }
}

// Checks values that OpenEXR reads up to an end in their content.
void check_value(Bytes& value, std::string_view type, const std::string& what) {
    if (type == "chlist") {
        constexpr std::uint32_t CHANNEL_BYTES = 16;
        while (!value.name().empty()) {
            value.part(CHANNEL_BYTES, "a channel of " + what).skip();
        }
        if (value.left() != 0) {
            throw_damaged(what + " ends " + std::to_string(value.left()) + " bytes too early");
        }
    } else if (type == "compression") {
        check_compression(value.byte());
    } else if (type == "stringvector") {
        while (value.left() != 0) {
            const std::uint32_t size = value.word();
            value.part(size, "a text of " + what).skip();
        }
    }
    value.skip();
}

// Checks a header. Returns whether there was one: an empty header ends those of a file of several
// parts.
bool check_header(Bytes& file) {
    for (bool empty = true;; empty = false) {
        const std::string name = file.name();
        if (name.empty()) {
            return !empty;
        }
        const std::string what = "its attribute '" + name + "'";
        const std::string type = file.name();
        const std::uint32_t size = file.word();
        const std::optional<std::uint32_t> needed = size_of_type(type);
        if (needed && size != *needed) {
            throw_damaged(what + " of type " + type + " has " + std::to_string(size) +
                          " bytes instead of " + std::to_string(*needed));
        }
        Bytes value = file.part(size, what);
        check_value(value, type, what);
    }
}

// Returns the scan lines that are compressed together, a block in OpenEXR's terms.
std::uint64_t block_rows(Imf::Compression compression) {
    switch (compression) {
        case Imf::ZIP_COMPRESSION:
        case Imf::PXR24_COMPRESSION:
            return 16;
        case Imf::PIZ_COMPRESSION:
        case Imf::B44_COMPRESSION:
        case Imf::B44A_COMPRESSION:
        case Imf::DWAA_COMPRESSION:
            return 32;
        case Imf::DWAB_COMPRESSION:
            return 256;
        default:
            return 1;
    }
}

// Returns the most bytes that a method makes of one byte. Deflate, the base of most methods, makes
// at most 1032.
std::uint64_t most_bytes_of_one(Imf::Compression compression) {
    switch (compression) {
        case Imf::NO_COMPRESSION:
            return 1;
        case Imf::RLE_COMPRESSION:  // 2 bytes for 128
            return 64;
        case Imf::ZIPS_COMPRESSION:
        case Imf::ZIP_COMPRESSION:
            return 1032;
        case Imf::PXR24_COMPRESSION:  // 3 bytes of a float's 4, deflated
            return 1376;
        case Imf::PIZ_COMPRESSION:  // Huffman codes of at least a bit and a count of 8, for 255
                                    // halves
            return 512;
        case Imf::B44_COMPRESSION:
        case Imf::B44A_COMPRESSION:  // 3 bytes for 16 halves
            return 11;
        default:  // DWA: 2 bytes for 64 floats, deflated
            return std::uint64_t{128} * 1032;
    }
}

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

}  // namespace

void check_exr_attributes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    Bytes bytes(file, std::filesystem::file_size(path));
    bytes.part(4, "the magic number").skip();
    constexpr std::uint32_t SEVERAL_PARTS = 0x1000;
    const bool several_parts = (bytes.word() & SEVERAL_PARTS) != 0;
    while (check_header(bytes) && several_parts) {
    }
}

void check_exr_pixels(const Imf::Header& part, std::uint64_t file_bytes) {
    const Imath::Box2i& window = part.dataWindow();
    const auto extent = [](std::int64_t min, std::int64_t max) {
        return static_cast<std::uint64_t>(max - min + 1);
    };
    const std::uint64_t width = extent(window.min.x, window.max.x);
    const std::uint64_t height = extent(window.min.y, window.max.y);
    const Imf::Compression compression = part.compression();
    const bool tiles = part.hasTileDescription() && Imf::isTiled(part.type());
    const std::uint64_t block_width = tiles ? part.tileDescription().xSize : width;
    const std::uint64_t block_height =
        tiles ? part.tileDescription().ySize : block_rows(compression);

    std::uint64_t image_bytes = 0;
    std::uint64_t block_bytes = 0;
    for (auto i = part.channels().begin(); i != part.channels().end(); ++i) {
        const Imf::Channel& channel = i.channel();
        const std::uint64_t value_bytes = channel.type == Imf::HALF ? 2 : 4;
        image_bytes += (width / static_cast<std::uint64_t>(channel.xSampling)) *
                       (height / static_cast<std::uint64_t>(channel.ySampling)) * value_bytes;
        block_bytes += block_width * block_height * value_bytes;
    }

    const std::uint64_t most = file_bytes * most_bytes_of_one(compression);
    if (image_bytes > most) {
        throw_damaged("its header announces pixels of " + mebibytes(image_bytes) +
                      ", for which its " + std::to_string(file_bytes) + " bytes are too few");
    }
    constexpr std::uint64_t ALWAYS_FINE = std::uint64_t{256} << 20U;
    if (block_bytes > std::max(image_bytes, ALWAYS_FINE)) {
        throw std::runtime_error("its blocks of " + std::to_string(block_width) + " x " +
                                 std::to_string(block_height) + " texels take " +
                                 mebibytes(block_bytes) +
                                 ", more than the whole image; save it with smaller tiles, or as "
                                 "scan lines with another compression");
    }
}

}  // namespace quadtile::detail
