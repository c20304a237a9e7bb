#include "map_tiles.hpp"

#include "kept_pipelines.hpp"

#include <quadtile/reference.hpp>

#include <algorithm>
#include <cstring>

namespace quadtile::viewer {

namespace {

using Usage = vk::BufferUsageFlagBits;

constexpr std::uint64_t FIRST_TILE_CAPACITY = 65536;

bool can_sample(const app::Gpu& gpu, TexelFormat format) {
    const auto features = gpu.physical_device()
                              .getFormatProperties(static_cast<vk::Format>(vk_format(format)))
                              .optimalTilingFeatures;
    constexpr auto NEEDED =
        vk::FormatFeatureFlagBits::eSampledImage | vk::FormatFeatureFlagBits::eTransferDst;
    return (features & NEEDED) == NEEDED;
}

}  // namespace

MapTiles::MapTiles(app::Gpu& gpu)
    : gpu_(gpu),
      device_(
          quadtile::Device::adopt(gpu.for_quadtile(app::kept_pipelines(), DeviceCheck::automatic))),
      pyramid_builder_(device_),
      readback_(
          gpu.make_buffer(std::max(sizeof(TileListHeader), std::size_t{MAX_LEVELS} * sizeof(float)),
                          Usage::eTransferDst, app::MemoryUse::readback)),
      timer_(gpu) {}

MapTiles::~MapTiles() {
    app::keep_pipelines(device_);
}

// ---- The map

void MapTiles::set_map(const MapView& map) {
    MapView given = map;
    given.shape.layers = 1;
    std::vector<float> decoded;
    if (!can_sample(gpu_, given.shape.format)) {
        decoded = reference::decode(given);
        given = view_of(decoded, map.shape.width, map.shape.height);
    }
    const vk::DeviceSize size_bytes = vk::DeviceSize{given.shape.width} * given.shape.height *
                                      texel_size_bytes(given.shape.format);
    const Pyramid::Requirements needed = pyramid_builder_.requirements(given.shape);
    const bool is_another_shape = given.shape != shape_;
    if (is_another_shape) {
        gpu_.wait_idle();  // a frame may still draw the old map
        shape_ = {};       // no map, in case that this fails
        summary_ = {.problem = "there is no map"};
        runs_.clear();  // their scratch buffers have the old shape
        pyramid_binding_.reset();
        map_ =
            gpu_.make_image({given.shape.width, given.shape.height},
                            static_cast<vk::Format>(vk_format(given.shape.format)),
                            vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst,
                            vk::ImageViewType::e2DArray);
        const auto usage = vk::BufferUsageFlags(needed.usage);
        pyramid_ = gpu_.make_buffer(needed.pyramid_size_bytes, usage | Usage::eTransferSrc);
        pyramid_state_ = gpu_.make_buffer(needed.state_size_bytes, usage | Usage::eTransferDst);
        node_thresholds_ = {};
        balance_buffer_ = {};
        pyramid_binding_ =
            pyramid_builder_.bind(given.shape, {.map = {.view = *map_.view},
                                                .pyramid = {.buffer = *pyramid_.handle},
                                                .state = {.buffer = *pyramid_state_.handle}});
        make_list(std::max(tile_capacity_, FIRST_TILE_CAPACITY));
        shape_ = given.shape;
    }
    gpu_.upload(map_, vk::ImageLayout::eUndefined, vk::ImageLayout::eShaderReadOnlyOptimal,
                {static_cast<const std::byte*>(given.texels), size_bytes});
    gpu_.run([&](vk::CommandBuffer commands) {
        if (is_another_shape) {
            commands.fillBuffer(*pyramid_state_.handle, 0, VK_WHOLE_SIZE, 0);
        }
        app::memory_barrier(commands);
        timer_.begin(commands);
        pyramid_builder_.record(commands, *pyramid_binding_);
        timer_.end(commands);
        app::memory_barrier(commands);
    });
    pyramid_milliseconds_ = timer_.milliseconds();
    summary_ = {.problem = "the map has not been subdivided yet"};
}

void MapTiles::make_list(std::uint64_t capacity) {
    tile_list_ =
        gpu_.make_buffer(sizeof(TileListHeader) + capacity * sizeof(Tile),
                         Usage::eStorageBuffer | Usage::eIndirectBuffer | Usage::eTransferSrc);
    tile_capacity_ = capacity;
    ++generation_;
}

// ---- Tiles

const MapTiles::Run& MapTiles::run_of(Strategy strategy, std::uint32_t subtree_levels) {
    SubdividerOptions options{.strategy = strategy};
    if (strategy == Strategy::subtree) {
        options.threshold_function = function_;
        options.subtree_levels = subtree_levels;
    }
    const std::pair key(strategy, strategy == Strategy::subtree ? subtree_levels : 0);
    const auto found = runs_.find(key);
    if (found != runs_.end()) {
        return found->second;
    }
    Run run{Subdivider(device_, options), {}};
    const auto needed = run.subdivider.requirements(shape_, tile_capacity_);
    run.scratch = gpu_.make_buffer(needed.scratch_size_bytes,
                                   vk::BufferUsageFlags(needed.usage) | Usage::eTransferDst);
    gpu_.run([&](vk::CommandBuffer commands) {
        commands.fillBuffer(*run.scratch.handle, 0, VK_WHOLE_SIZE, 0);
        app::memory_barrier(commands);
    });
    return runs_.emplace(key, std::move(run)).first->second;
}

Subdivider::Binding MapTiles::bind(const Run& run, bool by_node) const {
    Subdivider::Resources resources{.map = {.view = *map_.view},
                                    .scratch = {.buffer = *run.scratch.handle},
                                    .tile_list = {.buffer = *tile_list_.handle},
                                    .tile_capacity = tile_capacity_};
    if (run.subdivider.strategy() != Strategy::fused) {
        resources.pyramid = {.buffer = *pyramid_.handle};
    }
    if (by_node) {
        resources.node_thresholds = {.buffer = *node_thresholds_.handle};
    }
    if (balance_buffer_.handle) {
        resources.balance = {.buffer = *balance_buffer_.handle};
    }
    return run.subdivider.bind(shape_, resources);
}

void MapTiles::fill_node_thresholds(const Threshold& threshold) {
    const std::vector<float> contents = threshold_map_contents(threshold, shape_);
    if (!node_thresholds_.handle) {
        node_thresholds_ =
            gpu_.make_buffer(contents.size() * sizeof(float),
                             Usage::eStorageBuffer | Usage::eIndirectBuffer | Usage::eTransferDst);
    }
    gpu_.upload(*node_thresholds_.handle, std::as_bytes(std::span(contents)));
}

void MapTiles::record_and_wait(const Run& run, const SubdivisionSettings& settings,
                               const Threshold& threshold) {
    order_ = settings.order;
    balance_ = settings.balance;
    const Subdivider::Binding binding = bind(run, threshold.needs_threshold_map());
    gpu_.run([&](vk::CommandBuffer commands) {
        timer_.begin(commands);
        run.subdivider.record(commands, binding, threshold,
                              {settings.order, settings.budget(), settings.balance});
        timer_.end(commands);
        app::memory_barrier(commands);
        commands.copyBuffer(*tile_list_.handle, *readback_.handle,
                            vk::BufferCopy{.size = sizeof(TileListHeader)});
        app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
    });
    std::memcpy(&summary_.header, readback_.mapped, sizeof(TileListHeader));
    summary_.milliseconds = timer_.milliseconds();
}

const MapTiles::Run& MapTiles::prepare(const SubdivisionSettings& settings,
                                       const Threshold& threshold) {
    const StrategyChoice choice =
        settings.order == Order::canonical
            ? StrategyChoice{Strategy::fused, 0, "it alone makes the canonical order"}
            : choose_strategy(device_.info(), shape_, threshold, settings.budget(),
                              settings.balance);
    const std::string* const function = threshold.user_function();
    if (function != nullptr && function_ != *function) {
        runs_.clear();  // no strategy is running: each run is waited for
        function_ = *function;
    }
    summary_ = {.strategy = choice.strategy, .strategy_reason = choice.reason};
    if (threshold.needs_threshold_map()) {
        fill_node_thresholds(threshold);
    }
    const Run& run = run_of(choice.strategy, choice.subtree_levels);
    if (settings.balance != Balance::none && !balance_buffer_.handle) {
        const auto needed = run.subdivider.requirements(shape_, tile_capacity_);
        balance_buffer_ =
            gpu_.make_buffer(needed.balance_size_bytes, vk::BufferUsageFlags(needed.usage));
    }
    return run;
}

void MapTiles::run_until_it_fits(const Run& run, const SubdivisionSettings& settings,
                                 const Threshold& threshold) {
    while (true) {
        record_and_wait(run, settings, threshold);
        app::check_complete(summary_.header);
        if ((summary_.header.flags & TILE_LIST_OVERFLOW) == 0) {
            return;
        }
        // The viewer's shaders see the list in one binding, the library's may use several. A list
        // that is too long must not stay, since all later ones would be refused, too.
        const std::uint64_t most =
            (gpu_.physical_device().getProperties().limits.maxStorageBufferRange -
             sizeof(TileListHeader)) /
            sizeof(Tile);
        const std::uint64_t required = summary_.header.required;
        if (required > most) {
            throw Error(ErrorCode::unsupported,
                        "a list of " + std::to_string(required) + " tiles is longer than the " +
                            std::to_string(most) +
                            " that this device can show; raise the threshold, or set a budget");
        }
        make_list(std::min(required + required / 4, most));
    }
}

void MapTiles::subdivide(const SubdivisionSettings& settings, const Threshold& threshold) {
    try {
        run_until_it_fits(prepare(settings, threshold), settings, threshold);
        read_tiles();
        if ((summary_.header.flags & TILE_LIST_OVER_BUDGET) != 0) {
            summary_.problem = "even the largest factor gives " +
                               std::to_string(summary_.header.required) +
                               " tiles, more than the budget; raise the budget";
        }
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device_lost) {
            throw;
        }
        discard(error.what());
    } catch (const vk::OutOfDeviceMemoryError&) {
        discard(
            "a list of " + std::to_string(summary_.header.required) +
            " tiles does not fit into the device's memory: raise the threshold, or set a budget");
    }
}

