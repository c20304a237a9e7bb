// Loaders of the file formats, and their common parts. For load_map and load_image only.
//
// They throw std::runtime_error with the fault, which load_map.cpp converts to an Error with the
// file's name.

#pragma once

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace quadtile::detail {

// Returns the path in UTF-8. path::string() takes the code page of Windows.
[[nodiscard]] inline std::string text_of(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

[[nodiscard]] LoadedMap load_exr(const std::filesystem::path& path, const std::string& channel);
[[nodiscard]] LoadedMap load_pfm(const std::filesystem::path& path, const std::string& channel);
[[nodiscard]] LoadedMap load_png(const std::filesystem::path& path, const std::string& channel);

// Returns the names that load_map takes.
[[nodiscard]] std::vector<std::string> exr_channels(const std::filesystem::path& path);
[[nodiscard]] std::vector<std::string> pfm_channels(const std::filesystem::path& path);
[[nodiscard]] std::vector<std::string> png_channels(const std::filesystem::path& path);

// `linear` is that of ImageSelection.
[[nodiscard]] LoadedImage load_exr_image(const std::filesystem::path& path, bool linear);
[[nodiscard]] LoadedImage load_pfm_image(const std::filesystem::path& path, bool linear);
[[nodiscard]] LoadedImage load_png_image(const std::filesystem::path& path, bool linear);

// Returns an image with room for its texels, which have no values yet. Untouched memory costs
// nothing, so a damaged header that announces a giant does no harm. Throws if quadtile does not
// support the image.
[[nodiscard]] LoadedImage allocate_image(std::uint32_t width, std::uint32_t height,
                                         TexelFormat format);
[[nodiscard]] LoadedMap allocate_map(std::uint32_t width, std::uint32_t height, TexelFormat format,
                                     std::string channel);

// Returns the texels of such an image, to be filled before it is shared.
[[nodiscard]] inline std::byte* room_of(const LoadedImage& image) noexcept {
    return const_cast<std::byte*>(image.texels.get());
}

// What the luminance has of linear red, green and blue light with Rec. 709 primaries.
constexpr std::array<float, 3> REC_709_LUMINANCE{0.212639F, 0.715169F, 0.072192F};

[[nodiscard]] inline float luminance(
    float red, float green, float blue,
    const std::array<float, 3>& weights = REC_709_LUMINANCE) noexcept {
    return weights[0] * red + weights[1] * green + weights[2] * blue;
}

// A choice among the interleaved components of an image.
struct ComponentChoice {
    bool luminance;     // whether it is the luminance of the components 0, 1 and 2
    std::size_t index;  // otherwise: the component
    std::string name;
};

// Returns the channels of a grey or colour image.
[[nodiscard]] std::vector<std::string> component_names(bool colour);

// Returns the components of such an image for a channel name; empty: the default.
[[nodiscard]] ComponentChoice choose_component(bool colour, const std::string& channel);

// Throws an error that lists the existing channels.
[[noreturn]] void throw_unknown_channel(const std::string& channel,
                                        const std::vector<std::string>& available);

}  // namespace quadtile::detail
