// Moving boxes in a scene: made on the host, moved on the device.

#pragma once

#include "geometry.hpp"
#include "gpu.hpp"

namespace quadtile::shadow {

// Adds a box that moves around a place. `size` is about its extent.
void add_moving_box(Geometry& geometry, const glm::vec3& place, float size);

// Spreads boxes over the middle of the scene, at a third of its height.
void add_moving_boxes(Geometry& geometry, std::uint32_t count);

// Moves the vertices of moving boxes to a time, as on the device (shaders/move.comp).
void move_vertices(Geometry& geometry, float second);

constexpr std::uint32_t CHANGES_PER_BOX = 2;

// Moves the boxes of a geometry on the device, and writes their changes.
class MovingBoxes {
 public:
    // `changes`, `change_count`: as ShadowFitter::Changes has them.
    MovingBoxes(app::Gpu& gpu, const Geometry& geometry, vk::Buffer vertices, vk::Buffer changes,
                vk::Buffer change_count);

    // Records the vertices and objects of the boxes at a time, and adds their changes. Before: all
    // uses of these are ordered before COMPUTE_SHADER. After: they are visible to VERTEX_INPUT and
    // COMPUTE_SHADER.
    void record(vk::CommandBuffer commands, float second) const;

    [[nodiscard]] std::uint32_t count() const { return box_count_; }
    // Returns ShadowObject[count()].
    [[nodiscard]] vk::Buffer objects() const { return *objects_.handle; }

 private:
    std::uint32_t box_count_;
    std::uint32_t first_vertex_;
    app::Buffer boxes_;
    app::Buffer objects_;
    app::ProgramInterface interface_;
    vk::UniquePipeline move_;
};

}  // namespace quadtile::shadow
