#include "maps.hpp"

#include "support/maps.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace quadtile::bench {

namespace {

Map own(const MapShape& shape, std::vector<float> texels, Threshold threshold) {
    const auto owner = std::make_shared<const std::vector<float>>(std::move(texels));
    return {{owner, owner->data()}, shape, std::move(threshold)};
}

std::uint64_t count_below(const reference::Pyramid& pyramid, const std::vector<float>& thresholds,
                          std::uint32_t level, std::uint32_t x, std::uint32_t y) {
    const reference::Level& nodes = pyramid.levels[level];
    if (x >= nodes.width || y >= nodes.height) {
        return 0;
    }
    if (level == 0 || nodes.at(x, y) < thresholds[level]) {
        return 1;
    }
    std::uint64_t count = 0;
    for (std::uint32_t child = 0; child < 4; ++child) {
        count += count_below(pyramid, thresholds, level - 1, 2 * x + child % 2, 2 * y + child / 2);
    }
    return count;
}

std::uint64_t count_tiles(const reference::Pyramid& pyramid, const Threshold& threshold) {
    const auto top = static_cast<std::uint32_t>(pyramid.levels.size() - 1);
    return count_below(pyramid, threshold.levels(top), top, 0, 0);
}

Threshold threshold_for_real_map(const MapView& map) {
    constexpr std::uint64_t TILES = 4096;
    const reference::Pyramid pyramid = reference::build_pyramid(map);
    float pixels = 0x1p30F;
    while (pixels > 0x1p-30F && count_tiles(pyramid, Threshold::max_resolution(pixels)) < TILES) {
        pixels /= 2;
    }
    return Threshold::max_resolution(pixels);
}

}  // namespace

std::vector<MapSource> synthetic_maps(std::uint32_t extent) {
    const MapShape shape = {extent, extent};
    return {
        {"smooth", shape,
         [shape] {
             return own(shape, test::smooth_map(shape),
                        Threshold::max_resolution(static_cast<float>(shape.width) / 128.0F));
         }},
        {"peaks", shape,
         [shape] { return own(shape, test::peaks_map(shape), Threshold::constant(1.0F)); }},
        {"one_peak", shape,
         [shape] {
             return own(shape, test::peaks_map(shape, shape.width), Threshold::constant(1.0F));
         }},
        {"all_split", shape,
         [shape] {
             auto [texels, threshold] = test::all_split(shape);
             return own(shape, std::move(texels), std::move(threshold));
         }},
        {"none_split", shape,
         [shape] {
             auto [texels, threshold] = test::none_split(shape);
             return own(shape, std::move(texels), std::move(threshold));
         }},
    };
}

std::vector<MapSource> real_maps() {
    const auto directory = test::data_directory();
    if (!directory) {
        return {};
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(*directory / "importance")) {
        if (entry.path().extension() == ".exr") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    std::vector<MapSource> sources;
    for (const std::filesystem::path& file : files) {
        const auto loaded = std::make_shared<const LoadedMap>(load_map(file));
        sources.push_back({file.stem().string(), loaded->shape, [loaded] {
                               return Map{{loaded, loaded->texels.get()},
                                          loaded->shape,
                                          threshold_for_real_map(loaded->view())};
                           }});
    }
    return sources;
}

std::vector<MapSource> batches(std::uint32_t layers) {
    const MapShape shape = {1024, 1024, layers};
    return {{"peaks", shape,
             [shape] { return own(shape, test::peaks_map(shape), Threshold::constant(1.0F)); }},
            {"none_split", shape, [shape] {
                 auto [texels, threshold] = test::none_split(shape);
                 return own(shape, std::move(texels), std::move(threshold));
             }}};
}

std::uint64_t count_tiles(const Map& map) {
    std::uint64_t tiles = 0;
    for (std::uint32_t layer = 0; layer < map.shape.layers; ++layer) {
        tiles += count_tiles(reference::build_pyramid(map.view(), layer), map.threshold);
    }
    return tiles;
}

}  // namespace quadtile::bench
