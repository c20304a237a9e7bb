// Writes the seeds of the OpenEXR fuzz target into the folder that it is given,
// test/fuzz/seeds/exr.

#include "apps/image_files.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

using quadtile::app::test::encode_exr_channels;
using quadtile::app::test::ExrChannel;

constexpr int WIDTH = 7;
constexpr int HEIGHT = 5;

std::vector<float> ramp(float first) {
    std::vector<float> values(WIDTH * HEIGHT);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = first + static_cast<float>(i) * 0.25F;
    }
    return values;
}

ExrChannel half(const char* name, float first = 0.5F) {
    return {name, ramp(first), {}, true};
}

std::map<std::string, std::string> seeds() {
    namespace encode = quadtile::app::test;
    const ExrChannel wide{"Y", ramp(0.5F)};
    const ExrChannel integers{"Z", {}, std::vector<std::uint32_t>(WIDTH * HEIGHT, 7)};
    const std::vector<ExrChannel> colour{half("R", 0.0F), half("G", 1.0F), half("B", 2.0F)};
    const std::map<std::string, Imf::Compression> compressions{
        {"none", Imf::NO_COMPRESSION},   {"rle", Imf::RLE_COMPRESSION},
        {"zips", Imf::ZIPS_COMPRESSION}, {"zip", Imf::ZIP_COMPRESSION},
        {"piz", Imf::PIZ_COMPRESSION},   {"pxr24", Imf::PXR24_COMPRESSION},
        {"b44", Imf::B44_COMPRESSION},   {"b44a", Imf::B44A_COMPRESSION},
        {"dwaa", Imf::DWAA_COMPRESSION}, {"dwab", Imf::DWAB_COMPRESSION}};

    std::map<std::string, std::string> files;
    for (const auto& [name, compression] : compressions) {
        files[name + "_half"] =
            encode_exr_channels(WIDTH, HEIGHT, {half("Y")}, {.compression = compression});
        files[name + "_tiles"] = encode_exr_channels(
            WIDTH, HEIGHT, {wide}, {.compression = compression, .tile_extent = 4});
        files[name + "_colour"] =
            encode_exr_channels(WIDTH, HEIGHT, colour, {.compression = compression});
    }
    files["float"] = encode_exr_channels(WIDTH, HEIGHT, {wide});
    files["integer"] = encode_exr_channels(WIDTH, HEIGHT, {integers});
    files["integer_pxr24"] =
        encode_exr_channels(WIDTH, HEIGHT, {integers}, {.compression = Imf::PXR24_COMPRESSION});
    files["offset"] = encode_exr_channels(WIDTH, HEIGHT, {wide}, {.left = -3, .top = 11});
    files["alpha"] = encode_exr_channels(
        WIDTH, HEIGHT,
        {{"R", ramp(0.0F)}, {"G", ramp(1.0F)}, {"B", ramp(2.0F)}, {"A", ramp(3.0F)}});
    files["mip_levels"] =
        encode_exr_channels(WIDTH, HEIGHT, {wide}, {.tile_extent = 2, .mip_levels = true});
    files["parts"] = encode::encode_exr_parts(WIDTH, HEIGHT, wide, half("G"));
    files["subsampled"] = encode::encode_exr_luminance_chroma(8, 6);
    files["deep"] = encode::encode_exr_deep(4, 3);
    return files;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: quadtile_exr_seeds FOLDER\n";
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : seeds()) {
        const std::filesystem::path path = folder / (name + ".exr");
        std::ofstream file(path, std::ios::binary);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!file.flush()) {
            std::cerr << "quadtile_exr_seeds: error: cannot write " << path << '\n';
            return 1;
        }
    }
    return 0;
}
