// PNG through stb_image. As maps, grey images keep their 8 or 16 bits; the luminance of colour is a
// float.

#include "image_loaders.hpp"

#include <cstdlib>
#include <cstring>

namespace {

void* resize_zeroed(void* memory, std::size_t old_bytes, std::size_t bytes) {
    auto* const resized = static_cast<char*>(std::realloc(memory, bytes));
    if (resized != nullptr && bytes > old_bytes) {
        std::memset(resized + old_bytes, 0, bytes - old_bytes);
    }
    return resized;
}

}  // namespace

// Some damage makes stb_image copy what it has not written yet: then texels are zeros, the same in
// each run, instead of what lies in memory.
#define STBI_MALLOC(bytes) std::calloc(1, bytes)
#define STBI_REALLOC_SIZED(memory, old_bytes, bytes) resize_zeroed(memory, old_bytes, bytes)
#define STBI_FREE(memory) std::free(memory)
#define STBI_ONLY_PNG
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string_view>

namespace quadtile::detail {

namespace {

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

template <typename T>
struct PixelsDeleter {
    void operator()(T* pixels) const noexcept { stbi_image_free(pixels); }
};
template <typename T>
using Pixels = std::unique_ptr<T[], PixelsDeleter<T>>;

[[noreturn]] void throw_stb_failure() {
    // stb_image gives none for some damage of compressed data.
    const char* const given = stbi_failure_reason();
    const std::string reason = given != nullptr ? given : "no reason given";
    if (reason == "outofmem") {
        throw std::bad_alloc();
    }
    if (reason == "too large") {
        throw std::runtime_error(
            "the PNG image is too large: 2^30 components of texels are the most; save it as "
            "OpenEXR, or cut it into several");
    }
    throw std::runtime_error("damaged or truncated PNG (stb_image: " + reason +
                             "); copy or save it again");
}

std::uint32_t big_endian(const unsigned char* bytes) {
    return (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) |
           (std::uint32_t{bytes[2]} << 8U) | bytes[3];
}

// Throws where the file cannot hold what its chunks announce: stb_image would take the memory for
// it before it reads on. What else may be wrong is found by stb_image.
void check_chunks(std::FILE* file, std::uint64_t file_bytes) {
    constexpr std::uint64_t SIGNATURE_BYTES = 8;
    constexpr std::uint64_t CHECKSUM_BYTES = 4;
    std::uint64_t pixel_bits = 0;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t position = SIGNATURE_BYTES;
    unsigned char chunk[18];  // length and type, and of a header size, bits and colour type
    while (std::fseek(file, static_cast<long>(position), SEEK_SET) == 0) {
        const std::size_t read = std::fread(chunk, 1, sizeof chunk, file);
        const std::string_view type(reinterpret_cast<const char*>(chunk) + 4, 4);
        if (read < 8 || type == "IEND") {
            break;
        }
        const std::uint64_t data_bytes = big_endian(chunk);
        position += 8;
        if (position + data_bytes + CHECKSUM_BYTES > file_bytes) {
            throw std::runtime_error("the file is truncated: its chunk " + std::string(type) +
                                     " announces " + std::to_string(data_bytes) + " bytes, where " +
                                     std::to_string(file_bytes - position) +
                                     " are left; copy or save it again");
        }
        position += data_bytes + CHECKSUM_BYTES;
        if (type == "IHDR" && read == sizeof chunk) {
            constexpr std::uint64_t COMPONENTS[] = {1, 0, 3, 1, 2, 0, 4};  // of each colour type
            const std::uint64_t components = chunk[17] < 7 ? COMPONENTS[chunk[17]] : 0;
            const std::uint64_t texels =
                std::uint64_t{big_endian(chunk + 8)} * big_endian(chunk + 12);
            pixel_bits = components * chunk[16] * texels;
        } else if (type == "IDAT") {
            compressed_bytes += data_bytes;
        }
    }
    constexpr std::uint64_t MOST_BYTES_OF_ONE = 1032;  // by deflate
    if (pixel_bits / 8 > MOST_BYTES_OF_ONE * compressed_bytes) {
        throw std::runtime_error("damaged or truncated PNG: its header announces pixels of " +
                                 std::to_string(pixel_bits / 8) + " bytes, for which its " +
                                 std::to_string(compressed_bytes) +
                                 " bytes of data are too few; copy or save it again");
    }
    std::rewind(file);
}

class PngFile {
 public:
    explicit PngFile(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb")) {
        if (!file_) {
            throw std::runtime_error("it cannot be opened");
        }
        check_chunks(file_.get(), std::filesystem::file_size(path));
        stbi__g_failure_reason = nullptr;  // of an earlier file
        int width = 0;
        int height = 0;
        int components = 0;
        if (stbi_info_from_file(file_.get(), &width, &height, &components) == 0) {
            throw_stb_failure();
        }
        width_ = static_cast<std::uint32_t>(width);
        height_ = static_cast<std::uint32_t>(height);
        components_ = static_cast<std::size_t>(components);
        has_16_bits_ = stbi_is_16_bit_from_file(file_.get()) != 0;
    }

