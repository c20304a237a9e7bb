// Small OpenEXR files, as bytes.

#pragma once

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfStdIO.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <OpenEXR/ImfTileDescription.h>
#include <OpenEXR/ImfTiledOutputFile.h>
#include <half.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace quadtile::app::test {

// A channel and its values, rows from the top. Their type follows from which list is filled.
struct ExrChannel {
    std::string name;
    std::vector<float> floats;
    std::vector<std::uint32_t> uints;
    bool half = false;  // `floats` as 16-bit floats
};

struct ExrOptions {
    Imf::Compression compression = Imf::ZIP_COMPRESSION;
    int left = 0;  // of the data window
    int top = 0;
    std::optional<int> tile_extent;  // nullopt: scan lines
    std::optional<Imf::Chromaticities> chromaticities;
    std::string quantity;  // attribute; empty: none
};

inline std::string encode_exr_channels(int width, int height,
                                       const std::vector<ExrChannel>& channels,
                                       const ExrOptions& options = {}) {
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
    if (!options.quantity.empty()) {
        header.insert("quantity", Imf::StringAttribute(options.quantity));
    }

    Imf::StdOSStream stream;
    if (options.tile_extent) {
        const auto extent = static_cast<unsigned int>(*options.tile_extent);
        header.setTileDescription({extent, extent});
        Imf::TiledOutputFile file(stream, header);
        file.setFrameBuffer(pixels);
        file.writeTiles(0, file.numXTiles() - 1, 0, file.numYTiles() - 1);
    } else {
        Imf::OutputFile file(stream, header);
        file.setFrameBuffer(pixels);
        file.writePixels(height);
    }
    return stream.str();
}

}  // namespace quadtile::app::test
