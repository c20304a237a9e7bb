#include "gpu_tracer.hpp"

#include "quadtile_baker_gpu_shaders.hpp"

#include "gpu_lamps.hpp"
#include "gpu_probes.hpp"
#include "map_requests.hpp"
#include "parallel.hpp"
#include "waiting_tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace quadtile::baker {

namespace {

using Usage = vk::BufferUsageFlagBits;

// Share of the pool: heads take 4 bytes per pixel, nodes 16 per fragment.
constexpr std::uint64_t HEAD_SHARE = 8;            // denominator
constexpr std::uint32_t LARGEST_DISPATCH = 65535;  // limit of every device, in x and y
constexpr std::uint32_t MOST_TILES = 16384;        // per submission

// Longest list that is sorted and walked on drivers that end long loops (Gpu::ends_long_loops).
constexpr std::uint32_t LONGEST_LIST = 2048;

constexpr double FIRST_WORK = 1e5;                 // per submission, until the speed is known
constexpr std::uint64_t MAPS_BYTES = 192U << 20U;  // of all importance maps at a time, about

// Returns clusters, and behind them the boxes of their groups.
std::vector<TriangleCluster> with_groups(std::vector<TriangleCluster> clusters) {
    const std::size_t count = clusters.size();
    for (std::size_t first = 0; first < count; first += CLUSTERS_IN_GROUP) {
        const std::size_t end = std::min<std::size_t>(first + CLUSTERS_IN_GROUP, count);
        TriangleCluster group{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            float low = std::numeric_limits<float>::max();
            float high = std::numeric_limits<float>::lowest();
            for (std::size_t i = first; i < end; ++i) {
                low = std::min(low, clusters[i].centre[axis] - clusters[i].half_extent[axis]);
                high = std::max(high, clusters[i].centre[axis] + clusters[i].half_extent[axis]);
            }
            group.centre[axis] = 0.5F * (low + high);
            // The kernel's own margin is larger than the rounding here.
            group.half_extent[axis] = 0.5F * (high - low);
        }
        clusters.push_back(group);
    }
    return clusters;
}

// Importance maps, pyramids, sums and thresholds take about 40 bytes per texel.
std::uint64_t layer_bytes(std::uint32_t map_extent) {
    return std::uint64_t{40} * map_extent * map_extent;
}

std::uint32_t layers_for(std::uint32_t map_extent) {
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(MAPS_BYTES / layer_bytes(map_extent), 1, 32));
}

// Copies with all processors.
void copy_in_parts(std::byte* target, const std::byte* source, std::size_t size) {
    constexpr std::size_t PART = std::size_t{1} << 20U;
    parallel_for((size + PART - 1) / PART, 0, [&](std::size_t part) {
        const std::size_t first = part * PART;
        std::memcpy(target + first, source + first, std::min(PART, size - first));
    });
}

