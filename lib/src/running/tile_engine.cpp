#include "running/tile_engine.hpp"

#include <quadtile/error.hpp>
#include <quadtile/strategy.hpp>

#include "../reference/balance.hpp"
#include "../reference/layers_and_budgets.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

namespace quadtile::detail {

namespace {

using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

constexpr std::uint64_t SMALLEST_FIRST_CAPACITY = 1U << 12U;

// Measures the time since its construction or the last lap, on the host's clock.
class Stopwatch {
 public:
    StageTime lap(const char* stage) {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double, std::milli> elapsed = now - start_;
        return {stage, elapsed.count(), false, std::exchange(start_, now)};
    }

 private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Returns the beginning of each layer of a map in a buffer.
std::vector<BufferRange> layers_in(const BufferRange& buffer, const MapShape& shape) {
    const VkDeviceSize layer_bytes =
        VkDeviceSize{shape.width} * shape.height * texel_size_bytes(shape.format);
    std::vector<BufferRange> layers;
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        layers.push_back({buffer.buffer, buffer.offset_bytes + layer * layer_bytes});
    }
    return layers;
}

}  // namespace

TileEngine::TileEngine(const Device& device, const TilerOptions& options,
                       std::shared_ptr<MemoryAccount> account)
    : options_(options),
      device_(device),
      context_(device.context()),
      account_(std::move(account)),
      commands_(context_, options.gpu_timeout),
      timestamps_(context_) {
    if (!context_->can_submit()) {
        throw Error(ErrorCode::invalid_argument,
                    "a Tiler needs a queue, but the adopted device has none; set "
                    "AdoptedDevice::queue or submit");
    }
    if (options_.strategy != Strategy::automatic) {  // fails here if it cannot work
        (void)prepare_strategy(
            {.strategy = options_.strategy, .subtree_levels = options_.subtree_levels});
    }
}

// Copies buffers to the map's image, which can be read afterwards.
void TileEngine::record_copy(vk::CommandBuffer buffer, const Source& source) {
    const Dispatch& d = context_->dispatch;
    const MapShape& shape = source.shape;
    const vk::ImageAspectFlags aspect = aspect_of(shape.format);
    vk::ImageMemoryBarrier barrier({}, Access::eTransferWrite, vk::ImageLayout::eUndefined,
                                   vk::ImageLayout::eTransferDstOptimal, VK_QUEUE_FAMILY_IGNORED,
                                   VK_QUEUE_FAMILY_IGNORED, map_->map.handle(),
                                   {aspect, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS});
    buffer.pipelineBarrier(Stage::eTopOfPipe, Stage::eTransfer, {}, {}, {}, barrier, d);
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        const vk::BufferImageCopy region(source.buffers[layer].offset_bytes, 0, 0,
                                         {aspect, 0, layer, 1}, {}, {shape.width, shape.height, 1});
        buffer.copyBufferToImage(source.buffers[layer].buffer, map_->map.handle(),
                                 vk::ImageLayout::eTransferDstOptimal, region, d);
    }
    barrier.setSrcAccessMask(Access::eTransferWrite).setDstAccessMask(Access::eShaderRead);
    barrier.setOldLayout(vk::ImageLayout::eTransferDstOptimal)
        .setNewLayout(vk::ImageLayout::eShaderReadOnlyOptimal);
    buffer.pipelineBarrier(Stage::eTransfer, Stage::eComputeShader, {}, {}, {}, barrier, d);
}

void TileEngine::upload_node_thresholds(const Threshold& threshold) {
    const std::vector<float> contents = threshold_map_contents(threshold, map_->used);
    const vk::DeviceSize size_bytes = contents.size() * sizeof(contents[0]);
    prepare_staging(upload_staging_, "the staging of the thresholds", size_bytes);
    const vk::DeviceSize part_bytes = upload_staging_.size_bytes();
    for (vk::DeviceSize first = 0; first < size_bytes; first += part_bytes) {
        const vk::DeviceSize part = std::min(size_bytes - first, part_bytes);
        std::memcpy(upload_staging_.mapped(),
                    reinterpret_cast<const std::byte*>(contents.data()) + first, part);
        commands_.run("uploading thresholds", [&](vk::CommandBuffer buffer) {
            buffer.copyBuffer(upload_staging_.handle(), map_->node_thresholds.handle(),
                              vk::BufferCopy(0, first, part), context_->dispatch);
            const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eShaderRead);
            buffer.pipelineBarrier(Stage::eTransfer, Stage::eComputeShader, {}, copied, {}, {},
                                   context_->dispatch);
        });
    }
}

