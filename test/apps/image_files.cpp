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

#include <bit>
#include <cstdlib>
#include <list>
#include <stdexcept>

namespace quadtile::app::test {

namespace {

// The pixels of channels in the types that they are stored in.
class Pixels {
 public:
    Pixels(const std::vector<ExrChannel>& channels, const Imath::Box2i& window) {
        for (const ExrChannel& channel : channels) {
            if (!channel.uints.empty()) {
                insert(channel.name, Imf::UINT, channel.uints.data(), window);
            } else if (channel.half) {
                const std::vector<half>& halves =
                    halves_.emplace_back(channel.floats.begin(), channel.floats.end());
                insert(channel.name, Imf::HALF, halves.data(), window);
            } else {
                insert(channel.name, Imf::FLOAT, channel.floats.data(), window);
            }
        }
    }

    [[nodiscard]] const Imf::FrameBuffer& frame() const { return frame_; }

    void add_channels_to(Imf::Header& header) const {
        for (auto i = frame_.begin(); i != frame_.end(); ++i) {
            header.channels().insert(i.name(), Imf::Channel(i.slice().type));
        }
    }

 private:
    void insert(const std::string& name, Imf::PixelType type, const void* values,
                const Imath::Box2i& window) {
        frame_.insert(name, Imf::Slice::Make(type, values, window));
    }

    std::list<std::vector<half>> halves_;
    Imf::FrameBuffer frame_;
};

}  // namespace

std::string encode_exr_channels(int width, int height, const std::vector<ExrChannel>& channels,
                                const ExrOptions& options) {
    const Imath::Box2i window({options.left, options.top},
                              {options.left + width - 1, options.top + height - 1});
    const Imath::Box2i display({0, 0}, {width + 9, height + 9});
    Imf::Header header(display, window, 1.0F, {0.0F, 0.0F}, 1.0F, Imf::INCREASING_Y,
                       options.compression);
    const Pixels pixels(channels, window);
    pixels.add_channels_to(header);
    if (options.chromaticities) {
        Imf::addChromaticities(header, *options.chromaticities);
    }

    Imf::StdOSStream stream;
    if (options.tile_extent) {
        const auto extent = static_cast<unsigned int>(*options.tile_extent);
        header.setTileDescription(
            {extent, extent, options.mip_levels ? Imf::MIPMAP_LEVELS : Imf::ONE_LEVEL});
        Imf::TiledOutputFile file(stream, header);
        file.setFrameBuffer(pixels.frame());
        // The upper levels repeat the first pixels of level 0: a reader must not take them for it.
        for (int level = 0; level < file.numLevels(); ++level) {
            file.writeTiles(0, file.numXTiles(level) - 1, 0, file.numYTiles(level) - 1, level);
        }
    } else {
        Imf::OutputFile file(stream, header);
        file.setFrameBuffer(pixels.frame());
        file.writePixels(height);
    }
    return stream.str();
}

std::string encode_pfm_values(int width, int height, bool colour, const std::vector<float>& values,
                              bool big_endian) {
    std::string bytes = std::string(colour ? "PF" : "Pf") + "\n" + std::to_string(width) + " " +
                        std::to_string(height) + "\n" + (big_endian ? "1.0" : "-1.0") + "\n";
    const std::size_t row = static_cast<std::size_t>(width) * (colour ? 3 : 1);
    for (std::size_t y = static_cast<std::size_t>(height); y-- > 0;) {
        for (std::size_t x = 0; x < row; ++x) {
            const auto word = std::bit_cast<std::uint32_t>(values[y * row + x]);
            for (int byte = 0; byte < 4; ++byte) {
                const int shift = 8 * (big_endian ? 3 - byte : byte);
                bytes += static_cast<char>((word >> shift) & 0xffU);
            }
        }
    }
    return bytes;
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
