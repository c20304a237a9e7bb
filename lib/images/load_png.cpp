// PNG through libspng. In maps grey images keep their 8 or 16 bits, and the luminance of colour is
// a float.

#include "image_loaders.hpp"

#include <spng.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

namespace quadtile::detail {

namespace {

struct ContextDeleter {
    void operator()(spng_ctx* context) const noexcept { spng_ctx_free(context); }
};

void check(int result) {
    if (result == SPNG_EMEM) {
        throw std::bad_alloc();
    }
    if (result != SPNG_OK) {
        throw std::runtime_error("damaged or truncated PNG (libspng: " +
                                 std::string(spng_strerror(result)) + "); copy or save it again");
    }
}

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U |
           std::uint32_t{bytes[2]} << 8U | bytes[3];
}

// Reads a PNG file as if it had only the chunks that define its pixels. libspng keeps all others,
// of which valid files have any number, of any size and kind.
class PixelChunks {
 public:
    explicit PixelChunks(const std::filesystem::path& path) : file_(path, std::ios::binary) {
        if (!file_) {
            throw std::runtime_error("it cannot be opened; check its permissions");
        }
        // The signature and the first chunk's head.
        std::array<std::uint8_t, SIGNATURE_BYTES + HEAD_BYTES> begin{};
        if (read_file(begin.data(), begin.size()) == 0 &&
            std::memcmp(begin.data() + SIGNATURE_BYTES + 4, "CgBI", 4) == 0) {
            throw std::runtime_error(
                "it is a PNG of Apple's own kind (CgBI), which only Apple's programs read; convert "
                "it with Xcode's 'pngcrush -revert-iphone-optimizations'");
        }
        file_.clear();
        file_.seekg(0);
    }

    // As libspng calls it: fills `to` and returns 0, or an error.
    static int read(spng_ctx* /*context*/, void* self, void* to, std::size_t size) {
        return static_cast<PixelChunks*>(self)->read(static_cast<std::uint8_t*>(to), size);
    }

 private:
    static constexpr std::size_t SIGNATURE_BYTES = 8;
    static constexpr std::size_t HEAD_BYTES = 8;  // of a chunk: length and type
    static constexpr std::size_t CHECKSUM_BYTES = 4;

    int read(std::uint8_t* to, std::size_t size) {
        while (size > 0) {
            if (left_ == 0) {
                const int result = go_to_pixel_chunk();
                if (result != 0) {
                    return result;
                }
            }
            const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
            if (head_left_ > 0) {
                const std::size_t head_part = std::min(part, head_left_);
                std::copy_n(head_.end() - static_cast<std::ptrdiff_t>(head_left_), head_part, to);
                head_left_ -= head_part;
                left_ -= head_part;
                to += head_part;
                size -= head_part;
                continue;
            }
            const int result = read_file(to, part);
            if (result != 0) {
                return result;
            }
            left_ -= part;
            to += part;
            size -= part;
        }
        return 0;
    }

    // Skips chunks up to one that is passed on; its head is in head_.
    int go_to_pixel_chunk() {
        while (true) {
            const int result = read_file(head_.data(), head_.size());
            if (result != 0) {
                return result;
            }
            const std::uint64_t length = big_endian(head_.data());
            const std::string_view type(reinterpret_cast<const char*>(head_.data()) + 4, 4);
            const bool is_critical = (static_cast<std::uint8_t>(type[0]) & 0x20U) == 0;
            if (is_critical || type == "tRNS") {
                head_left_ = HEAD_BYTES;
                left_ = HEAD_BYTES + length + CHECKSUM_BYTES;
                return 0;
            }
            if (!file_.seekg(static_cast<std::streamoff>(length + CHECKSUM_BYTES), std::ios::cur)) {
                return SPNG_IO_ERROR;
            }
        }
    }

    int read_file(std::uint8_t* to, std::size_t size) {
        if (file_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(size))) {
            return 0;
        }
        return file_.eof() ? SPNG_IO_EOF : SPNG_IO_ERROR;
    }

    std::ifstream file_;
    std::array<std::uint8_t, HEAD_BYTES> head_{};
    std::size_t head_left_ = 0;             // bytes of head_ that are to be passed on
    std::uint64_t left_ = SIGNATURE_BYTES;  // bytes to be passed on before the next chunk
};

class PngFile {
 public:
    explicit PngFile(const std::filesystem::path& path) : file_(path), context_(spng_ctx_new(0)) {
        if (!context_) {
            throw std::bad_alloc();
        }
        check(spng_set_crc_action(context_.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD));
        check(spng_set_png_stream(context_.get(), PixelChunks::read, &file_));
        check(spng_get_ihdr(context_.get(), &header_));
        check_pixels(std::filesystem::file_size(path));
    }
    PngFile(const PngFile&) = delete;  // context_ has its address
    PngFile& operator=(const PngFile&) = delete;

    [[nodiscard]] std::uint32_t width() const noexcept { return header_.width; }
    [[nodiscard]] std::uint32_t height() const noexcept { return header_.height; }
    [[nodiscard]] std::size_t texels() const noexcept { return std::size_t{width()} * height(); }
    [[nodiscard]] bool has_16_bits() const noexcept { return header_.bit_depth == 16; }
    [[nodiscard]] bool has_colour() const noexcept {
        return header_.color_type != SPNG_COLOR_TYPE_GRAYSCALE &&
               header_.color_type != SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    }
    // Returns whether a texel is one sample. Values that stand for transparency count like others.
    [[nodiscard]] bool is_grey() const noexcept {
        return header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
    }

