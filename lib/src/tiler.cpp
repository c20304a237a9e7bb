#include <quadtile/error.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/strategy.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiler.hpp>

#include "../reference/twins.hpp"
#include "submission.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace quadtile {

namespace {

using detail::aspect_of;
using detail::Buffer;
using detail::Commands;
using detail::DeviceContext;
using detail::Image;
using detail::MemoryKind;
using detail::STAGING_BYTES;
using detail::Timestamps;

using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

constexpr std::uint64_t SMALLEST_FIRST_CAPACITY = 1U << 12U;

vk::ImageCreateInfo map_image_info(const MapShape& shape) {
    vk::ImageCreateInfo info;
    info.setImageType(vk::ImageType::e2D)
        .setFormat(static_cast<vk::Format>(vk_format(shape.format)));
    info.setExtent({shape.width, shape.height, 1}).setMipLevels(1).setArrayLayers(shape.layers);
    info.setSamples(vk::SampleCountFlagBits::e1).setTiling(vk::ImageTiling::eOptimal);
    info.setUsage(vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst);
    return info;
}

// The time since its construction or the last lap, on the host's clock.
class Stopwatch {
 public:
    double lap_ms() {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double, std::milli> lap = now - start_;
        start_ = now;
        return lap.count();
    }

 private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What the pyramid of a map needs; Strategy::fused has none.
struct PyramidResources {
    Buffer levels;
    Buffer state;
    Pyramid::Binding binding;
};

// What maps of one shape need.
struct MapResources {
    MapShape shape;
    Image map;
    std::optional<PyramidResources> pyramid;
    Buffer scratch;
    Buffer node_thresholds;   // empty until a threshold is by node
    Buffer layer_thresholds;  // empty until layers have thresholds of their own
};

// What one call asks for.
struct Request {
    const Threshold* threshold;           // of all layers; null where each has its own
    std::vector<float> layer_thresholds;  // their words (Subdivider::layer_thresholds)
    Order order;
    std::optional<std::uint64_t> max_tiles;
};

// A list that tiles are written to. The binding refers to the map's resources too.
struct ListResources {
    std::uint64_t capacity;
    Buffer buffer;
    Subdivider::Binding binding;
};

}  // namespace

struct Tiler::Impl {
    Impl(const Device& given_device, const TilerOptions& tiler_options)
        : options(tiler_options),
          device(given_device),
          context(device.context()),
          commands(context),
          timestamps(context) {
        if (!context->queue) {
            throw Error(ErrorCode::invalid_argument,
                        "a Tiler needs a queue, the adopted device was given without one");
        }
        if (options.strategy != Strategy::automatic) {  // what cannot work fails here
            prepare_strategy(options.strategy, options.subtree_levels);
        }
    }

    void prepare_strategy(Strategy strategy, std::uint32_t subtree_levels);
    void prepare_map(const MapShape& shape);
    void prepare_thresholds(Buffer& thresholds, const char* name, std::uint64_t size_bytes);
    void prepare_list(std::uint64_t capacity);
    [[nodiscard]] Subdivider::Binding bind_list(const Buffer& buffer, std::uint64_t capacity) const;
    void upload(const MapView& map);
    void upload_thresholds(const Buffer& thresholds, const std::vector<float>& contents);
    [[nodiscard]] TileList start_result(const MapView& map, Order order) const;
    void subdivide(const MapView& map, const Request& request, TileList& result);
    void run(const Request& request, Order order, TileList& result);
    [[nodiscard]] TileListHeader read_header_and_statistics(TileList& result);
    void read_tiles(std::uint64_t count, std::vector<Tile>& tiles);
    void forget_resources();

