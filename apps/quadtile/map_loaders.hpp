// The loader of each file format, and what they share. For load_map alone.
//
// They throw std::runtime_error with what is wrong; load_map adds the file's name.

#pragma once

#include "load_map.hpp"

#include <string>
#include <vector>

namespace quadtile::app {

[[nodiscard]] LoadedMap load_exr(const std::filesystem::path& path, const std::string& channel);
[[nodiscard]] LoadedMap load_pfm(const std::filesystem::path& path, const std::string& channel);
[[nodiscard]] LoadedMap load_png(const std::filesystem::path& path, const std::string& channel);

// A map with room for its texels, which have no value yet: untouched memory costs nothing, so a
// damaged header that announces a giant does no harm. Throws where quadtile has no such map.
[[nodiscard]] LoadedMap allocate_map(std::uint32_t width, std::uint32_t height, TexelFormat format,
                                     std::string channel);

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

// The components of a grey (Y) or colour (R, G, B) image by channel name; empty: the default.
[[nodiscard]] ComponentChoice choose_component(bool colour, const std::string& channel);

// Always throws, and lists the channels that there are.
[[noreturn]] void throw_unknown_channel(const std::string& channel,
                                        const std::vector<std::string>& available);

}  // namespace quadtile::app