class GpuTracer : public Tracer {
 public:
    GpuTracer(app::Gpu& gpu, const TracedScene& scene, const TileOptions& tile_options,
              const GpuTracerOptions& options)
        : gpu_(gpu),
          scene_(scene),
          options_(options),
          slots_{make_slot(), make_slot()},
          cull_(make_pipeline(app::CULL_COMP, 0)),
          rasterise_(make_pipeline(app::RASTERISE_COMP, scene.alpha_triangles.empty() ? 0 : 1)),
          submission_size_(FIRST_WORK, options.submission_seconds) {
        const std::uint64_t pool_blocks =
            options.pool_bytes / HEAD_SHARE / (BLOCK_PIXELS * sizeof(std::uint32_t));
        head_blocks_ = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(pool_blocks, std::uint64_t{LARGEST_DISPATCH} * 256));
        parameters_ = {.clusters = static_cast<std::uint32_t>(scene.clusters.size()),
                       .triangles = static_cast<std::uint32_t>(scene.triangles.size()),
                       .tile_cluster_capacity = static_cast<std::uint32_t>(
                           std::max<std::uint64_t>(scene.clusters.size(), options.tile_clusters)),
                       .node_capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                           node_capacity(options.pool_bytes),
                           gpu.physical_device().getProperties().limits.maxStorageBufferRange /
                               sizeof(ListNode))),
                       .light_map_width = scene.texels.extent().width,
                       .light_map_height = scene.texels.extent().height,
                       .covered_texels = scene.texels.count(),
                       .back_texels = scene.back_texels(),
                       .alpha_triangles = static_cast<std::uint32_t>(scene.alpha_triangles.size()),
                       .has_glass = std::ranges::any_of(scene.alpha_triangles, is_glass) ? 1U : 0U};
        for (const std::uint32_t of_source : {0U, WALKS_SOURCE}) {
            walks_[of_source == 0 ? 0 : 1] = make_pipeline(
                app::WALK_COMP, (scene.is_smooth ? WALKS_SMOOTH : 0) |
                                    (parameters_.has_glass != 0 ? WALKS_GLASS : 0) | of_source);
        }
        check_sizes();
        make_buffers();
        requests_.emplace(gpu, scene, *triangles_.handle, tile_options,
                          layers_for(tile_options.map_extent), options.submission_seconds);
        layers_ = layers_for(tile_options.map_extent);
    }
    ~GpuTracer() override { gpu_.wait_idle(); }  // after an error

    [[nodiscard]] std::uint32_t frames_at_once() const override { return layers_; }

    [[nodiscard]] std::vector<std::vector<MapTile>> request_tiles(
        std::span<const ProjectionFrame> frames, const Stop& stop) override {
        const auto start = Clock::now();
        auto tiles = requests_->request(frames, stop);
        statistics_.map_seconds += seconds_since(start);
        return tiles;
    }

    void begin_pass(const std::vector<std::uint32_t>& open) override {
        if (!open.empty() || has_open_) {
            std::vector<TracedTriangle> triangles = scene_.triangles;
            for (const std::uint32_t triangle : open) {
                triangles[triangle].normal |= BLOCKS_NOTHING;
            }
            gpu_.upload(*triangles_.handle, std::as_bytes(std::span(triangles)));
            has_open_ = !open.empty();
        }
        lamps_.reset();
        clear_sums();
    }
    void set_outgoing(std::size_t first, std::span<const glm::vec4> outgoing) override {
        upload(outgoing_, first * sizeof(glm::vec4), std::as_bytes(outgoing));
    }

    std::size_t trace(std::span<const ProjectionFrame> frames, std::span<const TracedTile> tiles,
                      std::span<const double> predicted_nodes, const Stop& stop) override;

    [[nodiscard]] std::span<const Accumulator> sums(std::size_t first, std::size_t count,
                                                    std::size_t number) override {
        app::Buffer& target = sums_back_[number];
        if (!target.handle) {
            target = gpu_.make_buffer(std::min(scene_.sum_count(), MOST_SUMS) * sizeof(Accumulator),
                                      Usage::eTransferDst, app::MemoryUse::readback);
        }
        gpu_.run([&](vk::CommandBuffer commands) {
            app::memory_barrier(commands);
            commands.copyBuffer(*accumulators_.handle, *target.handle,
                                vk::BufferCopy{.srcOffset = first * sizeof(Accumulator),
                                               .size = count * sizeof(Accumulator)});
            app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
        });
        return {reinterpret_cast<const Accumulator*>(target.mapped), count};
    }
    void clear_sums() override {
        gpu_.run([&](vk::CommandBuffer commands) {
            commands.fillBuffer(*accumulators_.handle, 0, VK_WHOLE_SIZE, 0);
            app::memory_barrier(commands);
        });
    }
    void set_sums(std::size_t first, std::span<const Accumulator> sums) override {
        upload(accumulators_, first * sizeof(Accumulator), std::as_bytes(sums));
    }

    void begin_lamps(const SurfaceMap& surface, std::span<const LampTriangle> triangles,
                     LampSums& sums) override {
        lamps_.emplace(gpu_,
                       std::array{*accumulators_.handle, *covered_words_.handle, *outgoing_.handle},
                       surface, triangles, sums);
    }
    void add_lamp(const LampParameters& parameters) override { lamps_->add(parameters); }
    void read_lamps() override { lamps_->read(); }

    [[nodiscard]] std::vector<ProbeSight> see(std::span<const ProjectionFrame> frames,
                                              std::span<const glm::vec4> points) override {
        if (!probes_) {
            probes_.emplace(gpu_, scene_, *triangles_.handle, *covered_words_.handle,
                            options_.submission_seconds);
        }
        return probes_->see(frames, points);
    }

    [[nodiscard]] const TracerStatistics& statistics() const override { return statistics_; }
    [[nodiscard]] std::string device_name() const override {
        return gpu_.physical_device().getProperties().deviceName.data();
    }

 private:
    // A batch on the device, and what belongs to it alone: while it runs, the host prepares
    // another.
    struct Slot {
        app::ProgramInterface interface;
        app::Submission submission;
        app::GpuTimer timer;
        app::Buffer tiles;         // written by the host
        app::Buffer blocks;        // written by the host
        app::Buffer results_back;  // TraceState and TileResult of each tile, for the host
        std::vector<WaitingTile> batch;
        std::uint32_t block_count = 0;
        Clock::time_point start;
    };

    [[nodiscard]] Slot make_slot() const {
        return {.interface = gpu_.make_interface(
                    vk::ShaderStageFlagBits::eCompute,
                    std::vector(15, vk::DescriptorType::eStorageBuffer), sizeof(TraceParameters)),
                .submission = gpu_.make_submission(),
                .timer = app::GpuTimer(gpu_, 4)};
    }
    using Pipeline = std::shared_future<vk::UniquePipeline>;

    [[nodiscard]] Pipeline make_pipeline(app::SpirV shader, std::uint32_t constant) const;
    [[nodiscard]] vk::PipelineLayout layout() const { return *slots_[0].interface.layout; }
    void check_sizes() const;
    void make_buffers();
    void upload(const app::Buffer& target, std::uint64_t first, std::span<const std::byte> bytes);

    // Returns the work of finding a tile's clusters.
    [[nodiscard]] double cull_work() const { return 16.0 + parameters_.clusters / 256.0; }
    void start_batch(Slot& slot);
    void finish_batch(Slot& slot, WaitingTiles& waiting);
    void note_times(const Slot& slot);
    void check_lists(const TileResult& result) const;

    app::Gpu& gpu_;
    const TracedScene& scene_;
    GpuTracerOptions options_;
    TraceParameters parameters_{};
    std::uint32_t head_blocks_ = 0;
    std::uint32_t layers_ = 0;
    bool has_open_ = false;  // whether triangles on the device are marked as BLOCKS_NOTHING
    std::optional<MapRequests> requests_;

    app::Buffer staging_;
    std::array<app::Buffer, SUMS_AT_ONCE> sums_back_;  // see sums()
    app::Buffer triangles_;
    app::Buffer clusters_;
    app::Buffer frames_;   // written by the host
    app::Buffer state_;    // TraceState
    app::Buffer results_;  // TileResult of each tile
    app::Buffer tile_clusters_;
    app::Buffer heads_;
    app::Buffer nodes_;
    app::Buffer outgoing_;
    app::Buffer accumulators_;
    app::Buffer alpha_triangles_;
    app::Buffer alpha_texels_;
    app::Buffer covered_words_;

    std::array<Slot, 2> slots_;  // whose layouts are the same
    Pipeline cull_;
    Pipeline rasterise_;
    std::array<Pipeline, 2> walks_;  // of other light; of sources

    SubmissionSize submission_size_;
    Clock::time_point last_end_;       // of a submission
    std::optional<GpuLamps> lamps_;    // of a pass of lamps
    std::optional<GpuProbes> probes_;  // none until needed
    TracerStatistics statistics_;
};

