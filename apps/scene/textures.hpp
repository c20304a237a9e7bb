// Pictures of textures.

#pragma once

#include "scene.hpp"

#include <optional>
#include <string_view>

namespace quadtile::baker {

struct PictureFormat {
    std::string_view mark;  // bytes at a place of the file
    std::size_t place;
    const char* type;  // MIME
    const char* name;
    bool is_read;
};

// Returns the format of a picture that glTF can have; nullptr: another one.
[[nodiscard]] const PictureFormat* format_of(std::string_view bytes);

// Decodes PNG, JPEG, WebP and stb's other formats; nothing for other or damaged pictures.
[[nodiscard]] std::optional<Texture> decode_picture(std::string_view bytes);

// Returns colours (default: white) times 1 - factor * metal, where `metal` is the blue channel of a
// texture that covers the same surface.
[[nodiscard]] Texture without_metal(const Texture* colours, const Texture& metal, float factor);

}  // namespace quadtile::baker