    TilerOptions options;
    Device device;
    std::shared_ptr<DeviceContext> context;
    // By strategy and levels of a subtree: those that were needed so far.
    std::map<std::pair<Strategy, std::uint32_t>, Subdivider> subdividers;
    const Subdivider* subdivider = nullptr;  // the one that the resources are for
    std::optional<Pyramid> pyramid;          // fused needs none
    Commands commands;
    Timestamps timestamps;
    Buffer upload_staging;
    Buffer readback_staging;
    std::optional<MapResources> map;
    std::optional<ListResources> list;
    bool clean = true;  // the last run went through; else the counters may not be back at zero
};

void Tiler::Impl::forget_resources() {
    list.reset();
    map.reset();
}

void Tiler::Impl::prepare_strategy(Strategy strategy, std::uint32_t subtree_levels) {
    const std::pair key(strategy, subtree_levels);
    auto known = subdividers.find(key);
    if (known == subdividers.end()) {
        known = subdividers
                    .emplace(key, Subdivider(device, {.strategy = strategy,
                                                      .subtree_levels = subtree_levels}))
                    .first;
    }
    if (subdivider != &known->second) {
        forget_resources();
        subdivider = &known->second;
    }
    if (strategy != Strategy::fused && !pyramid) {
        pyramid.emplace(device);
    }
}

void Tiler::Impl::prepare_map(const MapShape& shape) {
    if (map && map->shape == shape && clean) {
        return;
    }
    forget_resources();
    using Usage = vk::BufferUsageFlagBits;
    const Subdivider::Requirements for_subdivider = subdivider->requirements(shape, 1);
    if (!upload_staging.handle()) {
        upload_staging = Buffer(context, "the staging of the map", STAGING_BYTES,
                                Usage::eTransferSrc, MemoryKind::upload);
        readback_staging = Buffer(context, "the staging of the tiles", STAGING_BYTES,
                                  Usage::eTransferDst, MemoryKind::readback);
    }
    Image map_image(context, "the importance map", map_image_info(shape), aspect_of(shape.format));
    const vk::BufferUsageFlags copied = Usage::eTransferDst | Usage::eTransferSrc;
    Buffer scratch(context, "the scratch of the subdivision", for_subdivider.scratch_size_bytes,
                   vk::BufferUsageFlags(for_subdivider.usage) | copied, MemoryKind::device);
    std::optional<PyramidResources> pyramid_resources;
    if (subdivider->strategy() != Strategy::fused) {
        const Pyramid::Requirements needed = pyramid->requirements(shape);
        Buffer levels(context, "the pyramid", needed.pyramid_size_bytes,
                      vk::BufferUsageFlags(needed.usage), MemoryKind::device);
        Buffer state(context, "the pyramid's state", needed.state_size_bytes,
                     vk::BufferUsageFlags(needed.usage) | copied, MemoryKind::device);
        auto binding = pyramid->bind(
            shape, {.map = {map_image.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
                    .pyramid = {levels.handle()},
                    .state = {state.handle()}});
        pyramid_resources.emplace(
            PyramidResources{std::move(levels), std::move(state), std::move(binding)});
    }

    commands.run("preparing the subdivision", [&](vk::CommandBuffer buffer) {
        const Dispatch& d = context->dispatch;
        buffer.fillBuffer(scratch.handle(), 0, VK_WHOLE_SIZE, 0, d);
        if (pyramid_resources) {
            buffer.fillBuffer(pyramid_resources->state.handle(), 0, VK_WHOLE_SIZE, 0, d);
        }
    });
    map.emplace(MapResources{shape, std::move(map_image), std::move(pyramid_resources),
                             std::move(scratch), Buffer(), Buffer()});
    clean = true;
}

void Tiler::Impl::prepare_thresholds(Buffer& thresholds, const char* name,
                                     std::uint64_t size_bytes) {
    if (thresholds.handle()) {
        return;
    }
    thresholds = Buffer(context, name, size_bytes,
                        vk::BufferUsageFlags(subdivider->requirements(map->shape, 1).usage) |
                            vk::BufferUsageFlagBits::eTransferDst,
                        MemoryKind::device);
    if (list) {  // it is bound without them; where binding it again fails, there is none
        ListResources kept = std::move(*list);
        list.reset();
        kept.binding = bind_list(kept.buffer, kept.capacity);
        list.emplace(std::move(kept));
    }
}

void Tiler::Impl::prepare_list(std::uint64_t capacity) {
    if (list && list->capacity >= capacity) {
        return;
    }
    const Subdivider::Requirements needed = subdivider->requirements(map->shape, capacity);
    list.reset();  // before the new one, so that both never take memory at once
    Buffer buffer(context, "a list of " + std::to_string(capacity) + " tiles",
                  needed.tile_list_size_bytes,
                  vk::BufferUsageFlags(needed.usage) | vk::BufferUsageFlagBits::eTransferSrc,
                  MemoryKind::device);
    auto binding = bind_list(buffer, capacity);
    list.emplace(ListResources{capacity, std::move(buffer), std::move(binding)});
}

Subdivider::Binding Tiler::Impl::bind_list(const Buffer& buffer, std::uint64_t capacity) const {
    return subdivider->bind(
        map->shape, {.map = {map->map.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
                     .pyramid = {map->pyramid ? map->pyramid->levels.handle() : vk::Buffer()},
                     .scratch = {map->scratch.handle()},
                     .tile_list = {buffer.handle()},
                     .tile_capacity = capacity,
                     .node_thresholds = {map->node_thresholds.handle()},
                     .layer_thresholds = {map->layer_thresholds.handle()}});
}

void Tiler::Impl::upload(const MapView& view) {
    detail::upload_image("uploading the importance map", commands, context->dispatch,
                         upload_staging,
                         {map->map.handle(), vk::ImageLayout::eShaderReadOnlyOptimal,
                          Stage::eComputeShader, Access::eShaderRead},
                         view);
}

void Tiler::Impl::upload_thresholds(const Buffer& thresholds, const std::vector<float>& contents) {
    const vk::DeviceSize size_bytes = contents.size() * sizeof(contents[0]);
    for (vk::DeviceSize first = 0; first < size_bytes; first += STAGING_BYTES) {
        const vk::DeviceSize part = std::min(size_bytes - first, STAGING_BYTES);
        std::memcpy(upload_staging.mapped(),
                    reinterpret_cast<const std::byte*>(contents.data()) + first, part);
        commands.run("uploading thresholds", [&](vk::CommandBuffer buffer) {
            buffer.copyBuffer(upload_staging.handle(), thresholds.handle(),
                              vk::BufferCopy(0, first, part), context->dispatch);
            const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eShaderRead);
            buffer.pipelineBarrier(Stage::eTransfer, Stage::eComputeShader, {}, copied, {}, {},
                                   context->dispatch);
        });
    }
}

void Tiler::Impl::run(const Request& request, Order order, TileList& result) {
    const Dispatch& d = context->dispatch;
    clean = false;
    commands.run("subdividing", [&](vk::CommandBuffer buffer) {
        timestamps.reset(buffer);
        timestamps.write(buffer);
        if (map->pyramid) {
            pyramid->record(buffer, map->pyramid->binding);
            const vk::MemoryBarrier pyramid_done(Access::eShaderWrite, Access::eShaderRead);
            buffer.pipelineBarrier(Stage::eComputeShader, Stage::eComputeShader, {}, pyramid_done,
                                   {}, {}, d);
            timestamps.write(buffer);
        }
        if (request.threshold != nullptr) {
            subdivider->record(buffer, list->binding, *request.threshold, order, request.max_tiles);
        } else {
            subdivider->record(buffer, list->binding, order, request.max_tiles);
        }
        timestamps.write(buffer);

        // The header and the NaN counts of the layers, for the host.
        const vk::MemoryBarrier list_done(Access::eShaderWrite, Access::eTransferRead);
        buffer.pipelineBarrier(Stage::eComputeShader, Stage::eTransfer, {}, list_done, {}, {}, d);
        buffer.copyBuffer(list->buffer.handle(), readback_staging.handle(),
                          vk::BufferCopy(0, 0, sizeof(TileListHeader)), d);
        const BufferRange nan_counts =
            map->pyramid ? BufferRange{map->pyramid->state.handle(), 0}
                         : BufferRange{map->scratch.handle(), Subdivider::nan_texels_offset_bytes};
        buffer.copyBuffer(nan_counts.buffer, readback_staging.handle(),
                          vk::BufferCopy(nan_counts.offset_bytes, sizeof(TileListHeader),
                                         map->shape.layers * sizeof(std::uint32_t)),
                          d);
        const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
        buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {}, d);
    });
    clean = true;
    const std::vector<double> intervals = timestamps.intervals_ms();
    if (intervals.size() == 2) {
        result.stages.push_back({"pyramid", intervals[0], true});
    }
    if (!intervals.empty()) {
        result.stages.push_back({"subdivision", intervals.back(), true});
    }
}

TileListHeader Tiler::Impl::read_header_and_statistics(TileList& result) {
    TileListHeader header;
    std::memcpy(&header, readback_staging.mapped(), sizeof(header));
    std::vector<std::uint32_t> nan_texels(map->shape.layers);
    std::memcpy(nan_texels.data(),
                static_cast<const std::byte*>(readback_staging.mapped()) + sizeof(header),
                nan_texels.size() * sizeof(nan_texels[0]));
    result.nan_texels = std::accumulate(nan_texels.begin(), nan_texels.end(), std::uint64_t{0});
    return header;
}

void Tiler::Impl::read_tiles(std::uint64_t count, std::vector<Tile>& tiles) {
    tiles.resize(count);
    const std::uint64_t tiles_at_once = STAGING_BYTES / sizeof(Tile);
    for (std::uint64_t first = 0; first < count; first += tiles_at_once) {
        const std::uint64_t part = std::min(count - first, tiles_at_once);
        commands.run("reading the tiles back", [&](vk::CommandBuffer buffer) {
            buffer.copyBuffer(list->buffer.handle(), readback_staging.handle(),
                              vk::BufferCopy(sizeof(TileListHeader) + first * sizeof(Tile), 0,
                                             part * sizeof(Tile)),
                              context->dispatch);
            const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
            buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {},
                                   context->dispatch);
        });
        std::memcpy(tiles.data() + first, readback_staging.mapped(), part * sizeof(Tile));
    }
}

