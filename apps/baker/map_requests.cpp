#include "map_requests.hpp"

#include "quadtile_baker_gpu_shaders.hpp"

#include <quadtile/quadtree.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace quadtile::baker {

namespace {

using Layout = vk::ImageLayout;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

constexpr std::uint64_t FIRST_CAPACITY = 16384;
constexpr std::uint32_t CONTENTS_WORKGROUPS = 256;
constexpr std::uint32_t LARGEST_DISPATCH_X = 65535;  // limit of every device
// Loop iterations of a density thread per texel, and additional ones per row.
constexpr std::uint32_t TEXEL_ITERATIONS = 4;
constexpr std::uint32_t ROW_ITERATIONS = 8;
constexpr std::uint32_t MOST_ITERATIONS = 60000;
// Workgroups of density per submission until the speed is known: if each triangle is as large as
// the map, they take long enough.
constexpr double FIRST_CLUSTERS = 256.0;

std::uint32_t divided_up(std::uint32_t value, std::uint32_t by) {
    return (value + by - 1) / by;
}

// Returns the shares of rows if loops must be short: enough for triangles that all cover the map.
std::uint32_t row_shares(const app::Gpu& gpu, std::uint32_t extent) {
    return gpu.ends_long_loops()
               ? divided_up(extent * (TEXEL_ITERATIONS * extent + ROW_ITERATIONS), MOST_ITERATIONS)
               : 1;
}

vk::BufferUsageFlags usage_of(VkBufferUsageFlags usage) {
    return vk::BufferUsageFlags(usage) | Usage::eStorageBuffer | Usage::eTransferDst |
           Usage::eTransferSrc;
}

}  // namespace

MapRequests::MapRequests(app::Gpu& gpu, const TracedScene& scene, vk::Buffer triangles,
                         const TileOptions& options, std::uint32_t layers,
                         double submission_seconds)
    : gpu_(gpu),
      triangles_(triangles),
      options_(options),
      shape_{options.map_extent, options.map_extent, layers},
      device_(quadtile::Device::adopt(gpu.for_quadtile({}))),
      summer_(device_, {.reduction = Reduction::sum,
                        .source_format = TexelFormat::r32_float,
                        .format = TexelFormat::r32_float}),
      subdivider_(device_, {.strategy = Strategy::fused}),
      interface_(gpu.make_interface(
          vk::ShaderStageFlagBits::eCompute,
          {Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
           Type::eStorageImage, Type::eStorageImage, Type::eSampledImage, Type::eStorageBuffer,
           Type::eSampledImage, Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer},
          sizeof(MapParameters))),
      density_(gpu.make_compute_pipeline(*interface_.layout, app::DENSITY_COMP)),
      finish_(gpu.make_compute_pipeline(*interface_.layout, app::FINISH_MAPS_COMP)),
      node_thresholds_(gpu.make_compute_pipeline(*interface_.layout, app::NODE_THRESHOLDS_COMP)),
      tile_contents_(gpu.make_compute_pipeline(*interface_.layout, app::TILE_CONTENTS_COMP)),
      timer_(gpu),
      densities_size_(FIRST_CLUSTERS, submission_seconds) {
    parameters_ = {.clusters = static_cast<QUADTILE_UINT>(scene.clusters.size()),
                   .triangles = static_cast<QUADTILE_UINT>(scene.triangles.size()),
                   .extent = options.map_extent,
                   .layers = layers,
                   .levels = top_level(options.map_extent, options.map_extent) + 1,
                   .max_resolution = options.max_resolution,
                   .max_nodes = options.max_nodes,
                   .is_uniform = options.uniform ? 1U : 0U,
                   .row_shares = row_shares(gpu, options.map_extent)};
    make_maps();
    make_list(FIRST_CAPACITY);
}

