#include <quadtile/error.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/tiler.hpp>

#include "memory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

namespace quadtile {

namespace {

using detail::Buffer;
using detail::DeviceContext;
using detail::Image;
using detail::MemoryKind;
using detail::vulkan_calls;

using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;

// Rows go to the device, and tiles come back, through host memory of this size at a time.
constexpr vk::DeviceSize STAGING_BYTES = vk::DeviceSize{64} << 20U;
constexpr std::uint64_t SMALLEST_FIRST_CAPACITY = 1U << 12U;

vk::ImageAspectFlags aspect_of(TexelFormat format) {
    return format == TexelFormat::d32_float ? vk::ImageAspectFlagBits::eDepth
                                            : vk::ImageAspectFlagBits::eColor;
}

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

// One command buffer and its fence: record, submit, wait.
class Commands {
 public:
    explicit Commands(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {
        vulkan_calls("creating a command buffer", [&] {
            const vk::Device device = context_->device;
            const Dispatch& d = context_->dispatch;
            pool_ = device.createCommandPoolUnique(
                {vk::CommandPoolCreateFlagBits::eResetCommandBuffer, context_->queue_family},
                nullptr, d);
            buffer_ =
                device.allocateCommandBuffers({*pool_, vk::CommandBufferLevel::ePrimary, 1}, d)
                    .front();
            fence_ = device.createFenceUnique({}, nullptr, d);
        });
    }

    template <typename Record>
    void run(const std::string& doing, Record&& record) {
        vulkan_calls(doing, [&] {
            const Dispatch& d = context_->dispatch;
            buffer_.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit}, d);
            record(buffer_);
            buffer_.end(d);
            vk::SubmitInfo submit;
            submit.setCommandBuffers(buffer_);
            context_->queue.submit(submit, *fence_, d);
            const auto result = context_->device.waitForFences(*fence_, VK_TRUE, UINT64_MAX, d);
            if (result != vk::Result::eSuccess) {
                throw detail::error_from(result, doing);
            }
            context_->device.resetFences(*fence_, d);
        });
    }

 private:
    std::shared_ptr<DeviceContext> context_;
    Unique<vk::CommandPool> pool_;
    vk::CommandBuffer buffer_;
    Unique<vk::Fence> fence_;
};

// GPU timestamps of one submission, where the queue has them.
class Timestamps {
 public:
    static constexpr std::uint32_t CAPACITY = 4;

    explicit Timestamps(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {
        if (context_->info.timestamps) {
            pool_ = vulkan_calls("creating a query pool", [&] {
                return context_->device.createQueryPoolUnique(
                    {{}, vk::QueryType::eTimestamp, CAPACITY}, nullptr, context_->dispatch);
            });
        }
    }

    void reset(vk::CommandBuffer commands) {
        count_ = 0;
        if (pool_) {
            commands.resetQueryPool(*pool_, 0, CAPACITY, context_->dispatch);
        }
    }

    void write(vk::CommandBuffer commands) {
        if (pool_) {
            commands.writeTimestamp(Stage::eAllCommands, *pool_, count_++, context_->dispatch);
        }
    }

    // Milliseconds between timestamp i and the next, for a submission that has been waited for.
    // Empty without timestamps.
    [[nodiscard]] std::vector<double> intervals_ms() const {
        std::array<std::uint64_t, CAPACITY> ticks{};
        if (!pool_ || count_ == 0) {
            return {};
        }
        vulkan_calls("reading timestamps", [&] {
            (void)context_->device.getQueryPoolResults(
                *pool_, 0, count_, sizeof(ticks), ticks.data(), sizeof(ticks[0]),
                vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait, context_->dispatch);
        });
        const double period_ns =
            context_->physical_device.getProperties(context_->dispatch).limits.timestampPeriod;
        std::vector<double> intervals;
        for (std::uint32_t i = 0; i + 1 < count_; ++i) {
            intervals.push_back(static_cast<double>(ticks[i + 1] - ticks[i]) * period_ns * 1e-6);
        }
        return intervals;
    }

 private:
    std::shared_ptr<DeviceContext> context_;
    Unique<vk::QueryPool> pool_;
    std::uint32_t count_ = 0;
};

// What maps of one shape need.
struct MapResources {
    MapShape shape;
    Image map;
    Buffer pyramid;
    Buffer pyramid_state;
    Buffer scratch;
    Pyramid::Binding pyramid_binding;
};

// A list that tiles are written to. The binding refers to the map's resources too.
struct ListResources {
    std::uint64_t capacity;
    Buffer buffer;
    Subdivider::Binding binding;
};

}  // namespace

struct Tiler::Impl {
    Impl(const Device& device, const TilerOptions& tiler_options)
        : options(tiler_options),
          context(device.context()),
          pyramid(device),
          subdivider(device,
                     {.strategy = options.strategy, .subtree_levels = options.subtree_levels}),
          commands(context),
          timestamps(context) {
        if (!context->queue) {
            throw Error(ErrorCode::invalid_argument,
                        "a Tiler needs a queue, the adopted device was given without one");
        }
    }

