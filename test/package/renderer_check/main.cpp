// renderer_check PICTURE.png FRAME MAX_TILES: whether a picture of examples/renderer is, to the
// bit, what the CPU makes of the same scene by quadtile::reference.

#include <quadtile/reference.hpp>

#include <scene.hpp>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb_image.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

using Pixel = std::array<unsigned char, 4>;

Pixel pixel_of(const renderer::Colour& colour) {
    return {static_cast<unsigned char>(colour.red), static_cast<unsigned char>(colour.green),
            static_cast<unsigned char>(colour.blue), 255};
}

renderer::Colour mean_colour(const renderer::Scene& scene, const quadtile::TexelRect& rect) {
    renderer::Colour sum{};
    for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
        for (std::uint32_t x = rect.left; x < rect.right; ++x) {
            const auto colour =
                renderer::colour_at(scene, static_cast<int>(x), static_cast<int>(y));
            sum.red += colour.red;
            sum.green += colour.green;
            sum.blue += colour.blue;
        }
    }
    const std::uint32_t texels = (rect.right - rect.left) * (rect.bottom - rect.top);
    return {sum.red / texels, sum.green / texels, sum.blue / texels};
}

int fail(const std::string& what) {
    std::fprintf(stderr, "renderer_check: %s\n", what.c_str());
    return 1;
}

int check(const std::string& file, std::uint32_t frame, std::uint32_t max_tiles) {
    int columns = 0;
    int rows = 0;
    int channels = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> picture(
        stbi_load(file.c_str(), &columns, &rows, &channels, 4), stbi_image_free);
    if (!picture) {
        return fail("cannot read " + file);
    }
    const auto width = static_cast<std::uint32_t>(columns);
    const auto height = static_cast<std::uint32_t>(rows);

    const renderer::Scene scene = renderer::scene_of_frame(frame, width, height);
    const std::vector<float> map = renderer::importance_map(scene);
    const quadtile::TileList list = quadtile::reference::subdivide(
        quadtile::view_of(map, width, height),
        quadtile::Threshold::max_resolution(renderer::MAX_TILE_PIXELS), {.max_tiles = max_tiles});
    // A scene of which all tiles are alike would show little.
    const auto per_level = list.tiles_per_level();
    const auto levels = std::ranges::count_if(per_level, [](std::uint64_t n) { return n > 0; });
    if (list.tiles.size() < 100 || levels < 4) {
        return fail("the scene is too simple");
    }
    for (const quadtile::Tile& tile : list.tiles) {
        const quadtile::TexelRect rect = quadtile::texels_of(tile, width, height);
        const renderer::Colour colour = mean_colour(scene, rect);
        for (std::uint32_t y = rect.top; y < rect.bottom; ++y) {
            for (std::uint32_t x = rect.left; x < rect.right; ++x) {
                const bool is_outline = x == rect.left || y == rect.top;
                const Pixel expected = pixel_of(is_outline ? renderer::outline_of(colour) : colour);
                const unsigned char* const found =
                    picture.get() + (std::size_t{y} * width + x) * expected.size();
                if (!std::equal(expected.begin(), expected.end(), found)) {
                    return fail("pixel (" + std::to_string(x) + ", " + std::to_string(y) +
                                ") in a tile of level " + std::to_string(tile.level()) +
                                " has another colour");
                }
            }
        }
    }
    std::printf("%zu tiles of %td sizes, as on the CPU\n", list.tiles.size(), levels);
    return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 4) {
        return fail("usage: renderer_check PICTURE.png FRAME MAX_TILES");
    }
    return check(arguments[1], static_cast<std::uint32_t>(std::stoul(arguments[2])),
                 static_cast<std::uint32_t>(std::stoul(arguments[3])));
}
