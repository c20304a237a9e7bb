// Tile lists that are brought up to date after a part of the map has changed.

#include "gpu_test.hpp"
#include "support/gpu.hpp"
#include "support/maps.hpp"
#include "support/workspace.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>

namespace quadtile::test {
namespace {

class Updates : public GpuTest {};

// A map on the host and on the GPU, and its list.
struct UpdatedMap {
    UpdatedMap(Gpu& used_gpu, const Subdivider& used, const MapShape& map_shape,
               std::vector<float> contents, std::uint64_t tile_capacity,
               std::span<const Threshold> layer_thresholds = {})
        : gpu(used_gpu),
          subdivider(used),
          shape(map_shape),
          texels(std::move(contents)),
          map(gpu.upload(view())),
          needed(subdivider.requirements(shape, tile_capacity)),
          scratch(gpu.make_buffer(needed.scratch_size_bytes, needed.usage)),
          tile_list(gpu.make_buffer(needed.tile_list_size_bytes, needed.usage)),
          thresholds(gpu.make_buffer(needed.layer_thresholds_size_bytes, needed.usage,
                                     Memory::host_visible)),
          headers(gpu.make_buffer(needed.layer_headers_size_bytes, needed.usage)),
          binding(subdivider.bind(
              shape,
              {.map = map.map_image(),
               .scratch = scratch.range(),
               .tile_list = tile_list.range(),
               .tile_capacity = tile_capacity,
               .layer_thresholds = layer_thresholds.empty() ? BufferRange{} : thresholds.range(),
               .layer_headers = layer_thresholds.empty() ? BufferRange{} : headers.range()})) {
        gpu.fill(scratch, 0);
        if (!layer_thresholds.empty()) {
            const std::vector<float> words = Subdivider::layer_thresholds(shape, layer_thresholds);
            std::memcpy(thresholds.mapped(), words.data(), words.size() * sizeof(float));
        }
    }

    [[nodiscard]] MapView view() const { return {texels.data(), shape}; }

    // What changes in a rectangle, on the host; `upload` brings it to the GPU.
    void change(const DirtyRectangle& rectangle, const std::function<float()>& importance) {
        for (std::uint32_t y = rectangle.y; y < rectangle.y + rectangle.height; ++y) {
            for (std::uint32_t x = rectangle.x; x < rectangle.x + rectangle.width; ++x) {
                const std::size_t row = std::size_t{rectangle.layer} * shape.height + y;
                texels[row * shape.width + x] = importance();
            }
        }
    }
    void upload() { gpu.upload(map, texels.data()); }

    void record(const Threshold& threshold, Order order = Order::canonical,
                std::optional<std::uint64_t> max_tiles = std::nullopt) {
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record(commands, binding, threshold, order, max_tiles);
        });
    }
    void update(const Threshold& threshold, std::span<const DirtyRectangle> rectangles) {
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record_update(commands, binding, threshold, rectangles);
        });
    }

    [[nodiscard]] TileListHeader header() {
        return gpu.read<TileListHeader>(tile_list, 0, 1).front();
    }
    [[nodiscard]] std::vector<Tile> tiles(std::uint32_t first, std::uint32_t count) {
        return gpu.read<Tile>(tile_list,
                              sizeof(TileListHeader) + VkDeviceSize{first} * sizeof(Tile), count);
    }
    [[nodiscard]] std::uint64_t nan_texels() {
        const auto counts =
            gpu.read<std::uint32_t>(scratch, Subdivider::nan_texels_offset_bytes, shape.layers);
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    }

    // The list is the reference's, bit for bit as it lies.
    void expect_up_to_date(const Threshold& threshold) {
        const TileList expected = reference::subdivide(view(), threshold);
        const TileListHeader found = header();
        EXPECT_EQ(found.flags, 0U);
        EXPECT_EQ(found.required, expected.tiles.size());
        EXPECT_TRUE(tiles(0, found.written) == expected.tiles);
        EXPECT_EQ(nan_texels(), expected.nan_texels);
    }

    Gpu& gpu;
    const Subdivider& subdivider;
    MapShape shape;
    std::vector<float> texels;
    Image map;
    Subdivider::Requirements needed;
    Buffer scratch;
    Buffer tile_list;
    Buffer thresholds;
    Buffer headers;
    Subdivider::Binding binding;
};

// From a texel to a good part of a layer.
DirtyRectangle changed_rectangle(std::mt19937& random, const MapShape& shape) {
    return random_rectangle(shape, random() % 2 == 0 ? 3 : 200, [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    });
}

// Low texels, a few above 1, and NaN now and then.
std::function<float()> random_importance(std::mt19937& random) {
    const std::uint32_t kind = random() % 4;
    return [&random, kind] {
        const float low = static_cast<float>(random() % 1000) / 1000.0F;
        if (kind == 0 && random() % 100 == 0) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        return kind < 3 && random() % 50 == 0 ? low + 1.0F : low;
    };
}

// Shapes: one block; few; two hand-overs with groups at odd edges, in both directions.
const MapShape SHAPES[] = {{1, 1, 1}, {63, 40, 3}, {300, 200, 3}, {4200, 70, 1}, {90, 8500, 2}};

