#include "image_loaders.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <stdexcept>
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

FileType identify(const fs::path& path) {
    const std::string magic = read_magic(path);
    if (magic.empty()) {
        throw std::runtime_error("the file is empty");
    }
    if (magic.starts_with("\x76\x2f\x31\x01")) {
        return FileType::exr;
    }
    if (magic.starts_with("\x89PNG\r\n\x1a\n")) {
        return FileType::png;
    }
    if (magic.starts_with("PF") || magic.starts_with("Pf")) {
        return FileType::pfm;
    }
    throw std::runtime_error("it is not an OpenEXR, PFM or PNG image; convert it to one of these");
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
    return detail::with_file_name(path, [&] {
        switch (detail::identify(path)) {
            case detail::FileType::exr:
                return detail::load_exr(path, channel);
            case detail::FileType::pfm:
                return detail::load_pfm(path, channel);
            case detail::FileType::png:
                break;
        }
        return detail::load_png(path, channel);
    });
}

std::vector<std::string> channels_of(const std::filesystem::path& path) {
    return detail::with_file_name(path, [&] {
        switch (detail::identify(path)) {
            case detail::FileType::exr:
                return detail::exr_channels(path);
            case detail::FileType::pfm:
                return detail::pfm_channels(path);
            case detail::FileType::png:
                break;
        }
        return detail::png_channels(path);
    });
}

}  // namespace quadtile
