#include "picture.hpp"

#include "png_file.hpp"

#include <cmath>

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
    return encode_png({picture.width, picture.height, sizeof(Rgb), 8, picture.pixels.data()});
}

}  // namespace quadtile::app
