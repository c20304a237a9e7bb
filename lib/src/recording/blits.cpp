#include "recording/blits.hpp"

#include <quadtile/mip.h>

namespace quadtile::detail {

void record_blits(vk::CommandBuffer commands, const Dispatch& dispatch,
                  const Downsampler::Shape& shape, const ImageResource& source,
                  const ImageResource& destination, bool copy_source) {
    const auto layers_of = [&](std::uint32_t level) {
        return vk::ImageSubresourceLayers(vk::ImageAspectFlagBits::eColor, level, 0, shape.layers);
    };
    const auto corner = [&](std::uint32_t level) {
        return vk::Offset3D(static_cast<std::int32_t>(mip_extent(shape.width, level, EDGE_DROP)),
                            static_cast<std::int32_t>(mip_extent(shape.height, level, EDGE_DROP)),
                            1);
    };
    const auto source_layout = static_cast<vk::ImageLayout>(source.layout);
    const auto general = vk::ImageLayout::eGeneral;
    if (copy_source) {
        const vk::ImageCopy region(layers_of(0), {}, layers_of(0), {},
                                   {shape.width, shape.height, 1});
        commands.copyImage(source.image, source_layout, destination.image, general, region,
                           dispatch);
    }
    for (std::uint32_t level = 1; level < shape.levels; ++level) {
        if (level > 1) {
            const vk::MemoryBarrier barrier(vk::AccessFlagBits::eTransferWrite,
                                            vk::AccessFlagBits::eTransferRead);
            commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer,
                                     vk::PipelineStageFlagBits::eTransfer, {}, barrier, {}, {},
                                     dispatch);
        }
        const vk::ImageBlit region(layers_of(level - 1), {vk::Offset3D(), corner(level - 1)},
                                   layers_of(level), {vk::Offset3D(), corner(level)});
        commands.blitImage(level == 1 ? source.image : destination.image,
                           level == 1 ? source_layout : general, destination.image, general, region,
                           vk::Filter::eLinear, dispatch);
    }
}

}  // namespace quadtile::detail