void MapRequests::make_maps() {
    const vk::Extent2D extent{shape_.width, shape_.height};
    const std::uint32_t levels = parameters_.levels;
    const Downsampler::Shape chain{shape_.width, shape_.height, shape_.layers, levels};
    const Downsampler::Requirements sums = summer_.requirements(chain);
    const vk::DeviceSize words =
        vk::DeviceSize{shape_.width} * shape_.height * shape_.layers * sizeof(std::uint32_t);

    frames_ = gpu_.make_buffer(shape_.layers * sizeof(ProjectionFrame), Usage::eStorageBuffer,
                               app::MemoryUse::upload);
    density_words_ = gpu_.make_buffer(words, Usage::eStorageBuffer | Usage::eTransferDst);
    fragment_words_ = gpu_.make_buffer(words, Usage::eStorageBuffer | Usage::eTransferDst);
    constexpr auto IMAGE_USES = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled;
    importance_ = gpu_.make_image(extent, vk::Format::eR32Sfloat, IMAGE_USES,
                                  vk::ImageViewType::e2DArray, shape_.layers);
    fragments_ = gpu_.make_image(
        extent, vk::Format::eR32Sfloat,
        IMAGE_USES | vk::ImageUsageFlags(sums.source_usage | sums.destination_usage),
        vk::ImageViewType::e2DArray, shape_.layers, levels);
    sum_state_ = gpu_.make_buffer(sums.state_size_bytes, usage_of(sums.state_usage));

    const ImageResource counted{.image = *fragments_.handle, .created = fragments_.created};
    sum_binding_ = summer_.bind(
        chain,
        {.source = counted, .destination = counted, .state = {.buffer = *sum_state_.handle}});
    gpu_.run([&](vk::CommandBuffer commands) {
        for (const app::Buffer* const zeros : {&density_words_, &fragment_words_, &sum_state_}) {
            commands.fillBuffer(*zeros->handle, 0, VK_WHOLE_SIZE, 0);
        }
        for (const app::Image* const image : {&importance_, &fragments_}) {
            app::change_layout(commands, *image->handle, Layout::eUndefined, Layout::eGeneral,
                               app::ALL_WRITES, app::ALL_USES);
        }
        app::memory_barrier(commands);
    });
    if (options_.uniform) {
        make_pyramid();
    }
}

void MapRequests::make_pyramid() {
    pyramid_builder_.emplace(device_);
    const Pyramid::Requirements needed = pyramid_builder_->requirements(shape_);
    pyramid_ = gpu_.make_buffer(needed.pyramid_size_bytes, usage_of(needed.usage));
    pyramid_state_ = gpu_.make_buffer(needed.state_size_bytes, usage_of(needed.usage));
    pyramid_binding_ = pyramid_builder_->bind(
        shape_, {.map = {.view = *importance_.view, .layout = VK_IMAGE_LAYOUT_GENERAL},
                 .pyramid = {.buffer = *pyramid_.handle},
                 .state = {.buffer = *pyramid_state_.handle}});
    gpu_.run([&](vk::CommandBuffer commands) {
        commands.fillBuffer(*pyramid_state_.handle, 0, VK_WHOLE_SIZE, 0);
        app::memory_barrier(commands);
    });
}

void MapRequests::make_list(std::uint64_t capacity) {
    list_binding_.reset();
    const Subdivider::Requirements needed = subdivider_.requirements(shape_, capacity);
    scratch_ = gpu_.make_buffer(needed.scratch_size_bytes, usage_of(needed.usage));
    list_ = gpu_.make_buffer(needed.tile_list_size_bytes, usage_of(needed.usage));
    if (!thresholds_.handle) {
        thresholds_ = gpu_.make_buffer(threshold_map_size_bytes(shape_), usage_of(needed.usage));
    }
    contents_ = gpu_.make_buffer(capacity * sizeof(TileContents),
                                 Usage::eStorageBuffer | Usage::eTransferSrc);
    answer_ =
        gpu_.make_buffer(sizeof(TileListHeader) + capacity * (sizeof(Tile) + sizeof(TileContents)),
                         Usage::eTransferDst, app::MemoryUse::readback);
    capacity_ = capacity;
    list_binding_ = subdivider_.bind(
        shape_, {.map = {.view = *importance_.view, .layout = VK_IMAGE_LAYOUT_GENERAL},
                 .scratch = {.buffer = *scratch_.handle},
                 .tile_list = {.buffer = *list_.handle},
                 .tile_capacity = capacity,
                 .node_thresholds = {.buffer = *thresholds_.handle}});
    write_descriptors();
    gpu_.run([&](vk::CommandBuffer commands) {
        commands.fillBuffer(*scratch_.handle, 0, VK_WHOLE_SIZE, 0);
        app::memory_barrier(commands);
    });
}

