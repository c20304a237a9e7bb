// What nothing can be faster than: an empty dispatch, reading each texel of the map once, and that
// with a tile written for each.

#include "roofs.hpp"

#include "measurement.hpp"

#include <quadtile/limits.h>
#include <quadtile/tile_list.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>

namespace quadtile::bench {

namespace {

constexpr std::uint32_t EMPTY_SPIRV[] = {
#include "bench_empty.spv.inc"
};
constexpr std::uint32_t READ_TEXELS_SPIRV[] = {
#include "bench_read_texels.spv.inc"
};

constexpr std::uint32_t WRITE_TILES_SPIRV[] = {
#include "bench_write_tiles.spv.inc"
};

// As in read_texels.comp and write_tiles.comp.
constexpr std::uint32_t BLOCK_EXTENT = 64;
struct ReadTexelsParameters {
    float texel_width;  // 1 / extent of the map
    float texel_height;
    std::uint32_t limit;
};

std::uint32_t blocks(std::uint32_t extent) {
    return (extent + BLOCK_EXTENT - 1) / BLOCK_EXTENT;
}

// What the kernel must add up: the last texels of a row or column stand for those beyond the edge.
std::uint32_t sum_of_bits(const MapView& map) {
    const std::uint32_t width = map.shape.width;
    const std::uint32_t height = map.shape.height;
    const std::vector<float> texels = reference::decode(map);
    std::uint32_t sum = 0;
    for (std::size_t layer = 0; layer < map.shape.layers; ++layer) {
        for (std::uint32_t y = 0; y < blocks(height) * BLOCK_EXTENT; ++y) {
            const std::size_t first = (layer * height + std::min(y, height - 1)) * width;
            const std::span row(&texels[first], width);
            for (std::uint32_t x = 0; x < blocks(width) * BLOCK_EXTENT; ++x) {
                sum += std::bit_cast<std::uint32_t>(row[std::min(x, width - 1)]);
            }
        }
    }
    return sum;
}

// Reads the map and writes a tile for each texel: for maps that are all split.
Measurement write_tiles(Session& session, Scene& scene) {
    struct Work {
        test::Buffer tiles;
        MapImage image;
        test::ComputePipeline pipeline;
    };
    const MapShape& shape = scene.map().shape;
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    if (texels > session.gpu().device().info().max_tiles / BUFFER_CHUNKS) {
        throw Error(ErrorCode::unsupported, "the list is longer than one descriptor reaches");
    }
    test::Buffer tiles =
        session.gpu().make_buffer(texels * sizeof(Tile), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const MapImage image = scene.pyramid().map.map_image();
    const BufferRange range = tiles.range();
    const auto work = std::make_shared<Work>(
        Work{std::move(tiles), image,
             test::ComputePipeline(session.gpu(), WRITE_TILES_SPIRV, std::array{range}, &image,
                                   sizeof(float))});
    const float threshold = scene.map().threshold.levels(0).front();
    const auto record = [work, shape, threshold](VkCommandBuffer commands) {
        work->pipeline.record(commands, {blocks(shape.width), blocks(shape.height), shape.layers},
                              std::as_bytes(std::span(&threshold, 1)));
    };
    session.gpu().run(record);
    if (texels <= Scene::LONGEST_COMPARED_LIST) {
        auto written = session.gpu().read<Tile>(work->tiles, 0, texels);
        sort_canonical(written);
        if (written != reference::subdivide(scene.map().view(), scene.map().threshold).tiles) {
            throw WrongResult("the kernel did not write each texel's tile");
        }
    }
    return {record, {}};
}

}  // namespace

test::ComputePipeline make_empty_dispatch(const test::Gpu& gpu) {
    return {gpu, EMPTY_SPIRV, std::span<const BufferRange>()};
}

ReadTexels::ReadTexels(const test::Gpu& gpu, const MapImage& image, const ImageShape& shape)
    : shape_(shape),
      result_(gpu.make_buffer(sizeof(std::uint32_t), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)),
      image_(image),
      pipeline_(gpu, READ_TEXELS_SPIRV, std::array{result_.range()}, &image_,
                sizeof(ReadTexelsParameters)) {}

void ReadTexels::record(VkCommandBuffer commands) const {
    record(commands, std::numeric_limits<std::uint32_t>::max());
}

void ReadTexels::record(VkCommandBuffer commands, std::uint32_t limit) const {
    const ReadTexelsParameters parameters = {1.0F / static_cast<float>(shape_.width),
                                             1.0F / static_cast<float>(shape_.height), limit};
    pipeline_.record(commands, {blocks(shape_.width), blocks(shape_.height), shape_.layers},
                     std::as_bytes(std::span(&parameters, 1)));
}

void ReadTexels::check(test::Gpu& gpu, const MapView& map) const {
    gpu.fill(result_, 0);
    gpu.run([&](VkCommandBuffer commands) { record(commands, 0); });
    if (gpu.read<std::uint32_t>(result_, 0, 1).front() != sum_of_bits(map)) {
        throw WrongResult("the kernel did not read each texel once");
    }
}

void add_roofs(Session& session, const MapSource& source) {
    session.add("empty_dispatch", source, [&session](Scene&) {
        const auto pipeline =
            std::make_shared<const test::ComputePipeline>(make_empty_dispatch(session.gpu()));
        return Measurement{[pipeline](VkCommandBuffer commands) {
                               pipeline->record(commands, {1, 1, 1});
                           },
                           {}};
    });
    session.add("read_texels", source, [&session](Scene& scene) {
        const MapShape& shape = scene.map().shape;
        const auto read = std::make_shared<const ReadTexels>(
            session.gpu(), scene.pyramid().map.map_image(), shape);
        read->check(session.gpu(), scene.map().view());
        const double map_bytes = static_cast<double>(shape.width) * shape.height * shape.layers *
                                 static_cast<double>(texel_size_bytes(shape.format));
        return Measurement{[read](VkCommandBuffer commands) { read->record(commands); },
                           {{"map_bytes", map_bytes}}};
    });
    if (source.name == "all_split" && source.shape.width % BLOCK_EXTENT == 0 &&
        source.shape.height % BLOCK_EXTENT == 0) {
        session.add("read_texels_write_tiles", source,
                    [&session](Scene& scene) { return write_tiles(session, scene); });
    }
}

}  // namespace quadtile::bench