TEST_F(Updates, TheListIsThatOfTheChangedMap) {
    for (const Variant& variant : tile_variants()) {
        Gpu gpu(device_for(variant));
        const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
        const bool is_whole = variant.name == all_variants().front().name;
        for (const MapShape& shape : std::span(SHAPES).first(is_whole ? 5 : 2)) {
            const std::uint64_t capacity =
                std::min<std::uint64_t>(std::uint64_t{shape.width} * shape.height * shape.layers,
                                        gpu.device().info().max_tiles);
            const Threshold threshold = Threshold::constant(1.0F);
            UpdatedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), capacity);
            map.record(threshold);
            std::mt19937 random(shape.width);
            for (int round = 0; round < 4; ++round) {
                std::vector<DirtyRectangle> rectangles;
                for (std::uint32_t i = random() % 4 + 1; i > 0; --i) {
                    rectangles.push_back(changed_rectangle(random, shape));
                    map.change(rectangles.back(), random_importance(random));
                }
                SCOPED_TRACE(variant.name + ", " + text_of(shape));
                map.upload();
                map.update(threshold, rectangles);
                map.expect_up_to_date(threshold);
            }
        }
    }
}

// Everything above the blocks changes: a map without a tile but the root gets a peak and loses it.
TEST_F(Updates, OnePeakComesAndGoes) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{4200, 200, 2};
    const Threshold threshold = Threshold::constant(1.0F);
    UpdatedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10000);
    map.record(threshold);
    EXPECT_EQ(map.header().written, 2U);
    const DirtyRectangle texel{4100, 199, 1, 1, 1};
    for (const float importance : {2.0F, 0.25F, 3.0F, 0.5F}) {
        map.change(texel, [importance] { return importance; });
        map.upload();
        map.update(threshold, {{texel}});
        map.expect_up_to_date(threshold);
    }
}

// Only what the rectangles touch is read again.
TEST_F(Updates, BlocksOutsideAreNotCounted) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{200, 200, 1};
    const Threshold threshold = Threshold::constant(1.0F);
    UpdatedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10000);
    map.record(threshold);
    const std::vector<float> before = map.texels;
    map.change({0, 0, 1, 1, 0}, [] { return 2.0F; });
    map.change({199, 199, 1, 1, 0}, [] { return 2.0F; });
    map.upload();
    map.update(threshold, {{DirtyRectangle{0, 0, 64, 64, 0}}});
    map.texels = before;
    map.change({0, 0, 1, 1, 0}, [] { return 2.0F; });
    map.expect_up_to_date(threshold);
}

TEST_F(Updates, LayersKeepTheirThresholdsAndParts) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{130, 70, 3};
    const std::vector<Threshold> thresholds{
        Threshold::constant(1.0F), Threshold::max_resolution(8.0F), Threshold::constant(0.25F)};
    UpdatedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 40000, thresholds);
    gpu.run([&](VkCommandBuffer commands) {
        subdivider.record(commands, map.binding, Order::canonical);
    });
    std::mt19937 random(7);
    for (int round = 0; round < 5; ++round) {
        const DirtyRectangle rectangle = changed_rectangle(random, shape);
        map.change(rectangle, random_importance(random));
        map.upload();
        gpu.run([&](VkCommandBuffer commands) {
            subdivider.record_update(commands, map.binding, {{rectangle}});
        });
        const auto headers = gpu.read<TileListHeader>(map.headers, 0, shape.layers);
        const TileList expected = reference::subdivide(map.view(), thresholds);
        std::uint32_t place = 0;
        for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
            EXPECT_EQ(headers[layer].first_tile, place);
            EXPECT_TRUE(std::ranges::equal(map.tiles(place, headers[layer].written),
                                           expected.tiles_of_layer(layer)));
            place += headers[layer].written;
        }
        EXPECT_EQ(map.header().required, place);
    }
}

TEST_F(Updates, ThresholdsByNode) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{300, 150, 2};
    const std::vector<float> fragments = random_fragments(shape);
    const Threshold threshold = Threshold::memory(64.0F, 1000.0F, {fragments.data(), shape});
    const std::vector<float> contents = threshold_map_contents(threshold, shape);
    const std::vector<float> before = random_map(shape);
    const Image image = gpu.upload({before.data(), shape});
    const Subdivider::Requirements needed = subdivider.requirements(shape, 90000);
    const Buffer scratch = gpu.make_buffer(needed.scratch_size_bytes, needed.usage);
    gpu.fill(scratch, 0);
    const Buffer list = gpu.make_buffer(needed.tile_list_size_bytes, needed.usage);
    const Buffer by_node =
        gpu.make_buffer(contents.size() * sizeof(float), needed.usage, Memory::host_visible);
    std::memcpy(by_node.mapped(), contents.data(), contents.size() * sizeof(float));
    const Subdivider::Binding binding =
        subdivider.bind(shape, {.map = image.map_image(),
                                .scratch = scratch.range(),
                                .tile_list = list.range(),
                                .tile_capacity = 90000,
                                .node_thresholds = by_node.range()});
    gpu.run([&](VkCommandBuffer commands) {
        subdivider.record(commands, binding, threshold, Order::canonical);
    });
    std::vector<float> after = before;
    after[std::size_t{200} * shape.width + 70] = 100.0F;  // layer 1, row 50
    gpu.upload(image, after.data());
    gpu.run([&](VkCommandBuffer commands) {
        subdivider.record_update(commands, binding, threshold, {{DirtyRectangle{70, 50, 1, 1, 1}}});
    });
    const std::vector<Tile> expected = reference::subdivide({after.data(), shape}, threshold).tiles;
    const auto header = gpu.read<TileListHeader>(list, 0, 1).front();
    EXPECT_NE(expected, reference::subdivide({before.data(), shape}, threshold).tiles);
    EXPECT_TRUE(gpu.read<Tile>(list, sizeof(TileListHeader), header.written) == expected);
}

