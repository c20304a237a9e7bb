#include "shadow_frames.hpp"

#include "output_file.hpp"
#include "picture.hpp"

#include <cstring>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;

}  // namespace

ShadowFrames::ShadowFrames(const Geometry& geometry, vk::Extent2D extent,
                           const ShadowOptions& options, bool validation)
    : instance_("quadtile_shadow_bench", {}, validation),
      gpu_(instance_, {}, {}),
      device_(quadtile::Device::adopt(gpu_.for_quadtile({}))),
      extent_(extent),
      renderer_(gpu_, device_, geometry, extent, options),
      caster_(gpu_, geometry),
      first_copy_(make_copy_buffer()),
      second_copy_(make_copy_buffer()) {}

void ShadowFrames::draw(const FrameSettings& settings) {
    gpu_.run([&](vk::CommandBuffer commands) { renderer_.record(commands, settings); });
}

void ShadowFrames::record_compared(vk::CommandBuffer commands, const FrameSettings& settings) {
    renderer_.record_depth(commands, settings);
    caster_.record(commands, renderer_.pictures(), settings, renderer_.projections(settings));
    renderer_.record_shadows(commands, settings, caster_.mask());
    caster_.record_comparison(commands, renderer_.pictures());
}

MaskDifference ShadowFrames::compare(const FrameSettings& settings) {
    gpu_.run([&](vk::CommandBuffer commands) { record_compared(commands, settings); });
    return caster_.difference();
}

Masks ShadowFrames::masks(const FrameSettings& settings) {
    gpu_.run([&](vk::CommandBuffer commands) {
        record_compared(commands, settings);
        record_copy(commands, renderer_.pictures().mask_image, first_copy_);
        record_copy(commands, caster_.mask_image(), second_copy_);
    });
    const auto words = [&](const app::Buffer& buffer) {
        std::vector<std::uint32_t> all(std::size_t{extent_.width} * extent_.height);
        std::memcpy(all.data(), buffer.mapped, all.size() * sizeof(std::uint32_t));
        return all;
    };
    return {words(first_copy_), words(second_copy_)};
}

void ShadowFrames::save_picture(const FrameSettings& settings, const std::filesystem::path& path) {
    gpu_.run([&](vk::CommandBuffer commands) {
        record_compared(commands, settings);
        record_copy(commands, renderer_.pictures().colour_image, first_copy_);
    });
    app::OutputFile file(path);
    file.write(app::encode_png({.width = extent_.width,
                                .height = extent_.height,
                                .components = 4,
                                .samples = first_copy_.mapped}));
    file.commit();
}

std::string ShadowFrames::device_name() const {
    return gpu_.physical_device().getProperties().deviceName.data();
}

void ShadowFrames::record_copy(vk::CommandBuffer commands, vk::Image image,
                               const app::Buffer& buffer) const {
    app::change_layout(commands, image, Layout::eGeneral, Layout::eTransferSrcOptimal,
                       {Stage::eComputeShader, Access::eShaderWrite},
                       {Stage::eTransfer, Access::eTransferRead});
    commands.copyImageToBuffer(
        image, Layout::eTransferSrcOptimal, *buffer.handle,
        vk::BufferImageCopy{.imageSubresource = {vk::ImageAspectFlagBits::eColor, 0, 0, 1},
                            .imageExtent = {extent_.width, extent_.height, 1}});
    app::change_layout(commands, image, Layout::eTransferSrcOptimal, Layout::eGeneral,
                       {Stage::eTransfer, Access::eTransferRead},
                       {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eHost, Access::eHostRead});
}

app::Buffer ShadowFrames::make_copy_buffer() const {
    return gpu_.make_buffer(vk::DeviceSize{4} * extent_.width * extent_.height,
                            vk::BufferUsageFlagBits::eTransferDst, app::MemoryUse::readback);
}

}  // namespace quadtile::shadow