std::uint64_t MapTiles::count(const SubdivisionSettings& settings, const Threshold& threshold) {
    record_and_wait(prepare(settings, threshold), settings, threshold);
    const std::uint64_t tiles = summary_.header.required;
    discard("the tiles were only counted");
    return tiles;
}

void MapTiles::read_tiles() {
    tiles_.resize(summary_.header.written);
    gpu_.download(*tile_list_.handle, sizeof(TileListHeader),
                  std::as_writable_bytes(std::span(tiles_)));
    for (const Tile& tile : tiles_) {
        ++summary_.tiles_of_level.at(tile.level());
        summary_.clamped += tile.clamped() ? 1 : 0;
    }
}

std::vector<float> MapTiles::importance_above(std::uint32_t x, std::uint32_t y) {
    std::vector<vk::BufferCopy> nodes;
    for (std::uint32_t level = 1; level <= top_level(shape_.width, shape_.height); ++level) {
        const auto node =
            pyramid_index(shape_.width, shape_.height, level, x >> level, y >> level, 0);
        nodes.push_back({.srcOffset = vk::DeviceSize{node} * sizeof(float),
                         .dstOffset = nodes.size() * sizeof(float),
                         .size = sizeof(float)});
    }
    std::vector<float> importance(nodes.size());
    if (!nodes.empty()) {
        gpu_.run([&](vk::CommandBuffer commands) {
            commands.copyBuffer(*pyramid_.handle, *readback_.handle, nodes);
            app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
        });
        std::memcpy(importance.data(), readback_.mapped, nodes.size() * sizeof(float));
    }
    return importance;
}

TileList MapTiles::list() const {
    return {.shape = shape_,
            .tiles = has_tiles() ? tiles_ : std::vector<Tile>(),
            .order = order_,
            .balance = balance_,
            .threshold_factor = summary_.header.threshold_factor,
            .report = {.strategy = summary_.strategy,
                       .strategy_reason = summary_.strategy_reason,
                       .device = device_.info().name}};
}

}  // namespace quadtile::viewer