// Records the commands of a run after the upload of the map.
void TileEngine::record_run(vk::CommandBuffer buffer, const Request& request) {
    const Dispatch& d = context_->dispatch;
    if (!map_->scratch_is_zero) {
        buffer.fillBuffer(map_->scratch.handle(), 0, VK_WHOLE_SIZE, 0, d);
        if (map_->pyramid) {
            buffer.fillBuffer(map_->pyramid->state.handle(), 0, VK_WHOLE_SIZE, 0, d);
        }
    }
    // In pieces that fit a command.
    constexpr std::size_t WORDS_AT_ONCE = 65536 / sizeof(float);
    for (std::size_t first = 0; first < request.layer_thresholds.size(); first += WORDS_AT_ONCE) {
        const std::size_t count = std::min(request.layer_thresholds.size() - first, WORDS_AT_ONCE);
        buffer.updateBuffer(map_->layer_thresholds.handle(), first * sizeof(float),
                            count * sizeof(float), &request.layer_thresholds[first], d);
    }
    const vk::MemoryBarrier filled(Access::eTransferWrite,
                                   Access::eShaderRead | Access::eShaderWrite);
    buffer.pipelineBarrier(Stage::eTransfer, Stage::eComputeShader, {}, filled, {}, {}, d);
    timestamps_.write(buffer);
    if (map_->pyramid) {
        pyramid_->record(buffer, map_->pyramid->binding.value());
        const vk::MemoryBarrier pyramid_done(Access::eShaderWrite, Access::eShaderRead);
        buffer.pipelineBarrier(Stage::eComputeShader, Stage::eComputeShader, {}, pyramid_done, {},
                               {}, d);
        timestamps_.write(buffer);
    }
    SubdivideOptions options = request.options;
    options.order = sorts_on_host(request) ? Order::any : options.order;
    if (request.threshold != nullptr) {
        subdivider_->record(buffer, list_->binding, *request.threshold, options);
    } else {
        subdivider_->record(buffer, list_->binding, options);
    }
    timestamps_.write(buffer);
    record_readback(buffer);
}

// Returns the offset of the tiles in the staging, behind the header and the layers' NaN texels.
vk::DeviceSize staged_tiles_offset(std::uint32_t layers) {
    const vk::DeviceSize end = sizeof(TileListHeader) + layers * sizeof(std::uint32_t);
    return (end + sizeof(Tile) - 1) / sizeof(Tile) * sizeof(Tile);
}

void TileEngine::record_readback(vk::CommandBuffer buffer) {
    const Dispatch& d = context_->dispatch;
    const vk::MemoryBarrier list_done(Access::eShaderWrite, Access::eTransferRead);
    buffer.pipelineBarrier(Stage::eComputeShader, Stage::eTransfer, {}, list_done, {}, {}, d);
    buffer.copyBuffer(list_->buffer.handle(), readback_staging_.handle(),
                      vk::BufferCopy(0, 0, sizeof(TileListHeader)), d);
    const BufferRange nan_counts =
        map_->pyramid ? BufferRange{map_->pyramid->state.handle(), 0}
                      : BufferRange{map_->scratch.handle(), Subdivider::nan_texels_offset_bytes};
    buffer.copyBuffer(nan_counts.buffer, readback_staging_.handle(),
                      vk::BufferCopy(nan_counts.offset_bytes, sizeof(TileListHeader),
                                     map_->used.layers * sizeof(std::uint32_t)),
                      d);
    buffer.copyBuffer(list_->buffer.handle(), readback_staging_.handle(),
                      vk::BufferCopy(sizeof(TileListHeader), staged_tiles_offset(map_->used.layers),
                                     expected_tiles_ * sizeof(Tile)),
                      d);
    const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
    buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {}, d);
}

void TileEngine::finish_run(TileList& result) {
    clean_ = true;
    map_->scratch_is_zero = true;  // where runs need zeros
    const std::vector<double> intervals = timestamps_.intervals_ms();
    if (intervals.empty()) {
        return;
    }
    const char* const with_pyramid[] = {"copy to the GPU", "pyramid", "subdivision"};
    const char* const without[] = {"copy to the GPU", "subdivision"};
    const std::span<const char* const> names =
        intervals.size() == 3 ? std::span<const char* const>(with_pyramid) : without;
    auto end = std::chrono::steady_clock::now();
    std::vector<StageTime> stages;
    for (std::size_t i = intervals.size(); i-- > 0;) {
        end -= std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double, std::milli>(intervals[i]));
        stages.insert(stages.begin(), {names[i], intervals[i], true, end});
    }
    result.report.stages.insert(result.report.stages.end(), stages.begin(), stages.end());
}