    void prepare_map(const MapShape& shape);
    void prepare_list(std::uint64_t capacity);
    void upload(const MapView& map);
    void run_pyramid_and_subdivision(const Threshold& threshold, TileList& result);
    [[nodiscard]] TileListHeader read_header_and_statistics(TileList& result);
    void read_tiles(std::uint64_t count, std::vector<Tile>& tiles);
    void forget_resources();

    TilerOptions options;
    std::shared_ptr<DeviceContext> context;
    Pyramid pyramid;
    Subdivider subdivider;
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

void Tiler::Impl::prepare_map(const MapShape& shape) {
    if (map && map->shape == shape && clean) {
        return;
    }
    forget_resources();
    using Usage = vk::BufferUsageFlagBits;
    const Pyramid::Requirements for_pyramid = pyramid.requirements(shape);
    const Subdivider::Requirements for_subdivider = subdivider.requirements(shape, 1);
    if (!upload_staging.handle()) {
        upload_staging = Buffer(context, "the staging of the map", STAGING_BYTES,
                                Usage::eTransferSrc, MemoryKind::upload);
        readback_staging = Buffer(context, "the staging of the tiles", STAGING_BYTES,
                                  Usage::eTransferDst, MemoryKind::readback);
    }
    Image map_image(context, "the importance map", map_image_info(shape), aspect_of(shape.format));
    Buffer pyramid_buffer(context, "the pyramid", for_pyramid.pyramid_size_bytes,
                          vk::BufferUsageFlags(for_pyramid.usage), MemoryKind::device);
    Buffer state(
        context, "the pyramid's state", for_pyramid.state_size_bytes,
        vk::BufferUsageFlags(for_pyramid.usage) | Usage::eTransferDst | Usage::eTransferSrc,
        MemoryKind::device);
    Buffer scratch(context, "the node lists", for_subdivider.scratch_size_bytes,
                   vk::BufferUsageFlags(for_subdivider.usage) | Usage::eTransferDst,
                   MemoryKind::device);
    auto binding =
        pyramid.bind(shape, {.map = {map_image.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
                             .pyramid = {pyramid_buffer.handle()},
                             .state = {state.handle()}});

    commands.run("preparing the pyramid", [&](vk::CommandBuffer buffer) {
        const Dispatch& d = context->dispatch;
        buffer.fillBuffer(state.handle(), 0, VK_WHOLE_SIZE, 0, d);
        buffer.fillBuffer(scratch.handle(), 0, VK_WHOLE_SIZE, 0, d);
    });
    map.emplace(MapResources{shape, std::move(map_image), std::move(pyramid_buffer),
                             std::move(state), std::move(scratch), std::move(binding)});
    clean = true;
}

void Tiler::Impl::prepare_list(std::uint64_t capacity) {
    if (list && list->capacity >= capacity) {
        return;
    }
    const Subdivider::Requirements needed = subdivider.requirements(map->shape, capacity);
    list.reset();  // before the new one, so that both never take memory at once
    Buffer buffer(context, "a list of " + std::to_string(capacity) + " tiles",
                  needed.tile_list_size_bytes,
                  vk::BufferUsageFlags(needed.usage) | vk::BufferUsageFlagBits::eTransferSrc,
                  MemoryKind::device);
    auto binding = subdivider.bind(
        map->shape, {.map = {map->map.view(), VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
                     .pyramid = {map->pyramid.handle()},
                     .scratch = {map->scratch.handle()},
                     .tile_list = {buffer.handle()},
                     .tile_capacity = capacity});
    list.emplace(ListResources{capacity, std::move(buffer), std::move(binding)});
}

// Copies the map into its image, as many rows at a time as the staging holds.
void Tiler::Impl::upload(const MapView& view) {
    const MapShape& shape = view.shape;
    const Dispatch& d = context->dispatch;
    const std::size_t row_bytes = shape.width * texel_size_bytes(shape.format);
    const std::uint64_t rows = std::uint64_t{shape.height} * shape.layers;
    const std::uint64_t rows_at_once = STAGING_BYTES / row_bytes;
    const vk::ImageSubresourceRange all(aspect_of(shape.format), 0, 1, 0, shape.layers);
    const auto transition = [&](vk::CommandBuffer buffer, vk::ImageLayout from, vk::ImageLayout to,
                                vk::AccessFlags before, vk::AccessFlags after,
                                vk::PipelineStageFlags stage_before,
                                vk::PipelineStageFlags stage_after) {
        const vk::ImageMemoryBarrier barrier(before, after, from, to, VK_QUEUE_FAMILY_IGNORED,
                                             VK_QUEUE_FAMILY_IGNORED, map->map.handle(), all);
        buffer.pipelineBarrier(stage_before, stage_after, {}, {}, {}, barrier, d);
    };
    for (std::uint64_t first = 0; first < rows;) {
        std::uint64_t staged = 0;  // rows in the staging buffer
        std::vector<vk::BufferImageCopy> copies;
        while (first + staged < rows && staged < rows_at_once) {
            const std::uint64_t row = first + staged;
            const auto layer = static_cast<std::uint32_t>(row / shape.height);
            const auto y = static_cast<std::uint32_t>(row % shape.height);
            const auto count = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(shape.height - y, rows_at_once - staged));
            copies.emplace_back(staged * row_bytes, 0, 0,
                                vk::ImageSubresourceLayers(aspect_of(shape.format), 0, layer, 1),
                                vk::Offset3D(0, static_cast<std::int32_t>(y), 0),
                                vk::Extent3D(shape.width, count, 1));
            staged += count;
        }
        std::memcpy(upload_staging.mapped(),
                    static_cast<const std::byte*>(view.texels) + first * row_bytes,
                    staged * row_bytes);
        commands.run("uploading the importance map", [&](vk::CommandBuffer buffer) {
            if (first == 0) {
                transition(buffer, vk::ImageLayout::eUndefined,
                           vk::ImageLayout::eTransferDstOptimal, {}, Access::eTransferWrite,
                           Stage::eTopOfPipe, Stage::eTransfer);
            }
            buffer.copyBufferToImage(upload_staging.handle(), map->map.handle(),
                                     vk::ImageLayout::eTransferDstOptimal, copies, d);
            if (first + staged == rows) {
                transition(buffer, vk::ImageLayout::eTransferDstOptimal,
                           vk::ImageLayout::eShaderReadOnlyOptimal, Access::eTransferWrite,
                           Access::eShaderRead, Stage::eTransfer, Stage::eComputeShader);
            }
        });
        first += staged;
    }
}

void Tiler::Impl::run_pyramid_and_subdivision(const Threshold& threshold, TileList& result) {
    const Dispatch& d = context->dispatch;
    clean = false;
    commands.run("subdividing", [&](vk::CommandBuffer buffer) {
        timestamps.reset(buffer);
        timestamps.write(buffer);
        pyramid.record(buffer, map->pyramid_binding);
        const vk::MemoryBarrier pyramid_done(Access::eShaderWrite, Access::eShaderRead);
        buffer.pipelineBarrier(Stage::eComputeShader, Stage::eComputeShader, {}, pyramid_done, {},
                               {}, d);
        timestamps.write(buffer);
        subdivider.record(buffer, list->binding, threshold);
        timestamps.write(buffer);

        // The header and the NaN counts of the layers, for the host.
        const vk::MemoryBarrier list_done(Access::eShaderWrite, Access::eTransferRead);
        buffer.pipelineBarrier(Stage::eComputeShader, Stage::eTransfer, {}, list_done, {}, {}, d);
        buffer.copyBuffer(list->buffer.handle(), readback_staging.handle(),
                          vk::BufferCopy(0, 0, sizeof(TileListHeader)), d);
        buffer.copyBuffer(
            map->pyramid_state.handle(), readback_staging.handle(),
            vk::BufferCopy(0, sizeof(TileListHeader), map->shape.layers * sizeof(std::uint32_t)),
            d);
        const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
        buffer.pipelineBarrier(Stage::eTransfer, Stage::eHost, {}, copied, {}, {}, d);
    });
    clean = true;
    const std::vector<double> intervals = timestamps.intervals_ms();
    if (intervals.size() == 2) {
        result.stages.push_back({"pyramid", intervals[0], true});
        result.stages.push_back({"subdivision", intervals[1], true});
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

Tiler::Tiler(const Device& device, const TilerOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
Tiler::Tiler(Tiler&&) noexcept = default;
Tiler& Tiler::operator=(Tiler&&) noexcept = default;
Tiler::~Tiler() = default;

TileList Tiler::subdivide(const MapView& map, const Threshold& threshold, Order order) {
    check_shape(map.shape);
    if (map.texels == nullptr) {
        throw Error(ErrorCode::invalid_argument, "the map has no texels (null pointer)");
    }
    // Refused before anything is uploaded.
    (void)threshold.levels(top_level(map.shape.width, map.shape.height));

    TileList result;
    result.shape = map.shape;
    result.strategy = impl_->subdivider.strategy();
    result.device = impl_->context->info.name;

    Stopwatch clock;
    impl_->prepare_map(map.shape);
    const std::uint64_t texels =
        std::uint64_t{map.shape.width} * map.shape.height * map.shape.layers;
    const std::uint64_t guess = impl_->options.initial_tile_capacity != 0
                                    ? impl_->options.initial_tile_capacity
                                    : std::max(SMALLEST_FIRST_CAPACITY, texels / 16);
    impl_->prepare_list(std::min(guess, impl_->context->info.max_tiles));
    result.stages.push_back({"allocate", clock.lap_ms(), false});
    impl_->upload(map);
    result.stages.push_back({"upload", clock.lap_ms(), false});

    impl_->run_pyramid_and_subdivision(threshold, result);
    TileListHeader header = impl_->read_header_and_statistics(result);
    while ((header.flags & TILE_LIST_OVERFLOW) != 0) {
        ++result.buffer_repeats;
        impl_->prepare_list(header.required);
        impl_->run_pyramid_and_subdivision(threshold, result);
        header = impl_->read_header_and_statistics(result);
    }
    clock.lap_ms();
    impl_->read_tiles(header.written, result.tiles);
    result.stages.push_back({"read back", clock.lap_ms(), false});
    if (order == Order::canonical) {
        sort_canonical(result.tiles);
        result.stages.push_back({"sort", clock.lap_ms(), false});
    }
    return result;
}

}  // namespace quadtile
