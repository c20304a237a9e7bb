#include "picture.hpp"

#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <cmath>
#include <new>

namespace quadtile::app {

Rgb mix(const Rgb& a, const Rgb& b, float weight) noexcept {
    Rgb mixed{};
    for (std::size_t c = 0; c < mixed.size(); ++c) {
        mixed[c] = static_cast<std::uint8_t>(std::lround(
            static_cast<float>(a[c]) * (1.0F - weight) + static_cast<float>(b[c]) * weight));
    }
    return mixed;
}

std::string encode_png(const Picture& picture) {
    static_assert(sizeof(Rgb) == 3);
    std::string bytes;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
    };
    if (stbi_write_png_to_func(append, &bytes, static_cast<int>(picture.width),
                               static_cast<int>(picture.height), 3, picture.pixels.data(),
                               static_cast<int>(picture.width * sizeof(Rgb))) == 0) {
        throw std::bad_alloc();  // its only failure
    }
    return bytes;
}

}  // namespace quadtile::app