TileListHeader TileEngine::read_header() const {
    TileListHeader header;
    std::memcpy(&header, readback_staging_.mapped(), sizeof(header));
    return header;
}

// Reads the tiles of a run. The first of them are in the staging already.
void TileEngine::read_tiles(std::uint64_t count, std::vector<Tile>& tiles) {
    const std::uint64_t there = std::min(count, expected_tiles_);
    const std::span<const Tile> staged = staged_tiles(there);
    tiles.assign(staged.begin(), staged.end());
    if (there == count) {
        return;
    }
    tiles.resize(count);
    prepare_staging(readback_staging_, "the staging of the tiles", (count - there) * sizeof(Tile));
    const std::uint64_t tiles_at_once = readback_staging_.size_bytes() / sizeof(Tile);
    for (std::uint64_t first = there; first < count; first += tiles_at_once) {
        const std::uint64_t part = std::min(count - first, tiles_at_once);
        commands_.run("reading the tiles back", [&](vk::CommandBuffer buffer) {
            buffer.copyBuffer(list_->buffer.handle(), readback_staging_.handle(),
                              vk::BufferCopy(sizeof(TileListHeader) + first * sizeof(Tile), 0,
                                             part * sizeof(Tile)),
                              context_->dispatch);
            const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
            buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {},
                                   context_->dispatch);
        });
        std::memcpy(tiles.data() + first, readback_staging_.mapped(), part * sizeof(Tile));
    }
}

TileList TileEngine::start_result(const MapShape& shape, const SubdivideOptions& options) const {
    TileList result;
    result.shape = shape;
    result.order = options.order;
    result.balance = options.balance;
    result.report.device = context_->info.name;
    return result;
}

// Returns whether the host sorts the list: only `fused` and balanced lists come in canonical order.
bool TileEngine::sorts_on_host(const Request& request) const {
    return request.options.order == Order::canonical && request.options.balance == Balance::none &&
           subdivider_->strategy() != Strategy::fused;
}

