#include "image_loaders.hpp"

namespace quadtile::detail {

LoadedImage allocate_image(std::uint32_t width, std::uint32_t height, TexelFormat format) {
    LoadedImage image;
    image.shape = {width, height, 1, format};
    check_image(image.shape);
    image.texels = std::make_unique_for_overwrite<std::byte[]>(std::size_t{width} * height *
                                                               texel_size_bytes(format));
    return image;
}

}  // namespace quadtile::detail

namespace quadtile {

LoadedImage load_image(const std::filesystem::path& path, const ImageSelection& selection) {
    if (!selection.channel.empty()) {
        return load_map(path, selection.channel);
    }
    return detail::with_file_name(path, [&] {
        switch (detail::identify(path)) {
            case detail::FileType::exr:
                return detail::load_exr_image(path);
            case detail::FileType::pfm:
                return detail::load_pfm_image(path);
            case detail::FileType::png:
                break;
        }
        return detail::load_png_image(path, selection.linear);
    });
}

}  // namespace quadtile