void MapRequests::write_descriptors() {
    interface_.write(0, std::array{triangles_, *frames_.handle, *density_words_.handle,
                                   *fragment_words_.handle});
    interface_.write(4, *importance_.view, Layout::eGeneral);
    interface_.write(5, *fragments_.view, Layout::eGeneral);
    interface_.write(6, *fragments_.view, Layout::eGeneral);
    interface_.write(7, std::array{*thresholds_.handle});
    interface_.write(8, *importance_.view, Layout::eGeneral);
    // Adaptive tiles bring their importance, so no pyramid is read.
    interface_.write(9, std::array{options_.uniform ? *pyramid_.handle : *list_.handle,
                                   *list_.handle, *contents_.handle});
}

// Makes the words of as many layers as there are frames; the others stay 0. Returns false, with 0
// everywhere, if stopped.
bool MapRequests::make_densities(std::uint32_t frames, const Stop& stop) {
    const std::uint32_t all = frames * parameters_.clusters * parameters_.row_shares;
    for (std::uint32_t first = 0; first < all;) {
        if (stop && stop()) {
            gpu_.run([&](vk::CommandBuffer commands) {
                commands.fillBuffer(*density_words_.handle, 0, VK_WHOLE_SIZE, 0);
                commands.fillBuffer(*fragment_words_.handle, 0, VK_WHOLE_SIZE, 0);
                app::memory_barrier(commands);
            });
            return false;
        }
        const auto most = static_cast<std::uint32_t>(std::min(densities_size_.most_work(), 0x1p31));
        const std::uint32_t count = std::min(std::max(most, 1U), all - first);
        parameters_.first_work = first;
        parameters_.end_work = first + count;
        const auto start = Clock::now();
        gpu_.run([&](vk::CommandBuffer commands) {
            timer_.begin(commands);
            interface_.bind(commands, *density_, parameters_);
            const std::uint32_t x = std::min(count, LARGEST_DISPATCH_X);
            commands.dispatch(x, divided_up(count, x), 1);
            app::memory_barrier(commands);
            timer_.end(commands);
        });
        map_seconds_ += 1e-3 * timer_.milliseconds().value_or(0.0);
        densities_size_.note(count, seconds_since(start));
        first += count;
    }
    return true;
}

// Records the images, pyramids and sums of the densities.
void MapRequests::record_maps(vk::CommandBuffer commands) {
    interface_.bind(commands, *finish_, parameters_);
    const std::uint32_t blocks = divided_up(shape_.width, 8);
    commands.dispatch(blocks, blocks, shape_.layers);
    app::memory_barrier(commands);
    // Both only read level 0 of their images.
    if (pyramid_binding_) {
        pyramid_builder_->record(commands, *pyramid_binding_);
    }
    summer_.record(commands, *sum_binding_);
    app::memory_barrier(commands);
}

std::vector<std::vector<MapTile>> MapRequests::request(std::span<const ProjectionFrame> frames,
                                                       const Stop& stop) {
    std::memcpy(frames_.mapped, frames.data(), frames.size_bytes());
    if (!make_densities(static_cast<std::uint32_t>(frames.size()), stop)) {
        return {};
    }
    const std::vector<Tile> tiles = options_.uniform ? uniform_tiles() : adaptive_tiles();
    const auto* const contents = reinterpret_cast<const TileContents*>(
        answer_.mapped + sizeof(TileListHeader) + capacity_ * sizeof(Tile));
    std::vector<float> greatest(frames.size(), 0.0F);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        if (tiles[i].layer() < frames.size()) {
            greatest[tiles[i].layer()] =
                std::max(greatest[tiles[i].layer()], contents[i].importance);
        }
    }
    std::vector<std::vector<MapTile>> result(frames.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const Tile& tile = tiles[i];
        const float importance = contents[i].importance;
        if (tile.layer() >= frames.size() || !(importance > 0.0F)) {
            continue;
        }
        const std::uint32_t resolution =
            tile_resolution(tile.level(), options_.uniform ? greatest[tile.layer()] : importance);
        result[tile.layer()].push_back(
            {tile.level(), tile.x(), tile.y(), resolution,
             predicted_nodes(tile.level(), resolution, contents[i].fragments)});
    }
    for (std::vector<MapTile>& of_frame : result) {
        std::ranges::sort(of_frame, {}, [](const MapTile& tile) {
            return morton_encode(tile.x << tile.level, tile.y << tile.level);
        });
    }
    return result;
}