void GpuTracer::check_sizes() const {
    const std::uint64_t most = gpu_.physical_device().getProperties().limits.maxStorageBufferRange;
    check_light_map(gpu_, scene_.texels.extent(), scene_.sum_count());
    if (scene_.alpha_texels.size() > most) {
        throw std::runtime_error("textures of materials with alphaMode MASK and BLEND have " +
                                 std::to_string(scene_.alpha_texels.size()) +
                                 " texels, too many for this device, which addresses " +
                                 std::to_string(most) + "; make them smaller, or use --reference");
    }
    if (scene_.triangles.size() * sizeof(TracedTriangle) > most) {
        throw std::runtime_error("a scene of " + std::to_string(scene_.triangles.size()) +
                                 " triangles is too large for this device, which addresses " +
                                 std::to_string(most / sizeof(TracedTriangle)) +
                                 "; bake parts of it, or use --reference");
    }
}

void GpuTracer::make_buffers() {
    const vk::BufferUsageFlags storage =
        Usage::eStorageBuffer | Usage::eTransferDst | Usage::eTransferSrc;
    const std::size_t sums = scene_.sum_count();
    staging_ = gpu_.make_buffer(std::min(sums, MOST_SUMS) * sizeof(Accumulator),
                                Usage::eTransferSrc, app::MemoryUse::upload);

    const std::span<const TracedTriangle> triangles(scene_.triangles);
    const std::vector<TriangleCluster> clusters = with_groups(scene_.clusters);
    triangles_ = gpu_.make_buffer(triangles.size_bytes(), storage);
    clusters_ = gpu_.make_buffer(std::span(clusters).size_bytes(), storage);
    frames_ = gpu_.make_buffer(std::uint64_t{256} * sizeof(ProjectionFrame), Usage::eStorageBuffer,
                               app::MemoryUse::upload);
    state_ = gpu_.make_buffer(sizeof(TraceState), storage | Usage::eIndirectBuffer);
    results_ = gpu_.make_buffer(MOST_TILES * sizeof(TileResult), storage);
    tile_clusters_ = gpu_.make_buffer(
        std::uint64_t{parameters_.tile_cluster_capacity} * sizeof(TileCluster), storage);
    heads_ = gpu_.make_buffer(std::uint64_t{head_blocks_} * BLOCK_PIXELS * sizeof(std::uint32_t),
                              storage);
    nodes_ = gpu_.make_buffer(std::uint64_t{parameters_.node_capacity} * sizeof(ListNode), storage);
    outgoing_ = gpu_.make_buffer(sums * sizeof(glm::vec4), storage);
    accumulators_ = gpu_.make_buffer(sums * sizeof(Accumulator), storage);
    const auto make_or_empty = [&](std::span<const std::byte> bytes) {
        app::Buffer buffer =
            gpu_.make_buffer(std::max<std::size_t>(bytes.size(), sizeof(AlphaTriangle)), storage);
        if (!bytes.empty()) {
            gpu_.upload(*buffer.handle, bytes);
        }
        return buffer;
    };
    alpha_triangles_ = make_or_empty(std::as_bytes(std::span(scene_.alpha_triangles)));
    alpha_texels_ = make_or_empty(std::as_bytes(std::span(scene_.alpha_texels)));
    covered_words_ = make_or_empty(std::as_bytes(std::span(scene_.texels.words())));
    gpu_.upload(*triangles_.handle, std::as_bytes(triangles));
    gpu_.upload(*clusters_.handle, std::as_bytes(std::span(clusters)));

    for (Slot& slot : slots_) {
        slot.tiles = gpu_.make_buffer(MOST_TILES * sizeof(TracedTile), Usage::eStorageBuffer,
                                      app::MemoryUse::upload);
        slot.blocks = gpu_.make_buffer(std::uint64_t{head_blocks_} * sizeof(std::uint32_t),
                                       Usage::eStorageBuffer, app::MemoryUse::upload);
        slot.results_back = gpu_.make_buffer(sizeof(TraceState) + MOST_TILES * sizeof(TileResult),
                                             Usage::eTransferDst, app::MemoryUse::readback);
        slot.interface.write(
            0, std::array{*triangles_.handle, *clusters_.handle, *frames_.handle,
                          *slot.tiles.handle, *slot.blocks.handle, *state_.handle, *results_.handle,
                          *tile_clusters_.handle, *heads_.handle, *nodes_.handle, *outgoing_.handle,
                          *accumulators_.handle, *alpha_triangles_.handle, *alpha_texels_.handle,
                          *covered_words_.handle});
    }
}

