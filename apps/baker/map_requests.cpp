#include "map_requests.hpp"

#include "quadtile_baker_gpu_shaders.hpp"

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
constexpr std::uint32_t FRAGMENTS_WORKGROUPS = 256;
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
      device_(quadtile::Device::adopt(gpu.for_quadtile())),
      summer_(device_, {.reduction = Reduction::sum,
                        .source_format = TexelFormat::r32_float,
                        .format = TexelFormat::r32_float}),
      subdivider_(device_, {.strategy = Strategy::fused}),
      interface_(gpu.make_interface(
          vk::ShaderStageFlagBits::eCompute,
          {Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
           Type::eStorageImage, Type::eStorageImage, Type::eSampledImage, Type::eStorageBuffer,
           Type::eStorageBuffer, Type::eStorageBuffer},
          sizeof(MapParameters))),
      density_(gpu.make_compute_pipeline(*interface_.layout, app::DENSITY_COMP)),
      finish_(gpu.make_compute_pipeline(*interface_.layout, app::FINISH_MAPS_COMP)),
      node_thresholds_(gpu.make_compute_pipeline(*interface_.layout, app::NODE_THRESHOLDS_COMP)),
      tile_fragments_(gpu.make_compute_pipeline(*interface_.layout, app::TILE_FRAGMENTS_COMP)),
      densities_size_(FIRST_CLUSTERS, submission_seconds) {
    parameters_ = {.clusters = static_cast<std::uint32_t>(scene.clusters.size()),
                   .triangles = static_cast<std::uint32_t>(scene.triangles.size()),
                   .extent = options.map_extent,
                   .layers = layers,
                   .levels = top_level(options.map_extent, options.map_extent) + 1,
                   .max_resolution = options.max_resolution,
                   .max_nodes = options.max_nodes,
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
}

void MapRequests::make_list(std::uint64_t capacity) {
    list_binding_.reset();
    const Subdivider::Requirements needed = subdivider_.requirements(shape_, capacity);
    scratch_ = gpu_.make_buffer(needed.scratch_size_bytes, usage_of(needed.usage));
    list_ = gpu_.make_buffer(needed.tile_list_size_bytes, usage_of(needed.usage));
    if (!thresholds_.handle) {
        thresholds_ = gpu_.make_buffer(threshold_map_size_bytes(shape_), usage_of(needed.usage));
    }
    tile_sums_ =
        gpu_.make_buffer(capacity * sizeof(float), Usage::eStorageBuffer | Usage::eTransferSrc);
    answer_ = gpu_.make_buffer(sizeof(TileListHeader) + capacity * (sizeof(Tile) + sizeof(float)),
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
    interface_.write(8, std::array{*list_.handle, *tile_sums_.handle});
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
            interface_.bind(commands, *density_, parameters_);
            const std::uint32_t x = std::min(count, LARGEST_DISPATCH_X);
            commands.dispatch(x, divided_up(count, x), 1);
            app::memory_barrier(commands);
        });
        densities_size_.note(count, seconds_since(start));
        first += count;
    }
    return true;
}

// Records the images and sums of the densities.
void MapRequests::record_maps(vk::CommandBuffer commands) {
    interface_.bind(commands, *finish_, parameters_);
    const std::uint32_t blocks = divided_up(shape_.width, 8);
    commands.dispatch(blocks, blocks, shape_.layers);
    app::memory_barrier(commands);
    summer_.record(commands, *sum_binding_);
    app::memory_barrier(commands);
}

std::vector<std::vector<MapTile>> MapRequests::request(std::span<const ProjectionFrame> frames,
                                                       const Stop& stop) {
    std::memcpy(frames_.mapped, frames.data(), frames.size_bytes());
    if (!make_densities(static_cast<std::uint32_t>(frames.size()), stop)) {
        return {};
    }
    const std::vector<Tile> tiles = subdivide();
    const auto* const fragments = reinterpret_cast<const float*>(
        answer_.mapped + sizeof(TileListHeader) + capacity_ * sizeof(Tile));
    std::vector<std::vector<MapTile>> result(frames.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const Tile& tile = tiles[i];
        if (tile.layer() >= frames.size() || !(tile.importance > 0.0F)) {
            continue;
        }
        const std::uint32_t resolution = tile_resolution(tile.level(), tile.importance);
        result[tile.layer()].push_back({tile.level(), tile.x(), tile.y(), resolution,
                                        predicted_nodes(tile.level(), resolution, fragments[i])});
    }
    return result;
}

std::vector<Tile> MapRequests::subdivide() {
    for (bool has_maps = false;; has_maps = true) {
        gpu_.run([&](vk::CommandBuffer commands) {
            if (!has_maps) {
                record_maps(commands);
            }
            interface_.bind(commands, *node_thresholds_, parameters_);
            commands.dispatch(divided_up(shape_.width * shape_.height, 64), shape_.layers, 1);
            app::memory_barrier(commands);
            // No node has more fragments than its parent, so no threshold grows towards the root.
            subdivider_.record(commands, *list_binding_, Threshold::bound_monotone_map(),
                               {.order = Order::canonical});
            app::memory_barrier(commands);
            interface_.bind(commands, *tile_fragments_, parameters_);
            commands.dispatch(FRAGMENTS_WORKGROUPS, 1, 1);
            app::memory_barrier(commands);
            const vk::DeviceSize list_bytes = sizeof(TileListHeader) + capacity_ * sizeof(Tile);
            commands.copyBuffer(*list_.handle, *answer_.handle, vk::BufferCopy{.size = list_bytes});
            commands.copyBuffer(
                *tile_sums_.handle, *answer_.handle,
                vk::BufferCopy{.dstOffset = list_bytes, .size = capacity_ * sizeof(float)});
            app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
        });
        TileListHeader header;
        std::memcpy(&header, answer_.mapped, sizeof(header));
        app::check_complete(header);
        if ((header.flags & TILE_LIST_OVERFLOW) == 0) {
            std::vector<Tile> tiles(header.written);
            std::memcpy(tiles.data(), answer_.mapped + sizeof(header), tiles.size() * sizeof(Tile));
            return tiles;
        }
        make_list(header.required + header.required / 4);
    }
}

}  // namespace quadtile::baker
