#include "moving_boxes.hpp"

#include "quadtile_shadow_view_shaders.hpp"

#include <glm/common.hpp>
#include <glm/gtc/type_ptr.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace quadtile::shadow {

namespace {

using Access = vk::AccessFlagBits;
using Stage = vk::PipelineStageFlagBits;
using Type = vk::DescriptorType;
using Usage = vk::BufferUsageFlagBits;

constexpr std::uint32_t WORKGROUP = 64;

// Push constants of move.comp.
struct Movement {
    float second;
    std::uint32_t box_count;
    std::uint32_t first_vertex;
};

}  // namespace

void add_moving_box(Geometry& geometry, const glm::vec3& place, float size) {
    // Two triangles per side, by corners.
    constexpr std::array<std::uint32_t, 36> CORNERS{0, 1, 3, 0, 3, 2, 4, 5, 7, 4, 7, 6,
                                                    0, 1, 5, 0, 5, 4, 2, 3, 7, 2, 7, 6,
                                                    0, 2, 6, 0, 6, 4, 1, 3, 7, 1, 7, 5};
    const auto number = static_cast<std::uint32_t>(geometry.moving.size());
    const float angle = 2.4F * static_cast<float>(number);  // each another way
    const bool sways = number % 2 == 1;
    const glm::vec3 half_extent = size * (sways ? glm::vec3(0.1F, 0.5F, 0.1F) : glm::vec3(0.25F));
    const glm::vec3 reach =
        (sways ? 0.3F * size : size) * glm::vec3(std::cos(angle), 0.0F, std::sin(angle));
    MovingBox box{.phase = 0.618034F * static_cast<float>(number % 1000),
                  .sways = sways ? 1U : 0U,
                  .colour = pack(0.5F + 0.4F * glm::vec3(std::cos(angle), std::sin(angle), 0.0F))};
    std::ranges::copy_n(glm::value_ptr(place), 3, box.middle);
    std::ranges::copy_n(glm::value_ptr(half_extent), 3, box.half_extent);
    std::ranges::copy_n(glm::value_ptr(reach), 3, box.reach);
    geometry.moving.push_back(box);

    ShadowObject cluster{.index_count = static_cast<std::uint32_t>(CORNERS.size()),
                         .first_index = static_cast<std::uint32_t>(geometry.indices.size())};
    const glm::vec3 around = half_extent + glm::abs(reach);
    for (glm::length_t axis = 0; axis < 3; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        cluster.low[i] = place[axis] - around[axis];
        cluster.high[i] = place[axis] + around[axis];
        geometry.bounds.low[i] = std::min(geometry.bounds.low[i], cluster.low[i]);
        geometry.bounds.high[i] = std::max(geometry.bounds.high[i], cluster.high[i]);
    }
    geometry.clusters.push_back(cluster);
    const auto first_vertex = static_cast<std::uint32_t>(geometry.vertices.size());
    for (const std::uint32_t corner : CORNERS) {
        geometry.indices.push_back(first_vertex + corner);
    }
    geometry.vertices.resize(first_vertex + MOVING_BOX_CORNERS, {.colour = box.colour});
    move_vertices(geometry, 0.0F);
}

void add_moving_boxes(Geometry& geometry, std::uint32_t count) {
    const glm::vec3 low = low_of(geometry.bounds);
    const glm::vec3 size = high_of(geometry.bounds) - low;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto turn = static_cast<float>(i);
        // A sequence that leaves no gaps: multiples of irrational numbers.
        const glm::vec2 share = glm::fract(turn * glm::vec2(0.7548777F, 0.5698403F) + 0.5F);
        add_moving_box(geometry,
                       low + size * glm::vec3(0.2F + 0.6F * share.x, 0.35F, 0.2F + 0.6F * share.y),
                       0.03F * std::max(size.x, size.z));
    }
}

void move_vertices(Geometry& geometry, float second) {
    auto vertex = geometry.vertices.end() -
                  static_cast<std::ptrdiff_t>(MOVING_BOX_CORNERS * geometry.moving.size());
    for (const MovingBox& box : geometry.moving) {
        for (std::uint32_t corner = 0; corner < MOVING_BOX_CORNERS; ++corner, ++vertex) {
            for (std::uint32_t axis = 0; axis < 3; ++axis) {
                vertex->position[static_cast<glm::length_t>(axis)] =
                    moving_corner(box, corner, axis, second);
            }
        }
    }
}

// ---- On the device

MovingBoxes::MovingBoxes(app::Gpu& gpu, const Geometry& geometry, vk::Buffer vertices,
                         vk::Buffer changes, vk::Buffer change_count)
    : box_count_(static_cast<std::uint32_t>(geometry.moving.size())),
      first_vertex_(static_cast<std::uint32_t>(geometry.vertices.size()) -
                    MOVING_BOX_CORNERS * box_count_),
      boxes_(gpu.upload(std::as_bytes(std::span(geometry.moving)), Usage::eStorageBuffer)),
      objects_(gpu.upload(std::as_bytes(std::span(geometry.clusters).last(box_count_)),
                          Usage::eStorageBuffer)),
      interface_(gpu.make_interface(vk::ShaderStageFlagBits::eCompute,
                                    std::vector<Type>(5, Type::eStorageBuffer), sizeof(Movement))),
      move_(gpu.make_compute_pipeline(*interface_.layout, app::MOVE_COMP)) {
    interface_.write(0,
                     std::array{*boxes_.handle, vertices, *objects_.handle, changes, change_count});
}

void MovingBoxes::record(vk::CommandBuffer commands, float second) const {
    interface_.bind(commands, *move_, Movement{second, box_count_, first_vertex_});
    commands.dispatch((box_count_ + WORKGROUP - 1) / WORKGROUP, 1, 1);
    app::memory_barrier(commands, {Stage::eComputeShader, Access::eShaderWrite},
                        {Stage::eVertexInput | Stage::eComputeShader,
                         Access::eVertexAttributeRead | Access::eShaderRead});
}

}  // namespace quadtile::shadow