TileEngine::Run TileEngine::run(const Source& source, const Request& request, TileList& result) {
    commands_.refuse_if_hung();
    const MapShape& shape = source.shape;
    result.report.strategy = subdivider_->strategy();
    if (request.options.max_tiles && result.report.strategy != Strategy::fused) {
        throw Error(ErrorCode::invalid_argument,
                    "a budget of tiles needs the strategy automatic, fused or reference; choose "
                    "one of them");
    }
    const bool by_layer = request.threshold == nullptr;
    const bool by_node = !by_layer && request.threshold->needs_threshold_map();

    Stopwatch clock;
    prepare_map(source);
    if (by_layer) {
        prepare_buffer(map_->layer_thresholds, "the thresholds of the layers",
                       request.layer_thresholds.size() * sizeof(float));
    }
    if (by_node) {
        prepare_buffer(map_->node_thresholds, "the thresholds of the nodes",
                       threshold_map_size_bytes(shape));
    }
    if (request.options.balance != Balance::none) {
        prepare_buffer(map_->balance, "the buffer of balanced lists",
                       subdivider_->requirements(shape, 1).balance_size_bytes);
    }
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    const std::uint64_t guess = options_.initial_tile_capacity != 0
                                    ? options_.initial_tile_capacity
                                    : std::max(SMALLEST_FIRST_CAPACITY, texels / 16);
    prepare_list(std::min(guess, context_->info.max_tiles));
    // The tiles of the last run, a quarter more, and as many as cost nothing.
    constexpr std::uint64_t FEW_TILES = SMALLEST_STAGING_BYTES / 2 / sizeof(Tile);
    const auto expect = [&](std::uint64_t tiles) {
        const std::uint64_t room =
            (STAGING_BYTES - staged_tiles_offset(shape.layers)) / sizeof(Tile);
        expected_tiles_ = std::min({std::max(tiles, FEW_TILES), room, list_->capacity});
        prepare_staging(readback_staging_, "the staging of the tiles",
                        staged_tiles_offset(shape.layers) + expected_tiles_ * sizeof(Tile));
    };
    expect(expected_tiles_);
    result.report.stages.push_back(clock.lap("allocate"));

    if (by_node) {
        upload_node_thresholds(*request.threshold);
    }
    const auto start_clock = [&](vk::CommandBuffer buffer) {
        timestamps_.reset(buffer);
        timestamps_.write(buffer);
    };
    const auto run_on_device = [&] {
        clean_ = false;
        commands_.run("subdividing", [&](vk::CommandBuffer buffer) {
            start_clock(buffer);
            record_run(buffer, request);
        });
        finish_run(result);
    };
    if (source.image) {
        run_on_device();
    } else if (!source.buffers.empty()) {
        clean_ = false;
        commands_.run("subdividing", [&](vk::CommandBuffer buffer) {
            start_clock(buffer);
            record_copy(buffer, source);
            record_run(buffer, request);
        });
        finish_run(result);
    } else {
        prepare_staging(upload_staging_, "the staging of the map",
                        texels * texel_size_bytes(shape.format));
        clean_ = false;
        upload_image(
            "subdividing", commands_, context_->dispatch, upload_staging_,
            {map_->map.handle(), vk::ImageLayout::eShaderReadOnlyOptimal, Stage::eComputeShader,
             Access::eShaderRead},
            shape, source.layers,
            {.before_last =
                 [&](vk::CommandBuffer buffer) {
                     result.report.stages.push_back(clock.lap("upload"));
                     start_clock(buffer);
                 },
             .after_last = [&](vk::CommandBuffer buffer) { record_run(buffer, request); }});
        finish_run(result);
    }
    TileListHeader header = read_header();
    if ((header.flags & TILE_LIST_OVER_BUDGET) != 0) {
        reference::refuse_budget(request.options.max_tiles.value_or(0), header.required);
    }
    while ((header.flags & TILE_LIST_OVERFLOW) != 0) {
        ++result.report.buffer_repeats;
        context_->say(Severity::info, "a list of " + std::to_string(list_->capacity) +
                                          " tiles was full, " + std::to_string(header.required) +
                                          " are needed: it grows, and the run is repeated");
        prepare_list(header.required);
        expect(header.required);
        run_on_device();
        header = read_header();
    }
    result.threshold_factor = header.threshold_factor;
    Run run{header.written, std::vector<std::uint32_t>(shape.layers)};
    std::memcpy(run.nan_texels.data(),
                static_cast<const std::byte*>(readback_staging_.mapped()) + sizeof(header),
                run.nan_texels.size() * sizeof(run.nan_texels[0]));
    result.nan_texels =
        std::accumulate(run.nan_texels.begin(), run.nan_texels.end(), std::uint64_t{0});
    return run;
}

void TileEngine::read_result(const Run& run, const Request& request, TileList& result) {
    Stopwatch clock;
    read_tiles(run.tiles, result.tiles);
    expected_tiles_ = run.tiles + run.tiles / 4;
    result.report.stages.push_back(clock.lap("read back"));
    if (sorts_on_host(request)) {
        sort_canonical(result.tiles);
        result.report.stages.push_back(clock.lap("sort"));
    }
}

std::span<const Tile> TileEngine::staged_tiles(std::uint64_t count) const {
    const auto* const first = static_cast<const std::byte*>(readback_staging_.mapped()) +
                              staged_tiles_offset(map_->used.layers);
    return {reinterpret_cast<const Tile*>(first), count};
}

TileEngine::Source TileEngine::source_of(std::span<const BatchedMap> batch) {
    Source source{batch.front().map.shape, {}};
    source.shape.layers = 0;
    for (const BatchedMap& part : batch) {
        source.shape.layers += part.map.shape.layers;
        if (part.buffer.buffer != VK_NULL_HANDLE) {
            std::ranges::copy(layers_in(part.buffer, part.map.shape),
                              std::back_inserter(source.buffers));
        } else {
            std::ranges::copy(layers_of(part.map), std::back_inserter(source.layers));
        }
    }
    return source;
}

TileEngine::Source TileEngine::source_of(const MapView& map) {
    check_texels(map);
    return {map.shape, layers_of(map)};
}

TileList TileEngine::subdivide(const MapView& map, const Threshold& threshold,
                               const SubdivideOptions& options) {
    check_shape(map.shape);
    return subdivide(source_of(map), threshold, options);
}

TileList TileEngine::subdivide(const MapImage& image, const MapShape& shape,
                               const Threshold& threshold, const SubdivideOptions& options) {
    check_shape(shape);
    return subdivide(Source{shape, {}, {}, image}, threshold, options);
}

TileList TileEngine::subdivide(const BufferRange& buffer, const MapShape& shape,
                               const Threshold& threshold, const SubdivideOptions& options) {
    check_shape(shape);
    return subdivide(Source{shape, {}, layers_in(buffer, shape)}, threshold, options);
}

