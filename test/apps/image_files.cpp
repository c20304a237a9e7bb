#include "image_files.hpp"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfStdIO.h>
#include <OpenEXR/ImfTileDescription.h>
#include <OpenEXR/ImfTiledOutputFile.h>
#include <half.h>

#include <spng.h>

#include <cstdlib>
#include <list>
#include <stdexcept>

namespace quadtile::app::test {

std::string encode_exr_channels(int width, int height, const std::vector<ExrChannel>& channels,
                                const ExrOptions& options) {
    const Imath::Box2i window({options.left, options.top},
                              {options.left + width - 1, options.top + height - 1});
    const Imath::Box2i display({0, 0}, {width + 9, height + 9});
    Imf::Header header(display, window, 1.0F, {0.0F, 0.0F}, 1.0F, Imf::INCREASING_Y,
                       options.compression);
    Imf::FrameBuffer pixels;
    std::list<std::vector<half>> halves;
    for (const ExrChannel& channel : channels) {
        Imf::PixelType type = channel.uints.empty() ? Imf::FLOAT : Imf::UINT;
        const void* values = channel.floats.data();
        if (type == Imf::UINT) {
            values = channel.uints.data();
        } else if (channel.half) {
            type = Imf::HALF;
            values = halves.emplace_back(channel.floats.begin(), channel.floats.end()).data();
        }
        pixels.insert(channel.name, Imf::Slice::Make(type, values, window));
        header.channels().insert(channel.name, Imf::Channel(type));
    }
    if (options.chromaticities) {
        Imf::addChromaticities(header, *options.chromaticities);
    }

    Imf::StdOSStream stream;
    if (options.tile_extent) {
        const auto extent = static_cast<unsigned int>(*options.tile_extent);
        header.setTileDescription(
            {extent, extent, options.mip_levels ? Imf::MIPMAP_LEVELS : Imf::ONE_LEVEL});
        Imf::TiledOutputFile file(stream, header);
        file.setFrameBuffer(pixels);
        // The upper levels repeat the first pixels of level 0: a reader must not take them for it.
        for (int level = 0; level < file.numLevels(); ++level) {
            file.writeTiles(0, file.numXTiles(level) - 1, 0, file.numYTiles(level) - 1, level);
        }
    } else {
        Imf::OutputFile file(stream, header);
        file.setFrameBuffer(pixels);
        file.writePixels(height);
    }
    return stream.str();
}

std::string encode_png_samples(int width, int height, PngType type, int bits,
                               const std::vector<std::uint16_t>& samples) {
    const std::vector<std::uint8_t> bytes(samples.begin(), samples.end());
    const bool wide = bits == 16;
    spng_ihdr header{.width = static_cast<std::uint32_t>(width),
                     .height = static_cast<std::uint32_t>(height),
                     .bit_depth = static_cast<std::uint8_t>(bits),
                     .color_type = static_cast<std::uint8_t>(type)};
    spng_ctx* const context = spng_ctx_new(SPNG_CTX_ENCODER);
    std::size_t size = 0;
    int error = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
    error |= spng_set_ihdr(context, &header);
    error |= wide ? spng_encode_image(context, samples.data(), samples.size() * 2, SPNG_FMT_PNG,
                                      SPNG_ENCODE_FINALIZE)
                  : spng_encode_image(context, bytes.data(), bytes.size(), SPNG_FMT_PNG,
                                      SPNG_ENCODE_FINALIZE);
    void* const file = error == 0 ? spng_get_png_buffer(context, &size, &error) : nullptr;
    spng_ctx_free(context);
    if (error != 0) {
        throw std::runtime_error("libspng: " + std::string(spng_strerror(error)));
    }
    std::string png(static_cast<const char*>(file), size);
    std::free(file);
    return png;
}

}  // namespace quadtile::app::test