TileList Tiler::Impl::start_result(const MapView& view, Order order) const {
    if (view.texels == nullptr) {
        throw Error(ErrorCode::invalid_argument, "the map has no texels (null pointer)");
    }
    TileList result;
    result.shape = view.shape;
    result.order = order;
    result.device = context->info.name;
    return result;
}

void Tiler::Impl::subdivide(const MapView& view, const Request& request, TileList& result) {
    result.strategy = subdivider->strategy();
    if (request.max_tiles && result.strategy != Strategy::fused) {
        throw Error(ErrorCode::invalid_argument,
                    "a budget of tiles needs the strategy automatic, fused or reference");
    }
    const bool by_layer = request.threshold == nullptr;
    const bool by_node = !by_layer && request.threshold->is_by_node();

    Stopwatch clock;
    prepare_map(view.shape);
    if (by_layer) {
        prepare_thresholds(map->layer_thresholds, "the thresholds of the layers",
                           request.layer_thresholds.size() * sizeof(float));
    }
    if (by_node) {
        prepare_thresholds(map->node_thresholds, "the thresholds of the nodes",
                           threshold_map_size_bytes(view.shape));
    }
    const std::uint64_t texels =
        std::uint64_t{view.shape.width} * view.shape.height * view.shape.layers;
    const std::uint64_t guess = options.initial_tile_capacity != 0
                                    ? options.initial_tile_capacity
                                    : std::max(SMALLEST_FIRST_CAPACITY, texels / 16);
    prepare_list(std::min(guess, context->info.max_tiles));
    result.stages.push_back({"allocate", clock.lap_ms(), false});
    upload(view);
    if (by_layer) {
        upload_thresholds(map->layer_thresholds, request.layer_thresholds);
    }
    if (by_node) {
        upload_thresholds(map->node_thresholds,
                          threshold_map_contents(*request.threshold, view.shape));
    }
    result.stages.push_back({"upload", clock.lap_ms(), false});

    // The others' lists are sorted on the host.
    const bool sorts = request.order == Order::canonical && result.strategy != Strategy::fused;
    const Order order_on_gpu = sorts ? Order::any : request.order;
    run(request, order_on_gpu, result);
    TileListHeader header = read_header_and_statistics(result);
    if ((header.flags & TILE_LIST_OVER_BUDGET) != 0) {
        reference::refuse_budget(request.max_tiles.value_or(0), header.required);
    }
    while ((header.flags & TILE_LIST_OVERFLOW) != 0) {
        ++result.buffer_repeats;
        prepare_list(header.required);
        run(request, order_on_gpu, result);
        header = read_header_and_statistics(result);
    }
    result.threshold_factor = header.threshold_factor;
    clock.lap_ms();
    read_tiles(header.written, result.tiles);
    result.stages.push_back({"read back", clock.lap_ms(), false});
    if (sorts) {
        sort_canonical(result.tiles);
        result.stages.push_back({"sort", clock.lap_ms(), false});
    }
}

