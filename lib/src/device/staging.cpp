#include "device/staging.hpp"

#include "values/refuse.hpp"
#include "values/texel_codec.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace quadtile::detail {

namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;

// Whole rows of one layer of one mip level, in staging and in host memory.
struct StagedRows {
    vk::BufferImageCopy region;
    std::size_t host_offset_bytes;  // in the texels of the level
    std::size_t size_bytes;
};

// Rows that are in the staging at the same time.
struct StagedBatch {
    std::vector<StagedRows> rows;
    vk::DeviceSize size_bytes = 0;  // of the staging, with the gaps between rows

    [[nodiscard]] std::vector<vk::BufferImageCopy> regions() const {
        std::vector<vk::BufferImageCopy> regions;
        regions.reserve(rows.size());
        for (const StagedRows& each : rows) {
            regions.push_back(each.region);
        }
        return regions;
    }
};

// Splits the mip levels of an image, from `first_level` on, into batches of at most STAGING_BYTES.
std::vector<StagedBatch> staged_batches(std::span<const ImageShape> levels,
                                        std::uint32_t first_level = 0) {
    // Alignment of offsets in the staging: texels have at most 16 bytes, depth formats need 4.
    constexpr vk::DeviceSize ALIGNMENT_BYTES = 16;
    std::vector<StagedBatch> batches(1);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const ImageShape& shape = levels[i];
        const std::size_t row_bytes = shape.width * texel_size_bytes(shape.format);
        const std::uint64_t rows = std::uint64_t{shape.height} * shape.layers;
        for (std::uint64_t row = 0; row < rows;) {
            const vk::DeviceSize first =
                (batches.back().size_bytes + ALIGNMENT_BYTES - 1) & ~(ALIGNMENT_BYTES - 1);
            const std::uint64_t room = (STAGING_BYTES - first) / row_bytes;
            if (room == 0) {
                batches.emplace_back();
                continue;
            }
            const auto layer = static_cast<std::uint32_t>(row / shape.height);
            const auto y = static_cast<std::uint32_t>(row % shape.height);
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.height - y, room));
            const vk::BufferImageCopy region(
                first, 0, 0,
                {aspect_of(shape.format), first_level + static_cast<std::uint32_t>(i), layer, 1},
                {0, static_cast<std::int32_t>(y), 0}, {shape.width, count, 1});
            batches.back().rows.push_back({region, row * row_bytes, count * row_bytes});
            batches.back().size_bytes = first + count * row_bytes;
            row += count;
        }
    }
    return batches;
}

vk::DeviceSize largest_size(const std::vector<StagedBatch>& batches) {
    return std::ranges::max_element(batches, {}, &StagedBatch::size_bytes)->size_bytes;
}

}  // namespace

void Staging::reserve(vk::DeviceSize size_bytes) {
    size_bytes_ = std::min(size_bytes, STAGING_BYTES);
    const vk::DeviceSize needed = std::max(std::bit_ceil(size_bytes_), SMALLEST_STAGING_BYTES);
    if (buffer_.handle() && buffer_.size_bytes() >= needed) {
        return;
    }
    using Usage = vk::BufferUsageFlagBits;
    buffer_ = {};  // before the new one
    buffer_ =
        Buffer(source_, name_, needed,
               kind_ == MemoryKind::upload ? Usage::eTransferSrc : Usage::eTransferDst, kind_);
}

void Staging::forget() {
    buffer_ = {};
    size_bytes_ = 0;
}

std::span<std::byte> Staging::bytes(vk::DeviceSize first, vk::DeviceSize count) const {
    if (!buffer_.handle() || first > size_bytes_ || count > size_bytes_ - first) {
        cannot(name_, " has ", size_bytes_, " bytes, but ", count, " from byte ", first,
               " on are used; this is a mistake in quadtile, please report it");
    }
    return {static_cast<std::byte*>(buffer_.mapped()) + first, count};
}

vk::ImageAspectFlags aspect_of(TexelFormat format) noexcept {
    return is_depth(format) ? vk::ImageAspectFlagBits::eDepth : vk::ImageAspectFlagBits::eColor;
}

std::vector<const std::byte*> layers_of(const ImageView& image) {
    const std::size_t layer_bytes =
        std::size_t{image.shape.width} * image.shape.height * texel_size_bytes(image.shape.format);
    std::vector<const std::byte*> layers;
    for (std::uint32_t layer = 0; layer < image.shape.layers; ++layer) {
        layers.push_back(static_cast<const std::byte*>(image.texels) + layer * layer_bytes);
    }
    return layers;
}