    [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
    [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
    // 1: grey, 2: grey and alpha, 3: colour, 4: colour and alpha.
    [[nodiscard]] std::size_t components() const noexcept { return components_; }
    [[nodiscard]] bool has_colour() const noexcept { return components_ >= 3; }
    [[nodiscard]] bool has_16_bits() const noexcept { return has_16_bits_; }

    // T: std::uint8_t or std::uint16_t. Grey becomes colour, and alpha the largest value, where
    // more components are asked for than there are.
    template <typename T>
    [[nodiscard]] Pixels<T> decode(std::size_t components) const {
        check_image({width_, height_, 1, TexelFormat::r8_unorm});  // before memory is taken
        int width = 0;
        int height = 0;
        int stored = 0;
        const int wanted = static_cast<int>(components);
        Pixels<T> pixels;
        if constexpr (sizeof(T) == 1) {
            pixels.reset(stbi_load_from_file(file_.get(), &width, &height, &stored, wanted));
        } else {
            pixels.reset(stbi_load_from_file_16(file_.get(), &width, &height, &stored, wanted));
        }
        if (!pixels) {
            throw_stb_failure();
        }
        return pixels;
    }

 private:
    File file_;
    std::uint32_t width_ = 0;
    std::uint32_t height_ = 0;
    std::size_t components_ = 0;
    bool has_16_bits_ = false;
};

template <typename T>
constexpr float ONE = sizeof(T) == 1 ? 255.0F : 65535.0F;

// T: std::uint8_t or std::uint16_t, the size of a component.
template <typename T>
LoadedMap map_from(const PngFile& file, const ComponentChoice& choice) {
    const std::size_t components = file.components();
    const Pixels<T> pixels = file.decode<T>(components);
    const std::size_t texels = std::size_t{file.width()} * file.height();
    if (choice.luminance) {
        LoadedMap map =
            allocate_map(file.width(), file.height(), TexelFormat::r32_float, choice.name);
        auto* values = reinterpret_cast<float*>(room_of(map));
        for (std::size_t i = 0; i < texels; ++i) {
            const T* pixel = pixels.get() + i * components;
            values[i] = luminance(static_cast<float>(pixel[0]) / ONE<T>,
                                  static_cast<float>(pixel[1]) / ONE<T>,
                                  static_cast<float>(pixel[2]) / ONE<T>);
        }
        return map;
    }
    LoadedMap map =
        allocate_map(file.width(), file.height(),
                     sizeof(T) == 1 ? TexelFormat::r8_unorm : TexelFormat::r16_unorm, choice.name);
    auto* values = reinterpret_cast<T*>(room_of(map));
    for (std::size_t i = 0; i < texels; ++i) {
        values[i] = pixels[i * components + choice.index];
    }
    return map;
}

// The components as they are.
template <typename T>
LoadedImage image_from(const PngFile& file, TexelFormat format) {
    const Pixels<T> pixels = file.decode<T>(channel_count(format));
    LoadedImage image = allocate_image(file.width(), file.height(), format);
    std::memcpy(room_of(image), pixels.get(),
                std::size_t{file.width()} * file.height() * texel_size_bytes(format));
    return image;
}

}  // namespace

LoadedMap load_png(const std::filesystem::path& path, const std::string& channel) {
    const PngFile file(path);
    const ComponentChoice choice = choose_component(file.has_colour(), channel);
    return file.has_16_bits() ? map_from<std::uint16_t>(file, choice)
                              : map_from<std::uint8_t>(file, choice);
}

LoadedImage load_png_image(const std::filesystem::path& path, bool linear) {
    const PngFile file(path);
    const bool grey = file.components() == 1;
    if (!file.has_16_bits()) {
        const TexelFormat colour = linear ? TexelFormat::rgba8_unorm : TexelFormat::rgba8_srgb;
        return image_from<std::uint8_t>(file, grey && linear ? TexelFormat::r8_unorm : colour);
    }
    if (grey) {
        return image_from<std::uint16_t>(file, TexelFormat::r16_unorm);
    }
    const Pixels<std::uint16_t> pixels = file.decode<std::uint16_t>(4);
    LoadedImage image = allocate_image(file.width(), file.height(), TexelFormat::rgba32_float);
    auto* const values = reinterpret_cast<float*>(room_of(image));
    for (std::size_t i = 0; i < std::size_t{file.width()} * file.height() * 4; ++i) {
        values[i] = static_cast<float>(pixels[i]) / ONE<std::uint16_t>;
    }
    return image;
}

std::vector<std::string> png_channels(const std::filesystem::path& path) {
    return component_names(PngFile(path).has_colour());
}

}  // namespace quadtile::detail
