#include "textures.hpp"

#include <stb/stb_image.h>
#include <webp/decode.h>
#include <glm/glm.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

namespace quadtile::baker {

namespace {

using namespace std::string_view_literals;

constexpr PictureFormat FORMATS[] = {{"\x89PNG"sv, 0, "image/png", "PNG", true},
                                     {"\xFF\xD8\xFF"sv, 0, "image/jpeg", "JPEG", true},
                                     {"WEBP"sv, 8, "image/webp", "WebP", true},
                                     {"\xABKTX"sv, 0, "image/ktx2", "KTX", false},
                                     {"ftypavi"sv, 4, "image/avif", "AVIF", false}};

Texture empty_texture(int width, int height) {
    Texture texture{{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)}, {}};
    texture.texels.resize(texture.extent.texels());
    return texture;
}

std::optional<Texture> decode_webp(const std::uint8_t* bytes, std::size_t size) {
    int width = 0;
    int height = 0;
    if (WebPGetInfo(bytes, size, &width, &height) == 0) {
        return std::nullopt;
    }
    Texture texture = empty_texture(width, height);
    auto* const to = reinterpret_cast<std::uint8_t*>(texture.texels.data());
    if (WebPDecodeRGBAInto(bytes, size, to, 4 * texture.texels.size(), 4 * width) == nullptr) {
        return std::nullopt;
    }
    return texture;
}

}  // namespace

const PictureFormat* format_of(std::string_view bytes) {
    const auto* const found = std::ranges::find_if(FORMATS, [&](const PictureFormat& format) {
        return bytes.size() > format.place && bytes.substr(format.place).starts_with(format.mark);
    });
    return found == std::end(FORMATS) ? nullptr : found;
}

std::optional<Texture> decode_picture(std::string_view bytes) {
    if (bytes.empty() || bytes.size() > std::numeric_limits<int>::max()) {
        return std::nullopt;
    }
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const PictureFormat* const format = format_of(bytes);
    if (format != nullptr && format->name == "WebP"sv) {
        return decode_webp(data, bytes.size());
    }
    int width = 0;
    int height = 0;
    int channels = 0;
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> texels(
        stbi_load_from_memory(data, static_cast<int>(bytes.size()), &width, &height, &channels, 4),
        stbi_image_free);
    if (!texels) {
        return std::nullopt;
    }
    Texture texture = empty_texture(width, height);
    std::memcpy(texture.texels.data(), texels.get(), 4 * texture.texels.size());
    return texture;
}

Texture without_metal(const Texture* colours, const Texture& metal, float factor) {
    // By colour and by metal: what is left of the colour, both with 8 bits.
    std::vector<std::uint8_t> left(std::size_t{256} * 256);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const auto code = static_cast<std::uint8_t>(i / 256);
        const float value = linear({code, code, code, 255}).r *
                            (1.0F - factor * static_cast<float>(i % 256) / 255.0F);
        left[i] = srgb_code(value);
    }
    const Texture white{{1, 1}, {{255, 255, 255, 255}}};
    const Texture& from = colours == nullptr ? white : *colours;
    const auto at = [](const Texture& texture, const Extent& all, std::size_t i) {
        const std::size_t x = i % all.width * texture.extent.width / all.width;
        const std::size_t y = i / all.width * texture.extent.height / all.height;
        return texture.texels[y * texture.extent.width + x];
    };
    Texture result{{std::max(from.extent.width, metal.extent.width),
                    std::max(from.extent.height, metal.extent.height)},
                   {}};
    result.texels.resize(result.extent.texels());
    for (std::size_t i = 0; i < result.texels.size(); ++i) {
        result.texels[i] = at(from, result.extent, i);
        const std::uint8_t metallic = at(metal, result.extent, i)[2];
        for (std::size_t c = 0; c < 3; ++c) {
            result.texels[i][c] = left[std::size_t{result.texels[i][c]} * 256 + metallic];
        }
    }
    return result;
}

}  // namespace quadtile::baker
