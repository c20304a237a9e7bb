/// \file
/// Importance maps and whole images from files: OpenEXR, PFM, and PNG of 8 or 16 bits.
///
/// These are of a library of their own, quadtile::images, which needs OpenEXR, no Vulkan, and is
/// not in every installation; quadtile/quadtile.hpp does not include them.

#pragma once

#include <quadtile/export.h>
#include <quadtile/error.hpp>
#include <quadtile/image.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace quadtile {

/// An image from a file, and its texels; copies share them.
struct LoadedImage {
    std::shared_ptr<const std::byte[]> texels;  ///< as ImageView has them
    ImageShape shape;                           ///< of one layer

    /// For what takes images in host memory; valid as long as someone owns the texels.
    [[nodiscard]] ImageView view() const noexcept { return {texels.get(), shape}; }
};

/// What to take from an image file.
struct ImageSelection {
    std::string channel;  ///< this channel alone, as load_map takes it; empty: all
    bool linear = false;  ///< PNG of 8 bits: values as they are, without the sRGB curve
};

/// Loads an image in the format that keeps the file's values:
///
///     PNG, 8 bits            rgba8_srgb, grey in all three colours; linear: rgba8_unorm, and
///                            r8_unorm where it is grey without alpha
///     PNG, 16 bits           r16_unorm where it is grey without alpha, else rgba32_float
///     PFM                    r32_float, colour rgba32_float
///     OpenEXR, R, G and B    rgba16_float where all are half channels, else rgba32_float
///     OpenEXR, others        one channel: Y, else the first; r16_float, else r32_float
///
/// Alpha is 1 where the file has none. 16-bit PNG values are taken as linear: graphics APIs know
/// the sRGB curve for 8 bits only. Of OpenEXR files with several parts or resolutions the first is
/// read.
///
/// Throws as load_map does. Thread-safe.
[[nodiscard]] QUADTILE_API LoadedImage load_image(const std::filesystem::path& path,
                                                  const ImageSelection& selection = {});

/// A map from a file, and its texels. They are in the file's own format where quadtile has it: half
/// and float channels, and the grey levels of a PNG; anything else becomes r32_float.
///
/// A Service keeps the texels until it has answered:
///
///     service.submit({.map = loaded.view(), .texels_owner = loaded.texels, .threshold =
///     threshold});
struct LoadedMap : LoadedImage {
    /// Where the importance came from: a channel's name, a layer's, or "luminance".
    std::string channel;
};

/// Loads the map in a file; the file's first bytes say which format it has.
///
/// `channel` names the channel to take. Empty: Y, else the luminance of R, G and B, else the first
/// one. Grey PFM and PNG images have a channel Y, colour images R, G and B; alpha is ignored. The
/// name of an OpenEXR layer gives the luminance of its colours: "diffuse" that of diffuse.R,
/// diffuse.G and diffuse.B, where no channel has this name.
/// Importance is data: no transfer function is removed, PNG values are taken as linear. An OpenEXR
/// data window is moved to (0, 0); of several parts the first one that has the channel is read, of
/// several resolutions the full one.
///
/// The first OpenEXR file that is read sets OpenEXR's own limits for the whole process
/// (Imf::Header::setMaxImageSize, setMaxTileSize) to 65536 on a side: they keep damaged headers
/// from taking memory. A program that reads larger ones by itself sets its limits afterwards.
///
/// Throws Error(invalid_argument) with the file, what is wrong with it and what to do;
/// std::bad_alloc. Thread-safe.
[[nodiscard]] QUADTILE_API LoadedMap load_map(const std::filesystem::path& path,
                                              const std::string& channel = {});

/// The names that load_map takes for this file, each once: Y of a grey PFM or PNG image, R, G and B
/// of one in colour. Of OpenEXR the channels of all parts, in the file's order (diffuse.R, with the
/// layer's name), without those that are subsampled, for which load_map has no value at each texel;
/// a layer that load_map takes by its name (diffuse) stands before its channels.
///
/// Reads no texels: those that are missing are found by load_map.
///
/// Throws as load_map does. Thread-safe.
[[nodiscard]] QUADTILE_API std::vector<std::string> channels_of(const std::filesystem::path& path);

}  // namespace quadtile
