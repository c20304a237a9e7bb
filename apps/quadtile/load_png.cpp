// PNG through stb_image. Grey images keep their 8 or 16 bits; the luminance of colour is a float.

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

struct PngShape {
    std::uint32_t width;
    std::uint32_t height;
    std::size_t components;
};

// T: std::uint8_t or std::uint16_t, the size of a component.
template <typename T>
LoadedMap map_from(const Pixels<T>& pixels, const PngShape& shape, const ComponentChoice& choice) {
    const std::size_t texels = std::size_t{shape.width} * shape.height;
    if (choice.luminance) {
        LoadedMap map =
            allocate_map(shape.width, shape.height, TexelFormat::r32_float, choice.name);
        constexpr float ONE = sizeof(T) == 1 ? 255.0F : 65535.0F;
        auto* values = reinterpret_cast<float*>(map.texels.get());
        for (std::size_t i = 0; i < texels; ++i) {
            const T* pixel = pixels.get() + i * shape.components;
            values[i] =
                luminance(static_cast<float>(pixel[0]) / ONE, static_cast<float>(pixel[1]) / ONE,
                          static_cast<float>(pixel[2]) / ONE);
        }
        return map;
    }
    LoadedMap map =
        allocate_map(shape.width, shape.height,
                     sizeof(T) == 1 ? TexelFormat::r8_unorm : TexelFormat::r16_unorm, choice.name);
    auto* values = reinterpret_cast<T*>(map.texels.get());
    for (std::size_t i = 0; i < texels; ++i) {
        values[i] = pixels[i * shape.components + choice.index];
    }
    return map;
}

}  // namespace

LoadedMap load_png(const std::filesystem::path& path, const std::string& channel) {
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        throw std::runtime_error("it cannot be opened");
    }
    int width = 0;
    int height = 0;
    int components = 0;
    if (stbi_info_from_file(file.get(), &width, &height, &components) == 0) {
        throw_stb_failure();
    }
    const ComponentChoice choice = choose_component(components >= 3, channel);
    const PngShape shape{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height),
                         static_cast<std::size_t>(components)};
    check_shape({shape.width, shape.height, 1, TexelFormat::r8_unorm});

    if (stbi_is_16_bit_from_file(file.get()) != 0) {
        const Pixels<std::uint16_t> pixels(stbi_load_from_file_16(
            file.get(), &width, &height, &components, static_cast<int>(shape.components)));
        if (!pixels) {
            throw_stb_failure();
        }
        return map_from(pixels, shape, choice);
    }
    const Pixels<std::uint8_t> pixels(stbi_load_from_file(file.get(), &width, &height, &components,
                                                          static_cast<int>(shape.components)));
    if (!pixels) {
        throw_stb_failure();
    }
    return map_from(pixels, shape, choice);
}

}  // namespace quadtile::app
