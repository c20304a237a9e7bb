// PNG through stb_image. As maps, grey images keep their 8 or 16 bits; the luminance of colour is a
// float.

#include "map_loaders.hpp"

#define STBI_ONLY_PNG
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>

namespace quadtile::app {

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
    const char* reason = stbi_failure_reason();
    if (reason == std::string_view("outofmem")) {
        throw std::bad_alloc();
    }
    throw std::runtime_error(std::string("damaged or truncated PNG (stb_image: ") +
                             (reason != nullptr ? reason : "no reason given") +
                             "); copy or save it again");
}

class PngFile {
 public:
    explicit PngFile(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb")) {
        if (!file_) {
            throw std::runtime_error("it cannot be opened");
        }
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
        auto* values = reinterpret_cast<float*>(map.texels.get());
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
    auto* values = reinterpret_cast<T*>(map.texels.get());
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
    std::memcpy(image.texels.get(), pixels.get(),
                std::size_t{file.width()} * file.height() * texel_size_bytes(format));
    return image;
}

}  // namespace

LoadedMap load_png(const std::filesystem::path& path, const std::string& channel) {
    const PngFile file(path);
    const ComponentChoice choice = choose_component(file.components() >= 3, channel);
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
    auto* const values = reinterpret_cast<float*>(image.texels.get());
    for (std::size_t i = 0; i < std::size_t{file.width()} * file.height() * 4; ++i) {
        values[i] = static_cast<float>(pixels[i]) / ONE<std::uint16_t>;
    }
    return image;
}

}  // namespace quadtile::app