TEST_F(Updates, AFullListIsGrownAndUpdatedAgain) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{200, 100, 1};
    const Threshold threshold = Threshold::constant(1.0F);
    UpdatedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 10);
    map.record(threshold);
    const DirtyRectangle rectangle{150, 50, 30, 30, 0};
    map.change(rectangle, [] { return 2.0F; });
    map.upload();
    map.update(threshold, {{rectangle}});
    const std::vector<Tile> expected = reference::subdivide(map.view(), threshold).tiles;
    const TileListHeader full = map.header();
    EXPECT_EQ(full.flags, TILE_LIST_OVERFLOW);
    EXPECT_EQ(full.written, 10U);
    EXPECT_EQ(full.required, expected.size());

    const Buffer longer = gpu.make_buffer(
        subdivider.requirements(shape, full.required).tile_list_size_bytes, map.needed.usage);
    const Subdivider::Binding binding = subdivider.bind(shape, {.map = map.map.map_image(),
                                                                .scratch = map.scratch.range(),
                                                                .tile_list = longer.range(),
                                                                .tile_capacity = full.required});
    gpu.run([&](VkCommandBuffer commands) {
        subdivider.record_update(commands, binding, threshold, {{rectangle}});
    });
    EXPECT_TRUE(gpu.read<Tile>(longer, sizeof(TileListHeader), full.required) == expected);
}

TEST_F(Updates, WithoutCanonicalOrderBeforeTheListIsEmptyAndSaysSo) {
    Gpu gpu(device_for());
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    const MapShape shape{200, 100, 3};
    const Threshold threshold = Threshold::constant(1.0F);
    UpdatedMap map(gpu, subdivider, shape, peaks_map(shape), 60000);
    const std::vector<DirtyRectangle> rectangles{{0, 0, 1, 1, 0}, {150, 70, 1, 1, 2}};
    const auto expect_refusal = [&] {
        map.update(threshold, rectangles);
        const TileListHeader header = map.header();
        EXPECT_EQ(header.flags, TILE_LIST_NOT_COUNTED);
        EXPECT_EQ(header.written, 0U);
        EXPECT_EQ(header.required, 0U);
        EXPECT_EQ(header.draw_instance_count, 0U);
    };
    expect_refusal();  // zeros
    map.record(threshold, Order::any);
    expect_refusal();
    map.record(threshold, Order::canonical, 100);
    expect_refusal();
    map.record(threshold);
    map.update(threshold, rectangles);
    map.expect_up_to_date(threshold);
    map.record(threshold, Order::any);
    expect_refusal();
    map.record(threshold);
    map.expect_up_to_date(threshold);
}

TEST_F(Updates, WhatCannotBeDoneIsRefused) {
    Gpu gpu(device_for());
    const MapShape shape{100, 60, 1};
    const Threshold threshold = Threshold::constant(1.0F);
    const Subdivider subdivider(gpu.device(), {.strategy = Strategy::fused});
    UpdatedMap map(gpu, subdivider, shape, constant_map(shape, 0.5F), 100);
    const Subdivider subtree(gpu.device(), {.strategy = Strategy::subtree});
    gpu.run([&](VkCommandBuffer commands) {
        const auto updating = [&](const Subdivider& used,
                                  const std::vector<DirtyRectangle>& rectangles) {
            return [&, rectangles] {
                used.record_update(commands, map.binding, threshold, rectangles);
            };
        };
        EXPECT_THAT(updating(subdivider, {{0, 0, 0, 1, 0}}), is_refused("empty"));
        EXPECT_THAT(updating(subdivider, {{99, 0, 2, 1, 0}}), is_refused("not inside"));
        EXPECT_THAT(updating(subdivider, {{0, 0, 1, 1, 1}}), is_refused("not inside"));
        EXPECT_NO_THROW(updating(subdivider, {})());
        EXPECT_THAT(updating(subtree, {{0, 0, 1, 1, 0}}), is_refused("only the strategy fused"));
        EXPECT_THAT(
            [&] {
                subdivider.record_update(commands, map.binding, {{DirtyRectangle{0, 0, 1, 1, 0}}});
            },
            is_refused("a threshold is missing"));
    });
}

}  // namespace
}  // namespace quadtile::test
