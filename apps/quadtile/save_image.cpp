#include "save_image.hpp"

#include "picture.hpp"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStdIO.h>

#include <string_view>
#include <vector>

namespace quadtile::app {

namespace {

std::string encode_floats(const ImageView& image) {
    const ImageShape& shape = image.shape;
    const std::size_t channels = channel_count(shape.format);
    const std::size_t texel_bytes = texel_size_bytes(shape.format);
    const Imf::PixelType type = texel_bytes / channels == 2 ? Imf::HALF : Imf::FLOAT;
    const std::string_view names = channels == 1 ? "Y" : "RGBA";

    Imf::Header header(static_cast<int>(shape.width), static_cast<int>(shape.height));
    Imf::FrameBuffer pixels;
    for (std::size_t c = 0; c < channels; ++c) {
        const std::string name(1, names[c]);
        header.channels().insert(name, Imf::Channel(type));
        pixels.insert(
            name,
            Imf::Slice::Make(
                type, static_cast<const std::byte*>(image.texels) + c * texel_bytes / channels,
                header.dataWindow(), texel_bytes, texel_bytes * shape.width));
    }
    Imf::StdOSStream stream;
    {
        Imf::OutputFile file(stream, header);  // complete when destroyed
        file.setFrameBuffer(pixels);
        file.writePixels(static_cast<int>(shape.height));
    }
    return stream.str();
}

bool has_codes(TexelFormat format) {  // of 8 or 16 bits, not floats
    return format == TexelFormat::r8_unorm || format == TexelFormat::r16_unorm ||
           format == TexelFormat::d16_unorm || format == TexelFormat::rgba8_unorm ||
           format == TexelFormat::rgba8_srgb;
}

}  // namespace

const char* file_ending(TexelFormat format) noexcept {
    return has_codes(format) ? ".png" : ".exr";
}

std::string encode_image(const ImageView& image) {
    const ImageShape& shape = image.shape;
    if (!has_codes(shape.format)) {
        return encode_floats(image);
    }
    const std::uint32_t channels = channel_count(shape.format);
    const auto bits = static_cast<std::uint32_t>(8 * texel_size_bytes(shape.format) / channels);
    return encode_png({shape.width, shape.height, channels, bits, image.texels});
}

}  // namespace quadtile::app
