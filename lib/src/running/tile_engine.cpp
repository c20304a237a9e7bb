#include "running/tile_engine.hpp"

#include <quadtile/error.hpp>
#include <quadtile/tiles.hpp>

#include "values/layers_and_budgets.hpp"
#include "values/refuse.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
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
    if (options_.strategy != Strategy::automatic) {  // fails here if it cannot work
        (void)prepare_strategy(
            {.strategy = options_.strategy, .subtree_levels = options_.subtree_levels});
    }
}

// ---- Resources that are kept between runs: pipelines, and images and buffers that grow

void TileEngine::forget_resources() {
    if (is_hung()) {
        return;
    }
    map_.reset();
    upload_staging_.forget();
    readback_staging_.forget();
}

bool TileEngine::prepare_strategy(const SubdividerOptions& options) {
    commands_.refuse_if_hung();  // resources of a hung run stay as they are
    const auto is_it = [&](const KnownSubdivider& known) {
        return known.options.strategy == options.strategy &&
               (options.strategy != Strategy::subtree ||
                known.options.subtree_levels == options.subtree_levels) &&
               known.options.threshold_function == options.threshold_function;
    };
    auto known = std::ranges::find_if(subdividers_, is_it);
    const bool is_new = known == subdividers_.end();
    if (is_new) {
        subdividers_.push_back({options, Subdivider(device_, options)});
        known = std::prev(subdividers_.end());
    }
    // Functions may be generated per request, so only the last ones are kept.
    constexpr std::ptrdiff_t MOST_FUNCTIONS = 8;
    const auto has_function = [](const KnownSubdivider& one) {
        return !one.options.threshold_function.empty();
    };
    if (std::ranges::count_if(subdividers_, has_function) > MOST_FUNCTIONS) {
        const auto oldest = std::ranges::find_if(subdividers_, has_function);
        if (subdivider_ == &oldest->subdivider) {
            subdivider_ = nullptr;
        }
        subdividers_.erase(oldest);
    }
    if (subdivider_ != &known->subdivider) {
        subdivider_ = &known->subdivider;
        if (map_) {
            map_->unbind();
        }
    }
    if (options.strategy != Strategy::fused && !pyramid_) {
        pyramid_.emplace(device_);
    }
    return is_new;
}

// Prepares what all runs on maps of a shape need. Strategies share it.
void TileEngine::prepare_map(const MapShape& shape) {
    const auto has_room = [&] {
        MapShape room = map_->room;
        room.layers = shape.layers;
        return room == shape && map_->room.layers >= shape.layers;
    };
    if (!map_ || !clean_ || !has_room()) {
        map_.reset();  // before the new one, so that both never take memory together
        (void)subdivider_->requirements(shape, 1);  // refuses shapes that the device cannot have
        using Usage = vk::ImageUsageFlagBits;
        Image image({context_, account_}, "the importance map",
                    image_info(shape, 1, Usage::eSampled | Usage::eTransferDst),
                    aspect_of(shape.format));
        map_ = MapResources{};  // not emplace: Clang 14 does not see its default constructor
        map_->room = map_->used = shape;
        map_->map = std::move(image);
        clean_ = true;
    } else if (map_->used != shape) {
        map_->used = shape;
        map_->unbind();
    }
    prepare_buffer(map_->scratch, "the scratch of the subdivision",
                   subdivider_->requirements(shape, 1).scratch_size_bytes);
    if (has_pyramid()) {
        const Pyramid::Requirements needed = pyramid_->requirements(shape);
        prepare_buffer(map_->pyramid, "the pyramid", needed.pyramid_size_bytes);
        prepare_buffer(map_->pyramid_state, "the pyramid's state", needed.state_size_bytes);
    }
}

// Makes one of the map's buffers at least so long.
void TileEngine::prepare_buffer(Buffer& buffer, const std::string& name, std::uint64_t size_bytes) {
    if (buffer.handle() && buffer.size_bytes() >= size_bytes) {
        return;
    }
    using Usage = vk::BufferUsageFlagBits;
    map_->unbind();
    buffer = {};  // before the new one
    buffer = Buffer(
        {context_, account_}, name, size_bytes,
        Usage::eStorageBuffer | Usage::eIndirectBuffer | Usage::eTransferDst | Usage::eTransferSrc,
        MemoryKind::device);
}

