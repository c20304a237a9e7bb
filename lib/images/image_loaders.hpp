// The loaders of each file format, and what they share. For load_map and load_image alone.
//
// They throw std::runtime_error with what is wrong; with_file_name makes Errors with the file's
// name.

#pragma once

#include <quadtile/error.hpp>
#include <quadtile/images.hpp>

#include <exception>
#include <new>
#include <string>
#include <vector>

namespace quadtile::detail {

enum class FileType { exr, pfm, png };

// From the first bytes of a file.
[[nodiscard]] FileType identify(const std::filesystem::path& path);

// What `load` returns; its failures become Errors with the file's name.
template <typename Load>
[[nodiscard]] auto with_file_name(const std::filesystem::path& path, Load&& load) {
    try {
        return load();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(ErrorCode::invalid_argument,
                    "cannot read '" + path.string() + "': " + error.what());
    }
}

[[nodiscard]] LoadedMap load_exr(const std::filesystem::path& path, const std::string& channel);
[[nodiscard]] LoadedMap load_pfm(const std::filesystem::path& path, const std::string& channel);
[[nodiscard]] LoadedMap load_png(const std::filesystem::path& path, const std::string& channel);

// The names that load_map takes.
[[nodiscard]] std::vector<std::string> exr_channels(const std::filesystem::path& path);
[[nodiscard]] std::vector<std::string> pfm_channels(const std::filesystem::path& path);
[[nodiscard]] std::vector<std::string> png_channels(const std::filesystem::path& path);

[[nodiscard]] LoadedImage load_exr_image(const std::filesystem::path& path);
[[nodiscard]] LoadedImage load_pfm_image(const std::filesystem::path& path);
[[nodiscard]] LoadedImage load_png_image(const std::filesystem::path& path, bool linear);

// An image with room for its texels, which have no value yet: untouched memory costs nothing, so a
// damaged header that announces a giant does no harm. Throws where quadtile has no such image.
[[nodiscard]] LoadedImage allocate_image(std::uint32_t width, std::uint32_t height,
                                         TexelFormat format);
[[nodiscard]] LoadedMap allocate_map(std::uint32_t width, std::uint32_t height, TexelFormat format,
                                     std::string channel);

// The texels of what these two have allocated, to be filled before anyone else sees it.
[[nodiscard]] inline std::byte* room_of(const LoadedImage& image) noexcept {
    return const_cast<std::byte*>(image.texels.get());
}

// Luminance of linear light, Rec. 709 primaries.
[[nodiscard]] inline float luminance(float red, float green, float blue) noexcept {
    return 0.212639F * red + 0.715169F * green + 0.072192F * blue;
}

// What to take from an image whose pixels are interleaved components.
struct ComponentChoice {
    bool luminance;     // of the components 0, 1 and 2
    std::size_t index;  // else: the component
    std::string name;
};

// The channels of a grey or colour image.
[[nodiscard]] std::vector<std::string> component_names(bool colour);

// The components of such an image by channel name; empty: the default.
[[nodiscard]] ComponentChoice choose_component(bool colour, const std::string& channel);

// Always throws, and lists the channels that there are.
[[noreturn]] void throw_unknown_channel(const std::string& channel,
                                        const std::vector<std::string>& available);

}  // namespace quadtile::detail
