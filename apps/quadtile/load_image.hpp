// Whole images from files: OpenEXR, PFM, and PNG of 8 or 16 bits.

#pragma once

#include <quadtile/image.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace quadtile::app {

// An image that owns its texels.
struct LoadedImage {
    std::unique_ptr<std::byte[]> texels;
    ImageShape shape;

    [[nodiscard]] ImageView view() const noexcept { return {texels.get(), shape}; }
};

struct ImageSelection {
    std::string channel;  // this channel alone, as load_map takes it; empty: all
    bool linear = false;  // PNG of 8 bits: values as they are, without the sRGB curve
};

// Loads an image in the format that keeps the file's values:
//
//     PNG, 8 bits            rgba8_srgb, grey in all three colours; linear: rgba8_unorm, and
//                            r8_unorm where it is grey without alpha
//     PNG, 16 bits           r16_unorm where it is grey without alpha, else rgba32_float
//     PFM                    r32_float, colour rgba32_float
//     OpenEXR, R, G and B    rgba16_float where all are half channels, else rgba32_float
//     OpenEXR, others        one channel: Y, else the first; r16_float, else r32_float
//
// Alpha is 1 where the file has none. 16-bit PNG values are taken as linear: graphics APIs know the
// sRGB curve for 8 bits only. Of OpenEXR files with several parts or resolutions the first is read.
//
// Throws std::runtime_error with the file, what is wrong with it and what to do; std::bad_alloc.
[[nodiscard]] LoadedImage load_image(const std::filesystem::path& path,
                                     const ImageSelection& selection = {});

}  // namespace quadtile::app