void upload_image(const std::string& doing, Commands& commands, const Dispatch& dispatch,
                  Staging& staging, const UploadTarget& target, const ImageShape& shape,
                  std::span<const std::byte* const> layers, const AroundUpload& around) {
    const vk::ImageSubresourceRange level_0(aspect_of(shape.format), 0, 1, 0,
                                            VK_REMAINING_ARRAY_LAYERS);
    const std::size_t layer_bytes =
        std::size_t{shape.width} * shape.height * texel_size_bytes(shape.format);
    const auto transition = [&](vk::CommandBuffer buffer, Layout from, Layout to,
                                vk::AccessFlags before, vk::AccessFlags after,
                                vk::PipelineStageFlags stages_before,
                                vk::PipelineStageFlags stages_after) {
        const vk::ImageMemoryBarrier barrier(before, after, from, to, VK_QUEUE_FAMILY_IGNORED,
                                             VK_QUEUE_FAMILY_IGNORED, target.image, level_0);
        buffer.pipelineBarrier(stages_before, stages_after, {}, {}, {}, barrier, dispatch);
    };
    const std::vector<StagedBatch> batches = staged_batches({&shape, 1});
    staging.reserve(largest_size(batches));
    for (const StagedBatch& batch : batches) {
        for (const StagedRows& rows : batch.rows) {
            const std::uint32_t layer = rows.region.imageSubresource.baseArrayLayer;
            std::memcpy(staging.bytes(rows.region.bufferOffset, rows.size_bytes).data(),
                        layers[layer] + (rows.host_offset_bytes - layer * layer_bytes),
                        rows.size_bytes);
        }
        commands.run(doing, [&](vk::CommandBuffer buffer) {
            if (&batch == &batches.back() && around.before_last) {
                around.before_last(buffer);
            }
            if (&batch == &batches.front()) {
                transition(buffer, Layout::eUndefined, Layout::eTransferDstOptimal, {},
                           Access::eTransferWrite, Stage::eTopOfPipe, Stage::eTransfer);
            }
            buffer.copyBufferToImage(staging.handle(), target.image, Layout::eTransferDstOptimal,
                                     batch.regions(), dispatch);
            if (&batch == &batches.back()) {
                transition(buffer, Layout::eTransferDstOptimal, target.layout,
                           Access::eTransferWrite, target.access, Stage::eTransfer, target.stages);
                if (around.after_last) {
                    around.after_last(buffer);
                }
            }
        });
    }
}

void read_image(const std::string& doing, Commands& commands, const Dispatch& dispatch,
                Staging& staging, vk::Image image, std::span<const ReadLevel> levels,
                std::uint32_t first_level) {
    if (levels.empty()) {
        return;
    }
    std::vector<ImageShape> shapes;
    for (const ReadLevel& level : levels) {
        shapes.push_back(level.shape);
    }
    const auto transition = [&](Layout from, Layout to, vk::AccessFlags before,
                                vk::AccessFlags after) {
        return vk::ImageMemoryBarrier(before, after, from, to, VK_QUEUE_FAMILY_IGNORED,
                                      VK_QUEUE_FAMILY_IGNORED, image,
                                      {aspect_of(shapes.front().format), first_level,
                                       VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS});
    };
    const std::vector<StagedBatch> batches = staged_batches(shapes, first_level);
    staging.reserve(largest_size(batches));
    for (const StagedBatch& batch : batches) {
        commands.run(doing, [&](vk::CommandBuffer buffer) {
            buffer.pipelineBarrier(Stage::eAllCommands, Stage::eTransfer, {}, {}, {},
                                   transition(Layout::eGeneral, Layout::eTransferSrcOptimal,
                                              Access::eMemoryWrite, Access::eTransferRead),
                                   dispatch);
            buffer.copyImageToBuffer(image, Layout::eTransferSrcOptimal, staging.handle(),
                                     batch.regions(), dispatch);
            const vk::MemoryBarrier copied(Access::eTransferWrite, Access::eHostRead);
            buffer.pipelineBarrier(
                Stage::eTransfer, Stage::eHost | Stage::eAllCommands, {}, copied, {},
                transition(Layout::eTransferSrcOptimal, Layout::eGeneral, {}, {}), dispatch);
        });
        for (const StagedRows& rows : batch.rows) {
            std::memcpy(levels[rows.region.imageSubresource.mipLevel - first_level].texels +
                            rows.host_offset_bytes,
                        staging.bytes(rows.region.bufferOffset, rows.size_bytes).data(),
                        rows.size_bytes);
        }
    }
}

}  // namespace quadtile::detail