void TileEngine::prepare_list(std::uint64_t capacity) {
    if (map_->list.handle() && map_->capacity >= capacity) {
        return;
    }
    map_->capacity = 0;  // if it fails
    prepare_buffer(map_->list, "a list of " + std::to_string(capacity) + " tiles",
                   subdivider_->requirements(map_->used, capacity).tile_list_size_bytes);
    map_->capacity = capacity;
}

// Binds what a run needs, and nothing else: other buffers may be too short for the map in use.
void TileEngine::bind(const Needs& needs) {
    const MapImage image{map_->map.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    if (has_pyramid() && !map_->pyramid_binding) {
        map_->pyramid_binding =
            pyramid_->bind(map_->used, {.map = image,
                                        .pyramid = {map_->pyramid.handle()},
                                        .state = {map_->pyramid_state.handle()}});
    }
    if (map_->binding && map_->bound == needs) {
        return;
    }
    const auto needed = [](bool is_needed, const Buffer& buffer) {
        return BufferRange{is_needed ? buffer.handle() : vk::Buffer()};
    };
    map_->binding = subdivider_->bind(
        map_->used, {.map = image,
                     .pyramid = needed(has_pyramid(), map_->pyramid),
                     .scratch = {map_->scratch.handle()},
                     .tile_list = {map_->list.handle()},
                     .tile_capacity = map_->capacity,
                     .node_thresholds = needed(needs.node_thresholds, map_->node_thresholds),
                     .layer_thresholds = needed(needs.layer_thresholds, map_->layer_thresholds),
                     .balance = needed(needs.balance, map_->balance)});
    map_->bound = needs;
}

// ---- A run

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
    // Until the run completes the header.
    buffer.fillBuffer(map_->list.handle(), offsetof(TileListHeader, flags), sizeof(std::uint32_t),
                      TILE_LIST_INCOMPLETE, d);
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

TileListHeader TileEngine::finish_run(RunReport& report) {
    clean_ = true;
    map_->scratch_is_zero = true;  // where runs need zeros
    TileListHeader header;
    std::memcpy(&header, readback_staging_.bytes(0, sizeof(header)).data(), sizeof(header));
    const std::vector<double> intervals = timestamps_.intervals_ms();
    if (intervals.empty()) {
        return header;
    }
    const char* const with_pyramid[] = {"copy to the GPU", "pyramid", "subdivision"};
    const char* const without[] = {"copy to the GPU", "subdivision"};
    const std::span<const char* const> names =
        intervals.size() == 3 ? std::span<const char* const>(with_pyramid) : without;
    auto end = std::chrono::steady_clock::now();
    const auto place = static_cast<std::ptrdiff_t>(report.stages.size());
    for (std::size_t i = intervals.size(); i-- > 0;) {
        end -= std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double, std::milli>(intervals[i]));
        report.stages.insert(report.stages.begin() + place, {names[i], intervals[i], true, end});
    }
    return header;
}

// The first tiles are in the staging already.
std::vector<Tile> TileEngine::read_tiles(std::uint64_t count) {
    const std::span<const Tile> staged = staged_tiles(std::min(count, readback_.tiles));
    std::vector<Tile> tiles(staged.begin(), staged.end());
    if (tiles.size() == count) {
        return tiles;
    }
    const std::uint64_t there = tiles.size();
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
    return tiles;
}

// Returns whether the host sorts the list: only `fused` writes it in canonical order.
bool TileEngine::sorts_on_host(const Request& request) const {
    return request.options.order == Order::canonical && subdivider_->strategy() != Strategy::fused;
}

void TileEngine::prepare(const Request& request, const Needs& needs) {
    const MapShape& shape = request.shape;
    const std::uint64_t texels = std::uint64_t{shape.width} * shape.height * shape.layers;
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
    prepare_list(
        std::min(std::max(SMALLEST_FIRST_CAPACITY, texels / 16), context_->info.max_tiles));
    bind(needs);
}