void GpuTracer::upload(const app::Buffer& target, std::uint64_t first,
                       std::span<const std::byte> bytes) {
    for (std::size_t offset = 0; offset < bytes.size(); offset += staging_.size_bytes) {
        const std::size_t size = std::min<std::size_t>(staging_.size_bytes, bytes.size() - offset);
        copy_in_parts(staging_.mapped, bytes.data() + offset, size);
        gpu_.run([&](vk::CommandBuffer commands) {
            commands.copyBuffer(*staging_.handle, *target.handle,
                                vk::BufferCopy{.dstOffset = first + offset, .size = size});
            app::memory_barrier(commands);
        });
    }
}

// ---- Batches of tiles

std::size_t GpuTracer::trace(std::span<const ProjectionFrame> frames,
                             std::span<const TracedTile> tiles,
                             std::span<const double> predicted_nodes, const Stop& stop) {
    std::memcpy(frames_.mapped, frames.data(), frames.size_bytes());
    WaitingTiles waiting(tiles, predicted_nodes,
                         {head_blocks_, parameters_.node_capacity, MOST_TILES, cull_work()});
    // They are in order: when all begun tiles are done, so are all before them.
    std::size_t begun = 0;
    bool stops = false;
    // While one slot runs on the device, the other one is filled.
    for (std::size_t next = 0;;) {
        Slot& slot = slots_[next];
        const std::size_t end = stops ? begun : tiles.size();
        if (waiting.first() < end && !slot.submission.is_running) {
            slot.batch = waiting.take(end, submission_size_.most_work());
            begun = std::max(begun, slot.batch.back().index + 1);
            start_batch(slot);
            next = 1 - next;
            continue;
        }
        Slot& oldest = slot.submission.is_running ? slot : slots_[1 - next];
        if (!oldest.submission.is_running) {
            break;
        }
        finish_batch(oldest, waiting);
        stops = stops || (stop && stop());
    }
    const std::size_t done = waiting.first() == tiles.size() ? tiles.size() : begun;
    statistics_.tiles += done;
    statistics_.predicted_nodes += std::accumulate(
        predicted_nodes.begin(), predicted_nodes.begin() + static_cast<std::ptrdiff_t>(done), 0.0);
    return done;
}