std::vector<Tile> MapRequests::adaptive_tiles() {
    for (bool has_maps = false;; has_maps = true) {
        gpu_.run([&](vk::CommandBuffer commands) {
            timer_.begin(commands);
            if (!has_maps) {
                record_maps(commands);
            }
            interface_.bind(commands, *node_thresholds_, parameters_);
            commands.dispatch(divided_up(shape_.width * shape_.height, 64), shape_.layers, 1);
            app::memory_barrier(commands);
            // No node has more fragments than its parent, so no threshold grows towards the root.
            subdivider_.record(commands, *list_binding_, Threshold::bound_monotone_map());
            app::memory_barrier(commands);
            timer_.end(commands);
            interface_.bind(commands, *tile_contents_, parameters_);
            commands.dispatch(CONTENTS_WORKGROUPS, 1, 1);
            app::memory_barrier(commands);
            const vk::DeviceSize list_bytes = sizeof(TileListHeader) + capacity_ * sizeof(Tile);
            commands.copyBuffer(*list_.handle, *answer_.handle, vk::BufferCopy{.size = list_bytes});
            commands.copyBuffer(
                *contents_.handle, *answer_.handle,
                vk::BufferCopy{.dstOffset = list_bytes, .size = capacity_ * sizeof(TileContents)});
            app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
        });
        subdivision_seconds_ += 1e-3 * timer_.milliseconds().value_or(0.0);
        TileListHeader header;
        std::memcpy(&header, answer_.mapped, sizeof(header));
        if ((header.flags & TILE_LIST_OVERFLOW) == 0) {
            std::vector<Tile> tiles(header.written);
            std::memcpy(tiles.data(), answer_.mapped + sizeof(header), tiles.size() * sizeof(Tile));
            return tiles;
        }
        make_list(header.required + header.required / 4);
    }
}

// Copies the contents of the given tiles to answer_.
void MapRequests::look_into(const std::vector<Tile>& tiles) {
    if (tiles.size() > capacity_) {
        make_list(tiles.size());
    }
    std::vector<std::byte> list(sizeof(TileListHeader) + tiles.size() * sizeof(Tile));
    const TileListHeader header{.written = static_cast<QUADTILE_UINT>(tiles.size())};
    std::memcpy(list.data(), &header, sizeof(header));
    std::memcpy(list.data() + sizeof(header), tiles.data(), tiles.size() * sizeof(Tile));
    gpu_.upload(*list_.handle, list);
    gpu_.run([&](vk::CommandBuffer commands) {
        interface_.bind(commands, *tile_contents_, parameters_);
        commands.dispatch(CONTENTS_WORKGROUPS, 1, 1);
        app::memory_barrier(commands);
        commands.copyBuffer(
            *contents_.handle, *answer_.handle,
            vk::BufferCopy{.dstOffset = sizeof(TileListHeader) + capacity_ * sizeof(Tile),
                           .size = tiles.size() * sizeof(TileContents)});
        app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
    });
}

std::vector<Tile> MapRequests::uniform_tiles() {
    std::vector<Tile> roots;
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
        roots.push_back({tile_position(0, 0), tile_node(parameters_.levels - 1, 0, layer), 0, 0});
    }
    gpu_.run([&](vk::CommandBuffer commands) { record_maps(commands); });
    look_into(roots);
    std::vector<TileContents> whole(roots.size());
    std::memcpy(whole.data(), answer_.mapped + sizeof(TileListHeader) + capacity_ * sizeof(Tile),
                whole.size() * sizeof(TileContents));
    std::vector<Tile> tiles;
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
        const std::uint32_t level = uniform_level(whole[layer].importance, options_);
        const std::uint32_t nodes = shape_.width >> level;
        for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
            tiles.push_back(
                {tile_position(i % nodes, i / nodes), tile_node(level, 0, layer), 0, 0});
        }
    }
    look_into(tiles);
    return tiles;
}

}  // namespace quadtile::baker