void TileEngine::expect(std::uint64_t tiles) {
    constexpr std::uint64_t FEW_TILES = SMALLEST_STAGING_BYTES / 2 / sizeof(Tile);  // at no cost
    readback_ = {map_->used.layers, 0};
    const std::uint64_t room = (STAGING_BYTES - readback_.tiles_offset()) / sizeof(Tile);
    readback_.tiles = std::min({std::max(tiles, FEW_TILES), room, map_->capacity});
    readback_staging_.reserve(readback_.size_bytes());
}

TileListHeader TileEngine::run(const Request& request, RunReport& report) {
    commands_.refuse_if_hung();
    const bool by_layer = request.threshold == nullptr;
    const Needs needs{.node_thresholds = !by_layer && request.threshold->needs_threshold_map(),
                      .layer_thresholds = by_layer,
                      .balance = request.options.balance != Balance::none};
    Stopwatch clock;
    const bool has_kept = map_.has_value();
    try {
        prepare(request, needs);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory || !has_kept) {
            throw;
        }
        forget_resources();  // what other strategies needed may take the missing memory
        prepare(request, needs);
    }
    expect(expected_tiles_);
    report.stages.push_back(clock.lap("allocate"));

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
                 request.shape, request.layers,
                 {.before_last =
                      [&](vk::CommandBuffer buffer) {
                          clean_ = false;
                          report.stages.push_back(clock.lap("upload"));
                          start_clock(buffer);
                      },
                  .after_last = [&](vk::CommandBuffer buffer) { record_run(buffer, request); }});
    TileListHeader header = finish_run(report);
    while ((header.flags & TILE_LIST_OVER_BUDGET) == 0 &&
           (header.flags & (TILE_LIST_OVERFLOW | TILE_LIST_INCOMPLETE)) != 0) {
        if ((header.flags & TILE_LIST_INCOMPLETE) != 0) {
            map_->unbind();  // in any case: messages that come late stay in the scratch
            context_->note_lost_run("the tile list");
        } else {
            ++report.buffer_repeats;
            context_->say(Severity::info,
                          joined("a list of ", map_->capacity, " tiles was full, ", header.required,
                                 " are needed: it grows, and the run is repeated"));
            prepare_list(header.required);
            expect(header.required);
        }
        bind(needs);
        clean_ = false;
        commands_.run("subdividing", [&](vk::CommandBuffer buffer) {
            start_clock(buffer);
            record_run(buffer, request);
        });
        header = finish_run(report);
    }
    if ((header.flags & TILE_LIST_OVER_BUDGET) != 0) {
        refuse_budget(request.options.max_tiles.value_or(0), header.required);
    }
    return header;
}

std::span<const Tile> TileEngine::staged_tiles(std::uint64_t count) const {
    const std::span<const std::byte> bytes =
        readback_staging_.bytes(readback_.tiles_offset(), count * sizeof(Tile));
    return {reinterpret_cast<const Tile*>(bytes.data()), count};
}

std::vector<std::uint32_t> TileEngine::staged_nan_texels() const {
    std::vector<std::uint32_t> counts(readback_.layers);
    std::memcpy(
        counts.data(),
        readback_staging_.bytes(Readback::nan_texels_offset, readback_.nan_texels_bytes()).data(),
        readback_.nan_texels_bytes());
    return counts;
}

SubdividerOptions TileEngine::way_for(const Request& request, bool is_batch,
                                      RunReport& report) const {
    SubdividerOptions way{.strategy = options_.strategy, .subtree_levels = options_.subtree_levels};
    if (request.threshold == nullptr) {
        if (is_batch) {
            report.strategy_reason = "one of a batch";
        } else if (way.strategy == Strategy::automatic) {
            report.strategy_reason =
                "thresholds of layers, none of which grows from a node to its parent: only fused "
                "takes them as they are";
        }
        way.strategy = Strategy::fused;
        return way;
    }
    if (const std::string* const function = request.threshold->user_function()) {
        way.threshold_function = *function;
    }
    const SubdivideOptions& options = request.options;
    if (way.strategy == Strategy::automatic) {
        const StrategyChoice choice = choose_strategy(
            context_->info, request.shape, *request.threshold, options.max_tiles, options.balance);
        way.strategy = choice.strategy;
        way.subtree_levels = choice.subtree_levels;
        report.strategy_reason = choice.reason;
    }
    if ((options.max_tiles || options.balance != Balance::none) &&
        way.strategy != Strategy::fused) {
        refuse(options.max_tiles ? "a budget of tiles" : "a balanced list",
               " needs the strategy automatic, fused or reference; choose one of them");
    }
    return way;
}

