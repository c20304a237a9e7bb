#include "save_map.hpp"

#include <quadtile/reference.hpp>

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStdIO.h>

#include <bit>

namespace quadtile::app {

std::string encode_pfm(const MapView& map) {
    static_assert(std::endian::native == std::endian::little);
    const std::vector<float> texels = reference::decode(map);
    std::string bytes = "Pf\n" + std::to_string(map.shape.width) + " " +
                        std::to_string(map.shape.height) + "\n-1.0\n";
    const std::size_t row_bytes = map.shape.width * sizeof(float);
    const char* rows = reinterpret_cast<const char*>(texels.data());
    for (std::size_t y = map.shape.height; y-- > 0;) {  // from the bottom to the top
        bytes.append(rows + y * row_bytes, row_bytes);
    }
    return bytes;
}

std::string encode_exr(const MapView& map) {
    const std::vector<float> texels = reference::decode(map);
    Imf::Header header(static_cast<int>(map.shape.width), static_cast<int>(map.shape.height));
    header.channels().insert("Y", Imf::Channel(Imf::FLOAT));
    Imf::FrameBuffer pixels;
    pixels.insert("Y", Imf::Slice::Make(Imf::FLOAT, texels.data(), header.dataWindow()));
    Imf::StdOSStream stream;
    {
        Imf::OutputFile file(stream, header);  // complete when destroyed
        file.setFrameBuffer(pixels);
        file.writePixels(static_cast<int>(map.shape.height));
    }
    return stream.str();
}

}  // namespace quadtile::app
