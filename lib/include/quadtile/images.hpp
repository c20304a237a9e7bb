/// \file
/// Images and importance maps from files: OpenEXR, PFM, and PNG of 8 or 16 bits.
///
/// They belong to a library of their own, quadtile::images, which needs OpenEXR and no Vulkan. Not
/// every installation has it, so quadtile/quadtile.hpp does not include this header.

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

/// An image from a file with its texels; copies share the texels.
struct LoadedImage {
    std::shared_ptr<const std::byte[]> texels;  ///< in the layout of ImageView
    ImageShape shape;                           ///< one layer

    /// Returns a view of the image; valid as long as `texels` has an owner.
    [[nodiscard]] ImageView view() const noexcept { return {texels.get(), shape}; }
};

/// The part of an image file to load.
struct ImageSelection {
    std::string channel;  ///< the only channel to load, named as for load_map; empty: all
    bool linear = false;  ///< 8-bit PNG: values as stored, without the sRGB curve
};

/// Loads an image in the format that keeps the file's values:
///
///     PNG, 8 bits            rgba8_srgb, grey in all three colours; linear: rgba8_unorm, or
///                            r8_unorm for grey without alpha
///     PNG, 16 bits           r16_unorm for grey without alpha, else rgba32_float
///     PFM                    r32_float, colour rgba32_float
///     OpenEXR, R, G and B    rgba16_float if all are half channels, else rgba32_float
///     OpenEXR, others        R, G and B of the first layer with them, else one channel:
///                            Y, else Z, else the first that is no alpha; r16_float, else r32_float
///
/// Alpha is 1 if the file has none. 16-bit PNG values count as linear, because graphics APIs have
/// the sRGB curve for 8 bits only. Of OpenEXR files with several parts or resolutions the first one
/// is read.
///
/// Throws as load_map does. Thread-safe.
[[nodiscard]] QUADTILE_API LoadedImage load_image(const std::filesystem::path& path,
                                                  const ImageSelection& selection = {});

/// A map from a file with its texels. The texels keep the file's format if it is a half or float
/// channel, or grey levels of a PNG; others become r32_float.
///
/// A Service keeps the texels alive until it has answered:
///
///     service.submit({.map = loaded.view(),
///                     .texels_owner = loaded.texels,
///                     .threshold = threshold});
struct LoadedMap : LoadedImage {
    /// Source of the importance: the name of a channel or of a layer, or "luminance".
    std::string channel;
    /// Whether load_map chose it among others that may be meant: of several layers or parts, or
    /// without a Y or colours.
    bool is_guess = false;
};

/// Loads the map in a file. The file's first bytes give its format.
///
/// `channel` names the channel to take. Empty: Y, else the luminance of R, G and B, else that of
/// the first layer with colours, else Y of a layer, else Z, else the first channel that is no
/// alpha. Grey PFM and PNG images have the channel Y, colour images R, G and B; alpha is ignored.
/// The name of an OpenEXR layer stands for the luminance of its colours, if no channel has this
/// name: "diffuse" for that of diffuse.R, diffuse.G and diffuse.B. "right/Z" is the channel Z of
/// the part "right", "1/Z" that of the second part, "right/" the default of a part.
///
/// The luminance is that of the primaries in an OpenEXR file's attribute `chromaticities`, else of
/// Rec. 709.
///
/// Importance is data: no transfer function is removed, PNG values count as linear. An OpenEXR data
/// window is moved to (0, 0). Of several parts the first one with the channel is read, of several
/// resolutions the full one.
///
/// The first OpenEXR file that is read sets OpenEXR's limits for the whole process
/// (Imf::Header::setMaxImageSize, setMaxTileSize) to 65536 on a side, so that damaged headers
/// cannot take memory. A program that itself reads larger files sets its limits afterwards.
///
/// Throws Error(invalid_argument) with the file, its fault and the remedy; std::bad_alloc.
/// Thread-safe.
[[nodiscard]] QUADTILE_API LoadedMap load_map(const std::filesystem::path& path,
                                              const std::string& channel = {});

/// Returns the names that load_map takes for this file, each once: Y for a grey PFM or PNG image,
/// R, G and B for a coloured one. For OpenEXR they are the channels of all parts in the file's
/// order, with their layers' names (diffuse.R), and with their part's if a part before has the same
/// name (right/Z). A layer that load_map takes by its name (diffuse) stands before its channels,
/// and so does a further part with colours (right/). Subsampled channels are left out, because they
/// have no value at each texel.
///
/// Reads no texels, so it does not notice missing ones. Throws as load_map does. Thread-safe.
[[nodiscard]] QUADTILE_API std::vector<std::string> channels_of(const std::filesystem::path& path);

}  // namespace quadtile