TileList TileEngine::subdivide(const Source& source, const Threshold& threshold,
                               const SubdivideOptions& options) {
    const MapShape& shape = source.shape;
    reference::check_balance(options);
    TileList result = start_result(shape, options);
    SubdividerOptions way{.strategy = options_.strategy, .subtree_levels = options_.subtree_levels};
    if (const ThresholdFunction* const function = threshold.user_function()) {
        way.threshold_function = *function;
    } else {
        (void)threshold.resolve(shape);  // refused before the upload
    }
    if (options_.strategy == Strategy::automatic) {
        const StrategyChoice choice =
            choose_strategy(context_->info, shape, threshold, options.max_tiles, options.balance);
        way.strategy = choice.strategy;
        way.subtree_levels = choice.subtree_levels;
        result.report.strategy_reason = choice.reason;
    }
    Stopwatch clock;
    if (prepare_strategy(way)) {
        result.report.stages.push_back(clock.lap("compile"));
    }
    subdivider_->check_threshold(shape, threshold);
    const Request request{&threshold, {}, options};
    read_result(run(source, request, result), request, result);
    return result;
}

TileList TileEngine::subdivide(const MapView& map, std::span<const Threshold> layer_thresholds,
                               const SubdivideOptions& options) {
    check_shape(map.shape);
    reference::check_balance(options);
    const Source source = source_of(map);
    TileList result = start_result(map.shape, options);
    // Refused before the upload.
    (void)reference::resolve_layers(map.shape, layer_thresholds);
    const std::uint32_t top = top_level(map.shape.width, map.shape.height);
    const bool fused_takes_them =
        std::ranges::all_of(layer_thresholds, [&](const Threshold& threshold) {
            return !threshold.is_by_node() && threshold.is_monotone(top);
        });
    if (!fused_takes_them ||
        (options_.strategy != Strategy::automatic && options_.strategy != Strategy::fused)) {
        return subdivide(map, reference::by_node(map.shape, layer_thresholds), options);
    }
    if (options_.strategy == Strategy::automatic) {
        (void)prepare_strategy({.strategy = Strategy::fused});
        result.report.strategy_reason =
            "thresholds of layers, none of which grows from a node to its parent: only fused takes "
            "them as they are";
    }
    const Request request{nullptr, Subdivider::layer_thresholds(map.shape, layer_thresholds),
                          options};
    read_result(run(source, request, result), request, result);
    return result;
}

std::vector<TileList> TileEngine::subdivide(std::span<const BatchedMap> batch, Balance balance) {
    const SubdivideOptions options{.order = Order::canonical, .balance = balance};
    const Source source = source_of(batch);
    std::vector<Threshold> thresholds;
    for (const BatchedMap& part : batch) {
        thresholds.insert(thresholds.end(), part.map.shape.layers, *part.threshold);
    }
    const Request request{nullptr, Subdivider::layer_thresholds(source.shape, thresholds), options};
    (void)prepare_strategy({.strategy = Strategy::fused});
    TileList all = start_result(source.shape, options);
    const Run made = run(source, request, all);
    // Directly from the staging if all tiles are there, because these are megabytes.
    if (made.tiles > expected_tiles_) {
        read_result(made, request, all);
    }
    const std::span<const Tile> tiles = all.tiles.empty() ? staged_tiles(made.tiles) : all.tiles;
    Stopwatch clock;

    std::vector<TileList> lists;
    std::uint32_t first_layer = 0;
    auto first = tiles.begin();
    for (const BatchedMap& part : batch) {
        const std::uint32_t end_layer = first_layer + part.map.shape.layers;
        const auto end = std::partition_point(
            first, tiles.end(), [&](const Tile& tile) { return tile.layer() < end_layer; });
        TileList list = start_result(part.map.shape, options);
        list.tiles.assign(first, end);
        for (Tile& tile : list.tiles) {
            tile.node -= first_layer << 16U;
        }
        list.nan_texels = std::accumulate(made.nan_texels.begin() + first_layer,
                                          made.nan_texels.begin() + end_layer, std::uint64_t{0});
        lists.push_back(std::move(list));
        first = end;
        first_layer = end_layer;
    }
    if (all.tiles.empty()) {
        expected_tiles_ = made.tiles + made.tiles / 4;
        all.report.stages.push_back(clock.lap("read back"));
    }
    for (TileList& list : lists) {
        list.report = all.report;
        list.report.strategy_reason = "one of a batch";
    }
    return lists;
}

}  // namespace quadtile::detail
