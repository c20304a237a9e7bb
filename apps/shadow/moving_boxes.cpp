#include "moving_boxes.hpp"

#include "quadtile_shadow_renderer_shaders.hpp"

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

constexpr std::uint32_t WORKGROUP = 64;
constexpr std::uint32_t CHANGES_PER_BOX = 2;

// Push constants of move.comp.
struct Movement {
    float second;
    std::uint32_t box_count;
    std::uint32_t first_vertex;
    std::uint32_t first_object;
};

}  // namespace

MovingBoxes::MovingBoxes(app::Gpu& gpu, const Geometry& geometry, vk::Buffer vertices,
                         vk::Buffer objects)
    : box_count_(static_cast<std::uint32_t>(geometry.moving.size())),
      first_vertex_(static_cast<std::uint32_t>(geometry.vertices.size()) -
                    MOVING_BOX_CORNERS * box_count_),
      first_object_(static_cast<std::uint32_t>(geometry.clusters.size()) - box_count_),
      boxes_(gpu.upload(std::as_bytes(std::span(geometry.moving)), Usage::eStorageBuffer)),
      changes_(gpu.make_buffer(CHANGES_PER_BOX * box_count_ * sizeof(ShadowChange),
                               Usage::eStorageBuffer)),
      count_(gpu.make_buffer(sizeof(std::uint32_t), Usage::eStorageBuffer | Usage::eTransferDst)),
      interface_(gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                                    std::vector<Type>(5, Type::eStorageBuffer), sizeof(Movement))),
      move_(gpu.make_compute_pipeline(*interface_.layout, app::MOVE_COMP)) {
    interface_.write(
        0, std::array{*boxes_.handle, vertices, objects, *changes_.handle, *count_.handle});
}

void MovingBoxes::record(vk::CommandBuffer commands, float second) const {
    commands.fillBuffer(*count_.handle, 0, VK_WHOLE_SIZE, 0);
    app::memory_barrier(commands, {Stage::eTransfer, Access::eTransferWrite},
                        {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite});
    interface_.bind(commands, *move_, Movement{second, box_count_, first_vertex_, first_object_});
    commands.dispatch((box_count_ + WORKGROUP - 1) / WORKGROUP, 1, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                        {Stage::eVertexInput | Stage::eComputeShader,
                         Access::eVertexAttributeRead | Access::eShaderRead});
}

ShadowFitter::Changes MovingBoxes::changes() const {
    return {.boxes = {.buffer = *changes_.handle},
            .count = {.buffer = *count_.handle},
            .capacity = CHANGES_PER_BOX * box_count_};
}

}  // namespace quadtile::shadow
