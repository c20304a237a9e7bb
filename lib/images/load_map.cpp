#include "image_loaders.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace quadtile::detail {

namespace {

namespace fs = std::filesystem;

// Returns the first bytes of the file; fewer than its type announces if the file is shorter.
std::string read_magic(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
        throw std::runtime_error("there is no such file");
    }
    if (error) {
        throw std::runtime_error(error.message());
    }
    if (fs::is_directory(status)) {
        throw std::runtime_error("it is a directory; give an image file");
    }
    if (!fs::is_regular_file(status)) {  // reading a pipe or a terminal twice would hang
        throw std::runtime_error("it is not a regular file; save the image to one first");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(std::generic_category().message(errno));
    }
    std::array<char, 8> bytes{};
    file.read(bytes.data(), bytes.size());
    if (file.bad()) {
        throw std::runtime_error(std::generic_category().message(errno));
    }
    return {bytes.data(), static_cast<std::size_t>(file.gcount())};
}

}  // namespace

namespace {

struct Format {
    std::string_view magic;  // first bytes of its files
    LoadedMap (*load_map)(const fs::path&, const std::string& channel);
    LoadedImage (*load_image)(const fs::path&, bool linear);
    std::vector<std::string> (*channels)(const fs::path&);
};

constexpr Format FORMATS[] = {{"\x76\x2f\x31\x01", load_exr, load_exr_image, exr_channels},
                              {"\x89PNG\r\n\x1a\n", load_png, load_png_image, png_channels},
                              {"PF", load_pfm, load_pfm_image, pfm_channels},
                              {"Pf", load_pfm, load_pfm_image, pfm_channels}};

// Calls `load` with the format of a file; exceptions become Errors with the file's name.
template <typename Load>
[[nodiscard]] auto with_format(const fs::path& path, Load&& load) {
    try {
        const std::string magic = read_magic(path);
        if (magic.empty()) {
            throw std::runtime_error("the file is empty");
        }
        const auto* const found = std::ranges::find_if(
            FORMATS, [&](const Format& format) { return magic.starts_with(format.magic); });
        if (found == std::end(FORMATS)) {
            throw std::runtime_error(
                "it is not an OpenEXR, PFM or PNG image; convert it to one of these");
        }
        return load(*found);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(ErrorCode::invalid_argument,
                    "cannot read '" + text_of(path) + "': " + error.what());
    }
}

}  // namespace

LoadedImage allocate_image(std::uint32_t width, std::uint32_t height, TexelFormat format) {
    LoadedImage image;
    image.shape = {width, height, 1, format};
    check_image(image.shape);
    image.texels = std::make_unique_for_overwrite<std::byte[]>(std::size_t{width} * height *
                                                               texel_size_bytes(format));
    return image;
}

LoadedMap allocate_map(std::uint32_t width, std::uint32_t height, TexelFormat format,
                       std::string channel) {
    return {allocate_image(width, height, format), std::move(channel), false};
}

std::vector<std::string> component_names(bool colour) {
    return colour ? std::vector<std::string>{"R", "G", "B"} : std::vector<std::string>{"Y"};
}

ComponentChoice choose_component(bool colour, const std::string& channel) {
    if (channel.empty()) {
        return colour ? ComponentChoice{true, 0, "luminance"} : ComponentChoice{false, 0, "Y"};
    }
    const std::vector<std::string> available = component_names(colour);
    const auto found = std::ranges::find(available, channel);
    if (found == available.end()) {
        throw_unknown_channel(channel, available);
    }
    return {false, static_cast<std::size_t>(found - available.begin()), channel};
}

void throw_unknown_channel(const std::string& channel, const std::vector<std::string>& available) {
    std::string list;
    for (const std::string& name : available) {
        list += (list.empty() ? "" : ", ") + name;
    }
    throw std::runtime_error("it has no channel '" + channel + "'; it has " + list);
}

}  // namespace quadtile::detail

namespace quadtile {

LoadedMap load_map(const std::filesystem::path& path, const std::string& channel) {
    return detail::with_format(
        path, [&](const detail::Format& format) { return format.load_map(path, channel); });
}

std::vector<std::string> channels_of(const std::filesystem::path& path) {
    return detail::with_format(path,
                               [&](const detail::Format& format) { return format.channels(path); });
}

LoadedImage load_image(const std::filesystem::path& path, const ImageSelection& selection) {
    if (!selection.channel.empty()) {
        return load_map(path, selection.channel);
    }
    return detail::with_format(path, [&](const detail::Format& format) {
        return format.load_image(path, selection.linear);
    });
}

}  // namespace quadtile