    // Decodes the samples of a grey file, 8 or 16 bits each.
    void decode_grey(const LoadedImage& image) const {
        decode(has_16_bits() ? SPNG_FMT_PNG : SPNG_FMT_G8, room_of(image));
    }
    // Decodes red, green, blue and alpha, 8 or 16 bits each.
    void decode_rgba(void* texels) const {
        decode(has_16_bits() ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8, texels);
    }

 private:
    // Checks that the pixels fit into the file, because their memory is allocated before they are
    // read.
    void check_pixels(std::uint64_t file_bytes) const {
        constexpr std::uint64_t COMPONENTS[] = {1, 0, 3, 1, 2, 0, 4};  // by colour type
        constexpr std::uint64_t MOST_BYTES_OF_ONE = 1032;              // by deflate
        const std::uint64_t pixel_bytes =
            texels() * COMPONENTS[header_.color_type] * header_.bit_depth / 8;
        if (pixel_bytes > MOST_BYTES_OF_ONE * file_bytes) {
            throw std::runtime_error("damaged or truncated PNG: its header announces pixels of " +
                                     std::to_string(pixel_bytes) + " bytes, for which its " +
                                     std::to_string(file_bytes) +
                                     " bytes are too few; copy or save it again");
        }
    }

    void decode(int format, void* texels) const {
        std::size_t bytes = 0;
        check(spng_decoded_image_size(context_.get(), format, &bytes));
        check(spng_decode_image(context_.get(), texels, bytes, format, SPNG_DECODE_TRNS));
        check(spng_decode_chunks(context_.get()));  // to the end of the file
    }

    PixelChunks file_;
    std::unique_ptr<spng_ctx, ContextDeleter> context_;
    spng_ihdr header_{};
};

// T: std::uint8_t or std::uint16_t, the type of a component.
template <typename T>
LoadedMap colour_map(const PngFile& file, const ComponentChoice& choice) {
    constexpr auto ONE = static_cast<float>(std::numeric_limits<T>::max());
    constexpr TexelFormat FORMAT = sizeof(T) == 1 ? TexelFormat::r8_unorm : TexelFormat::r16_unorm;
    LoadedMap map = allocate_map(file.width(), file.height(),
                                 choice.luminance ? TexelFormat::r32_float : FORMAT, choice.name);
    const auto pixels = std::make_unique_for_overwrite<T[]>(file.texels() * 4);
    file.decode_rgba(pixels.get());
    for (std::size_t i = 0; i < file.texels(); ++i) {
        const T* const pixel = pixels.get() + 4 * i;
        if (choice.luminance) {
            reinterpret_cast<float*>(room_of(map))[i] =
                luminance(static_cast<float>(pixel[0]) / ONE, static_cast<float>(pixel[1]) / ONE,
                          static_cast<float>(pixel[2]) / ONE);
        } else {
            reinterpret_cast<T*>(room_of(map))[i] = pixel[choice.index];
        }
    }
    return map;
}

}  // namespace

LoadedMap load_png(const std::filesystem::path& path, const std::string& channel) {
    const PngFile file(path);
    const ComponentChoice choice = choose_component(file.has_colour(), channel);
    if (file.is_grey()) {
        LoadedMap map = allocate_map(
            file.width(), file.height(),
            file.has_16_bits() ? TexelFormat::r16_unorm : TexelFormat::r8_unorm, choice.name);
        file.decode_grey(map);
        return map;
    }
    return file.has_16_bits() ? colour_map<std::uint16_t>(file, choice)
                              : colour_map<std::uint8_t>(file, choice);
}

LoadedImage load_png_image(const std::filesystem::path& path, bool linear) {
    const PngFile file(path);
    if (file.is_grey() && (file.has_16_bits() || linear)) {
        LoadedImage image =
            allocate_image(file.width(), file.height(),
                           file.has_16_bits() ? TexelFormat::r16_unorm : TexelFormat::r8_unorm);
        file.decode_grey(image);
        return image;
    }
    if (!file.has_16_bits()) {
        LoadedImage image =
            allocate_image(file.width(), file.height(),
                           linear ? TexelFormat::rgba8_unorm : TexelFormat::rgba8_srgb);
        file.decode_rgba(room_of(image));
        return image;
    }
    LoadedImage image = allocate_image(file.width(), file.height(), TexelFormat::rgba32_float);
    const auto pixels = std::make_unique_for_overwrite<std::uint16_t[]>(file.texels() * 4);
    file.decode_rgba(pixels.get());
    auto* const values = reinterpret_cast<float*>(room_of(image));
    for (std::size_t i = 0; i < file.texels() * 4; ++i) {
        values[i] = static_cast<float>(pixels[i]) / 65535.0F;
    }
    return image;
}

std::vector<std::string> png_channels(const std::filesystem::path& path) {
    return component_names(PngFile(path).has_colour());
}

}  // namespace quadtile::detail
