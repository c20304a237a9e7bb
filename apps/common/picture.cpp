#include "picture.hpp"

#include <spng.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

namespace quadtile::app {

namespace {

struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

struct ContextDeleter {
    void operator()(spng_ctx* context) const noexcept { spng_ctx_free(context); }
};

void check(int result, const PngSamples& png) {
    if (result == SPNG_EMEM) {
        throw std::bad_alloc();
    }
    if (result != SPNG_OK) {
        throw std::runtime_error("a PNG image of " + std::to_string(png.width) + " x " +
                                 std::to_string(png.height) +
                                 " texels cannot be written: " + spng_strerror(result));
    }
}

}  // namespace

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

std::string encode_png(const PngSamples& png) {
    const std::unique_ptr<spng_ctx, ContextDeleter> context(spng_ctx_new(SPNG_CTX_ENCODER));
    if (!context) {
        throw std::bad_alloc();
    }
    spng_ihdr header{.width = png.width,
                     .height = png.height,
                     .bit_depth = static_cast<std::uint8_t>(png.bits),
                     .color_type = static_cast<std::uint8_t>(
                         png.components == 1   ? SPNG_COLOR_TYPE_GRAYSCALE
                         : png.components == 3 ? SPNG_COLOR_TYPE_TRUECOLOR
                                               : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA)};
    check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1), png);
    check(spng_set_ihdr(context.get(), &header), png);
    const std::size_t bytes = std::size_t{png.width} * png.height * png.components * (png.bits / 8);
    check(spng_encode_image(context.get(), png.samples, bytes, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE),
          png);
    std::size_t size = 0;
    int error = SPNG_OK;
    const std::unique_ptr<void, Free> file(spng_get_png_buffer(context.get(), &size, &error));
    check(error, png);
    return {static_cast<const char*>(file.get()), size};
}

}  // namespace quadtile::app