Tiler::Tiler(const Device& device, const TilerOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
Tiler::Tiler(Tiler&&) noexcept = default;
Tiler& Tiler::operator=(Tiler&&) noexcept = default;
Tiler::~Tiler() = default;

TileList Tiler::subdivide(const MapView& map, const Threshold& threshold, Order order,
                          std::optional<std::uint64_t> max_tiles) {
    check_shape(map.shape);
    TileList result = impl_->start_result(map, order);
    // Refused before anything is uploaded.
    (void)threshold.resolve(map.shape);
    if (impl_->options.strategy == Strategy::automatic) {
        const StrategyChoice choice =
            choose_strategy(impl_->context->info, map.shape, threshold, max_tiles);
        impl_->prepare_strategy(choice.strategy, choice.subtree_levels);
        result.strategy_reason = choice.reason;
    }
    impl_->subdivider->check_threshold(map.shape, threshold);
    impl_->subdivide(map, {&threshold, {}, order, max_tiles}, result);
    return result;
}

TileList Tiler::subdivide(const MapView& map, std::span<const Threshold> layer_thresholds,
                          Order order, std::optional<std::uint64_t> max_tiles) {
    check_shape(map.shape);
    TileList result = impl_->start_result(map, order);
    // Refused before anything is uploaded.
    (void)reference::resolve_layers(map.shape, layer_thresholds);
    const std::uint32_t top = top_level(map.shape.width, map.shape.height);
    const bool fused_takes_them =
        std::ranges::all_of(layer_thresholds, [&](const Threshold& threshold) {
            return !threshold.is_by_node() && threshold.is_monotone(top);
        });
    const Strategy strategy = impl_->options.strategy;
    if (!fused_takes_them || (strategy != Strategy::automatic && strategy != Strategy::fused)) {
        return subdivide(map, reference::by_node(map.shape, layer_thresholds), order, max_tiles);
    }
    if (strategy == Strategy::automatic) {
        impl_->prepare_strategy(Strategy::fused, impl_->options.subtree_levels);
        result.strategy_reason =
            "thresholds of layers, none of which grows from a node to its parent: only fused takes "
            "them as they are";
    }
    impl_->subdivide(
        map, {nullptr, Subdivider::layer_thresholds(map.shape, layer_thresholds), order, max_tiles},
        result);
    return result;
}

}  // namespace quadtile
