#include "running/tile_engine.hpp"

#include <quadtile/error.hpp>
#include <quadtile/tiles.hpp>

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

}  // namespace

TileEngine::TileEngine(const Device& device, const TilerOptions& options,
                       std::shared_ptr<MemoryAccount> account)
    : options_(options),
      device_(device),
      context_(device.context()),
      account_(std::move(account)),
      commands_(context_, options.gpu_timeout),
      timestamps_(context_),
      upload_staging_({context_, account_}, "the staging of the map", MemoryKind::upload),
      readback_staging_({context_, account_}, "the staging of the tiles", MemoryKind::readback) {
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

void TileEngine::upload_node_thresholds(const Threshold& threshold) {
    const vk::DeviceSize size_bytes = threshold_map_size_bytes(map_->used);
    upload_staging_.reserve(size_bytes);
    const vk::DeviceSize part_bytes = upload_staging_.size_bytes();
    for (vk::DeviceSize first = 0; first < size_bytes; first += part_bytes) {
        const vk::DeviceSize part = std::min(size_bytes - first, part_bytes);
        const std::span<std::byte> bytes = upload_staging_.bytes(0, part);
        threshold.copy_nodes(first / sizeof(float),
                             {reinterpret_cast<float*>(bytes.data()), part / sizeof(float)});
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
        if (has_pyramid()) {
            buffer.fillBuffer(map_->pyramid_state.handle(), 0, VK_WHOLE_SIZE, 0, d);
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
    if (has_pyramid()) {
        pyramid_->record(buffer, map_->pyramid_binding.value());
        const vk::MemoryBarrier pyramid_done(Access::eShaderWrite, Access::eShaderRead);
        buffer.pipelineBarrier(Stage::eComputeShader, Stage::eComputeShader, {}, pyramid_done, {},
                               {}, d);
        timestamps_.write(buffer);
    }
    SubdivideOptions options = request.options;
    options.order = sorts_on_host(request) ? Order::any : options.order;
    if (request.threshold != nullptr) {
        subdivider_->record(buffer, map_->binding.value(), *request.threshold, options);
    } else {
        subdivider_->record(buffer, map_->binding.value(), options);
    }
    timestamps_.write(buffer);
    record_readback(buffer);
}

void TileEngine::record_readback(vk::CommandBuffer buffer) {
    const Dispatch& d = context_->dispatch;
    const vk::MemoryBarrier list_done(Access::eShaderWrite, Access::eTransferRead);
    buffer.pipelineBarrier(Stage::eComputeShader, Stage::eTransfer, {}, list_done, {}, {}, d);
    buffer.copyBuffer(map_->list.handle(), readback_staging_.handle(),
                      vk::BufferCopy(0, 0, sizeof(TileListHeader)), d);
    const BufferRange nan_counts =
        has_pyramid() ? BufferRange{map_->pyramid_state.handle(), 0}
                      : BufferRange{map_->scratch.handle(), Subdivider::nan_texels_offset_bytes};
    buffer.copyBuffer(nan_counts.buffer, readback_staging_.handle(),
                      vk::BufferCopy(nan_counts.offset_bytes, Readback::nan_texels_offset,
                                     readback_.nan_texels_bytes()),
                      d);
    buffer.copyBuffer(map_->list.handle(), readback_staging_.handle(),
                      vk::BufferCopy(sizeof(TileListHeader), readback_.tiles_offset(),
                                     readback_.tiles * sizeof(Tile)),
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
    std::memcpy(&header, readback_staging_.bytes(0, sizeof(header)).data(), sizeof(header));
    return header;
}

// Reads the tiles of a run. The first of them are in the staging already.
void TileEngine::read_tiles(std::uint64_t count, std::vector<Tile>& tiles) {
    const std::uint64_t there = std::min(count, readback_.tiles);
    const std::span<const Tile> staged = staged_tiles(there);
    tiles.assign(staged.begin(), staged.end());
    if (there == count) {
        return;
    }
    tiles.resize(count);
    readback_staging_.reserve((count - there) * sizeof(Tile));
    const std::uint64_t tiles_at_once = readback_staging_.size_bytes() / sizeof(Tile);
    for (std::uint64_t first = there; first < count; first += tiles_at_once) {
        const std::uint64_t part = std::min(count - first, tiles_at_once);
        commands_.run("reading the tiles back", [&](vk::CommandBuffer buffer) {
            buffer.copyBuffer(map_->list.handle(), readback_staging_.handle(),
                              vk::BufferCopy(sizeof(TileListHeader) + first * sizeof(Tile), 0,
                                             part * sizeof(Tile)),
                              context_->dispatch);
            const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
            buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {},
                                   context_->dispatch);
        });
        std::memcpy(tiles.data() + first, readback_staging_.bytes(0, part * sizeof(Tile)).data(),
                    part * sizeof(Tile));
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

// Returns whether the host sorts the list: only `fused` writes it in canonical order.
bool TileEngine::sorts_on_host(const Request& request) const {
    return request.options.order == Order::canonical && subdivider_->strategy() != Strategy::fused;
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
    if (request.options.balance != Balance::none && result.report.strategy != Strategy::fused) {
        throw Error(ErrorCode::invalid_argument,
                    "a balanced list needs the strategy automatic, fused or reference; choose one "
                    "of them");
    }
    const bool by_layer = request.threshold == nullptr;
    const Needs needs{.node_thresholds = !by_layer && request.threshold->needs_threshold_map(),
                      .layer_thresholds = by_layer,
                      .balance = request.options.balance != Balance::none};

    Stopwatch clock;
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
    const std::uint64_t guess = options_.initial_tile_capacity != 0
                                    ? options_.initial_tile_capacity
                                    : std::max(SMALLEST_FIRST_CAPACITY, texels / 16);
    const auto prepare = [&] {
        prepare_map(shape);
        if (needs.layer_thresholds) {
            prepare_buffer(map_->layer_thresholds, "the thresholds of the layers",
                           request.layer_thresholds.size() * sizeof(float));
        }
        if (needs.node_thresholds) {
            prepare_buffer(map_->node_thresholds, "the thresholds of the nodes",
                           threshold_map_size_bytes(shape));
        }
        if (needs.balance) {
            prepare_buffer(map_->balance, "the buffer of balanced lists",
                           subdivider_->requirements(shape, 1).balance_size_bytes);
        }
        prepare_list(std::min(guess, context_->info.max_tiles));
        bind(needs);
    };
    const bool has_kept = map_.has_value();
    try {
        prepare();
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory || !has_kept) {
            throw;
        }
        forget_resources();  // what other strategies needed may take the missing memory
        prepare();
    }
    // The tiles of the last run, a quarter more, and as many as cost nothing.
    constexpr std::uint64_t FEW_TILES = SMALLEST_STAGING_BYTES / 2 / sizeof(Tile);
    const auto expect = [&](std::uint64_t tiles) {
        readback_ = {shape.layers, 0};
        const std::uint64_t room = (STAGING_BYTES - readback_.tiles_offset()) / sizeof(Tile);
        readback_.tiles = std::min({std::max(tiles, FEW_TILES), room, map_->capacity});
        readback_staging_.reserve(readback_.size_bytes());
    };
    expect(expected_tiles_);
    result.report.stages.push_back(clock.lap("allocate"));

    if (needs.node_thresholds) {
        upload_node_thresholds(*request.threshold);
    }
    const auto start_clock = [&](vk::CommandBuffer buffer) {
        timestamps_.reset(buffer);
        timestamps_.write(buffer);
    };
    upload_image("subdividing", commands_, context_->dispatch, upload_staging_,
                 {map_->map.handle(), vk::ImageLayout::eShaderReadOnlyOptimal,
                  Stage::eComputeShader, Access::eShaderRead},
                 shape, source.layers,
                 {.before_last =
                      [&](vk::CommandBuffer buffer) {
                          clean_ = false;
                          result.report.stages.push_back(clock.lap("upload"));
                          start_clock(buffer);
                      },
                  .after_last = [&](vk::CommandBuffer buffer) { record_run(buffer, request); }});
    finish_run(result);
    TileListHeader header = read_header();
    if ((header.flags & TILE_LIST_OVER_BUDGET) != 0) {
        reference::refuse_budget(request.options.max_tiles.value_or(0), header.required);
    }
    while ((header.flags & TILE_LIST_OVERFLOW) != 0) {
        ++result.report.buffer_repeats;
        context_->say(Severity::info, "a list of " + std::to_string(map_->capacity) +
                                          " tiles was full, " + std::to_string(header.required) +
                                          " are needed: it grows, and the run is repeated");
        prepare_list(header.required);
        bind(needs);
        expect(header.required);
        clean_ = false;
        commands_.run("subdividing", [&](vk::CommandBuffer buffer) {
            start_clock(buffer);
            record_run(buffer, request);
        });
        finish_run(result);
        header = read_header();
    }
    result.threshold_factor = header.threshold_factor;
    Run run{header.written, std::vector<std::uint32_t>(shape.layers)};
    std::memcpy(
        run.nan_texels.data(),
        readback_staging_.bytes(Readback::nan_texels_offset, readback_.nan_texels_bytes()).data(),
        readback_.nan_texels_bytes());
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
    const std::span<const std::byte> bytes =
        readback_staging_.bytes(readback_.tiles_offset(), count * sizeof(Tile));
    return {reinterpret_cast<const Tile*>(bytes.data()), count};
}

TileEngine::Source TileEngine::source_of(std::span<const BatchedMap> batch) {
    Source source{batch.front().map.shape, {}};
    source.shape.layers = 0;
    for (const BatchedMap& part : batch) {
        source.shape.layers += part.map.shape.layers;
        std::ranges::copy(layers_of(part.map), std::back_inserter(source.layers));
    }
    return source;
}

TileEngine::Source TileEngine::source_of(const MapView& map) {
    check_texels(map);
    return {map.shape, layers_of(map)};
}

TileList TileEngine::subdivide(const MapView& map, const Threshold& threshold,
                               const SubdivideOptions& options) {
    const MapShape& shape = map.shape;
    check_shape(shape);
    const Source source = source_of(map);
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
    if (made.tiles > readback_.tiles) {
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
