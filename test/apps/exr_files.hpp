// Small OpenEXR files, as bytes.

#pragma once

#include <OpenEXR/ImfChromaticities.h>
#include <OpenEXR/ImfCompression.h>

#include <cstdint>
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
};

[[nodiscard]] std::string encode_exr_channels(int width, int height,
                                              const std::vector<ExrChannel>& channels,
                                              const ExrOptions& options = {});

}  // namespace quadtile::app::test