// Begins to make a pipeline. Drivers of CPUs make it when it is needed: a bake may need no other.
GpuTracer::Pipeline GpuTracer::make_pipeline(app::SpirV shader, std::uint32_t constant) const {
    const std::launch when = gpu_.ends_long_loops() ? std::launch::deferred : std::launch::async;
    return std::async(when, [this, shader, constant] {
        return gpu_.make_compute_pipeline(layout(), shader, constant);
    });
}

void GpuTracer::start_batch(Slot& slot) {
    auto* const tiles = reinterpret_cast<TracedTile*>(slot.tiles.mapped);
    auto* const block_tiles = reinterpret_cast<std::uint32_t*>(slot.blocks.mapped);
    std::uint32_t blocks = 0;
    for (std::uint32_t i = 0; i < slot.batch.size(); ++i) {
        const TracedTile& tile = slot.batch[i].tile;
        tiles[i] = tile;
        tiles[i].first_head = blocks * BLOCK_PIXELS;
        std::fill_n(block_tiles + blocks, blocks_of(tile), i);
        blocks += blocks_of(tile);
    }
    slot.block_count = parameters_.blocks = blocks;
    const auto* const frames = reinterpret_cast<const ProjectionFrame*>(frames_.mapped);
    const bool is_source = frames[slot.batch.front().tile.frame].is_source != 0;
    const vk::Pipeline cull = *cull_.get();
    const vk::Pipeline rasterise = *rasterise_.get();
    const vk::Pipeline walk = *walks_[is_source ? 1 : 0].get();
    const TraceState zeros{.dispatch_z = 1};
    const vk::DeviceSize results_bytes = slot.batch.size() * sizeof(TileResult);
    slot.start = Clock::now();
    gpu_.start(slot.submission, [&](vk::CommandBuffer commands) {
        commands.updateBuffer(*state_.handle, 0, sizeof(zeros), &zeros);
        commands.fillBuffer(*results_.handle, 0, results_bytes, 0);
        commands.fillBuffer(*heads_.handle, 0,
                            vk::DeviceSize{blocks} * BLOCK_PIXELS * sizeof(std::uint32_t), NO_NODE);
        app::memory_barrier(commands);
        slot.timer.begin(commands);
        slot.interface.bind(commands, cull, parameters_);
        commands.dispatch(static_cast<std::uint32_t>(slot.batch.size()), 1, 1);
        app::memory_barrier(commands);
        slot.timer.mark(commands, 1);
        slot.interface.bind(commands, rasterise, parameters_);
        commands.dispatchIndirect(*state_.handle, 0);
        app::memory_barrier(commands);
        slot.timer.mark(commands, 2);
        slot.interface.bind(commands, walk, parameters_);
        const std::uint32_t blocks_x = std::min(blocks, LARGEST_DISPATCH);
        commands.dispatch(blocks_x, (blocks + blocks_x - 1) / blocks_x, 1);
        app::memory_barrier(commands);
        slot.timer.mark(commands, 3);
        commands.copyBuffer(*state_.handle, *slot.results_back.handle,
                            vk::BufferCopy{.size = sizeof(TraceState)});
        commands.copyBuffer(*results_.handle, *slot.results_back.handle,
                            vk::BufferCopy{.dstOffset = sizeof(TraceState), .size = results_bytes});
        app::memory_barrier(commands, app::ALL_WRITES, app::HOST_READS);
        app::memory_barrier(commands);  // before the next submission
    });
}

