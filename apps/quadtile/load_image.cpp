#include "load_image.hpp"

#include "map_loaders.hpp"

namespace quadtile::app {

LoadedImage allocate_image(std::uint32_t width, std::uint32_t height, TexelFormat format) {
    LoadedImage image;
    image.shape = {width, height, 1, format};
    check_image(image.shape);
    image.texels = std::make_unique_for_overwrite<std::byte[]>(std::size_t{width} * height *
                                                               texel_size_bytes(format));
    return image;
}

LoadedImage load_image(const std::filesystem::path& path, const ImageSelection& selection) {
    if (!selection.channel.empty()) {
        return load_map(path, selection.channel);
    }
    return with_file_name(path, [&] {
        switch (identify(path)) {
            case FileType::exr:
                return load_exr_image(path);
            case FileType::pfm:
                return load_pfm_image(path);
            case FileType::png:
                break;
        }
        return load_png_image(path, selection.linear);
    });
}

}  // namespace quadtile::app