std::vector<TileList> TileEngine::subdivide(std::span<const MapView> maps,
                                            std::span<const Threshold> thresholds,
                                            const SubdivideOptions& options) {
    check_balance(options);
    Request request{.shape = maps.front().shape,
                    .layers = {},
                    .threshold = &thresholds.front(),
                    .layer_thresholds = {},
                    .options = options};
    request.shape.layers = 0;
    for (const MapView& map : maps) {
        check_shape(map.shape);
        check_texels(map);
        request.shape.layers += map.shape.layers;
        std::ranges::copy(layers_of(map), std::back_inserter(request.layers));
    }
    if (thresholds.size() > 1) {
        const std::uint32_t top = top_level(request.shape.width, request.shape.height);
        const bool fused_takes_them =
            (options_.strategy == Strategy::automatic || options_.strategy == Strategy::fused) &&
            std::ranges::all_of(thresholds, [&](const Threshold& threshold) {
                return !threshold.is_by_node() && threshold.is_monotone(top);
            });
        if (!fused_takes_them) {
            const Threshold combined = by_node(request.shape, thresholds);
            return subdivide(maps, {&combined, 1}, options);
        }
        request.threshold = nullptr;
        request.layer_thresholds = Subdivider::layer_thresholds(request.shape, thresholds);
    } else if (request.threshold->user_function() == nullptr) {
        (void)request.threshold->resolve(request.shape);  // refused before the upload
    }
    TileList first;  // with what all lists have in common
    first.order = options.order;
    first.balance = options.balance;
    RunReport& report = first.report;
    report.device = context_->info.name;
    Stopwatch clock;
    if (prepare_strategy(way_for(request, maps.size() > 1, report))) {
        report.stages.push_back(clock.lap("compile"));
    }
    report.strategy = subdivider_->strategy();
    if (request.threshold != nullptr) {
        subdivider_->check_threshold(request.shape, *request.threshold);
    }
    const TileListHeader header = run(request, report);
    first.threshold_factor = header.threshold_factor;
    const std::vector<std::uint32_t> nan_texels = staged_nan_texels();
    expected_tiles_ = std::uint64_t{header.written} + header.written / 4;

    Stopwatch reading;
    std::vector<TileList> lists(maps.size(), first);
    // Those of several maps directly from the staging if all are there, because these are
    // megabytes.
    std::vector<Tile> all;
    if (maps.size() == 1 || header.written > readback_.tiles) {
        all = read_tiles(header.written);
    }
    std::span<const Tile> rest = all.empty() ? staged_tiles(header.written) : all;
    std::uint32_t layer = 0;
    for (std::size_t i = 0; i < maps.size(); ++i) {
        TileList& list = lists[i];
        list.shape = maps[i].shape;
        const std::uint32_t end_layer = layer + list.shape.layers;
        list.nan_texels = std::accumulate(nan_texels.begin() + layer,
                                          nan_texels.begin() + end_layer, std::uint64_t{0});
        if (maps.size() == 1) {
            list.tiles = std::move(all);
            break;
        }
        const auto end = std::partition_point(
            rest.begin(), rest.end(), [&](const Tile& tile) { return tile.layer() < end_layer; });
        list.tiles.assign(rest.begin(), end);
        for (Tile& tile : list.tiles) {
            tile.node -= layer << 16U;
        }
        rest = {end, rest.end()};
        layer = end_layer;
    }
    report.stages.push_back(reading.lap("read back"));
    if (sorts_on_host(request)) {
        sort_canonical(lists.front().tiles);
        report.stages.push_back(reading.lap("sort"));
    }
    for (TileList& list : lists) {
        list.report = report;
    }
    return lists;
}

}  // namespace quadtile::detail