void GpuTracer::finish_batch(Slot& slot, WaitingTiles& waiting) {
    gpu_.finish(slot.submission);
    note_times(slot);
    const auto* const results =
        reinterpret_cast<const TileResult*>(slot.results_back.mapped + sizeof(TraceState));
    for (std::size_t i = slot.batch.size(); i-- > 0;) {
        if (results[i].overflow != 0) {
            ++statistics_.repeated_tiles;
            waiting.repeat(slot.batch[i], results[i].nodes);
        } else {
            check_lists(results[i]);
            statistics_.nodes += results[i].nodes;
            statistics_.pixels +=
                std::uint64_t{slot.batch[i].tile.width} * slot.batch[i].tile.height;
        }
    }
}

void GpuTracer::note_times(const Slot& slot) {
    const double seconds = seconds_since(std::max(slot.start, last_end_));
    last_end_ = Clock::now();
    if (const auto marks = slot.timer.marks()) {
        const auto between = [&](std::size_t mark) {
            return 1e-3 * ((*marks)[mark + 1] - (*marks)[mark]);
        };
        statistics_.cull_seconds += between(0);
        statistics_.rasterise_seconds += between(1);
        statistics_.walk_seconds += between(2);
    }
    TraceState state;
    std::memcpy(&state, slot.results_back.mapped, sizeof(state));
    const std::uint64_t nodes = std::min(state.nodes, parameters_.node_capacity);
    const double pixels = double{BLOCK_PIXELS} * slot.block_count;
    statistics_.most_pool_bytes = std::max(
        statistics_.most_pool_bytes,
        static_cast<std::uint64_t>(pixels) * sizeof(std::uint32_t) + nodes * sizeof(ListNode));
    submission_size_.note(
        static_cast<double>(nodes) + pixels + cull_work() * static_cast<double>(slot.batch.size()),
        seconds);
}

void GpuTracer::check_lists(const TileResult& result) const {
    if (gpu_.ends_long_loops() && result.longest_list > LONGEST_LIST) {
        throw std::runtime_error("one ray meets " + std::to_string(result.longest_list) +
                                 " triangles, but " + device_name() + " can sort " +
                                 std::to_string(LONGEST_LIST) +
                                 " at most; choose another device with --device, or use "
                                 "--reference");
    }
}

}  // namespace

std::uint64_t gpu_tracer_bytes(const TileOptions& tiles, std::uint64_t pool_bytes) {
    return pool_bytes / 8 + layers_for(tiles.map_extent) * layer_bytes(tiles.map_extent) +
           (1 + SUMS_AT_ONCE) * MOST_SUMS * sizeof(Accumulator);
}

std::uint64_t node_capacity(std::uint64_t pool_bytes) {
    return std::min<std::uint64_t>((pool_bytes - pool_bytes / HEAD_SHARE) / sizeof(ListNode),
                                   0xfffffff0U);
}

TileOptions suited_tiles(const Extent& light_map, float pixels_per_texel, std::uint64_t pool_bytes,
                         double baked_share) {
    TileOptions tiles;
    // A map texel has some eight pixels along each side: tiles fit well, at little cost.
    const double side =
        0.125 * pixels_per_texel * std::sqrt(baked_share * static_cast<double>(light_map.texels()));
    tiles.map_extent = std::bit_ceil(static_cast<std::uint32_t>(std::clamp(side, 32.0, 2048.0)));
    // Many tiles fit at a time, so that one whose size was predicted too small fits too.
    tiles.max_nodes = static_cast<float>(node_capacity(pool_bytes) / 16);
    return tiles;
}

void check_light_map(const app::Gpu& gpu, const Extent& light_map, std::size_t sum_count) {
    const std::uint64_t most = gpu.physical_device().getProperties().limits.maxStorageBufferRange;
    if (sum_count * sizeof(Accumulator) > most) {
        throw std::runtime_error(
            "a lightmap of " + std::to_string(light_map.width) + " x " +
            std::to_string(light_map.height) +
            " texels is too large for this device, which "
            "addresses " +
            std::to_string(most / sizeof(Accumulator) * light_map.texels() / sum_count) +
            " texels; make it smaller with --size or --texels-per-unit, or use --reference");
    }
}

std::unique_ptr<Tracer> make_gpu_tracer(app::Gpu& gpu, const TracedScene& scene,
                                        const TileOptions& tile_options,
                                        const GpuTracerOptions& options) {
    return std::make_unique<GpuTracer>(gpu, scene, tile_options, options);
}

}  // namespace quadtile::baker
